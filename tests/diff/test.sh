#!/bin/sh
# Comparison of two models (limn diff).
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
g -> h: the same, 1 box
W
is() { # WHAT: log is what is wanted
  if cmp -s log want; then echo "ok diff: $1"; else echo "not ok diff: $1"; diff want log | sed 's/^/    /'; fi
}
has() { # WHAT STATUS TEXT COMMAND…
  what=$1 status=$2 text=$3
  shift 3
  "$LIMN" "$@" >log 2>&1
  if [ $? -eq "$status" ] && grep -qF -- "$text" log; then echo "ok diff: $what"; else echo "not ok diff: $what"; head -20 log | sed 's/^/    /'; fi
}
is "changed, moved, added, gone"
has "the same" 0 "f: the same, 6 boxes" diff a.limn a.limn
has "one learner" 1 '"changed": 3, "added": 1, "gone": 0, "moved": 1' diff a.limn b.limn --of f --json
has "wired otherwise" 1 "reads y instead of x" diff c.limn d.limn
has "no such learner" 2 'neither a.limn nor b.limn has anything called `k`' diff a.limn b.limn --of k
has "one file" 2 "two models are wanted" diff a.limn
has "no such file" 2 "cannot read nowhere.limn" diff a.limn nowhere.limn
cat >t.limn <<'P'
given x : R[4], kind from iris
learn guess : R[4] -> R[3] = dense[3]
goal fit : guess(x) ~ kind by cross_entropy
train 3 steps, batch 8, gd(0.1)
P
for seed in 1 2; do "$LIMN" train t.limn --reference --quiet --plain --seed $seed --out run$seed >/dev/null 2>log || cat log; done
has "runs: how far weights are apart" 1 "~ guess/dense/linear/W  R[4 3]  largest" diff run1 run2
has "a run and itself" 0 "weights: 2 the same, 0 not" diff run1 run1
echo 'box long(x: R[]) -> R[] { y = x, for k in 1..4200 { y = relu(y) + k }, return y }' >long.limn
has "too many boxes" 2 "long.limn and long.limn have too many boxes in one body to be compared" diff long.limn long.limn

# Everything that a program says is compared; names, layout and comments are not.
cat >p.limn <<'P'
given x : R[4], kind from iris
box twice[m: 2](a: R[n]) -> R[n] = a * m
learn guess : R[4] -> R[3] = dense[8] ; dropout[0.1] ; relu ; twice ; dense[3]
goal fit : guess(x) ~ kind by cross_entropy times 2
measure right : guess(x) ~ kind by hits
show guess(x)
train 3 steps, batch 8, gd(0.1)
machine Counter -> (n: R[]) {
  state c : R[] = 0
  next c = c + 1
  n = c
}
P
sed 's/^given/# a comment\n\ngiven/; s/ : /   : /' p.limn >same.limn
sed 's/guess/net/g; s/fit/match/; s/right/score/; s/twice/double/; s/m: 2/k: 2/; s/a \* m/b * k/; s/(a: R\[n\]) -> R\[n\]/(b: R[q]) -> R[q]/; s/Counter/Clock/; s/state c/state t/; s/next c = c/next t = t/; s/n = c/n = t/' p.limn >names.limn
has "layout and comments" 0 "guess: the same, 5 boxes" diff p.limn same.limn
has "names alone" 0 "names: twice -> double, fit -> match, right -> score, Counter -> Clock" diff p.limn names.limn
other() { # WHAT SCRIPT TEXT: one change, told in one line
  sed "$2" p.limn >other.limn
  has "$1" 1 "$3" diff p.limn other.limn
}
other "a goal's distance" 's/cross_entropy/l2/; s/kind by l2/x[0..2] by l2/' '~ goal fit'
other "a goal's factor" 's/times 2/times 3/' '~ goal fit : guess(x) ~ kind by cross_entropy times 2 -> 3'
other "a measure" 's/hits/cross_entropy/' '~ measure right : guess(x) ~ kind by hits -> cross_entropy'
other "a rate" 's/0.1)/0.01)/' '~ train 3 steps, batch 8, gd(0.1 -> 0.01)'
other "a length" 's/3 steps/3 epochs/' '-> train 3 epochs'
other "an option" 's/m: 2/m: 3/' '~ box twice[m: 2 -> 3]'
other "dropout" 's/dropout.0.1/dropout[0.2/' '~ dropout'
other "a number in a machine" 's/c + 1/c + 2/' '~ next c = c + 1 -> 2'
other "a show" 's/^show.*//' '- show guess(x)'
other "a split" 's/from iris/from iris.test/' '~ given x : R[4], kind from iris -> iris.test'
other "who is trained" 's/^train/freeze guess\ntrain/' '+ freeze guess'
other "one function for another" 's/relu/tanh/' '~ relu -> tanh'

