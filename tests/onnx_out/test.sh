#!/bin/sh
# Boxes and learners exported to ONNX and run by ONNX Runtime, compared with limn. Short: a box for each way in which a loop is lowered to nodes.
# LONG=1: every learner and box of every example, with a table, and learners exported and imported again. The runtime is npm's onnxruntime-node, in $LIMN_ORT, in build/onnxruntime, or
# where node finds it; tools/npm.sh installs it.
cd "$(dirname "$0")" || exit 1
BUILD=$(cd ../.. && cd "${BUILD:-build}" && pwd) && export BUILD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names() { sed -n "s/^$1 \([A-Za-z0-9_]*\).*/\1/p" "$2"; }

# What cannot leave is refused, and where.
"$LIMN" export refused.limn noisy --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "refused.limn:2:.*\`noisy\` makes noise here" "$work/said"; then echo "ok noise is refused"; else echo "not ok noise is refused"; cat "$work/said"; fi
# A machine goes on through time: one call is only its start.
cat >"$work/cup.limn" <<'END'
machine cup() -> (t: R[]) {
  state t = 80
  t' = -0.1 * (t - 20)
}
END
for as in onnx c torch jax; do
  if "$LIMN" export "$work/cup.limn" cup --as $as -o "$work/cup.$as" >"$work/said" 2>&1; then echo "not ok a machine as $as"
  elif grep -q "\`cup\` is a machine, which goes on through time, and \`$as\` would have only its start" "$work/said"; then echo "ok a machine as $as is refused"
  else echo "not ok a machine as $as"; cat "$work/said"; fi
done
"$LIMN" export "$work/cup.limn" cup --as json -o "$work/cup.json" >"$work/said" 2>&1 && echo "ok a machine as json" || { echo "not ok a machine as json"; cat "$work/said"; }
if "$LIMN" sample "$work/cup.limn" cup >"$work/said" 2>&1; then echo "not ok a sample of a machine"
elif grep -q '`cup` is a machine, and no sample of anything' "$work/said"; then echo "ok a machine is not sampled"
else echo "not ok a machine is not sampled"; cat "$work/said"; fi
# Nothing is written over what it comes from.
printf 'use "cup.limn"\nbox two(x: R[]) -> R[] = 2 * x\n' >"$work/user.limn"
"$LIMN" export "$work/user.limn" two --as json -o "$work/../$(basename "$work")/cup.limn" >"$work/said" 2>&1
if [ $? -eq 2 ] && grep -q 'cup.limn is what this is made from: the result wants a file of its own' "$work/said" && grep -q machine "$work/cup.limn"; then echo "ok the program is not written over"; else echo "not ok the program is not written over"; cat "$work/said"; fi
"$LIMN" export refused.limn --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 2 ] && grep -q "\`onnx\` wants the name of a box, learner or goal" "$work/said"; then echo "ok a name is wanted"; else echo "not ok a name is wanted"; cat "$work/said"; fi
"$LIMN" export refused.limn half --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "the size \`n\` of \`half\` is open, and no input has an axis of just this size" "$work/said"; then echo "ok a size that nothing says"; else echo "not ok a size that nothing says"; cat "$work/said"; fi
"$LIMN" export refused.limn large --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "\`large\` has 3.6 GB of weights, and an ONNX file has less than 2 GB" "$work/said"; then echo "ok more than 2 GB"; else echo "not ok more than 2 GB"; cat "$work/said"; fi

