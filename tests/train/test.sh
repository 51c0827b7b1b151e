#!/bin/sh
# Training: folders, checkpoints, failures, output. With the interpreter, on built-in data.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cp "$here/noisy.limn" .

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
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
is() { name=$1; shift; if "$@" >/dev/null 2>&1; then ok "$name"; else not_ok "$name"; fi; }
hash() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1/run.json"; }
rows() { cut -d, -f1,2,4- "$1/metrics.csv"; }
train() { "$LIMN" train "$@" --reference; }

cat >net.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[8] ; tanh ; dense[3]
goal fit : net(x) ~ label   by cross_entropy
measure fit by hits on iris.test
train 3 epochs, batch 32, adam(0.01)
END

# -- a run and its folder
status "a run" 0 train net.limn
says "it names its folder" out "runs/net"
for f in program.limn metrics.csv model.safetensors best.safetensors state.safetensors run.json lock; do is "there is $f" test -e runs/net/$f; done
is "there are events" sh -c 'ls runs/net/events.out.tfevents.*'
same "nothing half-written" "" "$(find runs -name '*.part')"
is "the program is there as it was" cmp net.limn runs/net/program.limn
is "run.json is JSON" /usr/bin/python3 -c 'import json; r = json.load(open("runs/net/run.json")); assert r["finished"] is True and r["seed"] == 0'
status "another run" 0 train net.limn --quiet
is "has the next folder" test -d runs/net.2
same "and says nothing when quiet" "" "$(cat out)"
same "the same seed, the same weights" "$(hash runs/net)" "$(hash runs/net.2)"
# -- runs, listed
status "runs" 0 "$LIMN" runs
says "a run with its program" out "runs/net: net.limn,"
says "its measures" out "fit.hits 0."
says "its learners" out "learners net"
same "runs that hold a learner" 2 "$("$LIMN" runs --with net | grep -c ': net.limn')"
same "runs that do not" "" "$("$LIMN" runs --with other)"
same "runs by a pattern" 2 "$("$LIMN" runs --has 'dense ; tanh' | grep -c ': net.limn')"
same "runs without it" "" "$("$LIMN" runs --has 'conv ; relu')"
is "runs as JSON" sh -c '"$LIMN" runs --json | /usr/bin/python3 -c "import json, sys; r = json.load(sys.stdin)[\"runs\"]; assert r[0][\"dir\"] == \"runs/net\" and r[0][\"learners\"] == [\"net\"]"'
status "no runs" 1 "$LIMN" runs nowhere
# -- a measure of a whole set: more than one batch of it
cat >whole.limn <<'END'
given x from glyphs.image
box spread(a: R[]) -> R[] = sqrt(mean[batch](a * a) - mean[batch](a) * mean[batch](a))
box dot(x: R[28 28]) -> R[] = x[14 14]
measure spread : spread(dot(x))        on glyphs.test
measure one    : dot(x)                on glyphs.test
measure two    : dot(x) * dot(x)       on glyphs.test
END
"$LIMN" eval whole.limn --reference >out 2>err
is "a measure of a whole set" awk '{ v[$1] = $2 } END { d = v["spread"] - sqrt(v["two"] - v["one"] * v["one"]); exit !(v["spread"] > 0.1 && d < 1e-5 && d > -1e-5) }' out
# -- a learner out of a run, in another program
sed 's/^learn .*/learn net : R[4] -> R[3] = dense[8] ; tanh ; dense[3] from "runs\/net"/; /^train/d' net.limn >later.limn
same "a learner from a run" "$("$LIMN" eval net.limn --from runs/net --reference)" "$("$LIMN" eval later.limn --reference)"
sed 's/dense\[8\]/dense[9]/' later.limn >wider.limn
status "a learner that does not fit" 1 "$LIMN" eval wider.limn --reference
says "says which weight, and how" err "net/dense.1/b is 8 float32 in runs/net/model.safetensors, but the program wants 9 float32"
sed 's/learn net/learn other/; s/net(x)/other(x)/' later.limn >renamed.limn
status "a learner that the run has not" 1 "$LIMN" eval renamed.limn --reference
says "says which" err "has no weight other/"
status "another seed" 0 train net.limn --seed 1 --out other
is "other weights" test "$(hash other)" != "$(hash runs/net)"
status "a folder that is taken" 1 train net.limn --out other
says "is not written over" err "holds a run already"
status "nowhere to write" 3 train net.limn --out /proc/none/run
status "a program without train" 1 sh -c 'sed /train/d net.limn >none.limn; "$LIMN" train none.limn'
says "says what is missing" err 'there is no `train`'
status "both lengths" 2 train net.limn --epochs 2 --steps 3
status "a length that is none" 2 train net.limn --epochs 0
status "a plan" 0 train net.limn --plan
is "leaves no folder" test ! -e runs/net.3

