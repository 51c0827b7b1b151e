#!/bin/sh
# The words of the language, each in a line after its kind: `keyword when`, `declaration box`, `builtin relu`. They are read where they
# stand: in the lexer, in the table of what the compiler knows, in the table of functions, in the library.
set -eu
cd "$(dirname "$0")/.."
lexer=src/lang/syntax/lex.c
functions=src/core/diagram/ops.def
# array PATTERN FILE…: every text in the arrays whose first line has the pattern
array() {
  pattern=$1
  shift
  awk -v begin="$pattern" 'index($0, begin) && /= {/ { on = 1 } on { print } on && /}/ { if ($0 ~ /};/) on = 0 }' "$@" | grep -o '"[a-z_0-9]*"' | tr -d '"'
}
kinds() { sort -u | sed "s/^/$1 /"; }
array ' reserved[] = {' $lexer | kinds keyword
array ' declaration_words[] = {' $lexer | kinds declaration
{
  array 'const BuiltinBox ' $(find src/lang -name '*.c' | sort)
  awk '/^S\(/ { n = $1; gsub(/S\(|,/, "", n); print n }' $functions
  awk '/^(box|optimiser|const) / { n = $2; sub(/[^A-Za-z0-9_].*/, "", n); print n }' lib/*.limn
} | kinds builtin
