#!/bin/sh
# Boxes, learners and whole programs exported to Python, compared with limn: values, gradients, ten training steps. If JAX is not installed,
# NumPy replaces it. LONG=1 (make test-python-out): every learner and program of the examples, with a table, and the folder
# $BUILD/python_out, which `python3 tests/python_out/all.py $BUILD/python_out` tests with PyTorch or JAX. $PYTHON: one with NumPy, and with PyTorch
# if that is to be tested.
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=
for p in ${PYTHON:-python3 /usr/bin/python3}; do
  [ -z "$python" ] && "$p" -c 'import numpy' 2>/dev/null && python=$p
  "$p" -c 'import numpy, torch' 2>/dev/null && python=$p && torch=yes && break
done
if [ -z "$python" ]; then echo "skipped: no Python with NumPy"; exit 0; fi
jax=shim
"$python" -c 'import jax' 2>/dev/null && jax=jax
export PYTHONDONTWRITEBYTECODE=1
if [ -z "${LIMN_DATA:-}" ] && [ -d ../../../shared/data ]; then LIMN_DATA=$(cd ../../../shared/data && pwd) && export LIMN_DATA; fi
paths=../onnx_out/paths.limn
refused() { # WHAT STATUS TEXT ARGUMENT…
  what=$1 status=$2 text=$3
  shift 3
  "$LIMN" export "$@" -o "$work/m.py" >"$work/said" 2>&1
  if [ $? -eq "$status" ] && grep -q "$text" "$work/said"; then echo "ok $what"; else echo "not ok $what"; cat "$work/said"; fi
}
refused "what has no form is refused" 1 "\`spread\` needs the array operation AveragePool, which has no form in PyTorch yet" net.limn spread --as torch
refused "a derivative of its own, with labels" 1 "\`hard\` has a derivative of its own, and those have a form in Python only for boxes of reals without weights and noise" own.limn f --as jax
refused "no goals" 1 "the program has no goals: name a box or learner" net.limn --as torch
refused "bits" 1 "training moves \`kind/lut/theta\`, which is made of bits, and JAX has no slopes of bits: name a learner" ../../examples/boolean.limn --as jax
refused "no weights" 2 "\`stays\` has no weights that could be written" net.limn stays --as torch --weights "$work/w.safetensors"
refused "training of a learner" 2 "\`torch\` trains whole programs: --train goes without a name" net.limn twice --as torch --train
printf '%s\n' 'box dense_1 = dense[2]' 'learn f : R[2] -> R[2] = dense[2] ; dense[2] ; dense_1' >"$work/one.limn"
refused "two weights of one name" 1 "the weights of \`f/dense.1\` and of \`f/dense_1\` have one name in Python" "$work/one.limn" f --as torch
printf '%s\n' 'learn f€ : R[2] -> R[2] = dense[2]' >"$work/sign.limn"
refused "a weight with a sign in its name" 1 "the weights of \`f€/dense/b\` have a sign in their name that no name in Python has" "$work/sign.limn" f€ --as torch
for as in torch jax; do
  "$LIMN" export "$paths" halves --as $as -o "$work/m.py" >"$work/said" 2>&1 && grep -q "^def halves(" "$work/m.py" && ! grep -q "^def halves_2" "$work/m.py" &&
    echo "ok a box is its own function in $as" || { echo "not ok a box is its own function in $as"; cat "$work/said" "$work/m.py"; }
