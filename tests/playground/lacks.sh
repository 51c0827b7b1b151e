#!/bin/sh
# Checks that playground/ defines every function that its sources call and that only left-out sources define (PLAY_WITHOUT in Makefile): lacks.sh BUILD.
# It uses the symbols of the native objects, so it does not need clang for WASI.
set -eu
cd "$(dirname "$0")/../.."
build=$1
without=$(make -s --no-print-directory playground-without)
calls=$(find src -name '*.c' -not -path 'src/cli/*' -not -path 'src/studio/*' | sort | sed "s|^src|$build|; s|c\$|o|" | while read -r o; do [ ! -f "$o" ] || echo "$o"; done | xargs nm -A -g | awk -v build="$build/" -v without="$without" '
  BEGIN { n = split(without, left, " "); for (i = 1; i <= n; i++) out[left[i]] = 1 }
  { n = index($0, ":"); file = "src/" substr($0, length(build) + 1, n - length(build) - 2) "c"; $0 = substr($0, n + 1) }
  NF == 3 && !(file in out) { here[$3] = 1 }
  NF == 3 && file in out { lacking[$3] = 1 }
  NF == 2 && $1 == "U" && !(file in out) { called[$2] = file }
  END { for (name in called) if (name in lacking && !(name in here)) print name, called[name] }')
missing=$(echo "$calls" | while read -r name file; do
  [ -z "$name" ] || grep -qE "^[A-Za-z].*[ *]$name(\[|\()" playground/*.c playground/wasi/*.c || echo "$file calls $name"
done)
if [ -n "$calls" ] && [ -z "$missing" ]; then echo "ok the playground stands in for $(echo "$calls" | wc -l) functions of what it leaves out"
else echo "not ok the playground leaves out, without anything in playground/wasi: ${missing:-nothing is called, which cannot be}"; fi
