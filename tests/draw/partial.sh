#!/bin/sh
# Pictures of programs with errors: messages and exit status are those of `limn check`, the rest of the program is drawn, and the pictures have no faults.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }

# every program of tests/errors
cd "$root/tests/errors" || exit 1
bad="" shown=0 wrong=0 asked=0
for file in *.limn; do
  case $file in ahead_*) continue ;; esac # found when training is looked at, which a picture does not
  base=${file%.limn}
  grep -q ': error: ' "$base.err" || continue
  wrong=$((wrong + 1))
  rm -f "$dir/a.svg"
  "$LIMN" draw "$file" -o "$dir/a.svg" >"$dir/out" 2>"$dir/err"
  if [ $? -ne 1 ] || ! cmp -s "$dir/err" "$base.err"; then bad="$bad $base"; fi
  case $base in machine_*) ;; *) asked=$((asked + 1)) ;; esac # machines are drawn only when they are well
  [ -e "$dir/a.svg" ] || continue
  case $base in machine_*) continue ;; esac # then the last one of them is well
  shown=$((shown + 1))
  grep -q 'a.svg' "$dir/out" && grep -q '<desc' "$dir/a.svg" && grep -q 'ink-wrong' "$dir/a.svg" || bad="$bad $base:picture"
done
if [ -z "$bad" ]; then ok "$wrong programs with errors, drawn"; else not_ok "programs with errors, drawn:$bad"; fi
if [ $shown -ge $((asked * 4 / 5)) ]; then ok "$shown of $asked have a picture"; else not_ok "only $shown of $asked have a picture"; fi

# what users meet most: the picture has no faults of its own
faults=""
for base in other_axes_in_sum sizes_differ_in_sum key_sizes_differ conv_channels unknown_wire unknown_box too_many_inputs too_few_inputs summed_index_outside never_returns \
  goal_sides_do_not_fit goal_sides_counts goal_without_distance several_errors_in_order result_size_differs residual_changes_size input_of_other_size learner_two_widths; do
  "$LIMN" draw $base.limn --check >"$dir/faults" 2>"$dir/err"
  [ $? -eq 1 ] && [ ! -s "$dir/faults" ] && cmp -s "$dir/err" $base.err || faults="$faults $base: $(head -1 "$dir/faults");"
done
if [ -z "$faults" ]; then ok "no faults in pictures of errors"; else not_ok "faults in pictures of errors:$faults"; fi

cd "$dir" || exit 1
cat >wrong.limn <<'END'
box f(Q: R[t 64], K: R[s 32], V: R[s 16]) -> R[t 16] {
  A = attend(Q, K, V)
  return tanh(A)
}
box g(x: R[n]) -> R[n] = tanh(x)
box h(Q: R[t 64], K: R[s 32], V: R[s 16]) -> R[t 16] = f(Q, K, V) + 1
END
"$LIMN" draw wrong.limn f -o f.svg >out 2>err
status=$?
if [ $status -eq 1 ] && [ "$(cat out)" = f.svg ] && grep -q 'wrong.limn:2:17: error: ' err; then ok "a box with an error"; else not_ok "a box with an error"; cat out err; fi
# two axes in red, and a dashed box with what follows from it
if [ "$(grep -c 'class="pen-alarm" stroke-width="2.5" d=' f.svg)" -eq 2 ] && [ "$(grep -c 'stroke-dasharray="6 4"' f.svg)" -eq 2 ] && [ "$(grep -c 'stroke-dasharray="5 3"' f.svg)" -eq 2 ]; then ok "the axes at fault are red"; else not_ok "the axes at fault are red"; fi
if grep -q '<desc[^>]*>line 2: `attend` wants its axis k' f.svg && grep -q '<title>unknown: attend</title>' f.svg && grep -q '<title>unknown: tanh</title>' f.svg; then ok "words of an error"; else not_ok "words of an error"; fi
"$LIMN" draw wrong.limn f -o again.svg >/dev/null 2>&1
if cmp -s f.svg again.svg; then ok "the same picture twice"; else not_ok "the same picture twice"; fi
# the box without an error is drawn as if there were no other
sed -n 5p wrong.limn >right.limn
"$LIMN" draw right.limn g -o right.svg >/dev/null
"$LIMN" draw wrong.limn g -o g.svg >/dev/null 2>&1
if [ $? -eq 1 ] && cmp -s g.svg right.svg; then ok "a right box of a wrong program"; else not_ok "a right box of a wrong program"; fi
# one that uses the wrong one says so
LC_ALL=C.UTF-8 "$LIMN" draw wrong.limn h -o - >h.txt 2>/dev/null
if [ $? -eq 1 ] && grep -q 'f^?' h.txt && grep -q 'line 2' h.txt; then ok "a box that uses a wrong one"; else not_ok "a box that uses a wrong one"; cat h.txt; fi
LC_ALL=C.UTF-8 "$LIMN" draw wrong.limn -o - >f.txt 2>/dev/null
if [ "$(grep -c '━━' f.txt)" -eq 2 ] && grep -q '╭╌╌╌' f.txt && grep -q '│`attend` wants its axis k to be' f.txt; then ok "an error as text"; else not_ok "an error as text"; cat f.txt; fi
"$LIMN" draw wrong.limn nothing -o n.svg >out 2>err
if [ $? -eq 1 ] && [ ! -e n.svg ] && grep -q 'there is no box, learner, goal or measure `nothing`' err; then ok "a name that is not there"; else not_ok "a name that is not there"; cat err; fi
# what is wrong is drawn, and nothing else is done with it
"$LIMN" print wrong.limn f >out 2>&1
if [ $? -eq 1 ] && ! grep -q 'unknown' out; then ok "only pictures see what is wrong"; else not_ok "only pictures see what is wrong"; fi
# several messages
printf 'box f(x: R[3], y: R[4]) -> R[3] {\n  a = x + y\n  b = tahn(x)\n  return a + b + zz\n}\n' >many.limn
"$LIMN" draw many.limn -o many.txt >/dev/null 2>&1
if [ "$(grep -o '[123]  line [234]' many.txt | sort -u | wc -l)" -eq 3 ]; then ok "several messages have numbers"; else not_ok "several messages have numbers"; cat many.txt; fi
"$LIMN" draw many.limn --check >out 2>/dev/null
if [ $? -eq 1 ] && ! grep -q 'label\|glyph\|outside' out; then ok "several messages meet nothing"; else not_ok "several messages meet nothing"; cat out; fi
# a learner that nothing trains
printf 'given x, label from iris\nlearn f : R[4] -> R[3], g : R[4] -> R[3]\ngoal fit : f(x) ~ label by cross_entropy\n' >idle.limn
"$LIMN" draw idle.limn -o idle.txt >/dev/null 2>&1
if [ $? -eq 0 ] && grep -q 'no goal moves learner `g`' idle.txt; then ok "a learner that nothing trains"; else not_ok "a learner that nothing trains"; cat idle.txt; fi
# ends that do not fit say their types
printf 'given x, label from iris\nlearn f : R[4] -> R[4]\ngoal fit : f(x) ~ label by cross_entropy\n' >ends.limn
"$LIMN" draw ends.limn -o ends.txt >/dev/null 2>&1
if grep -q 'R\[4\]' ends.txt && grep -q 'label : {3}' ends.txt && grep -q '━━.*⇌.*━━' ends.txt; then ok "ends that do not fit"; else not_ok "ends that do not fit"; cat ends.txt; fi