# -- rows
same "a row for each step" "$(head -1 runs/net/metrics.csv)" "step,epoch,time,fit,fit.hits"
n=$(($(wc -l <runs/net/metrics.csv) - 1))
says "as many as steps" runs/net/run.json "\"steps\": $n,"
is "the last epoch is whole" sh -c "tail -1 runs/net/metrics.csv | grep -q '^$n,3,'"

# -- used files
mkdir -p away/lib sub
printf 'box inner : R[4] -> R[8] = dense[8] ; tanh\n' >away/lib/parts.limn
printf 'use "lib/parts.limn"\nbox outer : R[4] -> R[3] = inner ; dense[3]\n' >away/parts.limn
printf 'use "../away/parts.limn"\ngiven x, label from iris\nlearn net : R[4] -> R[3] = outer\ngoal fit : net(x) ~ label by cross_entropy\ntrain 1 epoch, batch 32, adam(0.01)\n' >sub/uses.limn
status "a program of several files" 0 train sub/uses.limn --read away --no-sandbox --out uses --quiet
is "its files are copied" test -e uses/used/parts.limn -a -e uses/used/parts.2.limn
status "the copy can be run" 0 train uses/program.limn --out again --quiet
same "and does the same" "$(hash uses)" "$(hash again)"

# -- stopping and going on
status "a run of all sorts" 0 train noisy.limn --out whole --quiet
whole=$(hash whole)
rows whole >whole.csv
for k in 1 4 9 11 16; do
  rm -rf part
  train noisy.limn --out part --pause $k --threads 1 --quiet >out 2>&1
  status "stopped after $k, it goes on" 0 train noisy.limn --resume part --threads 2 --quiet
  same "to the same end" "$whole" "$(hash part)"
  is "with the same rows" sh -c 'cut -d, -f1,2,4- part/metrics.csv | cmp - whole.csv'
done
status "a run that is finished" 0 train noisy.limn --resume part
same "stays as it is" "$whole" "$(hash part)"
rm -rf part
status "a pause" 0 train noisy.limn --out part --pause 3
says "says how to go on" out "limn train noisy.limn --resume part"
sed -i 's/dense\[6\]/dense[7]/' noisy.limn
status "a changed program" 1 train noisy.limn --resume part
says "is refused with its line" err 'in noisy.limn, line 5 is `learn net : R[4] -> R[3] = dense[7]'
says "and with what it was" err 'dropout[0.2] ; dense[3]`, and was `learn net : R[4] -> R[3] = dense[6]'
sed -i 's/dense\[7\]/dense[6]/; s/^train 2 epochs/train 3   epochs/; s/^given/\n# a comment\ngiven/' noisy.limn
status "a longer one is not" 0 train noisy.limn --resume part --quiet
is "and is longer" grep -q '"steps": 19,' part/run.json
cp "$here/noisy.limn" .
rm -rf part
train noisy.limn --out part --pause 3 --quiet >out 2>&1
status "another seed" 1 train noisy.limn --resume part --seed 3
says "is refused" err "its seed is 0, not 3"
status "another precision" 1 train noisy.limn --resume part --precision 64
status "no run at all" 1 train noisy.limn --resume away
says "is said" err "holds no run"
status "nothing there" 1 train noisy.limn --resume nowhere

