#!/bin/sh
# Learning diagrams: laws of their losses, and operations on them.
set -u
. "$(dirname "$0")/../say.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

same() { if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1"; diff "$2" "$3" | head -20; fi; }
says() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1: \"$3\" is not in $2"; cat "$2"; fi; }
equal() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
# train NAME [ARGUMENT…]: runs NAME.limn into the folder NAME
train() {
  program=$1
  shift
  "$LIMN" train "$program.limn" --out "$program" --quiet --plain "$@" >log 2>&1 || { not_ok "training $program"; cat log; }
}
# of a list of pairs: where they run, and how many learners each moves, in no order
words() { sed -n 's/.*: \(.* to .*\)/\1/p; s/^ *moves/moves/p' | awk '/^moves/ { print NF; next } { print }' | sort; }
paths() { "$LIMN" check "$1.limn" --paths >"$1.paths" 2>&1; }

# -- goals written by hand are the same ------------------------------------------------------------
cat >learners.limn <<'END'
learn small : R[4] -> R[3] = dense[8] ; relu ; dropout[0.2] ; dense[3]
learn big   : R[4] -> R[3] = dense[16] ; dropout[0.5] ; relu ; dense[3]
learn code  : R[2] -> R[4] = dense[4]
box left(a, b: R[3]) -> R[3] = a
box right(a, b: R[3]) -> R[3] = b
END
cat learners.limn - >drawn.limn <<'END'
diagram distill {
  space N = iris
  space Z = normal[2]
  space C = R[2]
  space X = R[4]
  space XY = R[4], {3}
  space G = R[3] by soft_cross_entropy
  space Y = {3} by cross_entropy
  space D = R[3] by l2

  box x       : N -> X = iris.x
  box kind    : N -> Y = N.label
  box pair    : N -> XY = (iris.x, iris.label)
  box z       : Z -> C = Z
  box made    : C -> X = code
  box teacher : X -> G = big ; divide[4]
  box student : X -> G = small ; divide[4]
  box guess   : X -> Y = small
  box first   : XY -> D = (small, one_hot) ; left
  box second  : XY -> D = (small, one_hot) ; right

  freeze big
  student <= teacher
  x ; guess <= kind times 0.5
  pair ; first <= pair ; second times 0.25
}
train distill 40 steps, batch 8, adam(0.01)
END
cat learners.limn - >hand.limn <<'END'
given x, label from iris
given Z from normal[2]
freeze big
goal distill_D : left(small(x), one_hot(label)) ~ right(small(x), one_hot(label)) by l2 times 0.25
goal distill_G_1 : small(x) / 4 ~ big(x) / 4 by soft_cross_entropy
goal distill_Y : small(x) ~ label by cross_entropy times 0.5
goal distill_G_2 : small(code(Z)) / 4 ~ big(code(Z)) / 4 by soft_cross_entropy
train 40 steps, batch 8, adam(0.01)
END
# noise is made at places that bear the goals' names: without dropout nothing differs
for f in drawn hand; do sed -i 's/ ; dropout\[0\.[25]\]//' $f.limn; train $f; done
same "goals by hand train the same weights" hand/model.safetensors drawn/model.safetensors
cut -d, -f4- hand/metrics.csv | tail -n +2 >hand.numbers
cut -d, -f4- drawn/metrics.csv | tail -n +2 >drawn.numbers
same "and report the same losses" hand.numbers drawn.numbers
"$LIMN" check drawn.limn --who >out 2>&1
says "a frozen learner is passed through" out "distill.G.1  moves    through  ·"
says "what stands before it is moved" out "distill.G.2  moves    through  moves"

# frozen learners do not drop anything out, wherever they are frozen
cat >mode.limn <<'END'
learn f : R[4] -> R[3] = dropout[0.5] ; dense[3]
learn g : R[4] -> R[3] = dense[3]
box through_f : R[4] -> R[3] = f
diagram loud {
  space N = iris
  space X = R[4]
  space Y = R[3] by l2
  box x : N -> X = iris.x
  box a : X -> Y = through_f
  box b : X -> Y = g
  a <= b
}
diagram quiet = loud + loud as other along x
freeze f in quiet
train loud 1 step
train quiet 1 step
END
loud=$("$LIMN" print mode.limn loud.Y --after inline | grep -c uniform)
quiet=$("$LIMN" print mode.limn quiet.loud.Y --after inline | grep -c uniform)
equal "training inside a learner" 1 "$loud"
equal "training is 0 inside a frozen one" 0 "$quiet"