# What the function of a box does not show is compared, too.
told() { # WHAT SCRIPT TEXT: one change of h.limn
  sed "$2" h.limn >other.limn
  has "$1" 1 "$3" diff h.limn other.limn
}
cat >h.limn <<'P'
box s(x: R[n], dy: R[n]) -> R[n] = dy
box q(x: R[n]) -> R[n] = sign(x) reverse s
box far(a, b: R[n]) -> R[] = sum(a - b) minimise
box number_of(x: {low, high}) -> R[] = number(x)
box both(x: R[]) -> (down: R[], up: R[]) = (x, x + 1)
given x, y from moons
learn f : R[2] -> R[2] = dense[2] ; q
goal g : f(x) ~ y by cross_entropy
P
has "a program with reverse, minimise and labels" 0 "f: the same" diff h.limn h.limn
told "a derivative that is gone" 's/ reverse s//' '~ q  R[2]'
told "another derivative" 's/= dy/= dy + dy/' '~ q  R[2]'
told "the direction of a measure" 's/minimise/maximise/' 'minimise -> maximise'
told "the order of labels" 's/{low, high}/{high, low}/' '{low -> high, high -> low}'
told "the order of results" 's/down: R\[\], up/up: R[], down/' '~ results down, up -> up, down'
if ! "$LIMN" diff p.limn other.limn --quiet >log 2>&1 && [ ! -s log ]; then echo "ok diff: quiet"; else echo "not ok diff: quiet"; cat log; fi

# Weights meet as boxes do, and by their numbers; other files than programs.
sed 's/guess/net/g' t.limn >u.limn
"$LIMN" train u.limn --reference --quiet --plain --seed 1 --out run3 2>&1
"$LIMN" export t.limn guess --as onnx --from run1 -o g.onnx >/dev/null
"$LIMN" export t.limn guess --as safetensors --from run1 -o g.safetensors >/dev/null
has "a run and its program" 0 "weights: only run1 has any" diff run1 t.limn
has "ONNX against its run, by other names" 0 "weights: 2 the same, 0 not" diff g.onnx run1
has "ONNX against ONNX" 0 "model: the same" diff g.onnx g.onnx
has "weights alone" 0 "weights: 2 the same, 0 not" diff g.safetensors run1
has "weights and no weights" 2 "t.limn has no weights, and g.safetensors has nothing else" diff g.safetensors t.limn
has "runs by other names" 1 "~ guess/dense/b -> net/dense/b" diff run1 run3
printf garbage >bad.onnx
has "which file is wrong" 2 "bad.onnx: this is no ONNX file" diff t.limn bad.onnx

# Pictures: what each side has alone is told apart by its lines too, and no picture has faults.
"$LIMN" diff a.limn b.limn --quiet --out d.svg
for what in 'was here' 'is here now' 'R\[16\] → R\[32\]' 'stroke-dasharray' 'only a.limn'; do
  if grep -q -- "$what" d.svg; then echo "ok diff: the picture has $what"; else echo "not ok diff: the picture has no $what"; fi
done
for end in png pdf tex txt html; do
  "$LIMN" diff run1 run2 --quiet --out "d.$end"
  if [ $? -eq 1 ] && [ -s "d.$end" ]; then echo "ok diff: a picture as $end"; else echo "not ok diff: a picture as $end"; fi
done
for pair in "a.limn b.limn" "c.limn d.limn" "p.limn names.limn" "p.limn other.limn" "a.limn p.limn" "run1 run2" "g.onnx t.limn" "t.limn t.limn"; do
  if "$LIMN" diff $pair --check >log 2>&1 && [ ! -s log ]; then echo "ok diff: no faults: $pair"; else echo "not ok diff: no faults: $pair"; head log; fi
done
{ echo 'box many(x: R[]) -> R[] {'; echo '  y0 = x'; for k in $(seq 1 600); do echo "  y$k = relu(y$((k - 1)) + $k)"; done; echo '  return y600'; echo '}'; } >many.limn
sed 's/ + / + 1/' many.limn >more.limn
has "600 boxes that changed" 2 "there is too much of it for one picture: see --of" diff many.limn more.limn --out d.svg
has "600 that did not" 0 "many: the same" diff many.limn many.limn --out d.svg
has "no such kind of picture" 2 "d.gif" diff a.limn b.limn --out d.gif
has "no such theme" 2 "--theme wants auto, light, dark or mono, not red" diff a.limn b.limn --theme red

# Files that a program names are part of it.
mkdir -p one two
for k in one two; do
  printf 'given a, b, y : R[] from "d.csv"\nlearn f : R[] -> R[] = dense[]\ngoal g : f(a) ~ y by l2\n' >$k/p.limn
  printf 'a,b,y\n1,2,3\n4,5,6\n' >$k/d.csv
