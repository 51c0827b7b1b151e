#!/bin/sh
# Two models side by side.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
cat >a.limn <<'P'
learn f : R[8] -> R[3] = dense[16] ; relu ; layer_norm ; dense[16] ; tanh ; dense[3]
learn g : R[8] -> R[2] = dense[2]
P
cat >b.limn <<'P'
learn f : R[8] -> R[3] = dense[32] ; relu ; dense[16] ; tanh ; layer_norm ; square ; dense[3]
learn h : R[8] -> R[2] = dense[2]
P
cat >c.limn <<'P'
box one(x, y: R[4]) -> R[4] = relu(x) - tanh(y)
P
cat >d.limn <<'P'
box one(x, y: R[4]) -> R[4] = relu(y) - tanh(x)
P
"$LIMN" diff a.limn b.limn >log 2>&1
cat >want <<'W'
--- a.limn
+++ b.limn
f: 2 the same, 3 changed, 1 added, 0 gone, 1 moved
  ~ dense.1  R[16] -> R[32], b R[16] -> R[32], linear/W R[8 16] -> R[8 32]
  ~ relu  R[16] -> R[32]
  > layer_norm  moved: was behind relu, is behind tanh
  ~ dense.2  R[16], linear/W R[16 16] -> R[32 16]
  + square  R[16], behind layer_norm
g: gone
h: added
W
is() { # WHAT: log is what is wanted
  if cmp -s log want; then echo "ok diff: $1"; else echo "not ok diff: $1"; diff want log | sed 's/^/    /'; fi
}
has() { # WHAT STATUS TEXT COMMAND…
  what=$1 status=$2 text=$3
  shift 3
  "$LIMN" "$@" >log 2>&1
  if [ $? -eq "$status" ] && grep -qF -- "$text" log; then echo "ok diff: $what"; else echo "not ok diff: $what"; sed 's/^/    /' log; fi
}
is "changed, moved, added, gone"
has "the same" 0 "f: the same, 6 boxes" diff a.limn a.limn
has "one learner" 0 '"changed": 3, "added": 1, "gone": 0, "moved": 1' diff a.limn b.limn --of f --json
has "wired otherwise" 0 "reads" diff c.limn d.limn
has "no such learner" 1 'neither a.limn nor b.limn has a learner `k`' diff a.limn b.limn --of k
has "one file" 2 "two models are wanted" diff a.limn
has "no such file" 1 "cannot read nowhere.limn" diff a.limn nowhere.limn
cat >t.limn <<'P'
given x : R[4], kind from iris
learn guess : R[4] -> R[3] = dense[3]
goal fit : guess(x) ~ kind by cross_entropy
train 3 steps, batch 8, gd(0.1)
P
for seed in 1 2; do "$LIMN" train t.limn --reference --quiet --plain --seed $seed --out run$seed >/dev/null 2>log || cat log; done
has "runs: weights by distance" 0 "~ guess/dense/linear/W  R[4 3]  distance" diff run1 run2
has "a run and itself" 0 "weights: 2 the same, 0 not" diff run1 run1
echo 'box long(x: R[]) -> R[] { y = x, for k in 1..4200 { y = relu(y) + k }, return y }' >long.limn
has "too many boxes" 1 "long.limn and long.limn have too many boxes in one body to be compared" diff long.limn long.limn
