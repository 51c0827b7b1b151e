#!/bin/sh
# Trains a transformer on Shakespeare alike in limn and in PyTorch, and compares the validation losses:
#   bench/charlm.sh [--steps 2000] [--threads N] [--seed N] [--python python3] [--limn build/limn]
# limn's loss may be at most 0.02 above PyTorch's. Prints losses and seconds.
set -eu
limn=build/limn python="" steps=2000 threads=$(nproc) seed=0
while [ $# -gt 0 ]; do
  case $1 in
    --steps) steps=$2 ;;
    --threads) threads=$2 ;;
    --seed) seed=$2 ;;
    --python) python=$2 ;;
    --limn) limn=$2 ;;
    *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
. "$(dirname "$0")/peer.sh"
text=""
for place in "${LIMN_DATA:-}" data ../shared/data "${HOME:-}/.local/share/limn"; do
  [ -n "$text" ] || [ ! -e "$place/shakespeare/input.txt" ] || text=$place/shakespeare/input.txt
done
[ -n "$text" ] || { echo "Shakespeare's text is not here: \`limn data shakespeare\` says how to get it" >&2; exit 3; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

start=$(date +%s)
"$limn" train bench/charlm.limn --steps "$steps" --threads "$threads" --seed "$seed" --out "$out/run" --quiet
ours=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fit.cross_entropy") at = i } $at != "" { last = $at } END { print last }' "$out/run/metrics.csv")
middle=$(date +%s)
printf 'limn    %.4f %6d s\n' "$ours" $((middle - start))
theirs=$("$python" bench/torch_charlm.py "$text" --steps "$steps" --threads "$threads" --seed "$seed")
printf 'PyTorch %.4f %6d s\n' "$theirs" $(($(date +%s) - middle))
awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "limn is %.4f %s\n", (a > b) ? a - b : b - a, (a > b) ? "above" : "below"; exit (a > b + 0.02) }'