# What is read is not written over, by whatever path it is named.
{ cat refused.limn; echo 'box whole(x: R[2]) -> R[2] = 2 * x'; } >"$work/own.limn" && ln -s own.limn "$work/link.limn" && cp "$work/own.limn" "$work/was.limn"
apart() { # ARGUMENT…
  "$LIMN" "$@" >"$work/said" 2>&1
  if [ $? -eq 2 ] && grep -q "own.* is what this is made from: the result wants a file of its own" "$work/said" && cmp -s "$work/own.limn" "$work/was.limn"; then echo "ok $1 does not write over what it reads"; else echo "not ok $1 does not write over what it reads"; cat "$work/said"; fi
}
apart export "$work/link.limn" whole --as torch -o "$work/own.limn"
apart export "$work/own.limn" whole --as json -o "$work/../$(basename "$work")/own.limn"
for option in --out --save --grads; do apart eval "$work/own.limn" half --in '[1, 2]' $option "$work/own.limn"; done
apart import "$work/own.limn" -o "$work/own.limn"
ln -s own.limn "$work/own.svg"
apart draw "$work/own.limn" half -o "$work/own.svg"
printf 'use "own.limn"\n' >"$work/uses.limn"
for other in own uses; do apart diff refused.limn "$work/$other.limn" -o "$work/own.svg"; done
"$LIMN" export refused.limn half --as json -o "$work/own.limn" >/dev/null && cp "$work/own.limn" "$work/was.limn"
apart read "$work/own.limn" -o "$work/own.limn"

# What has an operator of its own is written by it: OPERATOR how often, or at most that often.
operators() { "$LIMN" export paths.limn "$1" --as onnx -o "$work/$1.onnx" >"$work/said" 2>&1 || cat "$work/said"; }
holds() {
  n=$(grep -a -o "\"[^a-z]$3" "$work/$2.onnx" | wc -l)
  if [ "$n" "$1" "$4" ]; then echo "ok $3 in $2"; else echo "not ok $3 in $2: $n, wanted $1 $4"; fi
}
for n in net shown activations filters turned_filters pooled products tell reader masked; do operators $n; done
for op in Conv BatchNormalization LayerNormalization MaxPool; do holds -eq shown $op 1; done
holds -le shown Transpose 2
holds -le shown Add 1
for op in Gather Where Expand; do holds -eq shown $op 0; done
holds -eq activations Gelu 2
for op in Mish LeakyRelu Elu Selu HardSigmoid Clip; do holds -eq activations $op 1; done
holds -eq pooled AveragePool 2
holds -eq filters Conv 5
holds -ge turned_filters ConvTranspose 4
holds -eq products Einsum 1
holds -eq tell Gather 1
holds -eq reader Scan 1
holds -eq masked Softmax 3

# What went out comes back as what it was: layers as boxes of the library, constants as constants that nothing learns.
back() { # NAME WANTED…
  "$LIMN" import "$work/$1.onnx" -o "$work/$1.back.limn" >"$work/said" 2>&1 || cat "$work/said"
  for want in "$2" "$3"; do
    if grep -q -F "$want" "$work/$1.back.limn" && ! grep -q "^  learn" "$work/$1.back.limn"; then echo "ok $1 comes back with $want"; else echo "not ok $1 comes back with $want"; cat "$work/$1.back.limn"; fi
  done
}
for n in first scaled; do operators $n; done
holds -eq first Transpose 0
back first 'conv2d[4, stride: 2, edge: 1] ; batch_norm2d ; relu ; max_pool2d[k: 3, edge: 1]' 'batch_norm2d[eps: 0.01, keep: 0.9]'
back scaled 'const scales : R[3] = [0.5, 2, -1]' ': R[3] = [1, 2, 3]'