# -- data that changed while the run was paused
mkdir pictures
picture() { /usr/bin/python3 - "$1" "$2" <<'END'
import struct, sys, zlib
def piece(kind, body): return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
pixels = b"".join(b"\0" + bytes([int(sys.argv[2])] * 4) for _ in range(4))
head = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", zlib.compress(pixels, 0)) + piece(b"IEND", b""))
END
}
for k in 1 2 3; do picture pictures/$k.png $k; done
{ echo a,b,kind; for k in $(seq 1 40); do echo "$k,$((k % 7)),k$((k % 3))"; done; } >rows.csv
cp rows.csv other.csv
cat >paused.limn <<'END'
given x : R[2], y from "rows.csv"
given image from "pictures"
learn f : R[2] -> R[3] = dense[3]
learn g : R[4 4] -> R[4 4] = linear[4]
goal fit  : f(x) ~ y         by cross_entropy
goal near : g(image) ~ image by l2
measure other : f(x) ~ y by hits on "other.csv"
train 20 steps, batch 2, gd(1e-4)
END
status "a run is paused" 0 train paused.limn --out paused --pause 5 --quiet
for f in rows.csv other.csv; do
  cp $f keep
  sed -i '9s/^8,1/8,6/' $f
  status "$f changes in the pause" 1 train paused.limn --resume paused
  says "the run says it" err "cannot resume paused: the data of the run have changed: $f"
  cp keep $f
done
picture pictures/2.png 9
status "a picture changes" 1 train paused.limn --resume paused
says "the run says it too" err "the data of the run have changed: pictures"
picture pictures/2.png 2
status "with its data as they were it goes on" 0 train paused.limn --resume paused --quiet

# -- signals
cat >slow.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[64] ; tanh ; dense[3]
goal fit : net(x) ~ label   by cross_entropy
train 100000 steps, batch 64, adam(0.01)
END
# a shell lets its background ignore interrupts; this one does not
background() { /usr/bin/python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$LIMN" train "$@" --reference; }
# waits until a process that lives has the folder, up to fifty seconds
held() { for _ in $(seq 1000); do [ -s slow/lock ] && kill -0 "$(cat slow/lock)" 2>"$dir/none" && break; sleep 0.05; done; sleep 0.2; }
background slow.limn --out slow >out 2>err &
held
kill -INT "$(cat slow/lock)"
wait $!
same "an interrupt ends well" 0 $?
says "says so" out "stopped after"
status "and it goes on" 0 train slow.limn --resume slow --pause 2
background slow.limn --resume slow >out 2>err &
held
status "two trainers in one folder" 1 train slow.limn --resume slow
says "are refused" err "another run is under way in slow"
kill -TERM "$(cat slow/lock)"
wait $!
same "a request to end ends well" 0 $?

# -- killed
if sh "$here/kill.sh" "${KILLS:-50}" >log 2>&1; then ok "killed, it goes on: $(tail -1 log)"; else not_ok "killed"; cat log; fi

# -- disks that fail
case $BUILD in */san) export ASAN_OPTIONS=verify_asan_link_order=0 ;; esac
if ${CC:-cc} -O1 -shared -fPIC -o fault.so "$here/fault.c" -ldl 2>log; then ok "the shim compiles"; else not_ok "the shim compiles"; cat log; fi
rm -rf part keep
train noisy.limn --out part --pause 6 --quiet >out 2>&1
cp -r part keep
for fault in write:28:1 write:5:2 fsync:5:1 fsync:28:3 rename:5:1 open:28:1 open:5:2; do
  rm -rf part
  cp -r keep part
  FAULT=$fault LD_PRELOAD=$dir/fault.so "$LIMN" train noisy.limn --resume part --every 1 --reference >out 2>err
  same "$fault: the end cannot be saved" 3 $?
  says "$fault: it says so" out "not saved: cannot write part/"
  train noisy.limn --resume part --quiet >out 2>err
  same "$fault: the old checkpoint is good" "$whole" "$(hash part)"