# -- names and order do not matter -----------------------------------------------------------------
cat >order.limn <<'END'
learn f, g, h : R[2] -> R[2] = dense[2]
diagram d {
  space N = moons
  space A = R[2]
  space C = R[2] by l2
  space E = R[2] by l1
  box x : N -> A = moons.x
  box y : N -> C = moons.x
  box p : A -> C = f
  box q : A -> C = g
  box r : C -> E = h
  box s : A -> E = f
}
train d 20 steps
END
awk '/^  (space|box)/ { line[++n] = $0; next } /^}/ { while (n) print line[n--] } { print }' order.limn >turned.limn
paths order
paths turned
same "pairs do not depend on the order of the text" order.paths turned.paths
equal "with nothing stated, all parallel paths" 9 "$(grep -c '~' order.paths)"
sed 's/\bx\b/x9/; s/\bp\b/pp/g; s/\bq\b/aa/g; s/\br\b/zz/g; s/space C/space CC/; s/\bC\b/CC/g; s/moons\.x9/moons.x/' order.limn | sed 's/y : N -> CC = moons.x9/y : N -> CC = moons.x/' >renamed.limn
paths renamed
sed 's/\bpp\b/p/g; s/\baa\b/q/g; s/\bzz\b/r/g; s/\bx9\b/x/g; s/\bCC\b/C/g' renamed.paths | words >a
words <order.paths >b
same "nor on names" b a
train order
train turned
same "nor does what is trained" order/model.safetensors turned/model.safetensors

# -- the loss is contractive -----------------------------------------------------------------------
# Theorem 4.3 as `limn eval` computes it; graph_test.c has it for whole graphs. p maps rows onto fewer rows, q(y) = (y1 + y2, y3 - y4) maps R[4] onto
# R[2] and lengthens no l1 distance, and f' p = q f, g' p = q g. Then the sum of l1(f, g) is at least that of l1(f', g'). A goal is a mean: times rows.
printf 'a,b,c,d,e,f,g,h\n0,0,0,0,0,0,0,0\n' >fine.csv
printf 'a,b,c,d\n0,0,0,0\n' >coarse.csv
cat >contract.limn <<'END'
diagram fine {
  space N = "fine.csv"
  space Y = R[4] by l1
  box left  : N -> Y = N.left
  box right : N -> Y = N.right
  left <= right
}
diagram coarse {
  space N = "coarse.csv"
  space Y = R[2] by l1
  box left  : N -> Y = N.left
  box right : N -> Y = N.right
  left <= right
}
END
# worlds SEED: rows, left and right of the fine one, then of the coarse one
worlds() {
  awk -v seed="$1" 'function r() { return int(rand() * 2001 - 1000) / 500 }
    function row(s, t) { return s (s == "" ? "" : ",") "[" t "]" }
    BEGIN {
      srand(seed); few = 1 + int(rand() * 4)
      for (side = 0; side < 2; side++) for (i = 0; i < few; i++) {
        u[side, i] = r(); v[side, i] = r(); small[side] = row(small[side], u[side, i] "," v[side, i]) }
      for (i = 0; i < few; i++) for (n = 1 + int(rand() * 3); n > 0; n--) {   # p is onto: at least one row over each
        many++
        for (side = 0; side < 2; side++) { a = r(); b = r(); large[side] = row(large[side], a "," u[side, i] - a "," v[side, i] + b "," b) } }
      print many, "[" large[0] "]", "[" large[1] "]", few, "[" small[0] "]", "[" small[1] "]"
    }'
}
for seed in 1 2 3 4 5 6 7 8 9 10; do
  worlds $seed >world
  read -r many fl fr few cl cr <world
  echo "$many $("$LIMN" eval contract.limn fine.Y --in left="$fl" --in right="$fr" 2>/dev/null)" \
    "$few $("$LIMN" eval contract.limn coarse.Y --in left="$cl" --in right="$cr" 2>/dev/null)"
done >losses
equal "the loss is contractive" 10 "$(awk 'NF == 4 && $4 > 0 && $1 * $2 >= $3 * $4 - 1e-9' losses | grep -c .)"

