#!/bin/sh
# Pictures of programs: reproducible bytes, every file format, descriptions for screen readers. tests/pictures_test.c tests that pictures have no
# faults.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# the boxes and learners of a program
names() { sed -n 's/^\(box\|learn\) \([a-z_0-9]*\).*/\2/p' "$1" | sort -u; }
faultless() { "$LIMN" draw "$@" --check >faults 2>&1; ! grep ' at [0-9-]*, [0-9-]*: ' faults >out; }

cd "$dir" || exit 1
for kind in svg pdf png tex txt; do
  "$LIMN" draw "$root/examples/attention.limn" multihead -o a.$kind >/dev/null && "$LIMN" draw "$root/examples/attention.limn" multihead -o b.$kind >/dev/null
  if cmp -s a.$kind b.$kind; then ok "the same $kind twice"; else not_ok "the same $kind twice"; fi
done
"$LIMN" draw "$root/examples/gan.limn" -o goals.svg >/dev/null
for text in '<title' 'aria-label="gen"' 'aria-label="dis"'; do
  if grep -q "$text" goals.svg; then ok "goals have $text"; else not_ok "goals have $text"; fi
done
if command -v xmllint >/dev/null; then
  if xmllint --noout a.svg goals.svg; then ok "well-formed"; else not_ok "well-formed"; fi
fi
# as text: what is shown, in what letters, and where
text_of() { env -u LC_CTYPE LC_ALL="$1" "$LIMN" draw "$root/examples/attention.limn" multihead -o -; }
text_of C.UTF-8 >a.text
if cmp -s a.text a.txt && [ ! -e ./- ]; then ok "text on standard output"; else not_ok "text on standard output"; fi
text_of C >a.ascii
if [ -s a.ascii ] && ! LC_ALL=C grep -q '[^ -~]' a.ascii; then ok "text in ASCII"; else not_ok "text in ASCII"; cat a.ascii; fi
if [ "$(grep -c ' L[ ^ᴷⱽ]' a.text)" -eq 4 ] && grep -q 'attend' a.text && grep -q '╭─' a.text && ! grep -q ' $' a.text; then ok "boxes as text"; else not_ok "boxes as text"; cat a.text; fi
if [ "$("$LIMN" draw "$root/examples/attention.limn" multihead)" = diagram.svg ] && [ -s diagram.svg ]; then ok "no terminal: a file"; else not_ok "no terminal: a file"; fi
if command -v script >/dev/null; then
  rm -f diagram.svg
  LC_ALL=C.UTF-8 script -qec "$LIMN draw $root/examples/attention.limn multihead" /dev/null </dev/null | tr -d '\r' >a.terminal
  if cmp -s a.terminal a.txt && [ ! -e diagram.svg ]; then ok "text on a terminal"; else not_ok "text on a terminal"; cat a.terminal; fi
fi
"$LIMN" draw "$root/examples/gan.limn" -o goals.txt >/dev/null
if [ "$(grep -c '⇌' goals.txt)" -eq 4 ] && grep -q '┤ dis ├' goals.txt; then ok "goals as text"; else not_ok "goals as text"; cat goals.txt; fi
# as TikZ
same() { [ "$(grep -c "$1" a.tex)" -eq "$(grep -c "$2" a.tex)" ]; }
if same '^.begin{scope}' '^.end{scope}' && grep -q '^.usepackage' a.tex && grep -q 'attend};$' a.tex && tail -1 a.tex | grep -q '^.end{document}$'; then ok "TikZ is whole"; else not_ok "TikZ is whole"; fi
"$LIMN" draw "$root/examples/attention.limn" multihead --theme dark -o d.tex >/dev/null
if grep -q 'definecolor{limnpaper}{HTML}{1E1E1E}' d.tex && ! grep -q 'limnpaper' a.tex; then ok "TikZ in the dark"; else not_ok "TikZ in the dark"; fi
if "$LIMN" draw "$root/examples/attention.limn" multihead --open attend,softmax -o both.svg >out 2>&1; then ok "an opened box"; else not_ok "an opened box"; cat out; fi
"$LIMN" draw "$root/examples/attention.limn" multihead --open attend -o open.svg >/dev/null
if cmp -s open.svg a.svg; then not_ok "opening changes the picture"; else ok "opening changes the picture"; fi
"$LIMN" draw "$root/examples/attention.limn" multihead --open attend --close attend -o closed.svg >/dev/null
if cmp -s closed.svg a.svg; then ok "what is closed stays closed"; else not_ok "what is closed stays closed"; fi
cat >wrong.limn <<'END'
box f(x: R[3]) -> R[3] = x + 1
END
"$LIMN" draw wrong.limn >out 2>&1
if [ $? -eq 1 ] && grep -q "has no goals" out; then ok "nothing to draw"; else not_ok "nothing to draw"; cat out; fi
"$LIMN" draw wrong.limn f -o f.gif >out 2>&1
if [ $? -ne 0 ] && grep -q "svg, .pdf, .png, .tex or .txt" out; then ok "an unknown kind of file"; else not_ok "an unknown kind of file"; cat out; fi
"$LIMN" draw wrong.limn f --level low -o f.svg >out 2>&1
if [ $? -ne 0 ] && grep -q "learner" out; then ok "an unknown level"; else not_ok "an unknown level"; cat out; fi
# a dot is where wires meet or end: one number that goes on has none
printf 'box one(c: R[]) -> R[] = c + 1\nbox chain(c: R[]) -> R[] = sin(one(c))\nbox two(c, d: R[]) -> R[] = c + d\nbox sums(x: R[3], c: R[]) -> R[] = sum(x) * c\n' >numbers.limn
for n in one:0 chain:0 two:1 sums:1; do
  "$LIMN" draw numbers.limn ${n%:*} -o n.svg >/dev/null
  dots=$(grep -A 1 '<g class="dot">' n.svg | grep -o ' d="[^"]*"' | sort -u | wc -l)
  if [ "$dots" -eq "${n#*:}" ]; then ok "dots of ${n%:*}"; else not_ok "dots of ${n%:*}: $dots"; fi
