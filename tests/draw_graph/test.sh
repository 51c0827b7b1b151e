#!/bin/sh
# Pictures of learning diagrams: their content, no faults, the same bytes for every order of declarations, and random diagrams
# (random.awk).
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

draw() { "$LIMN" draw "$@" >out 2>err; }
count() { grep -o "$1" "$2" | wc -l; }
# seen N WHAT FILE NAME?
seen() { if [ "$(count "$2" "$3")" -eq "$1" ]; then ok "$4"; else not_ok "$4: $(count "$2" "$3") and not $1"; fi; }

# the examples
for picture in distill:teach distill:distill multitask:digit multitask:parity multitask:both fewshot:letters fewshot:task caption:caption; do
  file=$root/examples/${picture%:*}.limn name=${picture#*:}
  if draw "$file" "$name" --check && [ ! -s out ]; then ok "$name has no faults"; else not_ok "$name has no faults"; cat out err; fi
done
for kind in svg pdf png tex txt; do
  draw "$root/examples/multitask.limn" both -o a.$kind && draw "$root/examples/multitask.limn" both -o b.$kind
  if [ -s a.$kind ] && cmp -s a.$kind b.$kind; then ok "the same $kind twice"; else not_ok "the same $kind twice"; fi
done
for theme in light dark mono; do
  if draw "$root/examples/distill.limn" distill --theme $theme -o t.svg && [ -s t.svg ]; then ok "in $theme"; else not_ok "in $theme"; fi
done
if command -v xmllint >/dev/null; then
  if xmllint --noout a.svg t.svg; then ok "well-formed"; else not_ok "well-formed"; fi
fi

# knowledge distillation: two pairs, image in both, the teacher frozen
draw "$root/examples/distill.limn" distill -o d.svg --theme light
seen 4 'class="glyph"' d.svg "four spaces"
seen 5 'class="wire"' d.svg "five edges"
if grep -q '<desc>Spaces: index N = mnist, space G = R\[10\] by soft_cross_entropy' d.svg &&
   grep -q 'distill.G: image ; student ~ image ; teacher, soft_cross_entropy ×4; distill.Y: image ; guess ~ label, cross_entropy ×1' d.svg; then
  ok "words for a reader"
else
  not_ok "words for a reader"
fi
if grep -q 'teacher: X -&gt; G, learned (big), frozen' d.svg && ! grep -q 'student.*frozen, ' d.svg; then ok "what is frozen"; else not_ok "what is frozen"; fi
draw "$root/examples/distill.limn" distill -o d.txt
for text in 'student small' '\* teacher big' 'guess small' 'distill.Y: image ; guess ~ label, cross_entropy ×1'; do
  if grep -q "$text" d.txt; then ok "text has $text"; else not_ok "text has $text"; cat d.txt; fi
done
# bands: image has the two routes of the first pair and one of the second; each ink is in the key as well
first=$(count 'pen-series1\b' a.svg) second=$(count 'pen-series2\b' a.svg) third=$(count 'pen-series3\b' a.svg)
if [ "$first" -ge 4 ] && [ "$first" -eq "$second" ] && [ "$third" -eq 0 ]; then ok "an ink for each pair"; else not_ok "an ink for each pair: $first $second $third"; fi

# names of pairs, and whom they train
cat >named.limn <<'END'
learn f, g : R[2] -> R[2] = dense[2]
diagram d {
  space N = moons
  space P = R[2] by l2
  space Q = R[2]
  box x : N -> P = moons.x
  box f : P -> Q = f
  box b : Q -> P = g
  back : x ; f ; b <= x   times 2   trains b, g
}
END
draw named.limn d -o named.txt
if grep -q 'd.back: x ; f ; b ~ x, l2 ×2, trains b, g' named.txt; then ok "a pair has its name, and whom it trains"; else not_ok "a pair has its name, and whom it trains"; cat named.txt; fi
if draw named.limn d --check && [ ! -s out ]; then ok "which makes no fault"; else not_ok "which makes no fault"; cat out err; fi

# gluing
seen 1 '>colim<\|aria-label="colim"' a.svg "colim"
seen 2 'made one: ' a.svg "two spaces are made one"
draw "$root/examples/multitask.limn" both --level model -o whole.svg
seen 0 'made one: ' whole.svg "the whole alone"
seen 6 'class="glyph"' whole.svg "six spaces of the whole"
seen 14 'class="glyph"' a.svg "and eight of its parts"

# the goals stay equations
draw "$root/examples/distill.limn" -o goals.txt
if grep -q '⇌' goals.txt; then ok "goals are equations"; else not_ok "goals are equations"; fi

# the order of declarations
cat >one.limn <<'END'
learn f : R[3] -> R[3] = dense[3]
diagram d {
  space N = normal[3]
  space X = R[3]
  space Z = R[3]
  space Y = R[3] by l2
  box a : N -> X = N
  box b : N -> Y = N
  box c : N -> Z = N
  box g : X -> Y = f
  learn h : Z -> Y = dense[3]
  a ; g <= b
  c ; h <= b
}
END
awk '/^  (space|box|learn)/ { line[n++] = $0; next } n && !done { for (i = n; i--;) print line[i]; done = 1 } { print }' one.limn >two.limn
draw one.limn d -o one.svg && draw two.limn d -o two.svg
if ! cmp -s one.limn two.limn && [ -s one.svg ] && cmp -s one.svg two.svg; then ok "the order of declarations"; else not_ok "the order of declarations"; fi

# edges that go round, and back
cat >round.limn <<'END'
learn step : R[2] -> R[2] = dense[2]
diagram settle {
  space N = moons
  space P = R[2] by l2
  space Q = R[2]
  box x : N -> P = moons.x
  box go : P -> P = step   at most 2 times
  box ahead : P -> Q = step
  box back : Q -> P = step   at most 1 times
  x ; go ; go <= x
}
END
if draw round.limn settle --check && [ ! -s out ]; then ok "round and back"; else not_ok "round and back"; cat out err; fi

# a pattern has no data and no pairs
cat >pattern.limn <<'END'
diagram any {
  space A
  space C
  box g : A -> C
}
END
if draw pattern.limn any --check && [ ! -s out ] && draw pattern.limn any -o any.svg && grep -q 'g: A -&gt; C' any.svg; then ok "a pattern"; else not_ok "a pattern"; cat out err; fi

# with errors: what could be read, the rest red, each message beside it, and nothing of other diagrams
draw "$root/tests/errors/diagram_edges_do_not_fit.limn" plants -o wrong.svg
status=$?
if [ $status -eq 1 ] && grep -q 'measures: N -&gt; X' wrong.svg && grep -q 'pen-alarm' wrong.svg && grep -q 'line 11' wrong.svg && ! grep -q 'line 23' wrong.svg; then ok "a diagram with errors"; else not_ok "a diagram with errors: $status"; cat err; fi
bad=0
for f in "$root"/tests/errors/diagram_*.limn; do
  for name in $(sed -n 's/^diagram \([a-z_0-9]*\).*/\1/p' "$f" | sort -u); do
    draw "$f" "$name" --check
    [ $? -le 1 ] && [ ! -s out ] || { bad=$((bad + 1)); echo "# $f $name"; head -3 out; }
  done
done
if [ $bad -eq 0 ]; then ok "diagrams with errors have no faults"; else not_ok "$bad diagrams with errors have faults"; fi

# random diagrams, some of them glued
bad=0 seen=0
for seed in $(seq 1 130); do
  parts=$((seed % 4 == 0 ? 2 : 1)) name=one
  [ $parts -eq 2 ] && name=both
  awk -v seed="$seed" -v parts=$parts -f "$here/random.awk" >r.limn
  draw r.limn $name --check
  status=$?
  if grep -q 'at most 1000 are allowed' err; then continue; fi
  seen=$((seen + 1))
  if [ $status -ne 0 ] || [ -s out ]; then bad=$((bad + 1)); echo "# seed $seed"; head -3 out; fi
done
if [ $bad -eq 0 ] && [ $seen -ge 100 ]; then ok "$seen random diagrams have no faults"; else not_ok "$bad of $seen random diagrams have faults"; fi
