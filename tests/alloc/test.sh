#!/bin/sh
# Failing allocations everywhere. Rebuilds only the arena, with a counter of allocations.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags="-std=c11 -D_DEFAULT_SOURCE -g -O1 -Isrc -Iinclude -DLIMN_GUARD"
case $BUILD in */san) flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all" ;; esac
if ! ${CC:-cc} $flags -Wl,--wrap=calloc,--wrap=malloc,--wrap=aligned_alloc,--wrap=free -o "$out/alloc" tests/alloc/alloc.c src/base/arena.c "$BUILD/libinner.a" ${LDLIBS:--lpng -lz -lpthread -ldl -lm} 2>"$out/log"; then
  echo "not ok alloc compiles"
  cat "$out/log"
  exit 1
fi
ln -s "$PWD/tests" "$out/tests"
if (cd "$out" && ./alloc) >"$out/log" 2>&1; then echo "ok alloc"; else
  echo "not ok alloc"
  tail -20 "$out/log"
fi
printf 'box f(x: R[3]) -> R[3] = x + 1\n' >"$out/f.limn"
${CC:-cc} $flags -o "$out/limn" "$BUILD"/cli/*.o $(ls "$BUILD"/studio/*.o "$BUILD"/queue/*.o 2>/dev/null) src/base/arena.c "$BUILD/libinner.a" ${HTTP_LIBS:-} ${LDLIBS:--lpng -lz -lpthread -ldl -lm} 2>/dev/null
for k in 1 2 3 50 2000; do # the command says so, with exit status 3
  LIMN_FAIL_ALLOC=$k "$out/limn" check "$out/f.limn" >"$out/log" 2>&1
  status=$?
  if [ $status -eq 3 ] && grep -q memory "$out/log"; then echo "ok alloc command $k"; else
    echo "not ok alloc command $k: status $status"
    cat "$out/log"
  fi
done