done
# rows
"$LIMN" draw "$root/examples/unet.limn" unet --width 600 -o rows.svg >/dev/null && "$LIMN" draw "$root/examples/unet.limn" unet --width 0 -o row.svg >/dev/null
width() { sed -n 's/.* width="\([0-9]*\).*/\1/p' "$1" | head -1; }
if [ "$(width rows.svg)" -le 600 ] && [ "$(width row.svg)" -gt 1400 ]; then ok "rows are as wide as asked"; else not_ok "rows are as wide as asked: $(width rows.svg), $(width row.svg)"; fi
"$LIMN" draw "$root/examples/attention.limn" multihead --width 86mm -o rows.txt >/dev/null
if [ "$(LC_ALL=C.UTF-8 wc -L <rows.txt)" -lt 95 ] && grep -q '▶' rows.txt && grep -q ' L' rows.txt; then ok "rows as text"; else not_ok "rows as text"; cat rows.txt; fi
"$LIMN" draw wrong.limn f --width 7kg -o f.svg >out 2>&1
if [ $? -ne 0 ] && grep -q "a width is a number of units" out; then ok "an unknown width"; else not_ok "an unknown width"; cat out; fi
# what is said once is drawn once
count() { grep -o "$1" "$2" | wc -l; }
"$LIMN" draw "$root/examples/unet.limn" unet -o unet.svg >/dev/null
"$LIMN" draw "$root/examples/transformer.limn" model -o model.svg >/dev/null
if [ "$(count 'repeated, l=1 to 4' unet.svg)" -ge 1 ] && [ "$(count 'repeated, l=4 to 1' unet.svg)" -ge 1 ] && [ "$(count 'repeated, l=1 to 6' model.svg)" -ge 1 ]; then ok "loops are repeats"; else not_ok "loops are repeats"; fi
if grep -q '→ C_l' unet.svg && grep -q 'C_l →' unet.svg; then ok "kept wires end on plates"; else not_ok "kept wires end on plates"; fi
if grep -q '64, 128, 256, 512, 1024' unet.svg && grep -q 'Legend' model.svg && grep -q '"512"' model.svg && grep -q '"8000"' model.svg; then ok "the legend has sizes"; else not_ok "the legend has sizes"; fi
"$LIMN" draw "$root/examples/unet.limn" unet --no-legend -o bare.svg >/dev/null
if grep -q 'Legend' bare.svg; then not_ok "no legend"; else ok "no legend"; fi
"$LIMN" draw "$root/examples/transformer.limn" model --notes -o notes.svg >/dev/null
if grep -q 'tied: one table, three uses' notes.svg && ! grep -q 'tied' model.svg; then ok "notes"; else not_ok "notes"; fi
for name in lstm gru; do
  "$LIMN" draw "$root/examples/attention.limn" $name -o scan.svg >/dev/null
  if grep -q 'repeated, t=1 to T' scan.svg; then ok "$name is opened"; else not_ok "$name is opened"; fi
done
# notes stand on nothing: the faults of a picture are those that it has without them
for name in attention/multihead attention/causal transformer/model conv_zoo/up conv_zoo/conv3; do
  file=$root/examples/${name%/*}.limn box=${name#*/}
  "$LIMN" draw "$file" "$box" --check >plain 2>&1
  "$LIMN" draw "$file" "$box" --notes --check >noted 2>&1
  if [ "$(wc -l <noted)" -le "$(wc -l <plain)" ]; then ok "notes of $name"; else not_ok "notes of $name"; cat noted; fi
done
"$LIMN" draw "$root/examples/attention.limn" multihead --notes -o notes.svg >/dev/null
if [ "$(count 'class="note"' notes.svg)" -eq 4 ]; then ok "a note for each comment"; else not_ok "a note for each comment"; fi
"$LIMN" draw "$root/examples/attention.limn" multihead --notes --width 86mm -o notes.svg >/dev/null
if [ "$(count 'class="note"' notes.svg)" -eq 4 ] && [ "$(width notes.svg)" -le 489 ]; then ok "notes in rows"; else not_ok "notes in rows: $(width notes.svg)"; fi
# a picture is whole, or there is none
awk 'BEGIN { print "given x, y from iris\nlearn f : R[4] -> R[3] = linear[3]"; for (i = 0; i < 1500; i++) print "goal f(x) ~ y by cross_entropy" }' >tall.limn
"$LIMN" draw tall.limn --check >out 2>&1
if [ $? -eq 1 ] && grep -q 'more than 100 000 units wide or high' out; then ok "no picture without its end"; else not_ok "no picture without its end"; head -3 out; fi
sh "$here/partial.sh"
