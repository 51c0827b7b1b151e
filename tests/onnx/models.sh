#!/bin/sh
# Models exported by PyTorch (models.py): each is imported, checked, evaluated, drawn, costed, trained for ten steps and used, with PyTorch's
# results; then exported and imported again; and with npm's onnxruntime-node (see runtime.js) both files are run by it too, all to
# 1e-5. `models.sh [NAME…]`; prints a table with nodes, lines and the largest errors. Takes minutes: `make test-models`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../../build}
BUILD=$(cd "$BUILD" && pwd) && export BUILD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
if ! /usr/bin/python3 -c 'import torch' 2>log; then echo "skipped: no PyTorch"; exit 0; fi
runtime=
if command -v node >/dev/null && node "$here/runtime.js" --look; then runtime=1; else echo "skipped: nothing is compared with ONNX Runtime, as there is no onnxruntime-node"; fi
/usr/bin/python3 -W ignore "$here/models.py" . "$@" >log 2>&1 || { cat log; exit 1; }
status=0
printf '%-14s %6s %6s %10s %10s %10s %10s %10s %10s\n' model nodes lines values runtime 'ten steps' after again 'runtime'
for file in *.onnx; do
  name=${file%.onnx}
  names=x files=$name.0.npy
  [ -e "$name.1.npy" ] && names='x, x2' files="$files $name.1.npy"
  in=
  for f in $files; do in="$in --in $f"; done
  printf 'use "%s.limn"\ngiven %s, y from "%s.npz"\ngoal fit : model(%s) ~ y   by mse\ntrain 10 steps, batch 4, gd(%s)\n' "$name" "$names" "$name" "$names" "$(cat "$name.rate")" >"$name.train.limn"
  # shellcheck disable=SC2086
  if "$LIMN" import "$file" -o "$name.limn" && "$LIMN" check "$name.limn" && "$LIMN" eval "$name.limn" model $in --out "$name.got.npy" &&
    "$LIMN" draw "$name.limn" model --out "$name.svg" && "$LIMN" draw "$name.limn" model --check && "$LIMN" cost "$name.limn" model &&
    "$LIMN" train "$name.train.limn" --out "$name.run" && "$LIMN" predict "$name.train.limn" model --from "$name.run" $in --out "$name.used.npy" &&
    mkdir -p again && "$LIMN" export "$name.limn" model --as onnx -o "again/$name.onnx" && "$LIMN" import "again/$name.onnx" -o "again/$name.limn" &&
    "$LIMN" eval "again/$name.limn" model $in --out "again/$name.got.npy" &&
    { [ -z "$runtime" ] || { node "$here/runtime.js" "$file" "$name.ort.npy" $files && node "$here/runtime.js" "again/$name.onnx" "again/$name.ort.npy" $files; }; }; then
    /usr/bin/python3 - "$name" "$runtime" <<'PYTHON' || status=1
import sys
import numpy as np
name, runtime = sys.argv[1:]
want = np.load(name + ".out.npy")
far = lambda file, want=want: (lambda x: abs(x - want).max() / abs(want).max() if x.shape == want.shape else np.inf)(np.load(file))
steps, right = np.loadtxt(name + ".run/metrics.csv", delimiter=",", skiprows=1, usecols=3), np.load(name + ".losses.npy")
losses = abs(steps - right).max() / abs(right).max()
after = far(name + ".used.npy", np.load(name + ".after.npy"))  # as it is used then: what a batch norm kept
values = [far(name + ".got.npy"), far(name + ".ort.npy") if runtime else np.nan, far(f"again/{name}.got.npy"), far(f"again/{name}.ort.npy") if runtime else np.nan]
nodes = open(name + ".nodes").read()
print(f"{name:14} {nodes:>6} {sum(1 for _ in open(name + '.limn')):6} {values[0]:10.1e} {values[1]:10.1e} {losses:10.1e} {after:10.1e} {values[2]:10.1e} {values[3]:10.1e}")
good = not any(v > 1e-5 for v in values) and losses < 1e-4 and after < 1e-3
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
