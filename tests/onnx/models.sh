#!/bin/sh
# Models that PyTorch exports (models.py): each is imported, checked, evaluated, drawn, costed, and trained for ten steps, all as PyTorch
# does. `models.sh [NAME…]`; a table with nodes, lines and the largest errors. Takes minutes: `make test-models`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
if ! /usr/bin/python3 -c 'import torch' 2>log; then echo "skipped: no PyTorch"; exit 0; fi
/usr/bin/python3 -W ignore "$here/models.py" . "$@" >log 2>&1 || { cat log; exit 1; }
status=0
printf '%-14s %6s %6s %10s %10s\n' model nodes lines values 'ten steps'
for file in *.onnx; do
  name=${file%.onnx}
  names=x in="--in $name.0.npy"
  [ -e "$name.1.npy" ] && names='x, x2' in="$in --in $name.1.npy"
  printf 'use "%s.limn"\ngiven %s, y from "%s.npz"\ngoal fit : model(%s) ~ y   by mse\ntrain 10 steps, batch 4, gd(%s)\n' "$name" "$names" "$name" "$names" "$(cat "$name.rate")" >"$name.train.limn"
  # shellcheck disable=SC2086
  if "$LIMN" import "$file" -o "$name.limn" && "$LIMN" check "$name.limn" && "$LIMN" eval "$name.limn" model $in --out "$name.got.npy" &&
    "$LIMN" draw "$name.limn" model --out "$name.svg" && "$LIMN" draw "$name.limn" model --check && "$LIMN" cost "$name.limn" model &&
    "$LIMN" train "$name.train.limn" --out "$name.run"; then
    /usr/bin/python3 - "$name" <<'PYTHON' || status=1
import sys
import numpy as np
name = sys.argv[1]
got, want = np.load(name + ".got.npy"), np.load(name + ".out.npy")
steps, right = np.loadtxt(name + ".run/metrics.csv", delimiter=",", skiprows=1, usecols=3), np.load(name + ".losses.npy")
values, losses = abs(got - want).max() / abs(want).max(), abs(steps - right).max() / abs(right).max()
nodes = open(name + ".nodes").read()
print(f"{name:14} {nodes:>6} {sum(1 for _ in open(name + '.limn')):6} {values:10.1e} {losses:10.1e}")
good = got.shape == want.shape and values < 1e-5 and losses < 1e-4
if not good: print("not ok", name)
sys.exit(not good)
PYTHON
  else
    echo "not ok $name"
    tail -5 log
    status=1
  fi >>out 2>>log
  tail -1 out
done
exit $status