done
cases="own.limn kept net.limn sees net.limn twice net.limn again net.limn held net.limn plain net.limn other net.limn train_it net.limn signs net.limn fits net.limn named $paths halves $paths sorted $paths padded $paths bits $paths chosen $paths reader ../../examples/iris.limn guess"
# shellcheck disable=SC2086 # words without spaces
"$python" make.py "$LIMN" "$work/cases" $cases
# shellcheck disable=SC2046
"$python" -W ignore make.py "$LIMN" "$work/cases" --train goals.limn turns.limn starts.limn states.limn ../../examples/nash.limn $("$python" random_programs.py "$work/random" ${FULL:+20})
"$python" rates.py "$LIMN" "$work"
if [ -n "${torch:-}" ]; then "$python" all.py "$work/cases" torch; else echo "skipped: no PyTorch"; fi
"$python" all.py "$work/cases" $jax
for kind in torch jax; do "$python" names.py "$LIMN" "$work" $kind; done
# The file as a command: from weights of limn, through training, back to limn.
if [ -n "${torch:-}" ]; then
  "$LIMN" export goals.limn --as safetensors -o "$work/start.safetensors" >/dev/null
  "$LIMN" export goals.limn --as torch --weights "$work/start.safetensors" -o "$work/m.py" >"$work/said"
  printf '%s\n' "$work/m.py" "$work/m.safetensors" | cmp -s - "$work/said" && echo "ok weights that are asked for are written beside" || echo "not ok weights that are asked for are written beside"
  echo theirs >"$work/own.safetensors"
  "$LIMN" export goals.limn both --as torch --weights "$work/start.safetensors" -o "$work/own.py" >"$work/said" 2>&1
  if [ $? -eq 1 ] && grep -q "own.safetensors is there already, and no .*own.py that it belongs to: weights would be written over" "$work/said" && [ "$(cat "$work/own.safetensors")" = theirs ]; then echo "ok weights of others stay"; else echo "not ok weights of others stay"; cat "$work/said"; fi
  cp "$work/start.safetensors" "$work/whole.safetensors"
  if "$LIMN" export goals.limn head --as torch --weights "$work/whole.safetensors" -o "$work/whole.py" >"$work/said" 2>&1 && cmp -s "$work/start.safetensors" "$work/whole.safetensors"; then echo "ok weights that are beside already stay as they are"; else echo "not ok weights that are beside already stay as they are"; cat "$work/said"; fi
  "$python" -c 'import numpy as np; np.savez("'"$work"'/d.npz", x=np.random.default_rng(1).random((40, 4)), kind=np.arange(40) % 3)'
  "$python" "$work/m.py" "$work/d.npz" --weights "$work/m.safetensors" --epochs 3 --batch 10 --out "$work/t.safetensors" >"$work/said" 2>&1
  "$LIMN" eval goals.limn both --in '[1, 2, 3, 4]' --weights "$work/m.safetensors" >"$work/before"
  "$LIMN" eval goals.limn both --in '[1, 2, 3, 4]' --weights "$work/t.safetensors" >"$work/after"
  if [ "$(sed -n 's/^\([0-9]*\) fit .* near .*/\1/p' "$work/said" | tr '\n' ' ')" = "4 8 12 " ] && [ -s "$work/after" ] && ! cmp -s "$work/before" "$work/after"; then echo "ok trained by its file"; else echo "not ok trained by its file"; cat "$work/said"; fi
fi
[ -n "${LONG:-}" ] || exit 0
examples=$(ls ../../examples/*.limn | grep -v /gpt2) # which is large
for f in $examples; do
  sed 's/#.*//' "$f" | awk -v f="$f" '
    /^learn/ { sub(/^ *learn */, ""); sub(/[:=(].*/, ""); n = split($0, name, ","); for (i = 1; i <= n; i++) { sub(/\[.*/, "", name[i]); gsub(/ /, "", name[i]); print f, name[i] } }'
done >"$work/pairs"
trains=$(for f in $examples; do if sed 's/#.*//' "$f" | grep -q '^ *train '; then echo "$f"; fi; done)
long() { # FOLDER OPTION…
  folder=$1
  shift
  # shellcheck disable=SC2046
  "$python" make.py "$LIMN" "$folder" --long "$@" $(cat "$work/pairs")
  # shellcheck disable=SC2086
  "$python" make.py "$LIMN" "$folder" --long "$@" --train $trains
}
long "$work/all"
[ -z "${torch:-}" ] || "$python" all.py "$work/all" torch
"$python" all.py "$work/all" $jax
rm -rf "$work/all"
[ -n "${BUILD:-}" ] || exit 0
rm -rf "../../$BUILD/python_out"
long "../../$BUILD/python_out" --small >/dev/null
cp all.py "../../$BUILD/python_out"
echo "made $BUILD/python_out: python3 all.py . there, with PyTorch or JAX"
