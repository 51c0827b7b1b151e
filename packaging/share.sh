#!/bin/sh
# Generates man pages, completions and editor files into a folder: packaging/share.sh OUT VERSION
set -eu
out=$1
version=$2
here=packaging
text=src/cli/commands.txt
rm -rf "$out"
mkdir -p "$out/man" "$out/completions" "$out/vim/syntax" "$out/vim/ftdetect" "$out/vim/ftplugin" "$out/vim/lsp" "$out/vscode" "$out/emacs"
table() { awk -v version="$version" -v out="$out/man" -f $here/commands.awk -f "$here/$1.awk" $text; }
table man
awk -v version="$version" -f $here/manual.awk docs/language.md >"$out/man/limn-language.7"
for shell in bash zsh fish; do table $shell >"$out/completions/limn.$shell"; done
editors/words.sh >"$out/words"
awk -f editors/vim/syntax.awk "$out/words" >"$out/vim/syntax/limn.vim"
cp editors/vim/ftdetect.vim "$out/vim/ftdetect/limn.vim"
cp editors/vim/ftplugin.vim "$out/vim/ftplugin/limn.vim"
cp editors/vim/lsp.lua "$out/vim/lsp/limn.lua"
awk -f editors/vscode/grammar.awk "$out/words" >"$out/vscode/limn.tmLanguage.json"
sed "s/@VERSION@/$version/" editors/vscode/package.json >"$out/vscode/package.json"
cp editors/vscode/language-configuration.json editors/vscode/extension.js editors/vscode/rpc.js "$out/vscode/"
quoted() { awk -v kind="$1" '$1 == kind { printf "%s\"%s\"", n++ ? " " : "", $2 }' "$out/words"; }
sed -e "s/@VERSION@/$version/" -e "s/@DECLARATIONS@/$(quoted declaration)/" -e "s/@KEYWORDS@/$(quoted keyword)/" -e "s/@BUILTINS@/$(quoted builtin)/" editors/emacs/limn-mode.el >"$out/emacs/limn-mode.el"
touch "$out/made"