# Weights stay weights: one that is used in two forms is kept once, and what is computed from weights alone does not become a constant.
cat >"$work/both.limn" <<'END'
learn tied(x: R[4], t: {5}) -> R[5] {
  learn E : R[5 4] = normal
  learn s : R[] = 0.5
  learn k : R[4] = normal
  row[j] = E[t j]
  h[j] = (x[j] + row[j]) * softplus(s) + tanh(k[j])
  y[i] = E[i j] h[j]
  return y
}
learn mixed(X: R[3 4]) -> R[3 4], R[4 3] {
  learn W : R[4 3] = normal
  a[i j] = X[i k] W[k l] W[j l]
  b[k l] = W[k l] * X[l k]
  return a, b
}
box turned(x: R[n]) -> R[n] = cumulative_sum[n](sin(x))
learn again(X: R[a b]) -> R[a b] {
  learn s : R[] = 0.5
  y = turned(2 * X) over a
  z = turned(y) over a
  return s * z
}
learn ended(x: R[4]) -> R[5] {
  learn s : R[] = 0.5
  one[i:1] = 1
  return concat(s * x, one)
}
END
kept() { # NAME WEIGHTS: it is imported with these, and computes the same
  "$LIMN" export "$work/both.limn" "$1" --as onnx -o "$work/$1.onnx" >"$work/said" 2>&1 && "$LIMN" import "$work/$1.onnx" -o "$work/$1.limn" >>"$work/said" 2>&1
  "$LIMN" eval "$work/both.limn" "$1" --in "$3" ${4:+--in "$4"} >"$work/one" 2>&1
  "$LIMN" eval "$work/$1.limn" model --in "$3" ${4:+--in "$4"} >"$work/two" 2>&1
  found=$(sed -n 's/^  learn \([A-Za-z_]*\).*/\1/p' "$work/$1.limn" | sort | tr '\n' ' ')
  if [ "$found" = "$2 " ] && /usr/bin/python3 - "$work/one" "$work/two" <<'END'
import re, sys
a, b = ([float(x) for x in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", open(f).read())] for f in sys.argv[1:])
sys.exit(not a or len(a) != len(b) or max(abs(x - y) for x, y in zip(a, b)) > 1e-5)
END
  then echo "ok $1 keeps its weights"; else echo "not ok $1 keeps its weights: $found"; cat "$work/said" "$work/one" "$work/two" "$work/$1.limn"; fi
}
kept tied 'tied_E tied_k tied_s' '[1, 2, 3, 4]' 3
kept mixed 'mixed_W' '[[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3]]'
# What goes into the first of two equal blocks is computed before them, not in both.
kept again 'again_s' '[[[1, 2], [3, 4]]]'
# A number that is joined keeps its axis.
kept ended 'ended_s' '[1, 2, 3, 4]'

if ! command -v node >/dev/null || ! node compare.js --look; then echo "skipped: there is no onnxruntime-node (see tests/onnx_out/test.sh)"; exit 0; fi
pairs=$(for n in $(names box paths.limn | grep -v _cell | grep -v '^rnn$' | grep -v '^cell$') $(names learn paths.limn); do echo "paths.limn $n"; done)
# shellcheck disable=SC2086 # words without spaces
node compare.js "$LIMN" "$work" --eval $pairs
# The same in doubles, where the runtime has such kernels: windows are products then.
node compare.js "$LIMN" "$work" --precision 64 --eval paths.limn convolved paths.limn pooled paths.limn widened paths.limn products paths.limn reader
[ -n "${LONG:-}" ] || exit 0
examples=$(ls ../../examples/*.limn | grep -v /gpt2) # which is large
for f in $examples; do
  sed 's/#.*//' "$f" | awk -v f="$f" '
    /^learn / { sub(/^learn */, ""); sub(/[:=(].*/, ""); n = split($0, name, ","); for (i = 1; i <= n; i++) { sub(/\[.*/, "", name[i]); gsub(/ /, "", name[i]); print f, name[i] } }'
done >"$work/learners"
for f in $examples; do names box "$f" | while read -r n; do echo "$f $n"; done; done >"$work/boxes"
echo "# learners of the examples, on 20 random inputs"
# shellcheck disable=SC2046
node compare.js "$LIMN" "$work" $(cat "$work/learners")
echo "# boxes of the examples"
# shellcheck disable=SC2046
node compare.js "$LIMN" "$work" $(cat "$work/boxes")
echo "# learners, exported, imported and run by limn"
# shellcheck disable=SC2046
node compare.js "$LIMN" "$work" --round $(cat "$work/learners")
