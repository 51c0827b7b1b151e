#!/bin/sh
# Machines in continuous time: every claim holds, and systems that cannot be simulated are refused with a reason.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
same() { if [ "$2" = "$3" ]; then echo "ok machines_flow $1"; else echo "not ok machines_flow $1"; echo "  wanted: $2"; echo "  is:     $3"; fi; }
# says NAME TEXT: the last run said it
says() { if grep -q -F -e "$2" "$dir/err"; then echo "ok machines_flow $1"; else echo "not ok machines_flow $1: no \"$2\" in"; sed 's/^/  /' "$dir/err"; fi; }
# run NAME: the program there
run() { "$LIMN" run --plain "$dir/$1.limn" >"$dir/out" 2>"$dir/err"; }

# -- every claim
for f in lotka lorenz sir cities malaria hutchinson robertson thermostat ball kuramoto pitch; do
  claims=$(grep -c '^check ' "examples/$f.limn")
  "$LIMN" run --plain "examples/$f.limn" >"$dir/out" 2>&1
  same "$f: it ends well" 0 $?
  same "$f: every claim holds" "$claims claims hold, 0 fail" "$(sed -n 's/^1 claim holds/1 claims hold/; $p' "$dir/out")"
  grep '^FAILS' "$dir/out"
done

# -- a claim can fail
sed 's/0.523598776/0.523598876/' examples/kuramoto.limn >"$dir/off.limn"
run off
same "a claim that is off fails" 1 $?
same "and is counted" "4 claims hold, 1 fails" "$(tail -1 "$dir/out")"

# -- what is stiff goes on by the stiff method, and says so
sed 's/to 40 by stiff/to 40/' examples/robertson.limn >"$dir/explicit.limn"
run explicit
same "stiff, by an explicit method" 0 $?
says "stiff: what is fast is named" "warning: stiff: from t = "
says "stiff: the state" "\`b\` changes on a time scale of "
says "stiff: what goes on" "the stiff method takes over"
says "stiff: a way out" "\`by stiff\` uses it"
says "stiff: the run is shown" "run Reaction to 40"

# -- what is refused

sed 's/^run Ball to 4$/run Ball to 5/' examples/ball.limn >"$dir/storm.limn"
run storm
same "a storm of events" 1 $?
says "storm: the event is named" "too many events: \`next v\` in \`Ball\` happened "
says "storm: where they pile up" "up to t = 4.063712769"

# -- a switch waits: at ticks among machines that tick, at the moment where something flows
cat >"$dir/switch.limn" <<'END'
machine Ramp -> (x: R[]) {
  state x = 0
  x' = 1
}
machine Count -> (x: R[]) {
  state x = 0
  next x = x + 1
}
machine Switch(x: R[]) -> (y: R[]) {
  mode on {
    y = 1
    jump off when x >= 2.5
  }
  mode off {
    y = 0
    jump on when x >= 9
  }
}
wiring Flows -> (y: R[]) {
  r : Ramp
  s : Switch
  r.x -> s.x
  y = s.y
}
wiring Ticks -> (y: R[]) {
  r : Count
  s : Switch
  r.x -> s.x
  y = s.y
}
run Flows to 5
check when_first[1](s.mode = off) = 2.5   within 1e-9
check times_true(s.mode = on) = 0
check average(y) = 0.5   within 1e-9
run Ticks for 20 ticks
check when_first[1](s.mode = off) = 4
check when_first[1](s.mode = on) = 10
check highest(y when time > 4.5 else 0) = 1
check highest(y when time > 3.5 and time < 9.5 else 0) = 0
END
run switch
same "a switch: every claim" "7 claims hold, 0 fail" "$(tail -1 "$dir/out")"
grep '^FAILS' "$dir/out"

# -- states of parts are named, to any depth
cat >"$dir/deep.limn" <<'END'
machine Decay -> (x: R[]) {
  state x = 1
  x' = -x
}
wiring Inner -> (x: R[]) {
  d : Decay
  x = d.x
}
wiring Outer -> (x: R[]) {
  i : Inner
  x = i.x
}
run Outer(i.d.x: 4) to 1
check last(x) = 4 * exp(-1)   within 1e-9
check last(i.d.x) = 4 * exp(-1)   within 1e-9
check fixed(i.d.x: 3) = 3
check 2 + 2 = 4
END
run deep
same "states of parts: every claim" "4 claims hold, 0 fail" "$(tail -1 "$dir/out")"
sed 's/i.d.x: 4/i.e.x: 4/' "$dir/deep.limn" >"$dir/wrong.limn"
run wrong
same "a state that is not there" 1 $?
says "a state that is not there: its name" "has no port or state \`i.e.x\`"

# -- fixed steps are compiled as one, without memory where they are numbers only, up to the last one; where something is watched on the
# way, they are made one by one: the same numbers
sed '/^run /,$d' examples/lorenz.limn >"$dir/steps.limn"
cat >>"$dir/steps.limn" <<'END'
run whole : Lorenz to 5 by rk4[0.001] every 0.3
check whole : last(x) = -6.512114   within 1e-6
run single : Lorenz to 5 by rk4[0.001]
check single : at[5](x) = -6.512114   within 1e-6
run cut : Lorenz to 1 by rk4[0.03]
check cut : last(x) < 100
run odd : Lorenz to 1.999 by euler[0.001]
check odd : highest(x) - last(x) > 1
END
run steps
same "fixed steps: every claim" "4 claims hold, 0 fail" "$(tail -1 "$dir/out")"
grep '^FAILS' "$dir/out"
same "fixed steps: all of them" "5000 5000 34 1999" "$(sed -n 's/.*: \([0-9]*\) steps.*/\1/p' "$dir/out" | tr '\n' ' ' | sed 's/ $//')"
same "compiled as one or one by one" 1 "$(sed -n 's/^holds.*last(x) = -6.512114 within 1e-6   \(.*\),.*/\1/p; s/^holds.*at\[5\](x) = -6.512114 within 1e-6   \(.*\),.*/\1/p' "$dir/out" | uniq | wc -l | tr -d ' ')"

# -- many: a ring of 10 000 oscillators
sed 's/100000/10000/g; s/to 20 every 1 by/to 1 by/' bench/ring.limn >"$dir/ring.limn"
run ring
same "a ring of 10 000" 0 $?

# -- `flow` in a box, and its slope, against the same steps written out
flow=$(dirname "$0")/../programs/flow.limn
value() { "$LIMN" eval "$flow" "$1" --in a=0.7 --in x0=1.5 --in t='[0, 0.5, 2]' ${2:+--in "$2"} | tr -d '[],'; }
near() { # name, two rows of numbers
  if echo "$2 $3" | awk '{ n = NF / 2; bad = n < 1; for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d * d > 1e-24 * $i * $i) bad = 1 } exit bad }'
  then echo "ok machines_flow: $1"; else echo "not ok machines_flow: $1: $2 and $3"; fi
}
near "flow is its steps" "$(value moved)" "$(value by_hand)"
near "its slope is that of its steps" "$(value slope 'w=[1, 2, 3]')" "$(value slope_by_hand 'w=[1, 2, 3]')"
