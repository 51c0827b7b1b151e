#!/bin/sh
# The words of the language, each in a line after its kind: `keyword when`, `declaration box`, `builtin relu`. They are read where they
# stand: in the lexer, in the table of what the compiler knows, in the table of functions, in the library.
set -eu
cd "$(dirname "$0")/.."
lexer=src/lang/syntax/lex.c
known=src/lang/elab/builtin.c
functions=src/core/diagram/ops.def
# array FILE NAME: the first text of each entry, or all texts of a plain list
array() { awk -v begin="$2\\\\[\\\\] = {" 'index($0, "[] = {") && $0 ~ begin { on = 1 } on { print } on && /};/ { exit }' "$1" | grep -o '"[a-z_0-9]*"' | tr -d '"'; }
kinds() { sort -u | sed "s/^/$1 /"; }
array $lexer reserved | kinds keyword
array $lexer declaration_words | kinds declaration
{
  array $known builtins
  awk '/^S\(/ { n = $1; gsub(/S\(|,/, "", n); print n }' $functions
  awk '/^(box|optimiser|const) / { n = $2; sub(/[^A-Za-z0-9_].*/, "", n); print n }' lib/*.limn
} | kinds builtin