# -- gluing ----------------------------------------------------------------------------------------
cat >glue.limn <<'END'
learn enc : R[2] -> R[4] = dense[4] ; tanh
diagram one {
  space N = moons
  space X = R[2]
  space F = R[4]
  space Y = {2} by cross_entropy
  box x : N -> X = moons.x
  box y : N -> Y = moons.label
  box m : X -> F = enc
  learn h : F -> Y = dense[2]
  x ; m ; h <= y
}
diagram two {
  space N = blobs
  space X = R[2]
  space F = R[4]
  space Y = {3} by cross_entropy
  box x : N -> X = blobs.x
  box y : N -> Y = blobs.label
  box m : X -> F = enc
  learn h : F -> Y = dense[3]
  x ; m ; h <= y
}
diagram three {
  space N = blobs
  space X = R[2] by l2
  box x    : N -> X = blobs.x
  box half : N -> X = blobs.x / 2
}
diagram beside = one + two
diagram both   = one + two along X, F, m
diagram left   = both + three
diagram right  = three + two + one along m
diagram more   = one + two along m {
  space T = R[4] by l2
  box t : F -> T = id
  box u : X -> T = enc
  m ; t <= u
}
train one 1 step
train two 1 step
train beside 1 step
train both 1 step
END
paths glue
in1='--in x=[[1,2],[0,-1]] --in label=[0,1]'
in2='--in x=[[1,2],[0,-1]] --in label=[2,1]'
# shellcheck disable=SC2086
{
  "$LIMN" eval glue.limn one.Y $in1 >one.number 2>/dev/null
  "$LIMN" eval glue.limn two.Y $in2 >two.number 2>/dev/null
  for g in beside both; do
    "$LIMN" eval glue.limn $g.one.Y $in1 >g1 2>/dev/null
    "$LIMN" eval glue.limn $g.two.Y $in2 >g2 2>/dev/null
    same "the first loss of $g is that of its part" one.number g1
    same "the second loss of $g is that of its part" two.number g2
  done
}
equal "gluing along nothing adds no goal" 2 "$("$LIMN" check glue.limn --paths beside 2>/dev/null | grep -c '~')"
says "parts share what they are glued along" glue.paths "both: 6 spaces, 7 edges, 2 pairs"
moves() { "$LIMN" check glue.limn --paths "$1" 2>/dev/null | sed -n 's/^    moves/moves/p; s/.* by \([a-z0-9_]*\)/\1/p' | sort; }
moves left >a
moves right >b
same "gluing does not depend on the order of the parts" a b
says "a part that states nothing keeps its pairs" glue.paths "left.three.X: three.N to three.X by l2, times 2"
says "a glued diagram may have more" glue.paths "more.T.1: one.N to T by l2"
train glue
cat glue.limn - >frozen.limn <<'END'
freeze both.one.h
measure acc : both.two.h(enc(p)) ~ q by hits on blobs.test
given p, q from blobs
END
"$LIMN" check frozen.limn --who >out 2>&1
tr -s ' ' <out >who
says "parts are addressable" who "both.one.Y moves through ·"
says "the part itself is left alone" who "one.Y moves moves ·"

# -- several trains, interrupted -------------------------------------------------------------------
sed -i 's/^train.*//' glue.limn
cat >>glue.limn <<'END'
train one 30 steps, batch 16
train both 30 steps, batch 16, momentum(0.05)
measure one.Y by hits on moons.test
END
cp glue.limn whole.limn
cp glue.limn paused.limn
train whole
train paused --pause 40
"$LIMN" train paused.limn --resume paused --quiet --plain >log 2>&1
same "a run stopped in its second train goes on as if nothing had happened" whole/model.safetensors paused/model.safetensors
equal "each train shows its own goals" 1 "$(sed -n 2p whole/metrics.csv | cut -d, -f5- | grep -c '^,')"

