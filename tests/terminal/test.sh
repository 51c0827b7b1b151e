#!/bin/sh
# Control characters in programs, files, names or arguments never reach the terminal, and JSON output is valid.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
export LC_ALL=C.UTF-8 LIMN_CACHE="$out/cache" HOME="$out"
# ESC, BEL, CR, DEL, U+009B, U+202E, U+2066, U+200B, a byte that is no UTF-8
odd=$(printf '\033[31m\007\015\177\302\233\342\200\256\342\201\246\342\200\213\377')
faults=0
runs=0

# clean NAME ARGUMENT…: what limn says has nothing odd in it, on either stream, and with --json it is one value
clean() {
  name=$1
  shift
  runs=$((runs + 1))
  timeout 60 "$LIMN" "$@" >said 2>&1 </dev/null
  status=$?
  if [ $status -gt 3 ]; then echo "not ok $name: status $status"; faults=$((faults + 1)); fi
  if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" said || LC_ALL=C grep -q "$(printf '\302[\200-\237]\|\342\200[\213-\217\250-\256]\|\342\201[\240-\257]')" said ||
    ! iconv -f UTF-8 -t UTF-8 said >/dev/null 2>&1; then
    echo "not ok $name: limn $1 lets something through"
    faults=$((faults + 1))
    LC_ALL=C tr -c ' -~\n' '?' <said | head -5
  fi
}
json() {
  name=$1
  shift
  timeout 60 "$LIMN" "$@" --json >said 2>/dev/null </dev/null
  runs=$((runs + 1))
  if ! /usr/bin/python3 -c 'import json, sys; json.loads(open("said", "rb").read().decode("utf-8"))' 2>/dev/null; then
    echo "not ok $name: limn $1 --json is no JSON"
    faults=$((faults + 1))
  fi
}

# in a program: comments, strings, names, between words
printf 'box f(x: R[]) -> R[] = y # %s\n' "$odd" >comment.limn
printf 'given x from "%s.csv"\nuse "%s"\nlearn f : R[2] -> R[2] = dense[2] from "%s"\nconst c from "%s.npy"\n' "$odd" "$odd" "$odd" "$odd" >strings.limn
printf 'box f%s(x: R[]) -> R[] = x\nbox %s\n%s = 3\n' "$odd" "$odd" "$odd" >names.limn
printf 'box good(x: R[n]) -> R[n] = 2 * x # %s\ncheck good = id # %s\n' "$odd" "$odd" >good.limn
for p in comment strings names good; do
  for verb in check print draw cost "fmt --check" run; do
    clean "$p $verb" $verb $p.limn -o - 2>/dev/null
    clean "$p $verb" $verb $p.limn
  done
  json "$p check" check $p.limn
  clean "$p find" find good $p.limn
  clean "$p tree" print $p.limn good --after tree
done

# as a name of a file, and as any argument
cp comment.limn "$odd.limn"
cp good.limn "good$odd.limn"
for f in "$odd.limn" "good$odd.limn" "absent$odd.limn"; do
  for verb in check print draw cost fmt eval predict sample run train report; do clean "file $verb" $verb "$f"; done
  json "file" check "$f"
done
clean "a command" "$odd"
clean "help" help "$odd"
clean "an option" check good.limn "--$odd"
clean "a value" train good.limn --batch "$odd"
clean "a word" check good.limn "$odd"
for o in --out --in --set --dy --weights --from --seed --after; do clean "option $o" eval good.limn good "$o" "$odd"; done
clean "a setting" check good.limn --set "$odd=$odd"
clean "a name" eval good.limn "$odd"
clean "a pattern" find "$odd" good.limn
json "a pattern" find "$odd" good.limn
clean "runs with" runs . --with "$odd" --has "$odd"

# in files: heads of columns, words, arrays, JSON, weights
printf 'a,b%s,kind\n' "$odd" | tr -d '\r' >t.csv
i=0
while [ $i -lt 20 ]; do printf '%d,%d,%s%d\n' $i $((i * i % 7)) "$(printf '%s' "$odd" | tr -d '\r')" $((i % 2)); i=$((i + 1)); done >>t.csv
printf 'axis k = 2\ngiven a : R[], kind : {2} from "t.csv"\nlearn f : R[] -> R[2] = dense[2]\ngoal fit : f(a) ~ kind by cross_entropy\nmeasure fit by hits\ntrain 2 steps, batch 4\nshow confusion(f(a), kind)\nshow a, kind as table\n' >train.limn
clean "data of a table" data t.csv
json "data of a table" data t.csv
clean "a table" check train.limn
clean "a field" check strings.limn
for how in "" --plain --quiet --reference; do clean "train $how" train train.limn --out "run$odd" $how; rm -rf "old"; mv "run$odd" old 2>/dev/null; done
mv old "run$odd" 2>/dev/null
clean "predict" predict train.limn f --from "run$odd" --in t.csv:a
clean "predict words" predict train.limn f --from "run$odd" --in "t.csv:b$odd"
clean "measure" eval train.limn --from "run$odd"
json "measure" eval train.limn --from "run$odd"
clean "runs" runs .
json "runs" runs .
clean "report" report train.limn --from "run$odd"
clean "resume" train train.limn --resume "run$odd"
printf '{"%s": 3' "$odd" >"run$odd/run.json"
clean "a broken run" runs .
clean "a broken run resumed" train train.limn --resume "run$odd"
printf '%s' "$odd" >"run$odd/model.safetensors"
clean "broken weights" predict train.limn f --from "run$odd" --in 3
printf '%s\n%s' "$odd" "$odd" >text.txt
clean "data of a text" data text.txt
printf '\223NUMPY\001\000\106\000{%s' "$odd" >bad.npy
clean "data of an array" data bad.npy
mkdir -p "pictures/$odd"
printf '%s' "$odd" >"pictures/$odd/$odd.png"
clean "data of pictures" data pictures
[ $faults -eq 0 ] && echo "ok nothing odd is shown in $runs answers"