done
rm -rf part
cp -r keep part
NO_THREADS=1 FAULT=write:28:1 LD_PRELOAD=$dir/fault.so "$LIMN" train noisy.limn --resume part --every 1 --reference >out 2>err
same "without a thread: the end cannot be saved" 3 $?
says "without a thread: it says so" out "not saved: cannot write part/"
rm -rf part
FAULT=write:28:4:6 LD_PRELOAD=$dir/fault.so "$LIMN" train noisy.limn --out part --every 1 --reference >out 2>err
same "a disk that is full for a while" 0 $?
says "is spoken of" out "No space left on device"
same "and forgotten" "$whole" "$(hash part)"
for fault in short:0:1 eintr:0:1; do
  rm -rf part
  FAULT=$fault LD_PRELOAD=$dir/fault.so "$LIMN" train noisy.limn --out part --every 1 --reference --quiet >out 2>err
  same "$fault: nothing happens" 0 $?
  train noisy.limn --resume part --quiet >out 2>err
  same "$fault: what is written is right" "$whole" "$(hash part)"
done
for f in state.safetensors model.safetensors; do
  rm -rf part
  cp -r keep part
  head -c 300 keep/$f >part/$f
  [ $f = state.safetensors ] && status "half a checkpoint is refused" 1 train noisy.limn --resume part
  [ $f = model.safetensors ] && status "half a model is refused" 1 "$LIMN" eval noisy.limn --from part
done

# -- a run that is planned for years: with a clock that goes fast, there are rows, measures and best weights all the same
CLOCK=6000 LD_PRELOAD=$dir/fault.so timeout --foreground -s TERM 3 "$LIMN" train net.limn --epochs 1000000000 --reference --out years >out 2>err
/usr/bin/python3 - <<'END' && ok "rows come by time too" || { not_ok "rows come by time too"; cat out err; }
import csv, json, os
rows = list(csv.DictReader(open("years/metrics.csv")))
assert len(rows) > 5 and sum(r["fit.hits"] != "" for r in rows) > 3, rows
assert os.path.exists("years/best.safetensors") and json.load(open("years/run.json"))["best"] > 0
END

# -- timeout signals its child, and then the group that the child is in: that is one request
for again in 1 2 3 4; do
  rm -rf asked
  timeout -s TERM 0.5 "$LIMN" train net.limn --epochs 1000000000 --reference --out asked >out 2>err
  says "two signals at once ask to stop, $again" out "stopped after"
done

# -- what stands in the folder is not what the run has open: rows that nobody would find are kept back, and nothing is written elsewhere
begun_run() { # NAME: a long run, with a checkpoint
  "$LIMN" train noisy.limn --steps 100000000 --every 50 --reference --out "$1" >out 2>err &
  pid=$!
  tries=0
  while [ ! -s "$1/state.safetensors" ] && [ $tries -lt 2000 ]; do sleep 0.05; tries=$((tries + 1)); done
}
begun_run gone
rm gone/metrics.csv
sleep 0.3
kill -TERM $pid
wait $pid
same "without its metrics.csv a run does not end well" 3 $?
says "it is said when it is seen" out "cannot write gone/metrics.csv: it was removed or replaced during the run"
says "and at the end" err "the last rows of gone/metrics.csv could not be written"
export FAULT=slow:0:1 LD_PRELOAD=$dir/fault.so # a checkpoint is on its way at any time: it goes where it began
begun_run moved
unset FAULT LD_PRELOAD
mkdir elsewhere
mv moved kept && ln -s elsewhere moved
sleep 0.3
kill -TERM $pid
wait $pid
same "without its folder neither" 3 $?
says "it is said" err "the run could not be saved: moved is no longer the folder in which the run began"
same "nothing is written elsewhere" "" "$(ls elsewhere)"