done
has "a file with the same bytes" 0 "f: the same" diff one/p.limn two/p.limn
printf '7,8,9\n' >>two/d.csv
has "a file with other bytes" 1 "~ given: d.csv has other bytes" diff one/p.limn two/p.limn

# Things that have other names and are changed still meet.
cat >gan1.limn <<'P'
learn gen : R[4] -> R[8] = dense[16] ; relu ; dense[8]
learn dis : R[8] -> R[] = dense[16] ; tanh ; dense[]
P
sed 's/gen/maker/; s/dis/judge/; s/16/32/' gan1.limn >gan2.limn
has "renamed and changed" 1 "gen -> maker: 0 the same, 3 changed" diff gan1.limn gan2.limn
has "another one too" 1 "dis -> judge: 0 the same, 3 changed" diff gan1.limn gan2.limn

# Wirings and learning diagrams are graphs of their statements.
cat >w1.limn <<'P'
machine Plant(warm: R[]) -> (T: R[]) {
  state T = 19
  T' = warm - T
}
machine Switch(T: R[]) -> (warm: R[]) { warm = 20 - T }
wiring Home -> (T: R[]) {
  plant : Plant
  switch : Switch
  plant.T -> switch.T
  switch.warm -> plant.warm
  T = plant.T
}
P
sed 's/plant.T -> switch.T/2 * plant.T -> switch.T/' w1.limn >w2.limn
"$LIMN" diff w1.limn w2.limn --out w.svg >log 2>&1
grep -q '~ plant.T -> 2 \* plant.T -> switch.T' log && grep -q '→ 2 \* plant.T' w.svg && echo "ok diff: a wire" || { echo "not ok diff: a wire"; cat log; }
if "$LIMN" diff w1.limn w2.limn --check; then echo "ok diff: no faults: a wiring"; else echo "not ok diff: no faults: a wiring"; fi
cat >l1.limn <<'P'
learn small : R[4] -> R[3] = (dense[4] ; layer_norm ; relu) ^ 6 ; dense[3]
diagram teach {
  space N = iris
  space X = R[4]
  space Y = {3} by cross_entropy
  box plant : N -> X = iris.x
  box label : N -> Y = iris.label
  box guess : X -> Y = small
  plant ; guess <= label
}
P
sed 's/guess <= label/guess <= label times 3/; s/dense.4/dense[8/' l1.limn >l2.limn
"$LIMN" diff l1.limn l2.limn --out l.svg >log 2>&1
grep -q '{+ times 3}' log && grep -q 'relu )  × 6' l.svg && echo "ok diff: a learning diagram, turns folded" || { echo "not ok diff: a learning diagram, turns folded"; cat log; }
if "$LIMN" diff l1.limn l2.limn --check; then echo "ok diff: no faults: a learning diagram"; else echo "not ok diff: no faults: a learning diagram"; fi

# A program and its own ONNX export, and what JSON gives back, have no difference but names; and with one number changed they have.
cat >own.limn <<'P'
learn rows : R[5 4] -> R[5 6] = gru[6]
learn longer : R[5 4] -> R[5 6] = lstm[6]
learn block : R[5 8] -> R[5 8] = transformer_block[h: 2, k: 4]
learn strided : R[8 8 2] -> R[10] = conv[4, stride: 2] ; bias ; relu ; flatten ; dense[10]
learn widened : R[8 8 2] -> R[16 16 3] = conv_up[3]
learn groups : R[8 8 4] -> R[8 8 4] = group_norm[2] ; conv_grouped[4, 2] ; conv_depthwise ; gelu
learn normed : R[8] -> R[3] = layer_norm ; dense[8] ; rms_norm[eps: 1e-6] ; dense[3] ; softmax
learn words : {7}[5] -> R[5 8] = embed[8] ; add_positions
learn kept : R[8] -> R[3] = dense[6] ; batch_norm ; relu ; dense[3]
box twice(x: R[4]) -> R[4] {
  learn W : R[4 4] = normal
  y[j] = x[i] W[i j]
  z[i] = y[j] W[i j]
  return z
}
learn tied : R[4] -> R[4] = twice
P
for name in rows longer block strided widened groups normed words kept twice tied; do
  "$LIMN" export own.limn $name --as onnx -o $name.onnx >log 2>&1 && "$LIMN" export own.limn $name --as json -o $name.json >>log 2>&1 && "$LIMN" read $name.json -o "${name}_back.limn" >>log 2>&1 || cat log
  has "$name and its ONNX model" 0 "$name -> model: " diff own.limn $name.onnx --of $name
  [ $name = kept ] || [ $name = twice ] || has "$name and what JSON gives back" 0 "$name: the same" diff own.limn "${name}_back.limn" --of $name # kept as it is in use; a box with weights comes back as a learner
