#!/bin/sh
# Boxes and learners as Python files, run, against `limn eval`: values, and in PyTorch gradients. JAX is tried by values only, with NumPy in its
# place. LONG=1 (make test-python-out): every learner of every example, with a table. $PYTHON: one with NumPy, and PyTorch if it is to be tried.
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=
for p in ${PYTHON:-python3 /usr/bin/python3}; do
  [ -z "$python" ] && "$p" -c 'import numpy' 2>/dev/null && python=$p
  "$p" -c 'import numpy, torch' 2>/dev/null && python=$p && torch=yes && break
done
if [ -z "$python" ]; then echo "skipped: no Python with NumPy"; exit 0; fi
export PYTHONDONTWRITEBYTECODE=1
paths=../onnx_out/paths.limn
"$LIMN" export net.limn spread --as torch -o "$work/m.py" >"$work/said" 2>&1
if grep -q "\`spread\` needs the array operation AveragePool, which has no form in PyTorch yet" "$work/said"; then echo "ok what has no form is refused"; else echo "not ok what has no form is refused"; cat "$work/said"; fi
"$LIMN" export net.limn twice --as jax --weights w.safetensors -o "$work/m.py" >"$work/said" 2>&1
if [ $? -eq 2 ] && grep -q "\`jax\` takes no weights: \`load\` in the file reads them" "$work/said"; then echo "ok weights are not for the text"; else echo "not ok weights are not for the text"; cat "$work/said"; fi
refused() { # WHAT TEXT ARGUMENT…
  what=$1 text=$2
  shift 2
  "$LIMN" export "$@" --as torch -o "$work/m.py" >"$work/said" 2>&1
  if [ $? -eq 1 ] && grep -q "$text" "$work/said"; then echo "ok $what"; else echo "not ok $what"; cat "$work/said"; fi
}
refused "a derivative of its own" "\`hard\` has a derivative of its own, and those have no form in Python yet" net.limn signs
refused "no goals" "the program has no goals: name a box or learner" net.limn
refused "states" "training moves \`gen/layer.1/batch_norm/m\`, a state, and states have no form in PyTorch yet: name a learner" ../../examples/gan.limn
all="net.limn sees net.limn twice net.limn again net.limn held net.limn plain net.limn other net.limn train_it $paths halves $paths sorted $paths padded $paths bits $paths chosen $paths reader ../../examples/iris.limn guess"
# shellcheck disable=SC2086 # words without spaces
if [ -n "${torch:-}" ]; then "$python" compare.py torch "$LIMN" "$work" $all && "$python" steps.py "$LIMN" "$work" goals.limn; else echo "skipped: no PyTorch"; fi
# shellcheck disable=SC2086
"$python" compare.py jax "$LIMN" "$work" $all
[ -n "${LONG:-}" ] || exit 0
for f in ../../examples/*.limn; do
  sed 's/#.*//' "$f" | awk -v f="$f" '
    $1 == "learn" { sub(/^ *learn */, ""); sub(/[:=(].*/, ""); n = split($0, name, ","); for (i = 1; i <= n; i++) { sub(/\[.*/, "", name[i]); gsub(/ /, "", name[i]); print f, name[i] } }'
done >"$work/pairs"
# shellcheck disable=SC2046
[ -z "${torch:-}" ] || "$python" compare.py torch "$LIMN" "$work" --long $(cat "$work/pairs")
# shellcheck disable=SC2046
"$python" compare.py jax "$LIMN" "$work" --long $(cat "$work/pairs")
