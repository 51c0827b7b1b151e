#!/bin/sh
# Pictures of programs: no faults in any example as its program has it and with every box closed, the same bytes each time, every kind of file,
# words for a reader, hostile names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }

# the boxes and learners of a program that can be looked at for themselves
names() { sed -n 's/^\(box\|learn\) \([a-z_0-9]*\).*/\2/p' "$1" | sort -u; }

for file in "$root"/examples/*.limn; do
  base=$(basename "$file" .limn)
  faults=""
  for name in $(names "$file"); do
    "$LIMN" print "$file" "$name" >/dev/null 2>&1 || continue
    for level in model learner; do
      "$LIMN" draw "$file" "$name" --level $level --check >"$dir/faults" 2>&1 || faults="$faults $name ($level): $(head -1 "$dir/faults");"
    done
  done
  if grep -q '^goal' "$file"; then
    "$LIMN" draw "$file" --check >"$dir/faults" 2>&1 || faults="$faults goals: $(head -1 "$dir/faults")"
  fi
  if [ -z "$faults" ]; then ok "pictures of $base"; else not_ok "pictures of $base:$faults"; fi
done

cd "$dir" || exit 1
for kind in svg pdf png; do
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
cat >wrong.limn <<'END'
box f(x: R[3]) -> R[3] = x + 1
END
"$LIMN" draw wrong.limn >out 2>&1
if [ $? -eq 1 ] && grep -q "has no goals" out; then ok "nothing to draw"; else not_ok "nothing to draw"; cat out; fi
"$LIMN" draw wrong.limn f -o f.gif >out 2>&1
if [ $? -ne 0 ] && grep -q "svg" out; then ok "an unknown kind of file"; else not_ok "an unknown kind of file"; cat out; fi
"$LIMN" draw wrong.limn f --level low -o f.svg >out 2>&1
if [ $? -ne 0 ] && grep -q "learner" out; then ok "an unknown level"; else not_ok "an unknown level"; cat out; fi
