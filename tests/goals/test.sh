#!/bin/sh
# Pictures of goals, lenses, derivatives, and --who: no faults in any example, and their content.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
is() { if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3: $1, wanted $2"; fi; }
count() { grep -o "$1" "$2" | wc -l | tr -d ' '; }
has() { if grep -qF "$1" "$2"; then ok "$3"; else not_ok "$3"; cat "$2"; fi; }
draw() { "$LIMN" draw "$@" >/dev/null || not_ok "limn draw $*"; }

# no faults
for file in "$root"/examples/*.limn; do
  base=$(basename "$file" .limn)
  "$LIMN" check "$file" 2>/dev/null | grep -q ' goal' || continue
  faults=""
  for how in "" --who --lens "--lens --level learner" "--lens --level layer"; do
    # shellcheck disable=SC2086
    "$LIMN" draw "$file" $how --check >faults 2>&1 || faults="$faults $how: $(head -1 faults);"
  done
  for name in $(sed -n 's/^learn \([a-z_0-9]*\).*/\1/p' "$file" | sort -u); do
    "$LIMN" draw "$file" "$name" --grad --check 2>&1 | grep ' at ' >>grad_faults
  done
  if [ -z "$faults" ]; then ok "goals of $base"; else not_ok "goals of $base:$faults"; fi
done

if [ -s grad_faults ]; then not_ok "derivatives: $(head -1 grad_faults)"; else ok "derivatives"; fi

cat >all.limn <<'END'
axis z = 3
given x, y from moons
given n from normal[z]
const U : R[z] = [1, 2, 3]
learn f : R[2] -> R[2]
learn t : R[2] -> R[2] = dense[8] ; relu ; dense[2]
learn p : simplex[z]
stale g = f by 0.99
freeze t
refine f = dense[z] ; relu ; dense[2]
goal follow : f(x) ~ stop(f(x)) + g(x)   by l2   times 0.1
goal copy   : f(x) ~ t(x)                by l2
goal fit    : f(x) ~ y                   by cross_entropy
goal maximise p[i] U[i]
for k in 0..1 {
  goal many : f(x) ~ k   by l2
}
train 5 steps, f: adam(0.25), p: optimistic_mw(0.5)
END
# goals: what is not used ends, stops and frozen boxes have marks, what is refined has a body
draw all.limn -o goals.txt
draw all.limn -o goals.svg
is "$(grep -c '⇌' goals.txt)" 5 "a sign for each equation"
is "$(count '●' goals.txt)" 5 "a dot for each copy and each source that a side does not use"
has '×0.1' goals.txt "the factor stands at the sign"
has 'many.1' goals.txt "goals of a loop"
has '<title>stop</title>' goals.svg "a stop is a mark on the wire"
has '<title>max</title>' goals.svg "what is made large ends in a triangle"
has '<title>↦</title>' goals.svg "a refinement is an arrow"
is "$(count 'stroke-dasharray="4 3"' goals.svg)" 2 "a frozen learner and a stale one are dashed"
is "$(grep -c 'R\[z\]' goals.txt)" 1 "a type is written once where it first appears"
has 'pen-series1' goals.svg "types have inks"
draw all.limn -o again.svg
if cmp -s goals.svg again.svg; then ok "the same goals twice"; else not_ok "the same goals twice"; fi
sed -n '/^learn/p' all.limn >learners
grep -v '^learn' all.limn | cat - learners >later.limn
draw later.limn -o later.svg
if cmp -s goals.svg later.svg; then ok "where learners are declared does not matter"; else not_ok "where learners are declared does not matter"; fi

# who: the facts of limn check --who
draw all.limn --who -o who.svg
"$LIMN" check all.limn --who >who.text
is "$(count '<title>[a-z0-9.]* moves ' who.svg)" "$(count moves who.text)" "as many dots as learners are moved"
is "$(count '<title>[a-z0-9.]* goes through ' who.svg)" "$(count through who.text)" "as many rings as learners are passed through"

# lenses
draw all.limn fit --lens -o fit.svg
is "$(count '<title>adam(0.25)</title>' fit.svg)" 2 "an optimiser for each box with weights"
has '<title>cross_entropy</title>' fit.svg "the loss"
has '<title>rate</title>' fit.svg "the rate"
draw all.limn fit --lens --level learner -o fit1.svg
is "$(count '<title>adam(0.25)</title>' fit1.svg)" 1 "a learner is one box"
draw all.limn fit --lens --level layer -o fit2.txt
is "$(count fwd fit2.txt) $(count bwd fit2.txt)" "3 3" "opened, each has two maps"
draw all.limn copy --lens --level learner -o copy.svg
is "$(count '<title>adam(0.25)</title>' copy.svg)" 1 "nothing steps what is frozen"
draw all.limn --lens -o lenses.svg
is "$(count '<title>rate</title>' lenses.svg)" 6 "without a name, all goals"
draw all.limn t --lens -o learner.txt
is "$(count '▶' learner.txt) $(count '◀' learner.txt)" "4 4" "a learner: values forward, changes back"

# derivatives
draw "$root/examples/attention.limn" attend --grad -o grad.svg
has '∂softmax' grad.svg "parts of a derivative are derivatives of parts"
has 'pen-series2' grad.svg "cotangents have an ink"
draw all.limn t --grad -o grad.txt
has '∂W' grad.txt "cotangents of weights have names"
draw "$root/examples/attention.limn" multihead --grad -o closed.svg
draw "$root/examples/attention.limn" multihead --grad --open attend -o open.svg
if grep -q '∂attend' closed.svg && ! grep -q '∂attend' open.svg; then ok "a derivative is opened by its name"; else not_ok "a derivative is opened by its name"; fi

cat >zero.limn <<'END'
learn w : R[2] = [0.5, -0.25]
learn net : R[2] -> R[2] = dense[2] ; sin
box weighted(x: R[]) -> R[] {
  learn a : R[] = 0.5
  learn b : R[] = 0.5
  learn c : R[] = 0.5
  return x * a * b * c
}
box unused(x: R[], y: R[]) -> R[] {
  z = weighted(x)
  return tanh(y)
}
box around(x: R[]) -> R[2] {
  u = 1 * w
  return net(w) + u
}
END
draw zero.limn unused --grad -o unused.txt
is "$(count '∂[xyθ]' unused.txt)" 3 "one wire is the cotangent of an input and of three weights"
draw zero.limn around --grad -o around.txt
is "$(count '∂θ' around.txt) $(count '∂w' around.txt)" "1 1" "the weights of a box end in one wire, a seed that is a weight's cotangent in another"

# what cannot be drawn
echo 'box f(x: {3}) -> {3} = x' >none.limn
wrong() { # words, options
  words=$1
  shift
  "$LIMN" draw none.limn "$@" -o none.svg >out 2>&1
  if [ $? -eq 1 ] && grep -q "$words" out && [ ! -e none.svg ]; then ok "$words"; else not_ok "$words"; cat out; fi
}
wrong 'has no goals: name a learner' --lens
wrong 'no goal of this program moves a learner' --who
wrong 'a gradient wants the name of a box or a learner' --grad
wrong 'has a derivative' f --grad
wrong 'no box, learner, goal or measure `h`' h --lens

# goals of one space are numbered, and measured by their numbers
cat >numbered.limn <<'END'
learn enc : R[2] -> R[4] = dense[4] ; tanh
learn far : R[4] -> R[4] = dense[4]
diagram apart {
  space N = moons
  space P = R[2] by l2
  space C = R[4] by l2
  box x    : N -> P = moons.x
  box code : P -> C = enc
  box near : P -> C = enc ; far
  x ; code <= x ; near   trains far
  x ; near <= x ; code   times 0.25   trains code
}
measure apart.C.1 by l1 on moons.test
measure second : apart.C.2 on moons.test
train apart 2 steps, batch 4, gd(0.1)
END
"$LIMN" train numbered.limn --reference --plain --out numbered >out 2>&1
has 'apart.C.1.l1 ' out 'a numbered goal is measured by another distance'
has ', second ' out 'a numbered goal is measured'
if "$LIMN" fmt numbered.limn --check >out 2>&1; then ok 'a numbered goal is formatted as it is written'; else not_ok 'a numbered goal is formatted as it is written'; cat out; fi
sed 's/C\.2/C.3/' numbered.limn >third.limn
wanted=$("$LIMN" check third.limn 2>&1)
is "$(echo "$wanted" | grep -c 'there is no goal `apart.C.3` to measure')" 1 'a number that no goal has'
