#!/bin/sh
# The command line: exit statuses, help, JSON, files.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# status NAME WANTED COMMAND…
status() {
  name=$1
  want=$2
  shift 2
  "$@" >out 2>err
  have=$?
  if [ $have -eq "$want" ]; then ok "$name"; else not_ok "$name: status $have, wanted $want"; cat out err; fi
}
# says NAME FILE TEXT
says() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1: \"$3\" is not in $2"; cat "$2"; fi; }
# same NAME WANTED HAVE
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
json() { if /usr/bin/python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$2" 2>/dev/null; then ok "$1"; else not_ok "$1: not JSON"; cat "$2"; fi; }

cat >net.limn <<'END'
axis size_in = 3
learn net : R[size_in] -> R[2] = dense[4] ; tanh ; dense[2]
box double(x: R[n]) -> R[n] = 2 * x
box attend(Q: R[y k], K: R[x k], V: R[x d]) -> R[y d] {
  S[y x] = Q[y c] K[x c] / sqrt(k)
  W = softmax[x](S)
  return W[y x] V[x d]
}
learn sized : R[2 3], R[4 3], R[4 5] -> R[2 5] = attend
END
echo 'box f(x: R[3]) -> R[4] = x' >bad.limn

# -- no result is written over what it is made from, nor over another result: by path, link and hard link, columns, folders of runs
mkdir -p apart && (
  cd apart || exit 1
  printf 'learn f : R[2] -> R[2] = dense[2]\nlearn g : R[2] -> R[2] = dense[2]\ngiven a, b : R[] from "data.csv"\nbox two(x: R[2]) -> (p, q: R[2]) = (x, 2 * x)\ngoal fit : f(g([a, b])) ~ 0 by l2\ntrain 2 steps\n' >q.limn
  printf 'a,b\n1,2\n3,4\n5,6\n' | tee data.csv >d.csv
  "$LIMN" train q.limn --out r --quiet --plain --reference >../out 2>../err || { not_ok "a run"; cat ../err; }
  cp r/model.safetensors w.st
  /usr/bin/python3 -c 'import struct; h = b"{\x27descr\x27: \x27<f8\x27, \x27fortran_order\x27: False, \x27shape\x27: (2,), }"; h += b" " * (117 - len(h)) + b"\n"; open("y.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h + struct.pack("<2d", 1, 2))'
  cp y.npy y.2.npy
  cp y.npy y.1.npy
  "$LIMN" export q.limn f --as onnx -o m.onnx >/dev/null && "$LIMN" export q.limn f --as json -o m.json >/dev/null
  mkdir sub
  for f in *; do [ -f "$f" ] && ln -s "../$f" "sub/link.$f" && ln "$f" "sub/hard.$f"; done
  ln -s r rr
  find . -type f -exec md5sum {} + | sort -k2 >../before
  refused_over() { # OUTPUT COMMAND…
    over=$1
    shift
    "$LIMN" "$@" >../out 2>../err
    have=$?
    if [ $have -eq 2 ] && grep -qE "is what this is made from|would be written twice|is where the weights would be" ../err; then ok "not over its input: $over: $*"; else not_ok "not over its input: $over: $*: status $have"; cat ../err; fi
  }
  for way in "" ./ sub/link. sub/hard.; do
    refused_over csv predict q.limn f --from r --in d.csv -o ${way}d.csv
    refused_over columns predict q.limn f --from r --in x=d.csv:a..b -o ${way}d.csv
    refused_over data predict q.limn f --from r --in d.csv -o ${way}data.csv
    refused_over program predict q.limn f --from r --in d.csv -o ${way}q.limn
    refused_over numbered predict q.limn two --from r --in ${way}y.2.npy -o ${way}y.npy
    refused_over numbered eval q.limn two --in ${way}y.1.npy -o ${way}y.npy
    refused_over cotangent eval q.limn f --in '[1,2]' --dy y.npy -o ${way}y.npy
    refused_over weights eval q.limn f --in '[1,2]' --weights w.st --grads ${way}w.st
    refused_over weights eval q.limn f --in '[1,2]' --weights ${way}w.st --save w.st
    refused_over program eval q.limn f --in '[1,2]' --grads ${way}q.limn
    refused_over weights export q.limn f --as safetensors --weights w.st -o ${way}w.st
    refused_over weights export q.limn f --as onnx --from ${way}w.st -o w.st
    refused_over program export q.limn f --as json -o ${way}q.limn
    refused_over model import ${way}m.onnx -o m.onnx
    refused_over picture draw q.limn f -o ${way}data.csv
    refused_over difference diff q.limn m.onnx -o ${way}m.onnx
    refused_over difference diff r q.limn -o ${way}q.limn
  done
  for f in model.safetensors state.safetensors run.json metrics.csv program.limn; do
    for folder in r rr ./r; do
      refused_over "the run" export q.limn f --as safetensors --from r -o $folder/$f
      refused_over "the run" eval q.limn f --in '[1,2]' --from r --grads $folder/$f
    done
    refused_over "the run" diff r r -o r/$f
  done
  refused_over twice eval q.limn f --in '[1,2]' --save s.st --grads s.st
  refused_over twice eval q.limn f --in '[1,2]' --save s.st --grads sub/../s.st
  refused_over twice eval q.limn f --in '[1,2]' -o sub/hard.y.npy --save y.npy
  refused_over twice import m.onnx -o m.safetensors
  printf 'int mine;\n' | tee f.h >k.h
  echo mine >k.bin
  for how in "export q.limn f --as c -o f.c" "export q.limn f --as c -o k.c --weights-beside" "export q.limn --as c --train -o f.c"; do
    # shellcheck disable=SC2086
    "$LIMN" $how >../out 2>../err
    if [ $? -eq 1 ] && grep -q "is there already, and limn has not written it" ../err; then ok "a header of somebody else stays: $how"; else not_ok "a header of somebody else stays: $how"; cat ../err; fi
  done
  rm k.h
  "$LIMN" export q.limn f --as c -o k.c --weights-beside >../out 2>../err
  if [ $? -eq 1 ] && grep -q "k.bin is there already, and no k.h" ../err; then ok "so do weights"; else not_ok "so do weights"; cat ../err; fi
  rm -f f.h k.bin
  find . -type f -exec md5sum {} + | sort -k2 >../after
  if cmp -s ../before ../after; then ok "every file stays as it is"; else not_ok "every file stays as it is"; diff ../before ../after; fi
  for again in 1 2; do
    if "$LIMN" export q.limn f --as c -o k.c --weights-beside >../out 2>../err && "$LIMN" predict q.limn f --from r --in d.csv -o r/p.csv >../out 2>../err && "$LIMN" eval q.limn f --in '[1,2]' --save /dev/null --grads /dev/null >../out 2>../err && "$LIMN" import m.onnx -o n.limn >../out 2>../err
    then ok "what limn has written itself is written again ($again)"; else not_ok "what limn has written itself is written again ($again)"; cat ../err; fi
  done
)

status "help" 0 "$LIMN" --help
says "help names the commands" out "limn check FILE"
status "no command" 2 "$LIMN"
status "unknown command" 2 "$LIMN" chek net.limn
status "unknown option" 2 "$LIMN" check net.limn --whoo
status "missing file argument" 2 "$LIMN" check
status "a count that is none" 2 "$LIMN" train net.limn --batch many
status "missing value" 2 "$LIMN" eval net.limn net --in
for c in check fmt print grad cost eval train predict sample data; do status "help of $c" 0 "$LIMN" $c --help; done
# arrays with more axes than a value has room for: typed and as a file
deep=$(printf '%040d' 0 | sed 's/0/[/g')1$(printf '%040d' 0 | sed 's/0/]/g')
status "an array of 40 axes" 1 "$LIMN" eval net.limn net --in "$deep"
says "… is refused" err 'this would have 40 axes, and 32 are the most'
# options: only those that the command has, and values that make sense
# refused NAME MESSAGE ARGUMENT…
refused() {
  name=$1
  message=$2
  shift 2
  status "$name" 2 "$LIMN" "$@"
  says "$name is said" err "$message"
}
refused "an option of another command" "limn check: there is no option --precision" check net.limn --precision nonsense
refused "an option that is nearly right" "there is no option --precison; did you mean --precision?" train net.limn --precison 32
refused "a choice that is none" "--precision wants 32, 64, bf16, tf32 or auto, not nonsense" train net.limn --precision nonsense
refused "a file has one that is known" "--precision wants 32 or 64, not auto" export net.limn net --as c --precision auto
refused "a level that is none" "--level wants learner, model or layer, not lay" draw net.limn --level lay
refused "a pass that is none" "--after wants tree, value, check, inline, simplify, reverse, forward, gradient, step, plan or c, not inlin" print net.limn --after inlin
refused "a negative count" "--threads wants a whole number from 1 to 4096, not -1" train net.limn --threads -1
refused "a count with a tail" "--batch wants a whole number from 1 to 1000000000, not 3x" train net.limn --batch 3x
refused "steps in another base" "--steps wants a number above 0, not 0x5" train net.limn --steps 0x5
refused "a seed that is too long" "--seed wants a whole number from 0 to 18446744073709551615, not 18446744073709551616" eval net.limn --seed 18446744073709551616
refused "no batch" "--batch wants a whole number from 1 to 1000000000, not 0" train net.limn --batch 0
refused "no samples" "--n wants a whole number from 1 to 1000000000, not 0" sample net.limn --n 0
refused "too many epochs" "--epochs wants a number up to 1000000000000, not 99999999999999999999" train net.limn --epochs 99999999999999999999
refused "two tables at once" "limn check: either --who or --paths is wanted, not both" check net.limn --who --paths
refused "two pictures at once" "either --lens or --grad is wanted, not both" draw net.limn net --grad --lens
refused "an option of another one" "limn diff: --theme wants --out too" diff net.limn net.limn --theme mono
refused "standard output where there is none" "limn eval: --out wants a name; it is ./- for a file that is called so, not -" eval net.limn net --out -
refused "two files on standard output" "limn export: this is more than one file: --out wants a name" export net.limn net --as c -o -
refused "names of files beside them" "limn export: --json has the names of files, and --out - has none" export net.limn net --as json -o - --json
for as in onnx json torch; do
  "$LIMN" export net.limn net --as $as -o whole >/dev/null 2>err && "$LIMN" export net.limn net --as $as -o - >streamed 2>err && cmp -s whole streamed && [ ! -e ./- ]
  if [ $? -eq 0 ]; then ok "$as on standard output"; else not_ok "$as on standard output"; cat err; fi
done
if [ -w /dev/full ]; then
  "$LIMN" export net.limn net --as json -o - >/dev/full 2>err
  if [ $? -eq 3 ] && [ "$(cat err)" = "limn: cannot write: No space left on device" ]; then ok "a full disk is no export"; else not_ok "a full disk is no export"; cat err; fi
  "$LIMN" check net.limn >/dev/full 2>err
  if [ $? -eq 3 ] && grep -q "cannot write" err; then ok "a full disk is not a success"; else not_ok "a full disk is not a success"; fi
fi
refused "no steps" "--steps wants a number above 0, not 0" train net.limn --steps 0
refused "a word too many" "unexpected: else" print net.limn net else
refused "a diagram without --paths" "a learning diagram is named for --paths only: net" check net.limn net
refused "a setting without a value" "--set wants NAME=VALUE, not size_in" check net.limn --set size_in
refused "a command that is nearly right" 'there is no command `chek`; did you mean `check`?' chek net.limn
refused "help of a command that is nearly right" 'did you mean `draw`?' help drw
refused "an option before any command" "limn: there is no option --versoin; did you mean --version?" --versoin
same "and no list of everything" 2 "$(wc -l <err | tr -d ' ')"
"$LIMN" chek 2>err
same "an unknown command does not bury its message" 2 "$(wc -l <err | tr -d ' ')"
says "it says where to look" err "limn --help"
for v in version -V; do same "limn $v" "$("$LIMN" --version)" "$("$LIMN" $v)"; done
status "limn help --help" 0 "$LIMN" help --help
says "it is about help" out "usage: limn help [COMMAND]"
for f in x.gif x; do refused "a picture as $f" "$f: a picture is a file that ends in .svg, .pdf, .png, .tex or .txt" draw net.limn double -o $f; done
refused "a width that is none" "or 0 for one row, not abc" draw net.limn double --width abc -o x.svg
says "usage follows" err "usage: limn draw FILE [NAME] [OPTIONS]"
status "a box to open that is not called" 0 "$LIMN" draw net.limn net --open dens -o x.svg
says "is warned of" err "--open dens: nothing of this name is called here"
says "with what is near" err 'did you mean `dense`?'
status "boxes to open and close" 0 "$LIMN" draw net.limn net --open dense --close linear -o x.svg
same "are not warned of" "" "$(cat err)"
status "a picture that cannot be written" 3 "$LIMN" draw net.limn double -o /nowhere/x.svg
status "a set that is nearly right" 1 "$LIMN" data iriss
says "the near one is offered" err 'did you mean `iris`?'
"$LIMN" fmt --help >out
says "fmt says that it rewrites" out "formats FILE"
"$LIMN" print --help >out
says "print says what comes before the code" out "c (their code, after the prelude)"
status "a report of no folder" 1 "$LIMN" report net.limn --from nodir
says "what cannot be read is said" err "cannot read the folder nodir: "
refused "predict without a name" "a name is missing" predict net.limn
refused "find without a file" "a pattern and a file are wanted" find relu
"$LIMN" help train >out 2>err
"$LIMN" train --help >err 2>&1
if cmp -s out err; then ok "limn help COMMAND is limn COMMAND --help"; else not_ok "limn help COMMAND is limn COMMAND --help"; fi
status "a file after --" 0 "$LIMN" check -- net.limn

# every option that help names is read, and every command has help that fits 100 columns
for c in $("$LIMN" --help | sed -n 's/^  limn \([a-z]*\) .*/\1/p'); do
  [ "$c" != COMMAND ] || continue
  for o in $("$LIMN" help "$c" | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
    "$LIMN" "$c" "$o" --nothing-more --nothing-more 2>&1 | grep -q "there is no option $o" && not_ok "limn $c has $o" # the last word: nothing is begun
  done
  ok "options of limn $c"
  long=$("$LIMN" help "$c" | sed 1,4d | awk 'length > 104')
  same "help of limn $c is not too wide" "" "$long"
done

status "a good program" 0 "$LIMN" check net.limn
status "a wrong program" 1 "$LIMN" check bad.limn
says "its message has its place" err "bad.limn:1:26: error:"
status "a file that is not there" 1 "$LIMN" check none.limn
status "a name that is not there" 1 "$LIMN" print net.limn nett
says "near names are offered" err 'did you mean `net`?'

for c in "check net.limn --json" "check bad.limn --json" "check net.limn --who --json" "print net.limn net --json" "grad net.limn net --json" "cost net.limn net --json"; do
  # shellcheck disable=SC2086
  "$LIMN" $c >out 2>err
  json "$c" out
done
"$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --dy '[1, 1]' --json >out 2>err
json "eval --json" out
"$LIMN" eval net.limn double --in 'x=[inf]' --json >out 2>err
json "eval --json of infinity" out

# values, files, gradients
same "a value" "[2, 4, 6]" "$("$LIMN" eval net.limn double --in 'x=[1, 2, 3]')"
same "axes in front pass over" "[[2, 4], [6, 8]]" "$("$LIMN" eval net.limn double --in 'x=[[1, 2], [3, 4]]' | tr -d '\n')"
status "weights are written" 0 "$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --seed 5 --save w.safetensors --out y.npy --dy '[1, 0]' --grads g.safetensors
a=$("$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --seed 5)
b=$("$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --weights w.safetensors --seed 6)
same "weights are read back" "$a" "$b"
c=$("$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --seed 6)
if [ "$a" != "$c" ]; then ok "another seed, other weights"; else not_ok "another seed, the same weights"; fi
same "the same seed, the same bytes" "$a" "$("$LIMN" eval net.limn net --in 'x=[1, 2, 3]' --seed 5)"
status "an npy file goes in" 0 "$LIMN" eval net.limn double --in x=y.npy
if grep -q 'net/dense.1/linear/W' w.safetensors && grep -q 'net/dense.1/linear/W' g.safetensors; then ok "weights have readable names"; else not_ok "weights have readable names"; fi
status "an input that is missing" 1 "$LIMN" eval net.limn double
says "says which" err "input x : R[n] is not given"
status "an input of the wrong size" 1 "$LIMN" eval net.limn net --in 'x=[1, 2]'
status "an input that is not numbers" 1 "$LIMN" eval net.limn double --in 'x=[1, [2]]'
status "an npy file that is not there" 1 "$LIMN" eval net.limn double --in x=none.npy
status "an axis set from outside" 0 "$LIMN" eval net.limn net --set size_in=2 --in 'x=[1, 2]'
status "an axis set to nonsense" 1 "$LIMN" check net.limn --set size_in=-2
status "a setting of nothing" 1 "$LIMN" check net.limn --set sizein=2
says "says so" err '`--set sizein=2`: there is no axis, const, space or learner `sizein` in this program'
says "and what is near" err 'did you mean `size_in`?'
status "a setting of a box" 1 "$LIMN" check net.limn --set double=relu
status "somewhere that cannot be written" 3 "$LIMN" eval net.limn double --in 'x=[1]' --out /nowhere/y.npy

# a box passed as an option works along the axis that is meant
same "along the first axis" "[[0.5, 0.5], [0.5, 0.5]]" "$("$LIMN" eval "$here/../programs/options.limn" first_axis --in '[[1, 2], [1, 2]]' | tr -d '\n')"
refit_in() { "$LIMN" eval "$here/../programs/refit.limn" "$1" --in x='[[1, 2, 0], [0, 1, 1], [-1, 0.5, 2], [0, 0, 1]]' --in y='[0, 1, 1, 0]' --in q='[[1, 0, 0], [0, 1, 3]]' | tr -d '\n'; }
same "refitting is its steps" "$(refit_in by_hand)" "$(refit_in after)"
same "along the second axis" "[[1, 0], [1, 0]]" "$("$LIMN" eval "$here/../programs/options.limn" second_axis --in '[[900, 1], [900, 1]]' | tr -d '\n')"

# the count of cost is the count of the interpreter
want=$("$LIMN" cost net.limn sized | sed -n 's/^  multiplications *//p' | head -1)
have=$("$LIMN" eval net.limn sized --in '[[1, 2, 3], [4, 5, 6]]' --in '[[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]]' \
  --in '[[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]' --count | sed -n 's/ multiplications//p')
same "cost counts what runs" "$want" "$have"
same "and it is y*k*x + y*x*d" 64 "$have"

# layout
printf 'box  f( x:R[3] )->R[3]=x+1   # keep me\n' >ugly.limn
status "fmt --check sees it" 1 "$LIMN" fmt --check ugly.limn
status "fmt" 0 "$LIMN" fmt ugly.limn
status "fmt --check is content" 0 "$LIMN" fmt --check ugly.limn
says "the comment is still there" ugly.limn "# keep me"
printf 'box f(\n' >broken.limn
cp broken.limn broken.before
status "fmt of a broken file" 1 "$LIMN" fmt broken.limn
if cmp -s broken.limn broken.before; then ok "it is left alone"; else not_ok "it was changed"; fi

# a resumed run stays in its folder, which may be named again
cat >learn.limn <<'END'
given x, y from iris
learn f : R[4] -> R[3] = dense[3]
goal fit : f(x) ~ y   by cross_entropy
train 20 steps, batch 8, adam(0.01)
END
"$LIMN" train learn.limn --plain --device cpu --precision auto --pause 1 --out chosen >err 2>&1
says "a precision that is chosen" err '--precision auto is 32: the CPU computes'
says "… and kept" chosen/run.json '"precision": "32"'
status "a run that pauses" 0 "$LIMN" train learn.limn --reference --plain --quiet --pause 10 --out kept
status "--out of another folder" 2 "$LIMN" train learn.limn --reference --plain --quiet --resume kept --out other
status "--out of the same folder" 0 "$LIMN" train learn.limn --reference --plain --quiet --resume kept --out ./kept/
if [ ! -e other ] && grep -q '"state": "finished"' kept/run.json; then ok "it is finished"; else not_ok "it is not finished"; cat kept/run.json; fi

# one is not many
status "one step" 0 "$LIMN" train learn.limn --reference --plain --steps 1 --out kept/runs/one
says "is announced in the singular" out "15 weights, 1 step,"
says "and finished" out "finished after 1 step,"
status "runs" 0 "$LIMN" runs kept/runs
says "and listed" out "finished after 1 step, seed"
status "runs that hold nothing of the name" 0 "$LIMN" runs kept/runs --with nope
same "nothing is printed" "" "$(cat out)"
same "but said" 'no run in kept/runs/ holds `nope`' "$(cat err)"
echo 'box unit(w: R[3], x: R[3]) -> R[] = tanh(sum(w * x))' >unit.limn
status "a plan of one kernel" 0 "$LIMN" print unit.limn unit --after plan
says "is counted so" out "1 kernel, "

# 2 is for what is wrong whatever the program says; a name or a value that does not fit the program is 1.
status "a setting that is not there" 1 "$LIMN" check net.limn --set nosuch=1
for command in print draw "export --as c"; do
  # shellcheck disable=SC2086
  status "$command of what is not there" 1 "$LIMN" $command net.limn nosuch
done
status "a pattern that ends early" 1 "$LIMN" find 'dense[' net.limn
for wrong in "--nosuch" "--threads 0" "--threads 1.5" "--steps 2.9" "--steps 1.5e0" "--steps 0" "--batch 0" "--seed -1"; do
  # shellcheck disable=SC2086
  status "train $wrong" 2 "$LIMN" train net.limn $wrong
done
printf 'given x, label from iris\nlearn f : R[4] -> R[3] = dense[3]\ngoal fit : f(x) ~ label by cross_entropy\ntrain 5 steps, batch 4, adam(0.01)\n' >counted.limn
status "steps that are not whole" 2 "$LIMN" train counted.limn --steps 2.9
says "are refused" err "--steps wants a whole number, not 2.9"
status "steps as a power" 0 "$LIMN" train counted.limn --steps 0.5e1 --out counted --quiet
status "fewer steps than were made" 1 "$LIMN" train counted.limn --resume counted --steps 3
says "are refused too" err "it has made 5 steps already, and --steps asks for 3 in all"
status "as many are not" 0 "$LIMN" train counted.limn --resume counted --steps 5 --quiet

# standard streams that are closed do not become files of the run
printf 'given x, label from iris\nlearn f : R[4] -> R[3] = dense[3]\ngoal fit : f(x) ~ label by cross_entropy\ntrain 5 steps, batch 4, adam(0.01)\n' >streams.limn
"$LIMN" train streams.limn --plain --out streams >&- 2>&- <&-
if head -1 streams/metrics.csv | grep -q '^step,'; then ok "closed streams"; else not_ok "closed streams: $(head -1 streams/metrics.csv)"; fi
printf 'given x : R[2], y : R[2] from "nowhere.csv"\nlearn f : R[2] -> R[2] = dense[2]\ngoal fit : f(x) ~ y by l2\ntrain 5 steps, batch 4, adam(0.01)\n' >nodata.limn
status "a plan without its data" 1 "$LIMN" train nodata.limn --plan

# Threads that cannot be started: fewer do the work, to the same numbers, and it is said. (The sanitizers want more addresses than that.)
printf 'given x, label from iris\nlearn f : R[4] -> R[3] = dense[600] ; relu ; dense[600] ; dense[3]\ngoal fit : f(x) ~ label by cross_entropy\ntrain 2 steps, batch 120, gd(0.1)\n' >wide.limn
case $LIMN in
*/san/*) ;;
*)
  for most in 200000 1000000; do # kilobytes, for stacks of 128 MB
    rm -rf few one
    status "threads that cannot be had, of $most kB" 0 sh -c "ulimit -s 131072; ulimit -v $most; LIMN_CC=none '$LIMN' train wide.limn --threads 64 --quiet --out few"
    says "which is said" err " of 64 threads could be started: the work is done by th"
    status "one thread" 0 env LIMN_CC=none "$LIMN" train wide.limn --threads 1 --quiet --out one
    if cmp -s few/model.safetensors one/model.safetensors; then ok "the same weights"; else not_ok "the same weights"; fi
  done
  ;;
esac

# A pipe is read to its end; one that nobody writes to is not waited for, whoever asks.
mkfifo pipe.limn
for command in check print fmt "print f" find; do
  # shellcheck disable=SC2086
  case $command in find) set -- find 'dense[_]' pipe.limn ;; "print f") set -- print pipe.limn f ;; *) set -- $command pipe.limn ;; esac
  status "$command of a pipe" 1 timeout 100 "$LIMN" "$@"
  says "says so" err "it is a pipe that nobody writes to"
done
{ sleep 0.1 && printf 'box f(x: R[3]) -> R[3] = 2 * x\n'; } | status "a pipe that is written to" 0 "$LIMN" check /dev/stdin
{ head -c 300000 /dev/zero | tr '\0' ' '; sleep 0.1; printf '\nbox f(x: R[3]) -> R[3] = 2 * x\n'; } | status "a long one" 0 "$LIMN" check /dev/stdin

# A draw in an index equation is made for each index; one that is the same for all is told, and no other is.
for form in 'uniform[]' 'normal[]' 'uniform[3][i]' 'exp(uniform[])' 'exp(uniform[3])[i]' 'one()' 'two()' 'noisy(2)' 'noisy(s[i])' 'noisy(noisy(s[i]))' \
  'noisy(one())' 'max(uniform[], s[i] - 9)' 'max(uniform[3][i], s[i] - 9)' 'softmax(uniform[3])[i]' 'softmax[i](uniform[3][i])' 'softmax[i](s[i] + noisy(1))' \
  'rows(uniform[3])[i]' 'rows(s)[i]' 'sum[k](s[k] + one())' 'sum[k:4](uniform[3][i] + k)' '(log(uniform[3])[2 - i])' 'log(uniform[3])[1]'; do
  printf 'box one() -> R[] = normal[]\nbox two() -> R[] = one() * 2\nbox noisy(a: R[]) -> R[] = a + normal[]\nbox rows(a: R[n]) -> R[n] = a * normal[n]\nbox f(s: R[3]) -> R[3] {\n  y[i] = s[i] + %s\n  return y\n}\n' "$form" >draw.limn
  "$LIMN" check draw.limn >/dev/null 2>told || { not_ok "a draw in an equation, $form: it is refused"; cat told; }
  "$LIMN" eval draw.limn f --in '[1, 1, 1]' 2>/dev/null | tr -d '[],' | awk '{ exit !($1 == $2 && $2 == $3) }' && shared=1 || shared=0
  grep -q 'the same for all of\|is one number for all of' told && told=1 || told=0
  same "a draw in an equation, $form: it is told that it is shared, if it is" $shared $told
done

# the generated page of operations is up to date
if "$LIMN" ops | cmp -s - "$here/../../docs/ops.md"; then ok "docs/ops.md"; else not_ok "docs/ops.md: run make docs"; fi

# the generated list of files is up to date
if "$here/../../tools/files.sh" | cmp -s - "$here/../../docs/files.md"; then ok "docs/files.md"; else not_ok "docs/files.md: run make docs"; fi
