#!/bin/sh
# Runs by ticks go on, bit for bit: 400 ticks and then 600 equal 1000; a run that was killed in its middle
# ends like another that was left alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
same() { if cmp -s "$2" "$3"; then echo "ok resumed: $1"; else echo "not ok resumed: $1"; fi; }
says() { # WHAT TEXT COMMAND…: it is refused with these words
  what=$1 text=$2
  shift 2
  "$LIMN" "$@" >log 2>&1
  if [ $? -eq 1 ] && grep -qF -- "$text" log; then echo "ok resumed: $what"; else echo "not ok resumed: $what"; sed 's/^/    /' log; fi
}

"$LIMN" run "$here/learns.limn" --quiet --out whole
"$LIMN" run "$here/learns.limn" --quiet --set n=400 --out part
"$LIMN" run "$here/learns.limn" --quiet --set n=600 --from part --out rest
tail -n +402 whole/Class.csv >want
tail -n +2 rest/Class.csv >got
same "400 ticks and 600 are 1000" want got

"$LIMN" run "$here/long.limn" --quiet --out straight
size() { { wc -c <killed/Pupil.state.safetensors; } 2>/dev/null || echo 0; }
for _ in 1 2 3 4 5; do # where the machine is busy, it may be over before it is looked at
  rm -rf killed
  "$LIMN" run "$here/long.limn" --quiet --out killed 2>log &
  id=$!
  begin=0
  for _ in $(seq 600); do # until it was saved on the way
    sleep 0.05
    [ "$begin" -gt 0 ] || begin=$(size)
    now=$(size)
    [ "$begin" -eq 0 ] || [ "$now" -le "$begin" ] || break
  done
  kill -9 $id 2>/dev/null
  wait $id 2>/dev/null
  grep -q '"running"' killed/run.json && break
done
if grep -q '"running"' killed/run.json; then echo "ok resumed: killed on the way"; else echo "not ok resumed: killed on the way"; fi
"$LIMN" run "$here/long.limn" --quiet --resume killed
same "what was killed goes on" straight/Pupil.csv killed/Pupil.csv
same "and ends with the same states" straight/Pupil.state.safetensors killed/Pupil.state.safetensors
same "runs before it are as they were" straight/first.csv killed/first.csv
"$LIMN" run "$here/long.limn" --json --resume killed >again.json
"$LIMN" run "$here/long.limn" --json --resume straight >straight.json
sed 's/"seconds": [0-9.e-]*//; s/killed/straight/g' again.json | grep '"figure"\|"holds"' >a
sed 's/"seconds": [0-9.e-]*//' straight.json | grep '"figure"\|"holds"' >b
same "claims hold as they did" a b

sed "s/0.001/0.002/" "$here/long.limn" >long.limn
says "another program" "the program has changed" run long.limn --resume killed
says "another run" "it has no run 1 called \`Class\`" run "$here/learns.limn" --resume killed
says "another setting" "it was begun with --set n=400, and now it is nothing" run "$here/learns.limn" --resume part
says "another start" "it was begun with --from nothing, and now it is part" run "$here/learns.limn" --from part --resume whole
says "another seed" "its seed is 0" run "$here/learns.limn" --seed 3 --resume whole
says "another folder" "stays in its folder" run "$here/learns.limn" --out other --resume whole
says "no folder of a run" "holds no run of machines" run "$here/learns.limn" --resume nowhere
says "no such run" "has no run \`Class\` to go on with" run "$here/learns.limn" --plain --from killed
says "what flows" "only runs by ticks go on with \`--from\`, and \`Decay\` flows" run "$here/flows.limn" --plain --from whole
cp straight/first.state.safetensors killed/Pupil.state.safetensors
says "the state of another run" "Pupil.state.safetensors is not what this run left" run "$here/long.limn" --resume killed
cp straight/Pupil.state.safetensors killed/first.state.safetensors
says "more ticks than there are" "first.state.safetensors is not what this run left" run "$here/long.limn" --resume killed
"$LIMN" run "$here/stops.limn" --quiet --out stopped
cp stopped/Counts.csv once.csv
"$LIMN" run "$here/stops.limn" --quiet --resume stopped
same "what has stopped stays so" once.csv stopped/Counts.csv
says "what has stopped" "has stopped: it does not go on" run "$here/stops.limn" --plain --from stopped
