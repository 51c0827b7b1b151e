#!/bin/sh
# Resumed runs are the same bit for bit: 400 ticks and then 600 equal 1000; integration to time 2 and then to 4 equals integration to 4;
# a run that was killed ends like one that was not.
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

# What flows: by each method, with modes, events, births, delays, noise, tables, equations and a learner.
flow() { "$LIMN" run "$here/flowing.limn" --threads 1 --quiet "$@" >>flow.log 2>&1; }
flow --out flown
flow --set n=2 --out half
flow --from half --out other
bad=""
for file in flown/*.csv; do
  name=${file#flown/}
  case $name in
  *.happened.csv) { cat "half/$name"; tail -n +2 "other/$name" 2>>flow.log; } | cmp -s - "$file" || bad="$bad $name" ;;
  *)
    awk -F, 'NR > 1 && $1 > 2' "$file" >want
    awk -F, 'NR > 1 && $1 > 2' "other/$name" >got
    [ -s want ] && cmp -s want got || bad="$bad $name"
    ;;
  esac
done
if [ -z "$bad" ] && [ -e flown/School.csv ]; then echo "ok resumed: to 2 and then to 4 is to 4"; else
  echo "not ok resumed: to 2 and then to 4:$bad"
  sed 's/^/    /' flow.log
fi
# Another law begins where the run ended, and does not touch what was before: one that hardly differs goes the same way.
flow --from half --set k=1.0000000000001 --out law
bad=""
for file in flown/*.csv; do
  name=${file#flown/}
  case $name in *.happened.csv | Rough.csv) continue ;; esac
  [ "$(tail -n 1 "half/$name")" = "$(sed -n 2p "law/$name")" ] || bad="$bad $name at 2;"
  awk -F, 'NR > 1 && $1 > 2' "law/$name" >got
  awk -F, 'NR > 1 && $1 > 2' "$file" | paste -d, - got | awk -F, '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < -1e-5 || d > 1e-5) exit 1 } }' || bad="$bad $name;"
  cmp -s "law/$name" "other/$name" && bad="$bad $name is the old law;"
done
if [ -z "$bad" ]; then echo "ok resumed: another law holds from the end of the old one on"; else
  echo "not ok resumed: another law:$bad"
  sed 's/^/    /' flow.log
fi
says "an end that is behind" "has reached 4, and this run is \`to 4\`" run "$here/flowing.limn" --plain --from flown
says "another method" "Spin.state.safetensors was left by another system, or by another method" run "$here/other.limn" --plain --from half
says "other steps of noise" "has steps of 0.003, and this run has steps of 0.004" run "$here/other.limn" --plain --from half
"$LIMN" run "$here/tick.limn" --quiet --out ticked
mkdir swap && cp half/run.json swap && cp half/Walk.state.safetensors swap/Tick.state.safetensors
cp ticked/Tick.state.safetensors swap/Spin.state.safetensors
cp half/Rough.state.safetensors swap
says "ticks, with what flows" "is of a run that flows, and \`Tick\` goes by ticks" run "$here/tick.limn" --plain --from swap
says "what flows, with ticks" "is of a run by ticks, and \`Spin\` flows" run "$here/other.limn" --plain --from swap
cp -r half odd && cp half/Walk.state.safetensors odd/Spin.state.safetensors
says "what flows, of another run" "Spin.state.safetensors is not what this run left" run "$here/flowing.limn" --set n=2 --resume odd

"$LIMN" run "$here/long.limn" --quiet --out straight
# Where its clock jumps, a run is saved at many ticks; it is killed before one change of a file after another.
bad="" cut=0
case $BUILD in
*/san) ;; # the sanitizers' own library does not stand one in front of it
*) ${CC:-cc} -std=gnu11 -O1 -shared -fPIC -o shim.so "$here/../torture/shim.c" -ldl && shim=$out/shim.so ;;
esac
for k in $(seq 9 13 100); do
  rm -rf killed
  LD_PRELOAD=${shim:-} TORTURE_CLOCK=7 TORTURE_SIGNAL=9:$k "$LIMN" run "$here/long.limn" --quiet --out killed >log 2>&1
  grep -q '"running"' killed/run.json 2>/dev/null || continue
  cut=$((cut + 1))
  "$LIMN" run "$here/long.limn" --quiet --resume killed >log 2>&1
  for file in Pupil.csv Pupil.state.safetensors first.csv; do cmp -s straight/$file killed/$file || bad="$bad $k $file;"; done
