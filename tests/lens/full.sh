#!/bin/sh
# Trains examples/lens.limn and examples/smiles.limn for each seed of SEEDS (0), and compares the results with their figures: a line for each,
# wanted and reached. Takes minutes. LIMN is the program, by default build/limn.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
LIMN=${LIMN:-build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
missed=0

# figure WHAT VALUE least|most BOUND
figure() {
  if awk -v a="$2" -v how="$3" -v b="$4" 'BEGIN { exit !(a != "" && (how == "least" ? a >= b : a <= b)) }'; then
    echo "ok $1: wanted at $3 $4, reached $2"
  else
    echo "not ok $1: wanted at $3 $4, reached $2"
    missed=1
  fi
}
# trained FILE SEED: a run in $dir/run, or nothing is measured
trained() {
  rm -rf "$dir/run"
  "$LIMN" train "$1" --seed "$2" --quiet --out "$dir/run" >"$dir/log" 2>&1 && return 0
  echo "not ok $1 trains"
  cat "$dir/log"
  missed=1
  return 1
}
value() { awk -v name="$1" '$1 == name { print $2 }' "$dir/$2"; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'; }

for seed in ${SEEDS:-0}; do
  trained tests/lens/plain.limn "$seed" && "$LIMN" eval tests/lens/plain.limn --from "$dir/run" >"$dir/plain"
  if trained examples/lens.limn "$seed" && "$LIMN" eval tests/lens/figures.limn --read examples --from "$dir/run" >"$dir/lens"; then
    plain=$(value rebuilt plain)
    figure "lens, seed $seed: faces read" "$(value reads lens)" least 0.99
    figure "lens, seed $seed: edits read back" "$(value edits lens)" least 0.99
    figure "lens, seed $seed: GetPut over a plain autoencoder" "$(over "$(value same lens)" "$plain")" most 1.2
    figure "lens, seed $seed: undo over a plain autoencoder" "$(over "$(value back lens)" "$plain")" most 1.2
    figure "lens, seed $seed: edit to truth over face to truth, l2" "$(over "$(value near lens)" "$(value apart lens)")" most 0.5
    figure "lens, seed $seed: edits that grow with t" "$(value monotone lens)" least 0.95
  fi
  if ! "$LIMN" data smiles >"$dir/log" 2>&1; then
    echo "skipped: smiles is not on this machine"
  elif trained examples/smiles.limn "$seed" && "$LIMN" eval examples/smiles.limn --from "$dir/run" >"$dir/smiles"; then
    figure "smiles, seed $seed: faces read" "$(value reads smiles)" least 0.88
    figure "smiles, seed $seed: edits that the judge reads so" "$(value flips smiles)" least 0.9
    figure "smiles, seed $seed: change outside the mouth over inside" "$(over "$(value outside smiles)" "$(value inside smiles)")" most 0.3333
  fi
done
exit $missed
