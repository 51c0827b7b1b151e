#!/bin/sh
# What the fuzzers found, and seeds, once more: each file of corpus/TARGET through fuzz_TARGET.c.
set -u
here=tests/fuzz
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags="-std=c11 -g -O1 -Isrc -Iinclude -Itests -I$here -DLIMN_GUARD"
case $BUILD in */san) flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all" ;; esac
for harness in $here/fuzz_*.c; do
  target=$(basename "$harness" .c)
  target=${target#fuzz_}
  help=
  if grep -q diagram_help "$harness"; then
    for part in equal lex read scalar valid; do help="$help tests/diagram_$part.c"; done
  fi
  if ! ${CC:-cc} $flags -o "$out/$target" "$harness" $here/replay.c $help src/base/arena.c "$BUILD/libinner.a" ${LDLIBS:--lpng -lz -lpthread -lm} 2>"$out/log"; then
    echo "not ok fuzz $target compiles"
    cat "$out/log"
    continue
  fi
  for f in $here/corpus/$target/*; do
    [ -e "$f" ] || continue
    if timeout 10 "$out/$target" "$f" >"$out/log" 2>&1; then echo "ok fuzz $target $(basename "$f")"; else
      echo "not ok fuzz $target $(basename "$f")"
      head -20 "$out/log"
    fi
  done
done
