#!/bin/sh
# Compares GPT-2 (examples/gpt2.limn) with PyTorch, from the same initial weights on the same batches; prints the losses of both:
#   bench/gpt2.sh [--small] [--steps 50] [--device cpu] [--precision 32] [--within 1e-3] [--batch N] [--python python3] [--limn build/limn]
# --small: 2 layers, 64 wide, 4 heads, 32 long, 300 pieces. No loss may differ by more than --within.
set -eu
limn=build/limn python="" steps=50 device=cpu precision=32 within=1e-3 batch=8 heads=12 vocab=50257 sizes="" threads=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --small) sizes="--set layers=2 --set heads=4 --set m=64 --set t=32 --set vocab=300" heads=4 vocab=300; shift; continue ;;
    --steps) steps=$2 ;;
    --device) device=$2 ;;
    --precision) precision=$2 ;;
    --within) within=$2 ;;
    --batch) batch=$2 ;;
    --python) python=$2 ;;
    --limn) limn=$2 ;;
    *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
. "$(dirname "$0")/peer.sh"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$limn" data "shakespeare[pieces: $vocab]" --out "$out/tokens.safetensors" >"$out/log" || { cat "$out/log" >&2; exit 3; }
# shellcheck disable=SC2086 # several words, or none
"$limn" export examples/gpt2.limn $sizes --as safetensors -o "$out/weights.safetensors" >"$out/log"
start=$(date +%s)
# shellcheck disable=SC2086
"$limn" train examples/gpt2.limn $sizes --steps "$steps" --batch "$batch" --device "$device" --precision "$precision" --threads "$threads" \
  --plain --quiet --out "$out/run"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "guess") at = i } NR > 1 { print $1, $at }' "$out/run/metrics.csv" >"$out/ours"
middle=$(date +%s)
"$python" bench/torch_gpt2.py "$out/tokens.safetensors" "$out/weights.safetensors" --heads "$heads" --batch "$batch" --steps "$steps" \
  --device "$device" --precision "$precision" --threads "$threads" >"$out/theirs"
awk -v within="$within" -v limn=$((middle - start)) -v torch=$(($(date +%s) - middle)) '
  NR == FNR { ours[$1] = $2; next }
  $1 in ours {
    d = ours[$1] - $2
    if (d < 0) d = -d
    if (d > most) { most = d; at = $1 }
    n++
    if ($1 == 1 || $1 % 10 == 0) printf "step %4d  limn %.6f  PyTorch %.6f\n", $1, ours[$1], $2
  }
  END {
    printf "%d losses, at most %.2g apart (step %d); limn %d s, PyTorch %d s\n", n, most, at, limn, torch
    exit !(n > 1 && most <= within)
  }' "$out/ours" "$out/theirs"
