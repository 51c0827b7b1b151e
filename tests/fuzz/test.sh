#!/bin/sh
# Replays the corpus of the fuzzers: each file of corpus/TARGET in fuzz_TARGET.c; and tests that the driver detects a fault.
set -u
here=tests/fuzz
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export FUZZ_TMP=$out LIMN_CC=none LIMN_CACHE="$out/cache" LIMN_DATA="$out/data"
flags="-std=c11 -O1 -Isrc -Iinclude -Itests -I$here -DLIMN_GUARD"
case $BUILD in
  */san) flags="$flags -g -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
  *) flags="$flags -Wl,-S" ;; # linked sooner: nobody debugs these
esac
compile() { # OUT FILE…
  to=$1
  shift
  ${CC:-cc} $flags -o "$to" "$@" ${LDLIBS:--lpng -lz -lpthread -lm} 2>"$out/log"
}
for part in $here/replay.c $here/mutate.c src/base/arena.c tests/diagram_equal.c tests/diagram_lex.c tests/diagram_read.c tests/diagram_scalar.c tests/diagram_valid.c; do
  # shellcheck disable=SC2086
  ${CC:-cc} $flags -c -o "$out/$(basename "$part" .c).o" "$part" || exit 1
done

for harness in $here/fuzz_*.c; do
  target=$(basename "$harness" .c)
  target=${target#fuzz_}
  help=
  if grep -q 'diagram_help\|passes.h' "$harness"; then help=$(echo "$out"/diagram_*.o); fi
  # shellcheck disable=SC2086
  if ! compile "$out/$target" "$harness" "$out/replay.o" "$out/mutate.o" "$out/arena.o" $help "$BUILD/libinner.a"; then
    echo "not ok fuzz $target compiles"
    cat "$out/log"
    continue
  fi
  set -- $here/corpus/$target/*
  [ -e "$1" ] || continue
  # One process for all: each is named after it, so what is not named is what it died of.
  if timeout 100 "$out/$target" "$@" >"$out/names" 2>"$out/log"; then status=0; else status=1; fi
  sed "s|.*/|ok fuzz $target |" "$out/names"
  [ $status = 0 ] || {
    shift "$(grep -c . "$out/names")"
    echo "not ok fuzz $target $(basename "$1")"
    head -20 "$out/log"
  }
done

# The driver: a harness that dies or hangs is found out, also by a seed itself, and what it died of is kept: one file for each find.
cat >"$out/bad.c" <<'END'
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  volatile int on = 1;
  if (n > 1 && p[0] == 'a' && p[1] > 'b') abort();
  while (n > 1 && p[0] == 'h' && p[1] > 'b' && on) {}
  while (n > 1 && p[0] == 's' && p[1] > 'b') sleep(1);
  while (n > 1 && p[0] == 'm' && p[1] > 'b') memset(malloc(1 << 20), 1, 1 << 20);
  return 0;
}
END
if compile "$out/bad" "$out/bad.c" "$out/replay.o" "$out/mutate.o"; then
  for seed in ab hb ac mc; do
    rm -rf "$out/seeds" "$out/keep" "$out/found"
    mkdir "$out/seeds" "$out/keep" "$out/found"
    printf %s $seed >"$out/seeds/s"
    "$out/bad" --mutate 3 1 bad "$out/found" "$out/seeds" "$out/keep" >"$out/said" 2>/dev/null && echo "not ok fuzz driver finds nothing after $seed"
    find=$(find "$out/found" -type f | head -1)
    finds=$(find "$out/found" -type f | wc -l)
    if [ "${seed%?}" = "$(head -c 1 "$find" 2>/dev/null)" ] && grep -q "^bad [0-9]* .* $finds\$" "$out/said"; then echo "ok fuzz driver $seed"; else
      echo "not ok fuzz driver $seed"
      cat "$out/said"
    fi
  done
  # A file that takes too much is a failure that is told, and nothing that the machine has to end: memory; time, and (FULL=1) waiting.
  for too_much in hc:'the CPU.s time' mc:memory ${FULL:+sc:'only waits'}; do
    printf xx >"$out/seeds/s"
    printf %s "${too_much%%:*}" >"$out/too_much"
    # A slow machine needs more than the allowed CPU time to touch the usual limit of memory.
    FUZZ_MEMORY=64 "$out/bad" "$out/seeds/s" "$out/too_much" >"$out/said" 2>&1
    if [ $? -eq 1 ] && grep -q "takes too much: ${too_much#*:}" "$out/said"; then echo "ok fuzz driver says $too_much"; else
      echo "not ok fuzz driver says $too_much"
      cat "$out/said"
    fi
  done
else
  echo "not ok fuzz driver compiles"
  cat "$out/log"
fi
