#!/bin/sh
# Learners without a body, and the lens of examples/: the default body, that it is trained, and that each goal
# trains the right learners; FULL=1: that the lens is learned. tests/lens/full.sh compares the examples with their figures.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# same NAME WANTED FOUND
same() {
  if [ "$2" = "$3" ]; then echo "ok $1"; else printf 'not ok %s: wanted\n%s\nfound\n%s\n' "$1" "$2" "$3"; fi
}
# at_most NAME VALUE BOUND
at_most() {
  if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && a + 0 == a && a <= b) }'; then
    echo "ok $1: $2"
  else
    echo "not ok $1: $2, wanted at most $3"
  fi
}
# last DIR COLUMN: its last value in metrics.csv
last() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
    at && $at != "" { last = $at } END { print last }' "$1/metrics.csv"
}

same "a body for each type" "$(cat tests/lens/types.out)" "$("$LIMN" check tests/lens/types.limn 2>&1)"
found=$(printf 'learn f : R[3] -> B[2]\n' >"$dir/f.limn" && "$LIMN" check "$dir/f.limn" 2>&1 | head -1)
same "bits from numbers" "$dir/f.limn:1:19: error: bits are learned from bits: give this learner a body" "$found"

case $BUILD in
  */san) echo "skipped: too slow under the sanitizers"; exit 0 ;;
esac

# each body learns: bounds that a learner at chance misses by far
if "$LIMN" train tests/lens/small.limn --quiet --out "$dir/small" >"$dir/log" 2>&1; then
  while read -r goal bound; do at_most "$goal" "$(last "$dir/small" "$goal")" "$bound"; done <<END
see 0.8
sort 0.3
third 0.3
follow 1.8
write 25
clean 8
one 0.8
two 0.3
twice 0.01
END
else
  echo "not ok small.limn trains"
  cat "$dir/log"
fi
cat >"$dir/bits.limn" <<END
given x, y from iris[bits: 1]
learn kind : B[4] -> B[3]
goal fit : kind(x) ~ y   by xor
measure accuracy : kind(x) ~ y   by hits
train 1 pass, rda
END
"$LIMN" train "$dir/bits.limn" --quiet --out "$dir/bits" >"$dir/log" 2>&1
at_most "bits learn, misses" "$(awk -v r="$(last "$dir/bits" accuracy)" 'BEGIN { print 1 - r }')" 0.4

# one step of the lens without one of its goals: only those move otherwise whom that goal moves
if command -v python3 >/dev/null; then
  sed '/^measure\|^show/d; s/^train.*/train 1 steps, batch 4, adam(0.001)/' examples/lens.limn >"$dir/whole.limn"
  "$LIMN" train "$dir/whole.limn" --quiet --out "$dir/whole" >"$dir/log" 2>&1
  for goal in read put_get get_put undo; do
    sed "/^goal $goal /d" "$dir/whole.limn" >"$dir/less.limn"
    rm -rf "$dir/less"
    "$LIMN" train "$dir/less.limn" --quiet --out "$dir/less" >"$dir/log" 2>&1
    want="dec enc shift"
    [ $goal = read ] && want=get
    same "without $goal" "$want" "$(python3 tests/lens/differ.py "$dir/whole/model.safetensors" "$dir/less/model.safetensors" 2>&1)"
  done
else
  echo "skipped: the weights are compared with python3"
fi

# two epochs of sixteen
[ -n "${FULL:-}" ] || exit 0
"$LIMN" train examples/lens.limn --epochs 2 --quiet --out "$dir/lens" >"$dir/log" 2>&1
at_most "lens, two epochs, misread" "$(awk -v r="$(last "$dir/lens" reads)" 'BEGIN { print 1 - r }')" 0.05
at_most "lens, two epochs, edits misread" "$(awk -v r="$(last "$dir/lens" edits)" 'BEGIN { print 1 - r }')" 0.05
at_most "lens, two epochs, from the truth" "$(last "$dir/lens" near)" 1.2
