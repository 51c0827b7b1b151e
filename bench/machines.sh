#!/bin/sh
# Measures machines: bench/machines.sh [LIMN]
#   Lorenz from three machines, 20 million Runge-Kutta steps in doubles, against bench/lorenz.c compiled with the flags of compile.c.
#   Goal: 1.3 times the time of C.
#   A ring of 10 000 and of 100 000 oscillators, by rk4 and by dormand: the time of a step of one oscillator. Goal: the same for both.
# CPU times, the best of three, minus those of a short run.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

. bench/seconds.sh
less() { awk -v a="$1" -v b="$2" 'BEGIN { print a - b }'; }

case $(uname -m) in
  x86_64) cpu="-march=native -mprefer-vector-width=512" ;;
  aarch64) cpu="-march=armv8-a$(grep -qsw sve /proc/cpuinfo && echo +sve || :) -mtune=native" ;; # not by the name: SVE may be hidden
  *) cpu= ;;
esac
# shellcheck disable=SC2086
${CC:-cc} -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -std=gnu11 $cpu -o "$out/lorenz" bench/lorenz.c
sed '/^run /,$d' examples/lorenz.limn >"$out/machine.limn"
for t in 20 20000; do
  { cat "$out/machine.limn"; echo "run Lorenz to $t by rk4[0.001]"; } >"$out/$t.limn"
  "$limn" run --quiet "$out/$t.limn" # compiled, and in the cache
done
by_hand=$(less "$(seconds "$out/lorenz" 20000000)" "$(seconds "$out/lorenz" 20000)")
machine=$(less "$(seconds "$limn" run --quiet "$out/20000.limn")" "$(seconds "$limn" run --quiet "$out/20.limn")")
awk -v c="$by_hand" -v m="$machine" 'BEGIN { printf "lorenz, ns for a step: by hand %.1f, limn %.1f, ratio %.2f\n", c * 50, m * 50, m / c }'

# ring N BY: nanoseconds for one oscillator in one step
ring() {
  for t in 1 21; do
    sed "s/100000/$1/g; s/to 20 every 1 by .*/to $t every 1 by $2/" bench/ring.limn >"$out/ring.$t.limn"
    "$limn" run --plain "$out/ring.$t.limn" | sed -n 's/.*: \([0-9]*\) steps.*/\1/p' >"$out/steps.$t"
  done
  time=$(less "$(seconds "$limn" run --quiet "$out/ring.21.limn")" "$(seconds "$limn" run --quiet "$out/ring.1.limn")")
  awk -v t="$time" -v n="$1" -v a="$(cat "$out/steps.1")" -v b="$(cat "$out/steps.21")" 'BEGIN { printf "%.1f", 1e9 * t / n / (b - a) }'
}
for by in 'rk4[0.05]' 'dormand[1e-6]'; do
  echo "ring by $by, ns for one in one step: 10 000 of them $(ring 10000 "$by"), 100 000 of them $(ring 100000 "$by")"
done
