#!/bin/sh
# Measures events per second: bench/neurons.sh [LIMN]
#   1000 integrate-and-fire neurons with 100 000 synapses, in limn and in C (neurons.c) with the same method and tolerance.
# CPU times, the best of three; limn's minus those of a short run. Both must have the same results.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
${CC:-cc} -O3 -march=native -o "$out/neurons" bench/neurons.c -lm

. bench/seconds.sh
sed 's/to 60 every 60/to 0.001/' bench/neurons.limn >"$out/short.limn"
for i in 1 2 3; do "$out/neurons" 60 1e-6; done | sort -n | head -1 >"$out/theirs"
read -r time spikes total <"$out/theirs"
{ cat bench/neurons.limn; echo "check last(total) = $total within 1e-4"; } >"$out/claim.limn"
"$limn" run --plain "$out/claim.limn" | grep -q '^1 claim holds' || { echo "limn and C do not end alike"; exit 1; }
long=$(seconds "$limn" run --plain --threads 1 bench/neurons.limn)
short=$(seconds "$limn" run --plain --threads 1 "$out/short.limn")
awk -v t="$time" -v n="$spikes" -v a="$long" -v b="$short" 'BEGIN { printf "neurons, spikes a second: by hand %.0f, limn %.0f, ratio of times %.2f\n", n / t, n / (a - b), (a - b) / t }'
