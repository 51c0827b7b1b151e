#!/bin/sh
# Training of the MNIST examples: one epoch, with FULL=1 also convolutions, with LONG=1 all five epochs; for each seed of SEEDS.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! "$LIMN" data mnist >"$dir/log" 2>&1; then
  echo "skipped: MNIST is not on this machine"
  exit 0
fi
case $BUILD in
  */san) echo "skipped: too slow under the sanitizers"; exit 0 ;;
esac

# reaches FILE EPOCHS LEAST
reaches() {
  for seed in ${SEEDS:-0}; do
    rm -rf "$dir/run"
    name="$1, $2 epochs, seed $seed"
    if ! "$LIMN" train "examples/$1" --epochs "$2" --seed "$seed" --out "$dir/run" --quiet >"$dir/log" 2>&1; then
      echo "not ok $name"
      cat "$dir/log"
      continue
    fi
    hits=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fit.hits") at = i } { last = $at } END { print last }' "$dir/run/metrics.csv")
    if awk -v hits="$hits" -v least="$3" 'BEGIN { exit !(hits >= least) }'; then
      echo "ok $name: $hits"
    else
      echo "not ok $name: $hits, wanted $3"
    fi
  done
}

if [ -n "${LONG:-}" ]; then
  reaches digits.limn 5 0.98
  reaches digits_conv.limn 5 0.99
else
  reaches digits.limn 1 0.96
  [ -z "${FULL:-}" ] || reaches digits_conv.limn 1 0.97
fi
