#!/bin/sh
# Measures online learning: bench/online.sh [LIMN]
#   A 2-64-1 network with Adam in doubles, one sample at a time; ticks per second of one core, in limn, in C
#   (bench/online.c) and in PyTorch, if installed. Goal: 300 000.
# CPU times, the best of three, minus those of a short run.
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
