#!/bin/sh
# Man pages, completions and files for editors, into a folder: packaging/share.sh OUT VERSION
set -eu
out=$1
version=$2
here=packaging
text=src/cli/commands.txt
rm -rf "$out"
mkdir -p "$out/man" "$out/completions" "$out/vim/syntax" "$out/vim/ftdetect" "$out/vim/ftplugin" "$out/vscode"
table() { awk -v version="$version" -v out="$out/man" -f $here/commands.awk -f "$here/$1.awk" $text; }
table man
awk -v version="$version" -f $here/manual.awk docs/language.md >"$out/man/limn-language.7"
for shell in bash zsh fish; do table $shell >"$out/completions/limn.$shell"; done
$here/words.sh >"$out/words"
awk -f $here/vim.awk "$out/words" >"$out/vim/syntax/limn.vim"
cp $here/vim/ftdetect.vim "$out/vim/ftdetect/limn.vim"
cp $here/vim/ftplugin.vim "$out/vim/ftplugin/limn.vim"
awk -f $here/textmate.awk "$out/words" >"$out/vscode/limn.tmLanguage.json"
sed "s/@VERSION@/$version/" $here/vscode/package.json >"$out/vscode/package.json"
cp $here/vscode/language-configuration.json "$out/vscode/"
touch "$out/made"