done
if [ -n "${shim:-}" ]; then
  flowcut=0 flowbad=""
  for k in $(seq 40 75 565); do
    rm -rf broken
    LD_PRELOAD=$shim TORTURE_CLOCK=7 TORTURE_SIGNAL=9:$k flow --set n=2 --out broken
    grep -q '"running"' broken/run.json 2>/dev/null || continue
    flowcut=$((flowcut + 1))
    flow --set n=2 --resume broken
    for file in half/*.csv half/*.state.safetensors; do cmp -s "$file" "broken/${file#half/}" || flowbad="$flowbad $k ${file#half/};"; done
  done
  if [ -z "$flowbad" ] && [ $flowcut -ge 6 ]; then echo "ok resumed: $flowcut runs that flow, killed on the way, end as one left alone"; else
    echo "not ok resumed: $flowcut runs that flow, killed on the way:$flowbad"
  fi
fi
if [ -n "${shim:-}" ]; then
  "$LIMN" run "$here/begins.limn" --quiet --out begun
  early=0 earlybad=""
  for k in $(seq 14 2 22); do
    rm -rf early
    LD_PRELOAD=$shim TORTURE_SIGNAL=9:$k "$LIMN" run "$here/begins.limn" --quiet --out early >log 2>&1
    [ -e early/A.state.safetensors ] && grep -q '"running"' early/run.json || continue
    early=$((early + 1))
    "$LIMN" run "$here/begins.limn" --quiet --resume early >log 2>&1
    for file in A.csv A.happened.csv; do cmp -s begun/$file early/$file || earlybad="$earlybad $k $file;"; done
  done
  if [ -z "$earlybad" ] && [ $early -ge 2 ] && grep -q '^0,' begun/A.happened.csv; then echo "ok resumed: $early runs killed at their beginning keep what happened then"; else
    echo "not ok resumed: $early runs killed at their beginning:$earlybad"
  fi
  "$LIMN" run "$here/begins.limn" --plain --set t=2 --from begun >log 2>&1
  if grep -qF "\`x\` continues from" log; then echo "ok resumed: a start that does not count is told"; else echo "not ok resumed: a start that does not count is told"; fi
fi
if [ -z "${shim:-}" ]; then
  echo "skipped: runs killed on the way"
  cp -r straight killed
elif [ -z "$bad" ] && [ $cut -ge 5 ]; then echo "ok resumed: $cut runs killed on the way end as one left alone"; else
  echo "not ok resumed: $cut runs killed on the way:$bad"
fi
"$LIMN" run "$here/long.limn" --json --resume killed >again.json
"$LIMN" run "$here/long.limn" --json --resume straight >straight.json
sed 's/"seconds": [0-9.e-]*//; s/killed/straight/g' again.json | grep '"figure"\|"holds"' >a
sed 's/"seconds": [0-9.e-]*//' straight.json | grep '"figure"\|"holds"' >b
same "claims hold as they did" a b

sed "s/0.001/0.002/" "$here/long.limn" >long.limn
cp killed/run.json before.json
says "another program" "the program has changed" run long.limn --resume killed
same "a folder that is refused stays as it was" before.json killed/run.json
printf 'time,u\n0,1\n2,1\n' >moved.csv
printf 'machine I(u: R[]) -> (x: R[]) {\n  state x = 0\n  x%s = u\n}\nrun I to 2 on "moved.csv"\n' "'" >moved.limn
"$LIMN" run moved.limn --quiet --out moved
printf 'time,u\n0,1\n2,3\n' >moved.csv
says "another table" "was left by a run with other inputs" run moved.limn --resume moved
printf 'u\n1\n2\n3\n' >ticked.csv
printf 'machine I(u: R[]) -> (x: R[]) {\n  state x = 0\n  next x = x + u\n}\nrun I for 3 ticks on "ticked.csv"\n' >ticked.limn
"$LIMN" run ticked.limn --quiet --out by_ticks
"$LIMN" run ticked.limn --quiet --resume by_ticks && echo "ok resumed: the same table, by ticks" || echo "not ok resumed: the same table, by ticks"
printf 'u\n1\n2\n4\n' >ticked.csv
says "another table, by ticks" "was left by a run with other inputs" run ticked.limn --resume by_ticks
says "another run" "it has no run 1 called \`Class\`" run "$here/learns.limn" --resume killed
says "another setting" "it was begun with --set n=400, and now it is nothing" run "$here/learns.limn" --resume part
says "another start" "it was begun with --from nothing, and now it is part" run "$here/learns.limn" --from part --resume whole
says "another seed" "its seed is 0" run "$here/learns.limn" --seed 3 --resume whole
says "another folder" "stays in its folder" run "$here/learns.limn" --out other --resume whole
says "no folder of a run" "holds no run of machines" run "$here/learns.limn" --resume nowhere
says "no such run" "has no run \`Class\` to go on with" run "$here/learns.limn" --plain --from killed
cp straight/first.state.safetensors killed/Pupil.state.safetensors
says "the state of another run" "Pupil.state.safetensors is not what this run left" run "$here/long.limn" --resume killed
cp straight/Pupil.state.safetensors killed/first.state.safetensors
says "more ticks than there are" "first.state.safetensors is not what this run left" run "$here/long.limn" --resume killed
"$LIMN" run "$here/stops.limn" --quiet --out stopped
cp stopped/Counts.csv once.csv
"$LIMN" run "$here/stops.limn" --quiet --resume stopped
same "what has stopped stays so" once.csv stopped/Counts.csv
says "what has stopped" "has stopped, and cannot be continued" run "$here/stops.limn" --plain --from stopped
