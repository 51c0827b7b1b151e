#!/bin/sh
# Changes during a run equal a program with the same values; a run that is repeated, killed,
# paused and resumed makes the same changes in the same steps, bit for bit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
tell() { if [ "$2" = 0 ]; then echo "ok changed: $1"; else echo "not ok changed: $1"; fi; }
hash() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1/run.json"; }
train() { "$LIMN" train --plain --quiet "$@" >>log 2>&1; }
same() { # WHAT A B: these runs end in the same states
  [ -n "$(hash "$2")" ] && [ "$(hash "$2")" = "$(hash "$3")" ]
  tell "$1" $?
}
says() { # WHAT STATUS TEXT COMMAND…
  what=$1 status=$2 text=$3
  shift 3
  "$LIMN" "$@" >said 2>&1
  [ $? -eq "$status" ] && grep -qF -- "$text" said
  tell "$what" $? && grep -qF -- "$text" said || sed 's/^/    /' said
}

# As if it were written.
printf 'step,what,value\n20,f.rate,0.002\n30,g.decay,0\n' >rates.csv
train "$here/two.limn" --precision 64 --changes rates.csv --out rates
train "$here/written.limn" --precision 64 --out written
cmp -s rates/model.safetensors written/model.safetensors
tell "rates are those of a schedule, bit for bit, compiled" $?
cmp -s rates.csv rates/changes.csv
tell "the changes are in the folder" $?
grep -qF '"f.rate": 0.002' rates/run.json && grep -qF '"decay": 0,' rates/run.json
tell "run.json says what can be changed, and what it is" $?
train "$here/two.limn" --reference --out plain
printf '40,near.weight,0.5\n' >weights.csv
train "$here/two.limn" --reference --precision 64 --changes weights.csv --out weights
train "$here/weighed.limn" --reference --precision 64 --out weighed
first() { "$LIMN" eval "$1/program.limn" f --weights "$1/model.safetensors" --in '[5, 3, 1, 0.2]' 2>>log | tr -d '[]' | cut -d, -f1 | cut -c1-12; }
[ "$(first weights)" = "$(first weighed)" ] && [ "$(first weights)" != "$(first plain)" ]
tell "a goal's weight is that of a schedule" $?

# While it goes on; made again; killed and resumed.
train "$here/two.limn" --reference --steps 4000 --every 500 --out live &
pid=$!
tries=0
while [ ! -s live/state.safetensors ] && [ $tries -lt 2000 ]; do sleep 0.05; tries=$((tries + 1)); done
"$LIMN" change live rate=0.003 >asked 2>&1 && "$LIMN" change live near.weight=0.7 >>asked 2>&1
tell "a run is asked for changes" $?
wait $pid
"$LIMN" runs live >listed && grep -q "^  changed: rate = 0.003 from step [0-9]* on" listed
tell "the list says it" $? || cat listed
"$LIMN" runs live --json | /usr/bin/python3 -c 'import json, sys; c = json.load(sys.stdin)["runs"][0]["changes"]; assert [(x["what"], x["value"]) for x in c] == [("rate", 0.003), ("near.weight", 0.7)], c'
tell "also as JSON" $?
"$LIMN" report "$here/two.limn" --from live >>log 2>&1 && grep -q "rate = 0.003 from step [0-9]* on" live/report.html
tell "and the report" $?
"$LIMN" diff plain live >listed
grep -q "changed nothing .* rate = 0.003 from step [0-9]* on, near.weight = 0.7 from step" listed
tell "and the difference of two runs" $? || cat listed
[ "$(cut -d, -f2,3 live/changes.csv | tr '\n' ' ')" = "what,value rate,0.003 near.weight,0.7 " ] && [ ! -e live/changes.asked ]
tell "it writes down which it has made, and in which steps" $?
train "$here/two.limn" --reference --steps 4000 --changes live/changes.csv --out again
same "a run that is made again makes them in the same steps" live again
cut=$(sed -n 's/^\([0-9]*\),near.*/\1/p' live/changes.csv)
train "$here/two.limn" --reference --steps 4000 --pause $((cut > 1 ? cut - 1 : 1)) --changes live/changes.csv --out parts
train "$here/two.limn" --reference --resume parts --pause 1
train "$here/two.limn" --reference --resume parts
same "one that is resumed before and behind a change makes them too" live parts

# Asked for while it is paused.
printf '10,f.rate,0.001\n10,far.weight,0.9\n45,rate,0.5\n' >phases.csv
train "$here/phases.limn" --reference --changes phases.csv --out phases
printf '45,rate,0.5\n' >later.csv
train "$here/phases.limn" --reference --changes later.csv --pause 10 --out paused
"$LIMN" change paused f.rate=0.001 >>log && "$LIMN" change paused far.weight=0.9 >>log
train "$here/phases.limn" --reference --resume paused --pause 40
train "$here/phases.limn" --reference --resume paused
same "through phases and turns, also asked for in a pause" phases paused
cmp -s phases/changes.csv paused/changes.csv
tell "in the order of steps" $?

# What is refused.
says "what is finished" 1 "phases is finished: there are no more steps" change phases rate=1
says "what there is not" 1 'there is no `size` to be changed: there is rate, ' change paused size=1
says "no number" 2 "NAME=VALUE is wanted, as in rate=0.001, not rate=fast" change paused rate=fast
says "not finite" 1 "a change is a finite number" change parts rate=1e999
says "no run" 1 "run.json" change nowhere rate=1
says "another run's changes in one that has its own" 2 "--changes cannot be combined with --resume" train "$here/phases.limn" --resume paused --changes phases.csv
printf '10,f.speed,1\n' >bad.csv
says "a change of nothing" 1 'bad.csv: there is no `f.speed` to be changed: there is ' train "$here/two.limn" --changes bad.csv
printf 'ten,rate,1\n' >bad.csv
says "no step" 1 "cannot read bad.csv: line 1 is not a step, a name and a number" train "$here/two.limn" --changes bad.csv
