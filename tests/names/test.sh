#!/bin/sh
# Names and texts with special characters are unchanged in every output format: XML is well-formed, PDF is valid, TeX gets no
# commands. A picture stays small for every name, shows at most 48 letters of it, and has the whole name in its description.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
say='names '
long=$(printf '%0990d' 0 | tr 0 a)
path='a<b>&\"q\" $x$ \\input{secret} %}_{_{^{#~ ]]>-->.csv'
{
  printf 'given x : R[2], y : R[] from "%s"\n' "$path"
  printf 'given z : R[2] from "%s.csv"\n' "$(printf '%0100000d' 0 | tr 0 '^')"
  printf 'given u : R[2] from "%s.csv"\n' "$(printf '%020000d' 0 | sed 's/0/_{/g')"
  printf 'learn f : R[2] -> R[] = dense[]\n'
  printf 'learn %s : R[2] -> R[] = dense[]\n' "$long"
  printf 'box e\314\201(x: R[\327\251\327\234 \316\273]) -> R[] = sum(x)\n'         # a letter with an accent of its own; Hebrew; Greek
  printf 'box call(x: R[\327\251\327\234 \316\273]) -> R[] = e\314\201(x)\n'
  printf 'box wide(x: R[%s m]) -> R[%s m] = x + 1\n' "$long" "$long"
  printf 'goal \345\233\236 : f(x) ~ y   by l2\n'                                  # a tag in Chinese
  printf 'goal second : %s(z) ~ f(u)   by l2\n' "$long"
} >odd.limn
"$LIMN" print odd.limn >out 2>&1 || { not_ok "the program has a meaning"; head -c 2000 out; exit 1; } # without its data
for name in "" call wide "$long"; do
  for kind in svg pdf png tex txt; do
    if ! "$LIMN" draw odd.limn $name -o odd.$kind >out 2>&1; then not_ok "$kind of $(echo "$name" | cut -c 1-8)"; head -c 500 out; continue; fi
    size=$(wc -c <odd.$kind)
    if [ "$size" -lt 1000000 ]; then ok "$kind of $(echo "${name:-goals}" | cut -c 1-8)"; else not_ok "$kind of $(echo "${name:-goals}" | cut -c 1-8): $size bytes"; fi
  done
  if ! xmllint --noout odd.svg 2>err; then not_ok "well-formed"; head -5 err; fi
  # outside of comments, each character that TeX acts on has a backslash
  if sed 's/\\[%#$&_{}~^]//g; s/\\textbackslash//g; s/%.*//' odd.tex | sed '1,/^.begin{tikzpicture}/d' | grep -q '[#$&~]\|\\input'; then not_ok "TeX has no active characters"; else ok "TeX has no active characters"; fi
  if pdftotext odd.pdf odd.text 2>err && ! [ -s err ]; then ok "poppler reads PDF"; else not_ok "poppler reads PDF"; head -3 err; fi
done
"$LIMN" draw odd.limn -o odd.svg >/dev/null
"$LIMN" draw odd.limn -o odd.txt >/dev/null
if grep -q '…' odd.txt && ! grep -q "$(echo "$long" | cut -c 1-60)" odd.txt; then ok "long names are cut in the picture"; else not_ok "long names are cut in the picture"; fi
if grep -q "<title>$long</title>" odd.svg; then ok "long names are whole in the words"; else not_ok "long names are whole in the words"; fi
if grep -q 'a&lt;b&gt;&amp;&quot;q&quot; $x$ \\input{secret' odd.svg; then ok "markup is words"; else not_ok "markup is words"; fi
if command -v pdflatex >/dev/null; then
  "$LIMN" draw odd.limn -o odd.tex >/dev/null
  if pdflatex -interaction=batchmode -halt-on-error odd.tex >log 2>&1 && ! grep -q 'secret' odd.fls 2>/dev/null; then ok "pdflatex takes it"; else not_ok "pdflatex takes it"; grep -A3 '^!' odd.log | head; fi
fi
printf 'box a\342\200\256b(x: R[n]) -> R[n] = x + 1\n' >turned.limn
if "$LIMN" check turned.limn >out 2>&1; then not_ok "marks of direction are refused"; else ok "marks of direction are refused"; fi
printf 'box %s(x: R[n]) -> R[n] = x + 1\n' "$(printf '%01000000d' 0 | tr 0 a)" >huge.limn
if "$LIMN" draw huge.limn f >out 2>&1; then not_ok "a name of a megabyte is refused"; else ok "a name of a megabyte is refused"; fi
mkdir hostile
/usr/bin/python3 "$here/hostile.py" "$LIMN" hostile ${FULL:+60}
