#!/bin/sh
# tools/shapes.sh: the source passes, and each of the three kinds of violations is found.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if tools/shapes.sh >"$dir/log" 2>&1; then echo "ok shapes of src"; else echo "not ok shapes of src"; cat "$dir/log"; fi

# found NAME WORDS: src with the C text of standard input as a further file is refused with these words
found() {
  rm -rf "$dir/src"
  mkdir -p "$dir/src/lang/elab" "$dir/src/lang/syntax"
  cat >"$dir/src/$3"
  if tools/shapes.sh "$dir/src" >"$dir/log" 2>&1; then said=nothing; else said=$(cat "$dir/log"); fi
  case $said in
    *"$2"*) echo "ok shapes: $1" ;;
    *) echo "not ok shapes: $1"; echo "$said" ;;
  esac
}
echo 'int seven(int a, int b, int c, int d, int e, int (*f)(int, int), int g) { return a; }' |
  found "seven parameters, one of them a function" nothing lang/elab/x.c
printf 'static int eight(int a, int b, int c, int d, // and\n                 int e, int f, int g, int h) {\n  return a;\n}\n' |
  found "eight parameters" "eight has 8 parameters" lang/elab/x.c
echo 'int eight(int, int, int, int, int, int, int, int);' | found "eight parameters of a prototype" "eight has 8 parameters" lang/elab/x.h
{ echo 'void f(void) {'; seq 68 | sed 's/.*/  g();/'; echo '}'; } | found "70 lines" nothing lang/elab/x.c
{ echo 'void f(void) {'; seq 69 | sed 's/.*/  g();/'; echo '}'; } | found "71 lines" "f has 71 lines" lang/elab/x.c
echo 'const Syntax *f(const Syntax *n) { return n->kid[0]; }' | found "parts by number" "they have names" lang/elab/x.c
echo 'bool f(const Syntax *n) { return n->nkid == 1; }' | found "the number of parts" "they have names" lang/elab/x.c
echo "bool f(const Syntax *n) { return n->signs[0] == 'w'; }" | found "signs by their letters" "they have names" lang/elab/x.c
echo 'const Syntax *f(const Syntax *n) { return n->kid[0]; }' | found "parts by number in src/lang/syntax" nothing lang/syntax/x.c