# -- another build: run.json says which it is, and whoever goes on with its run is told
rm -rf part
cp -r keep part
train noisy.limn --resume keep --quiet >out 2>err
if grep -q "another build" out err; then not_ok "the same build says nothing"; else ok "the same build says nothing"; fi
/usr/bin/python3 - <<'END'
import json, re
build = json.load(open("part/run.json"))["build"].encode()
data = open("part/state.safetensors", "rb").read()
assert re.fullmatch(b"[0-9a-f]{16}", build) and data.count(build) == 1
data = data.replace(build, b"0" * 16).replace(b"limn_sum", b"limn_sun") # without its check sum
open("part/state.safetensors", "wb").write(data)
END
status "a run of another build goes on" 0 train noisy.limn --resume part
says "it is said" out "the run began with another build of limn: the last digits may differ"

# -- numbers that are not finite
cat >wild.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[8] ; tanh ; dense[3]
box wild(y: R[3]) -> R[] = sum(exp(y))
goal fit : net(x) ~ label   by cross_entropy
goal bad : minimise sqrt(12 - wild(stop(net(x))))
train 40 epochs, batch 32, gd(0.1)
END
status "not finite" 1 train wild.limn --out wild --every 1
cp err first
says "the goal" err "goal bad is not finite in step"
says "the place" err "wild.limn:5:21: error:"
says "the box" err 'NaN by `sqrt`'
cat >bounces.limn <<'END'
learn e : positive = 0.8
machine Ball -> (h: R[]) {
  state h = 1, v = 0
  h' = v
  v' = -9.81
  next v = -e * v when h <= 0
}
given t, y : R[3] from "bounces.csv"
box see(t: R[3]) -> R[3] {
  x, v = flow[Ball](1, 0, t)
  return x
}
goal fit : see(t) ~ y by l2
train 2 steps
END
printf 't,y\n0,1\n5,0.3\n10,0.1\n' >bounces.csv
status "too many events for flow" 1 train bounces.limn --out bounces --reference
says "why" err 'one of its steps has more than four events'
says "what helps" err 'makes more steps from one time to the next'
is "the last good checkpoint is there" test -e wild/state.safetensors
status "and goes on to the same place" 1 train wild.limn --resume wild
says "in the same step" err "$(sed -n 's/.*\(not finite in step [0-9]*\).*/\1/p' first)"
rm -rf wild
status "not finite before any checkpoint" 1 train wild.limn --out wild --every 1000
is "leaves one too" test -e wild/state.safetensors -a -e wild/best.safetensors
is "and it is finite" /usr/bin/python3 - <<'END'
import json, struct, numpy
b = open("wild/model.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
h = json.loads(b[8:8 + n])
for k, v in h.items():
    if k != "__metadata__":
        i, j = v["data_offsets"]
        assert numpy.isfinite(numpy.frombuffer(b[8 + n + i:8 + n + j], "f4")).all()
END

# -- patience, best
cat >early.limn <<'END'
given x, label from iris
learn net : R[4] -> R[3] = dense[16] ; tanh ; dense[3]
goal fit : net(x) ~ label   by cross_entropy
measure fit by hits on iris.test
train 300 epochs, batch 32, adam(0.05), patience 3
END
status "patience" 0 train early.limn --out early
says "ends early" out "nothing better in 3"
/usr/bin/python3 - <<'END' && ok "the best is the first best measure" || not_ok "the best is the first best measure"
import csv, json
run = json.load(open("early/run.json"))
rows = [(int(r["step"]), float(r["fit.hits"])) for r in csv.DictReader(open("early/metrics.csv")) if r["fit.hits"]]
best = max(v for _, v in rows)
assert run["best"] == best and run["best_step"] == next(s for s, v in rows if v == best), (run, rows)
assert len(rows) == 3 + 1 + [v for _, v in rows].index(best), rows
END
"$LIMN" eval early.limn --from early/best.safetensors --json >out 2>err
/usr/bin/python3 -c 'import json; assert json.load(open("out"))["measures"]["fit.hits"] == json.load(open("early/run.json"))["best"]' && ok "best.safetensors is the best" || not_ok "best.safetensors is the best"

# -- two phases: the best is that of the run, and patience is that of each phase
sed '/^train/d' early.limn >phases.limn
printf 'train 20 epochs, batch 32, adam(0.05)\ntrain 20 epochs, batch 32, gd(30), patience 2\n' >>phases.limn
status "a second phase that makes it worse" 0 train phases.limn --out phases
says "ends by its own patience" out "nothing better in 2"
rm -rf gone && train phases.limn --out gone --pause 85 --quiet >out 2>&1
status "stopped in the second phase, it goes on" 0 train phases.limn --resume gone --quiet
/usr/bin/python3 - <<'END' && ok "the best is that of all phases" || not_ok "the best is that of all phases"
import csv, json
run = json.load(open("phases/run.json"))
rows = [(int(r["step"]), float(r["fit.hits"])) for r in csv.DictReader(open("phases/metrics.csv")) if r["fit.hits"]]
best = max(v for _, v in rows)
assert run["best"] == best and run["best_step"] == next(s for s, v in rows if v == best) <= 80, (run, rows)
assert len(rows) == 20 + 2 + 1 + [v for s, v in rows if s > 80].index(max(v for s, v in rows if s > 80)), rows
gone = json.load(open("gone/run.json"))
assert all(gone[k] == run[k] for k in ("best", "best_step", "steps", "hash")), (gone, run)
END
is "the best weights are the same" cmp phases/best.safetensors gone/best.safetensors
"$LIMN" eval phases.limn --from phases/best.safetensors --json >out 2>err
/usr/bin/python3 -c 'import json; assert json.load(open("out"))["measures"]["fit.hits"] == json.load(open("phases/run.json"))["best"]' && ok "and are those of the first phase" || not_ok "and are those of the first phase"

# -- what is said
"$LIMN" train net.limn --out told --json >out 2>err
/usr/bin/python3 - <<'END' && ok "JSON, line by line" || not_ok "JSON, line by line"
import json
lines = [json.loads(line) for line in open("out")]
reports = [l for l in lines if l.get("event") == "report"]
assert len(reports) == 3 and reports[-1]["measures"]["fit.hits"] >= 0 and reports[0]["goals"]["fit"] > 0
end = [l for l in lines if l.get("event") == "end"]
assert len(end) == 1 and end[0]["how"] == "finished" and end[0]["hash"]
END
script -qec "stty cols 60; '$LIMN' train slow.limn --out screen --pause 150 --reference" /dev/null >out 2>err
/usr/bin/python3 - <<'END' && ok "a line on a terminal" || { not_ok "a line on a terminal"; tail -c 600 out; }
import re
text = open("out", encoding="utf-8", errors="replace", newline="").read()
drawn = [s for s in re.findall(r"\r\x1b\[K([^\r\n\x1b]*)", text) if "step " in s and "/100000" in s and "left" in s]
assert len(drawn) >= 2, drawn
assert all(len(s) < 60 for s in drawn), drawn
assert "fit " in drawn[-1]
END

# -- using it
"$LIMN" train net.limn --out used --quiet >out 2>&1
same "measured again" "$(tail -1 used/metrics.csv | cut -d, -f5)" "$("$LIMN" eval net.limn --from used --json | /usr/bin/python3 -c 'import json,sys; print(repr(json.load(sys.stdin)["measures"]["fit.hits"]).removesuffix(".0"))')"
cat >lone.limn <<'END'
given x from uniform[]
learn a : R[] = 1, b : R[] = 0
goal fit : a * x + b ~ 3 * x - 1   by l2
measure at : a + 10 * b
train 200 steps, batch 8, adam(0.1)
END
"$LIMN" train lone.limn --out lone --quiet >out 2>&1
same "numbers that lie in a row of weights" "$(tail -1 lone/metrics.csv | cut -d, -f5 | cut -c 1-6)" "$("$LIMN" eval lone.limn --from lone | awk '{ print $2 }' | cut -c 1-6)"
is "are what was learned" sh -c 'tail -1 lone/metrics.csv | cut -d, -f5 | awk "{ exit !(\$1 < -6.5 && \$1 > -7.5) }"'
status "no weights" 1 "$LIMN" eval net.limn --from nowhere
status "prediction" 0 "$LIMN" predict net.limn net --from used --in 'x=[[5, 3, 1, 0.2], [6, 3, 5, 2]]' --out y.npy
status "prediction of a table" 0 sh -c 'printf "a,b,c,d,kind\n5,3,1,0.2,x\n6,3,5,2,y\n" >t.csv; "$LIMN" predict net.limn net --from used --in x=t.csv:a..d --out y.csv'
/usr/bin/python3 - <<'END' && ok "the same in both" || not_ok "the same in both"
import numpy
y = numpy.load("y.npy"); t = numpy.loadtxt("y.csv", delimiter=",", skiprows=1)
assert y.shape == (2, 3) and (y == t.astype("f4")).all()
END
status "too many columns" 1 "$LIMN" predict net.limn net --from used --in x=t.csv
status "evaluation" 0 "$LIMN" eval net.limn net --from used --in '[5, 3, 1, 0.2]'
status "samples" 0 "$LIMN" sample net.limn net --from used --n 5 --out s.npy
/usr/bin/python3 -c 'import numpy; assert numpy.load("s.npy").shape == (5, 3)' && ok "as many as wanted" || not_ok "as many as wanted"
status "a learner from a file" 0 sh -c 'sed "s/^learn.*/& from \"used\/model.safetensors\"/; s/3 epochs/1 steps/; s/0.01/1e-30/" net.limn >from.limn; "$LIMN" train from.limn --out from --quiet --reference'
same "begins with it" "$("$LIMN" eval net.limn net --from used --in '[5, 3, 1, 0.2]')" "$("$LIMN" eval net.limn net --from from --in '[5, 3, 1, 0.2]')"

# A measure that fails after training has begun: the last of many pictures is broken.
/usr/bin/python3 - <<'END'
import os, struct, zlib
def png(path, shade):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes([shade] * 4) for _ in range(4))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for split, n in (("train", 20), ("test", 300)):
    os.makedirs("pics/" + split, exist_ok=True)
    for i in range(n): png(f"pics/{split}/{i:04}.png", i % 256)
