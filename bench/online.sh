#!/bin/sh
# What a learner costs that learns at every tick: bench/online.sh [LIMN]
#   A network of 2, 64 and 1 with Adam in double, a sample at a time; ticks a second of one core, by limn, by hand in C
#   (bench/online.c) and by PyTorch, where there is one. The line to hold: 300 000.
# Times are of the processor, the best of three, less those of a run that is short.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

. bench/seconds.sh
rate() { awk -v n="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%.0f", n / (a - b) }'; }

case $(uname -m) in
  x86_64) cpu="-march=native" ;;
  aarch64) cpu="-march=armv8-a$(grep -qsw sve /proc/cpuinfo && echo +sve || true) -mtune=native" ;;
  *) cpu= ;;
esac
# shellcheck disable=SC2086
${CC:-cc} -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -std=gnu11 $cpu -o "$out/online" bench/online.c -lm
long=1000000 short=100000
for n in $long $short; do "$limn" run --quiet --plain --threads 1 --set n=$n bench/online.limn; done # compiled, and in the cache
by_hand=$(rate $((long - short)) "$(seconds "$out/online" $long)" "$(seconds "$out/online" $short)")
machine=$(rate $((long - short)) "$(seconds "$limn" run --quiet --plain --threads 1 --set n=$long bench/online.limn)" \
  "$(seconds "$limn" run --quiet --plain --threads 1 --set n=$short bench/online.limn)")
torch=$(/usr/bin/python3 bench/online_torch.py 3000 2>/dev/null || echo none)
echo "online learning, ticks a second: limn $machine, by hand $by_hand, PyTorch $torch"
