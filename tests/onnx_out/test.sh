#!/bin/sh
# Boxes and learners as ONNX models, run by ONNX Runtime, against limn. Short: a box for each way in which a loop becomes nodes.
# LONG=1: every learner of every example as well, with a table. The runtime is npm's onnxruntime-node, in $LIMN_ORT, in build/onnxruntime, or
# where node finds it: npm install --ignore-scripts --prefix build/onnxruntime onnxruntime-node
cd "$(dirname "$0")" || exit 1
BUILD=$(cd ../.. && cd "${BUILD:-build}" && pwd) && export BUILD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names() { sed -n "s/^$1 \([a-z_]*\).*/\1/p" "$2"; }

# What cannot leave is refused, and where.
"$LIMN" export refused.limn noisy --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "refused.limn:2:.*\`noisy\` makes noise here" "$work/said"; then echo "ok noise is refused"; else echo "not ok noise is refused"; cat "$work/said"; fi
"$LIMN" export refused.limn --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 2 ] && grep -q "\`onnx\` wants the name of a box, learner or goal" "$work/said"; then echo "ok a name is wanted"; else echo "not ok a name is wanted"; cat "$work/said"; fi
"$LIMN" export refused.limn half --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "the size \`n\` of \`half\` is open, and no input has an axis of just this size" "$work/said"; then echo "ok a size that nothing says"; else echo "not ok a size that nothing says"; cat "$work/said"; fi
"$LIMN" export refused.limn large --as onnx -o "$work/m.onnx" >"$work/said" 2>&1
if [ $? -eq 1 ] && grep -q "\`large\` has 3.6 GB of weights, and an ONNX file has less than 2 GB" "$work/said"; then echo "ok more than 2 GB"; else echo "not ok more than 2 GB"; cat "$work/said"; fi

if ! command -v node >/dev/null || ! node compare.js --look; then echo "skipped: there is no onnxruntime-node (see tests/onnx_out/test.sh)"; exit 0; fi
pairs=$(for n in $(names box paths.limn | grep -v _cell | grep -v '^rnn$' | grep -v '^cell$') $(names learn paths.limn); do echo "paths.limn $n"; done)
# shellcheck disable=SC2086 # words without spaces
node compare.js "$LIMN" "$work" --eval $pairs
# The same in doubles, where the runtime has such kernels: windows are products then.
node compare.js "$LIMN" "$work" --precision 64 --eval paths.limn convolved paths.limn pooled paths.limn widened paths.limn products paths.limn reader
[ -n "${LONG:-}" ] || exit 0
for f in ../../examples/*.limn; do
  sed 's/#.*//' "$f" | awk -v f="$f" '
    $1 == "learn" { sub(/^ *learn */, ""); sub(/[:=].*/, ""); n = split($0, name, ","); for (i = 1; i <= n; i++) { sub(/\[.*/, "", name[i]); gsub(/ /, "", name[i]); print f, name[i] } }
    $1 == "box" { sub(/^ *box */, ""); sub(/[^A-Za-z0-9_].*/, ""); print f, $0 }'
done >"$work/pairs"
# shellcheck disable=SC2046
node compare.js "$LIMN" "$work" $(cat "$work/pairs")
