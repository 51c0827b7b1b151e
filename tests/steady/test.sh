#!/bin/sh
# Training steps in steady state: no allocation and no system call in a step, few between steps, few in the thread that prepares batches.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LIMN_CACHE="$dir/cache" ASAN_OPTIONS=detect_leaks=0
flags="-std=c11 -D_DEFAULT_SOURCE -g -O1 -Isrc -Iinclude"
case $BUILD in */san) flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all" ;; esac
wrap=""
for f in malloc calloc realloc aligned_alloc arena_alloc loader_next engine_queue; do wrap="$wrap,--wrap=$f"; done
if ! ${CC:-cc} $flags -Wl$wrap -o "$dir/limn" "$here/steady.c" "$BUILD"/cli/*.o $(ls "$BUILD"/studio/*.o "$BUILD"/queue/*.o 2>/dev/null) "$BUILD/libinner.a" ${HTTP_LIBS:-} ${LDLIBS:--lpng -lz -lpthread -lm} 2>"$dir/log"; then
  echo "not ok steady compiles"
  cat "$dir/log"
  exit 1
fi
cd "$dir" || exit 1
cat >iris.limn <<'END'
given x, y from iris
learn f : R[4] -> R[3] = dense[16] ; relu ; dense[3]
goal fit : f(x) ~ y   by cross_entropy
train 2000 steps, batch 32, adam(0.001)
END
cat >mlp.limn <<'END'
given image, label from glyphs
learn f : R[28 28] -> R[10] = flatten ; dense[512] ; relu ; dense[256] ; relu ; dense[10]
goal fit : f(image) ~ label   by cross_entropy
train 600 steps, batch 64, adam(0.001)
END
traced=1
if ! strace -o /dev/null true 2>/dev/null; then
  echo "skipped: system calls are not counted, because strace is not here or may not trace"
  traced=0
fi

# at_most NAME LIMIT COUNT
at_most() { if [ "$3" -le "$2" ]; then echo "ok $1"; else echo "not ok $1: $3, at most $2 are good"; fi; }

# Lines "calls in steps", "calls between steps", "calls of other threads" of a trace, in its second half.
count() {
  awk '
    NR == 1 { main = $1 }
    $1 == main && /getppid\(/ { marks++; last = NR }
    { line[NR] = $0; owner[NR] = $1; mark[NR] = $1 == main && /getppid\(/; at[NR] = marks }
    END {
      for (i = 1; i <= last; i++) {
        if (at[i] <= marks / 2 || mark[i] || line[i] ~ /resumed>/) continue
        if (owner[i] != main) others++
        else if (at[i] % 2) { inside++; print line[i] >"/dev/stderr" }
        else between++
      }
      print inside + 0, between + 0, others + 0, marks / 4
    }' "$1"
}

for name in iris mlp; do
  ./limn train $name.limn --threads 1 --every 100000 --out plain_$name >/dev/null 2>err || { echo "not ok $name runs"; cat err; }
  set -- $(sed -n 's/^steps \([0-9]*\) allocations \([0-9]*\)$/\1 \2/p' err)
  at_most "$name: allocations in ${1:-no} steps" 0 "${2:-1}"
  [ $traced = 1 ] || continue
  began=$(date +%s)
  strace -f -o trace ./limn train $name.limn --threads 1 --every 100000 --out traced_$name >/dev/null 2>err
  set -- $(count trace 2>calls)
  at_most "$name: system calls in $4 steps" 0 "$1" && head -5 calls
  # Progress is reported at intervals of time, so a slow machine reports more often.
  most=$((60 + 6 * ($(date +%s) - began)))
  case $BUILD in */san) ;; # there each allocation is a block of its own
    *) at_most "$name: system calls between them: reports and rows" $most "$2" ;;
  esac
  # to sleep and be woken for every batch would be two a step
  at_most "$name: system calls of the filler" "$4" "$3"
done

# Where no kernel is large enough for two, no thread is started; where one is, they are.
cat >ball.limn <<'END'
machine Ball -> (h: R[]) {
  state h = 1, v = 0
  h' = v
  v' = -9.81
  next v = -0.8 * v when h <= 0
}
run Ball to 1
check last(h) < 1
END
sed 's/train 600 steps/train 5 steps/' mlp.limn >few.limn
if [ $traced = 1 ]; then
  strace -f -e trace=clone,clone3 -o ball.trace ./limn run ball.limn --plain --quiet --threads 4 >log 2>&1
  at_most "a small system: threads" 0 "$(grep -c CLONE_THREAD ball.trace)"
  strace -f -e trace=clone,clone3 -o few.trace ./limn train few.limn --quiet --threads 3 --out few >log 2>&1
  at_most "a large step: threads that were not started" 0 "$((2 - $(grep -c CLONE_THREAD few.trace)))"
fi