data = open("pics/test/0299.png", "rb").read()
open("pics/test/0299.png", "wb").write(data[:41] + b"broken" + data[47:])
END
cat >pics.limn <<'END'
given x : R[4 4] from "pics"
learn f : R[4 4] -> R[4 4] = flatten ; dense[4 4]
goal fit : f(x) ~ x   by l2
measure far : f(x) ~ x   by l1   on "pics".test
measure near : f(x) ~ x   by l2
train 2 epochs, batch 10, adam(0.01)
END
status "a measure that fails later" 0 "$LIMN" train pics.limn --out pics_r --reference
says "is said" out "far cannot be measured"
says "the others go on" out "near"
says "and training ends well" out "finished after 4 steps"
is "with its weights" test -s pics_r/model.safetensors
is "and its page" test -s pics_r/report.html
status "another program does not take the page" 1 sh -c 'sed "s/by l1/by l2/" pics.limn >other.limn; "$LIMN" report other.limn --from pics_r'
says "it is said why" err "pics_r is the run of another program: in other.limn, line 4 is"
# The time to begin a step grows with the number of its batches, not with its square.
sed 's/^train .*/train 1 steps, batch 1, accumulate 20000/' net.limn >many.limn
status "a step of many batches" 0 sh -c 'ulimit -t 60; exec "$0" train many.limn --out many_r' "$LIMN"
says "is one step" out "finished after 1 step"
: "$root"
