#!/bin/sh
# Trains programs completely and prints their results:
#   bench/ends.sh [--device cuda] [--precision "tf32 bf16"] [--only "vae vit"] [--limn build/limn]
# A line for each: last losses and measures, and the seconds from start to end. Programs without their data are skipped.
set -eu
limn=build/limn device=auto precision=32 only="digits_conv charlm vae gan vit unet resnet"
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=$2 ;;
    --precision) precision=$2 ;;
    --only) only=$2 ;;
    --limn) limn=$2 ;;
    *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat >"$out/vit.limn" <<END
# The vision transformer of the examples on digits: some 98 % of the test set are read after five epochs.
use "$PWD/examples/vit.limn"
given image : R[28 28 1], label from mnist
goal fit : vit(image) ~ label   by cross_entropy
measure fit by hits on mnist.test
train 5 epochs, batch 128, adam(fade(0.001))
END
cat >"$out/unet.limn" <<END
# The U-Net of the examples, as small as digits want it: it takes away noise.
use "$PWD/examples/unet.limn"
given image : R[28 28 1] from mnist
learn clean : R[28 28 1] -> R[28 28 1] = unet[1, depth: 2, width: 16]
box spoiled(X: R[28 28 1]) -> R[28 28 1] = X + 0.5 * normal[28 28 1]
goal near : clean(spoiled(image)) ~ image   by l2
measure near on mnist.test
train 2 epochs, batch 64, adam(0.001)
END
for name in $only; do
  file=examples/$name.limn
  [ ! -f "$out/$name.limn" ] || file=$out/$name.limn # these examples have no data of their own
  for p in $precision; do
    start=$(date +%s)
    if ! "$limn" train "$file" --read examples --no-sandbox --device "$device" --precision "$p" --plain --quiet --out "$out/$name.$p" >"$out/log" 2>&1; then
      echo "$name $p: $(grep -m1 error "$out/log" | cut -c1-150)"
      continue
    fi
    awk -F, -v name="$name" -v p="$p" -v seconds=$(($(date +%s) - start)) '
      NR == 1 { n = split($0, key, ",") }
      { for (i = 1; i <= NF; i++) if ($i != "") last[i] = $i }
      END { printf "%-12s %-5s %4d s ", name, p, seconds; for (i = 2; i <= n; i++) if (key[i] != "time") printf " %s %.5g", key[i], last[i]; print "" }' "$out/$name.$p/metrics.csv"
  done
done
