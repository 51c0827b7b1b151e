#!/bin/sh
# The same rows in csv, tsv, npz, npy, idx and folders of pictures give the same run, bit for bit; words keep their numbers in
# a later file with only some of them; the names of a `given` and its position change nothing. RUNS random tables.
set -u
here=$PWD/tests/files
runs=${RUNS:-6}
first=${SEED:-1}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1

# one SEED: what is wrong is printed
one() {
  /usr/bin/python3 "$here/tables.py" "$out/$1" "$1" >"$out/programs" || return
  cd "$out/$1" || return
  while read -r group program; do
    "$LIMN" train "$program" --reference --plain --quiet --out "run_$program" >said 2>&1 || { echo "    table $1, $program:"; head -5 said; continue; }
    hash=$(sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' "run_$program/run.json")
    [ -n "$hash" ] || echo "    table $1, $program: no hash"
    [ -f "$group" ] || echo "$hash" >"$group"
    [ "$hash" = "$(cat "$group")" ] || echo "    table $1: $program made another run than the first of its group"
    cut -d, -f1,2,4- "run_$program/metrics.csv" >rows
    [ -f "$group.rows" ] || cp rows "$group.rows"
    cmp -s rows "$group.rows" || echo "    table $1: $program measured something else than the first of its group"
  done <"$out/programs"
  "$LIMN" predict table_t_csv.limn which --from run_table_t_csv.limn --in later.csv:kind >said 2>&1
  cmp -s said later.numbers || { echo "    table $1: words of a later file have other numbers:"; cat said later.numbers; }
  cd "$out" && rm -rf "${out:?}/$1"
}

seed=$first
while [ "$seed" -lt $((first + runs)) ]; do
  one "$seed"
  seed=$((seed + 1))
done >wrong 2>&1
if [ -s wrong ]; then echo "not ok files: $runs random tables from seed $first"; head -30 wrong; else echo "ok files: $runs random tables in every form"; fi