done
# Where some numbers are not finite on both sides, the others are compared; where none is finite, values say nothing.
cat >holes.limn <<'P'
box holes(x: R[4]) -> R[8] {
  a[i] = log(0 - 1 - x[i] * x[i])
  b[i] = 2 * x[i]
  return concat[i](a, b)
}
P
sed 's/2 \* x\[i\]/x[i] + x[i]/' holes.limn >holes_same.limn
sed 's/2 \* x\[i\]/3 * x[i]/' holes.limn >holes_other.limn
sed 's/2 \* x\[i\]/log(0 - 2 - x[i] * x[i])/' holes.limn >nothing.limn
"$LIMN" export holes.limn holes --as onnx -o holes.onnx >log 2>&1
"$LIMN" export nothing.limn holes --as onnx -o nothing.onnx >log 2>&1
has "beside what is not finite, the same" 0 "model -> holes: gives the same on random inputs" diff holes.onnx holes_same.limn
has "beside what is not finite, others" 1 "model -> holes: 1 the same, 1 changed" diff holes.onnx holes_other.limn
has "nothing is finite" 1 "model -> holes: 1 the same, 0 changed" diff nothing.onnx nothing.limn
has "by the name that the model has" 1 "strided -> model: gives the same on random inputs" diff own.limn strided.onnx
sed 's/eps: 1e-6/eps: 2e-6/; s/gru.6/lstm[6/; s/stride: 2\]/stride: 2, dilation: 2]/; s/; gelu/; relu/; s/W\[i j\]$/W[j i]/; s/h: 2, k: 4/h: 4, k: 2/' own.limn >unlike.limn
for name in rows block strided groups normed twice tied; do has "$name and the ONNX model of another" 1 "$name -> model: " diff unlike.limn $name.onnx --of $name; done
"$LIMN" diff unlike.limn strided.onnx --of strided >log 2>&1
if grep -q '~ conv' log && ! grep -q '~ learn' log; then echo "ok diff: a model by its boxes, and not by the words of the import"; else echo "not ok diff: a model by its boxes, and not by the words of the import"; cat log; fi
cat >seen.limn <<'P'
given x : R[4], kind from iris
learn other : R[4] -> R[3] = dense[3]
learn seen : R[4] -> R[3] = picture ; conv[3, k: 2] ; bias ; relu ; flatten ; dense[3]
box picture(x: R[4]) -> R[2 2 1] {
  return y[i:2 j:2 c:1] = x[2*i+j]
}
goal fit : seen(x) ~ kind by cross_entropy
goal also : other(x) ~ kind by cross_entropy
train 5 steps, batch 8, gd(0.1)
P
"$LIMN" train seen.limn --reference --quiet --plain --out seen1 >/dev/null 2>log || cat log
"$LIMN" export seen.limn seen --as onnx --from seen1 -o seen.onnx >log 2>&1 || cat log
has "weights with axes in another order" 0 "weights: 4 the same, 0 not" diff seen1 seen.onnx --of seen
has "weights of what was not asked for" 1 "- other/dense/b" diff seen1 seen.onnx
# goals and measures by what they compute, of which data
cat >m.limn <<'P'
axis n = 3
given x : R[n] from uniform[n]
given y : R[n] from uniform[n]
learn f : R[n] -> R[n] = dense[n] ; tanh
goal fit : f(x) ~ y by l2
measure err : f(x) ~ y by mae
measure big : max(abs(f(x)))
train 1 steps, gd(0.1)
P
changed() { sed "$1" m.limn >n.limn; }
changed 's/max(abs(f(x)))/max[n](abs(f(x)))/'
has "a measure written otherwise" 0 "big: the same, written otherwise" diff m.limn n.limn
changed 's/max(abs(f(x)))/max[n](abs(f(y)))/'
has "a measure of other data" 1 "~ measure big" diff m.limn n.limn
changed 's/^measure err.*/measure err : f(y) ~ x by mae/'
has "a measure of exchanged data" 1 "~ measure err" diff m.limn n.limn
changed 's/by mae/by mse/'
has "a measure by another distance" 1 "~ measure err : f(x) ~ y by mae -> mse" diff m.limn n.limn
changed 's/^goal fit.*/goal fit : f(y) ~ x by l2/'
has "a goal of exchanged data" 1 "~ goal fit" diff m.limn n.limn
changed 's/\<x\>/u/g'
has "renamed data" 1 "~ given x : R[n] -> u : R[n] from uniform[n]" diff m.limn n.limn