# -- set, find, replace ----------------------------------------------------------------------------
cat >plain.limn <<'END'
learn small : R[4] -> R[3] = dense[3]
diagram flowers {
  space N = iris
  space X = R[4]
  space F = R[4]
  space Y = {3} by cross_entropy
  box x       : N -> X = iris.x
  box kind    : N -> Y = iris.label
  box prepare : X -> F = divide[8]
  box guess   : F -> Y = small
  x ; prepare ; guess <= kind
}
train 20 steps
END
sed 's/= dense\[3\]$/= dense[5] ; relu ; dense[3]/' plain.limn >written.limn
{ cat plain.limn; echo 'set flowers.small = dense[5] ; relu ; dense[3]'; } >setted.limn
sed 's/: R\[4\] -> R\[3\] = dense\[3\]$/(x: R[4]) -> R[3] = dense[3](x)/' plain.limn >named.limn
echo 'set small = dense[5] ; relu ; dense[3]' >>named.limn
train named
cp plain.limn asked.limn
train written
train setted
train asked --set flowers.small='dense[5] ; relu ; dense[3]'
same "set is as if it had been written so" written/model.safetensors setted/model.safetensors
same "set of a learner of the file, with named inputs" written/model.safetensors named/model.safetensors
same "--set too" written/model.safetensors asked/model.safetensors
"$LIMN" train asked.limn --resume asked --steps 30 --quiet --plain >out 2>&1
says "a run with another body is another run" out "it was begun with --set"
{ cat plain.limn; echo 'find prepare ; guess in flowers => replace divide[8] ; small'; } >replaced.limn
sed 's/= divide\[8\]/= divide[4]/' plain.limn >forth.limn
cat >>forth.limn <<'END'
find divide[4] in flowers => replace divide[5]
find divide[5] in flowers => replace divide[8]
END
for f in plain replaced forth; do train $f; done
same "a route replaced by its composite trains the same" plain/model.safetensors replaced/model.safetensors
same "replaced, and replaced again" plain/model.safetensors forth/model.safetensors
cat >shapes.limn <<'END'
learn f : R[4] -> R[3] = dense[3]
learn a : R[4] -> R[7] = dense[7]
learn b : R[7] -> R[3] = dense[3]
diagram flowers {
  space N = iris
  space X = R[4]
  space Y = R[3] by soft_cross_entropy
  box x     : N -> X = iris.x
  box kind  : N -> Y = 9 * one_hot(iris.label)
  box guess : X -> Y = f
  x ; guess <= kind
}
diagram map {
  space A = R[4]
  space Z = R[3] by soft_cross_entropy
  box f : A -> Z
}
diagram two_steps {
  space A
  space Z
  space M = R[7]
  box f   : A -> Z
  box first  : A -> M = a
  box second : M -> Z = b
  first ; second <= f
}
find map in flowers => replace two_steps
train 2 steps
END
paths shapes
says "a diagram is replaced by a diagram" shapes.paths "flowers: 4 spaces, 5 edges, 3 pairs"
says "what is found is said" shapes.paths "found map: guess, replaced"
"$LIMN" find 'dense ; _ ; dense' written.limn >out 2>&1
says "a route in a body" out 'written.limn:1:30: in learner `small`: dense[5] ; relu ; dense[3]'
"$LIMN" find 'x ; prepare' plain.limn >out 2>&1
says "a route in a learning diagram" out 'in learning diagram `flowers`: x ; prepare'
"$LIMN" find 'dense[4]' plain.limn >out 2>&1
says "brackets count" out "it is not found here"
"$LIMN" find 'small' plain.limn --json >out 2>&1
if /usr/bin/python3 -c 'import json; d = json.load(open("out")); assert len(d["found"]) == 2' 2>/dev/null; then ok "found, as data"; else not_ok "found, as data"; cat out; fi
"$LIMN" check plain.limn --paths --json >out 2>&1
if /usr/bin/python3 -c 'import json; d = json.load(open("out"))["paths"]["flowers"]["pairs"][0]; assert d["left"] == ["x", "prepare", "guess"] and d["moves"] == ["small"]' 2>/dev/null; then ok "paths, as data"; else not_ok "paths, as data"; cat out; fi

# -- small tasks -----------------------------------------------------------------------------------
cat >digits.limn <<'END'
learn see : R[28 28] -> R[16] = flatten ; dense[16] ; tanh
learn name : R[16] -> R[10] = dense[10]
learn five : R[16] -> R[5] = dense[5]
diagram digits {
  space N = glyphs
  space X = R[28 28]
  space F = R[16]
  space Y = {10} by cross_entropy
  box image : N -> X = glyphs.image
  box label : N -> Y = glyphs.label
  box m     : X -> F = see
  box h     : F -> Y = name
  image ; m ; h <= label
}
train digits 20 steps, batch 16
END
cat digits.limn - >tasks.limn <<'END'
diagram task = digits
set task.h = five
set task.Y = {5} by cross_entropy
set task.N = glyphs[way: 5, shot: 2, episodes: 20]
freeze task.m
measure few : task.Y by hits on glyphs.test refit 30 steps, gd(0.1)
END
cat digits.limn - >by_hand.limn <<'END'
given x : R[10 28 28], y : {5}[10], q : R[25 28 28], a : {5}[25] from glyphs[way: 5, shot: 2, episodes: 20]
measure few : refit[five, gd, steps: 30, rate: 0.1](see(x), y, see(q)) ~ a by hits on glyphs.test
END
# without the freeze, both are refitted
sed '/^freeze/d' tasks.limn >loose.limn
sed '/^measure/d' by_hand.limn >loose_hand.limn
cat >>loose_hand.limn <<'END'
box all : R[28 28] -> R[5] = see ; five
measure few : refit[all, gd, steps: 30, rate: 0.1](x, y, q) ~ a by hits on glyphs.test
END
# an edge that holds a frozen learner and one that moves
sed '/^freeze/d' tasks.limn >joined.limn
cat >>joined.limn <<'END'
set task.m = id
set task.F = R[28 28]
set task.h = see ; five
freeze see in task
END
for f in tasks by_hand loose loose_hand joined; do train $f; done
last() { tail -n 1 "$1/metrics.csv" | sed 's/.*,//'; }
equal "a diagram with a new head, refitted for each task, is refit by hand" "$(last by_hand)" "$(last tasks)"
equal "frozen learners stay as they are, wherever they stand" "$(last by_hand)" "$(last joined)"
equal "what is not frozen is refitted" "$(last loose_hand)" "$(last loose)"
if [ "$(last tasks)" != "$(last loose)" ]; then ok "which makes a difference"; else not_ok "which makes a difference: $(last loose)"; fi
"$LIMN" check tasks.limn --who | tr -s ' ' >who.txt
says "the copy moves its head only" who.txt "task.Y through · moves"
says "and the first diagram what it moved before" who.txt "digits.Y moves moves ·"
cat tasks.limn - >again.limn <<'END'
diagram more = task
set more.N = glyphs[way: 5, shot: 4]
measure other : more.Y by hits refit 3 steps on glyphs.test
END
"$LIMN" check again.limn --who | tr -s ' ' >who.txt
says "a copy of a copy keeps what is frozen" who.txt "more.Y through · moves"
says "a diagram that is copied can be measured" who.txt "task.Y through · moves"
sed '/^set task.Y/d' tasks.limn >spaced.limn
"$LIMN" check spaced.limn --set task.Y='{5} by cross_entropy' >out 2>&1
says "--set of a space" out "spaced.limn: 3 learners, 2 learning diagrams"

