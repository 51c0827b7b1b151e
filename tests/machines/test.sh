#!/bin/sh
# The discrete and learning machines of examples/: every claim in them holds, with the figures of their headers; and
# programs with errors specific to machines get their message.
#   LIMN=/path/to/limn tests/machines/test.sh [--bless]
set -u
. "$(dirname "$0")/../say.sh"
here=$(dirname "$0")
examples=$here/../../examples
bless=${1:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

say='machines: '

# holds NAME FIGURE…: it runs, no claim fails, and each figure stands in what it says
holds() {
  name=$1
  shift
  if ! "$LIMN" run --plain "$examples/$name.limn" >"$out/log" 2>&1; then not_ok "$name" "$out/log"; return; fi
  if ! grep -q ' 0 fail$' "$out/log"; then not_ok "$name" "$out/log"; return; fi
  for figure in "$@"; do
    grep -qF -- "$figure" "$out/log" || { echo "wanted: $figure" >>"$out/log"; not_ok "$name: $figure" "$out/log"; return; }
  done
  ok "$name"
}

holds logic '4 of 4 inputs, settled after 2 ticks at most, from any start' \
  '512 of 512 inputs, off by 0 at most, settled after 12 ticks at most'
holds rule90 'at[63](live) = 64   64' 'at[64](live) = 2   2'
holds fibonacci 'at[7](y) = 21   21'
holds handover 'when_first(hands) / 100 = 5.51   5.51' 'eager : times_true(link = A) + times_true(link = B) = 21   21'
holds bond 'when_first(bond.mode = snapped) = 8   8'
holds market 'last(lost - best) = log(6) within 1e-6   1.791759'
holds team

holds unfold 'abs(y - flat_y))) = 0   0' 'felt - flat.felt))) = 0   0'
# (in the sandbox, where the leak sanitizer may not look into its own process)
(export LIMN_READ="$examples" ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"; holds ../tests/machines/torch/unfold '20 claims hold')   # against PyTorch's numbers

# the same for eight seeds
for seed in 0 1 2 3 4 5 6 7; do
  if "$LIMN" run --plain --seed $seed "$examples/dils.limn" >"$out/log" 2>&1; then ok "dils, seed $seed"; else not_ok "dils, seed $seed" "$out/log"; fi
done

# minutes and a book: only where they are asked for
[ -z "${LONG:-}" ] || { holds listeners; holds experts; }

# a run stands on a set of data: a row is a tick
cat >"$out/moons.limn" <<'END'
machine Count(x: R[2], label: {2}) -> (ones: R[]) {
  state ones = 0
  next ones = ones + number(label)
}
run Count for 2000 ticks on moons
check Count : last(ones + number(label)) = 1000
check Count : highest(abs(x[0])) < 3
END
if "$LIMN" run --plain "$out/moons.limn" >"$out/log" 2>&1; then ok "on a set"; else not_ok "on a set" "$out/log"; fi
sed 's/label: {2}/label: {3}[2]/; s/number(label)/number(label[0])/' "$out/moons.limn" >"$out/wrong.limn"
"$LIMN" run --plain "$out/wrong.limn" >"$out/log" 2>&1
if grep -q 'moons has `label` as {2}, but the port is {3}\[2\]' "$out/log"; then ok "a field that does not fit"; else not_ok "a field that does not fit" "$out/log"; fi

# A value that is not a number at one tick: what a claim says of the whole run is not known, and what it says of other ticks is.
cat >"$out/nan.limn" <<'END'
machine M -> (n: R[]) {
  state n = 0
  next n = n + 1
}
run M for 5 ticks
check highest(sqrt(abs(n - 2) - 1)) < 9
check lowest(sqrt(abs(n - 2) - 1)) > -9
check average(sqrt(abs(n - 2) - 1)) < 9
check peak(sqrt(abs(n - 2) - 1)) < 9
check conserved(sqrt(abs(n - 2) - 1)) < 9
check times_true(sqrt(abs(n - 2) - 1) > 5) = 0
check settled(sqrt(abs(n - 2) - 1)) < 9
check at[2](sqrt(abs(n - 2) - 1)) < 9
check when_first(sqrt(abs(n - 2) - 1) < 0.5) < 9
check last(sqrt(abs(n - 2) - 1)) = 1
check at[1](sqrt(abs(n - 2) - 1)) = 0
END
"$LIMN" run --plain "$out/nan.limn" >"$out/log" 2>&1
if grep -q '^2 claims hold, 9 fail$' "$out/log" && [ "$(grep -c 'not known: at tick 2 it is not a number' "$out/log")" = 9 ]; then ok "claims about no numbers"; else not_ok "claims about no numbers" "$out/log"; fi

# neighbours that are far away: a line of delays is one array, and beyond the end is only the pad
cat >"$out/far.limn" <<'END'
machine Cell(h, x: R[]) -> (y: R[]) {
  y = 2 * h + x
}
wiring W[n](x: R[n]) -> (y: R[n]) {
  p[n] : Cell
  x[i] -> p[i].x
  p[i-9].y + 3 * p[i-20].y + p[i-1].y pad 0 -> p[i].h
  y = p.y
}
wiring V[n](x: R[n]) -> (y: R[n]) {
  p[n] : Cell
  x[i] -> p[i].x
  p[i+12].y + p[i+1000000000].y pad 0 -> p[i].h
  y = p.y
}
machine Counted -> (x: R[40]) {
  x[i] = i + 1
}
wiring Both -> (y: R[40], z: R[40]) {
  s : Counted
  w : W[40]
  v : V[40]
  s.x -> w.x
  s.x -> v.x
  y = w.y
  z = v.y
}
run Both for 1 ticks
check Both : last(y[39]) / 2455516388668 = 1   within 1e-6
check Both : last(z[0]) = 423
check V[4] : nested = flat
END
case ${BUILD:-} in *san) room=unlimited ;; *) room=2000000 ;; esac
if (ulimit -v $room; "$LIMN" run --plain "$out/far.limn") >"$out/log" 2>&1
then ok "neighbours that are far away"; else not_ok "neighbours that are far away" "$out/log"; fi

# an adder is 36 gates, however it is nested
gates=$("$LIMN" print "$examples/logic.limn" Adder | grep -c 'xor(1:B, and(')
if [ "$gates" -eq 36 ]; then ok "36 gates"; else echo "not ok machines: the adder has $gates gates"; fi

for f in "$here"/*.limn; do
  name=$(basename "$f" .limn)
  (cd "$here" && "$LIMN" check "$name.limn") >"$out/err" 2>&1
  status=$?
  [ -z "$bless" ] || cp "$out/err" "$here/$name.err"
  diff -u "$here/$name.err" "$out/err" >"$out/diff" 2>&1 && [ $status -eq 1 ] && ok "$name" || not_ok "$name" "$out/diff"
done