# -- tables ----------------------------------------------------------------------------------------
printf 'kind,a,b,c\n0,1,2,3\n1,3,2,1\n1,0,0,1\n0,2,2,2\n' >table.csv
cat >tabled.limn <<'END'
learn f : R[3] -> R[2] = dense[2]
space Rows = "table.csv"
diagram d {
  space X = R[3]
  space Y = {2} by cross_entropy
  box x     : Rows -> X = Rows.x
  box kind  : Rows -> Y = Rows.kind
  box guess : X -> Y = f
  x ; guess <= kind
}
train 5 steps, batch 2
END
train tabled
"$LIMN" print tabled.limn d.Y >out 2>&1
says "the rows of a table are an index" out "(x: R[batch~1 3], kind: {2}[batch~1])"
equal "they are trained on" 6 "$(grep -c . tabled/metrics.csv)"

# -- large -----------------------------------------------------------------------------------------
awk 'BEGIN {
  print "learn f : R[2] -> R[2] = dense[2]\ndiagram large {\n  space N = moons\n  box x : N -> S0 = moons.x"
  for (i = 0; i < 1000; i++) printf "  space S%d = R[2]%s\n", i, i == 999 ? " by l2" : ""
  for (i = 0; i < 999; i++) for (k = 0; k < 10; k++) printf "  box e%d_%d : S%d -> S%d = f\n", i, k, i, i + 1
  print "  e998_0 <= e998_1\n}"
}' >large.limn
timeout 60 "$LIMN" check large.limn >out 2>&1
says "paths that cannot be counted are refused, not tried" out "has more paths than can be counted"

# a thousand spaces and ten thousand edges: the whole command takes a tenth of a second, and every program that it is given is checked whole
case $LIMN in */san/*) most=30 ;; *) most=1 ;; esac
LIMN=$LIMN "$root/bench/paths.sh" >large.times 2>&1
equal "in large diagrams pairs are found" "1 1 1 333" "$(sed 's/.* \([0-9]*\) pairs*,.*/\1/' large.times | tr '\n' ' ' | sed 's/ $//')"
equal "in under a second" 4 "$(awk -v most=$most '$NF == "s" && $(NF - 1) < most' large.times | grep -c .)"
{
  "$root/bench/paths.sh" away
  printf 'diagram later {\n  space N = moons\n}\n'
} >warned.limn
"$LIMN" check warned.limn >out 2>&1
says "warnings do not push an error out" out "error: \`later\` has no goals"

# -- short -----------------------------------------------------------------------------------------
# PyTorch's tutorial on distillation has 132 lines for a teacher, a student, a student with its teacher, and their tests
lines=$(grep -cvE '^[[:space:]]*(#|$)' "$root/examples/distill_cifar.limn")
if [ "$lines" -le 33 ]; then ok "distillation in a quarter of the lines"; else not_ok "distillation in a quarter of the lines: $lines"; fi
