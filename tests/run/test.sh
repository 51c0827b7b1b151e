#!/bin/sh
# `limn run`: the folder, its numbers, the page, the status; a repeated run has the same bytes.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cp "$here"/*.limn .

say='run: '
# same NAME WANTED FOUND
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: wanted $2, found $3"; fi; }
# has NAME FILE TEXT
has() { if grep -qF -- "$3" "$2"; then ok "$1"; else not_ok "$1: no \`$3\` in $2"; fi; }

# what it says, and where it goes
"$LIMN" run room.limn >out 2>err
same "status when all holds" 0 $?
same "nothing on stderr" "" "$(cat err)"
same "lines" "run    House to 10: N steps|3 claims hold, 0 fail|report runs/room/report.html" "$(sed -n '1s/[0-9]* steps/N steps/p;6p;7p' out | paste -sd '|')"
same "files" "Counter.csv Counter.state.safetensors House.csv House.happened.csv House.state.safetensors lock program.limn report.html run.json shown" "$(ls runs/room | paste -sd ' ')"
has "how far off a claim may be, in run.json" runs/room/run.json '"within": 1e-09'
has "and on the page" runs/room/report.html 'log(11 / 9) within 1e-9<'
same "pictures" "01-T-mean 02-T-mean 03-T-2-mean 04-h-mode 05-n 06-odd" "$(cd runs/room/shown && ls *.svg | sed 's/\.svg//' | paste -sd ' ')"
same "a png for each" "$(ls runs/room/shown/*.svg | wc -l)" "$(ls runs/room/shown/*.png | wc -l)"
cmp -s room.limn runs/room/program.limn && ok "the program is there" || not_ok "the program is there"
same "nothing half-written" "" "$(find runs -name '*.part')"
"$LIMN" run room.limn --quiet >out 2>&1
same "quiet" "" "$(cat out)"
[ -e runs/room.2/report.html ] && ok "the next free folder" || not_ok "the next free folder"
"$LIMN" run wrong.limn --plain >out 2>&1
same "status when a claim fails" 1 $?
has "it says which" out "FAILS  Half : last(x) = 1   0.125, not 1, off by 0.88"
[ ! -e runs/wrong ] && ok "--plain has no folder" || not_ok "--plain has no folder"
"$LIMN" run wrong.limn --out runs/room >out 2>&1
same "a folder that is taken: status" 1 $?
has "a folder that is taken: words" out "runs/room holds a run already"
cat >lost.limn <<'END'
machine Grows -> (x: R[]) {
  state x = 1
  x' = x^2
}
run Grows to 3
END
"$LIMN" run lost.limn --out lost >out 2>&1
same "what went wrong stands before the page" "fails error: report" "$(grep -o '^fails\|error:\|^report' out | paste -sd ' ')"
"$LIMN" run lives.limn --out lives --quiet
same "what happened, by member and place" "0.50:cell[1]:born 0.70:cell[0]:n[1] 1.00:cell[0]:n[0] 1.20:cell[1]:n[1] 1.50:cell[1]:n[0] 1.70:cell[0]:n[1] 2.00:cell[0]:n[0] 2.00:cell[0]:grown 2.20:cell[1]:n[1] 2.25:cell[0]:died 2.50:cell[1]:n[0] 2.50:cell[1]:grown" \
  "$(awk -F, 'NR > 1 { printf "%.2f:%s:%s ", $1, $2, $3 }' lives/Row.happened.csv | sed 's/ $//')"
# units are said in tables and pictures, read back, and held against those of a table
printf 'time (s),flow (m^3/s)\n0,1\n2,1\n' >flow.csv
"$LIMN" run tank.limn --out tank --quiet
same "units in tables" "time (s),level (m),p (Pa),flow (m^3/s) time (s),level[0] (m),level[1] (m),flow[0] (m^3/s),flow[1] (m^3/s),tank.level[0] (m),tank.level[1] (m),tank[1].p (Pa)" "$(head -q -n 1 tank/Tank.csv tank/Row.csv | paste -sd ' ')"
same "units in pictures" "level (m) p (Pa) time (s)" "$(cat tank/shown/01*.svg tank/shown/02*.svg tank/shown/03*.svg | grep -o 'level (m)\|p (Pa)\|time (s)' | sort -u | paste -sd ' ')"
cp tank/report.html page
"$LIMN" report tank.limn --from tank >out 2>&1
cmp -s page tank/report.html && ok "units are read back" || not_ok "units are read back"
sed -i.old 's/m^3/L/' flow.csv
"$LIMN" run tank.limn --plain >out 2>&1
has "another unit in a table" out 'flow.csv: column `flow (L/s)`, but `flow` is in m^3/s'
printf 'time (min),flow\n0,1\n2,1\n' >flow.csv
"$LIMN" run tank.limn --plain >out 2>&1
has "and of time" out 'flow.csv: column `time (min)`, but `time` is in s'
# runs side by side: the same words, numbers and states, whoever follows them; on a terminal, how far all are
"$LIMN" run sweep.limn --threads 1 --out one/swept >out 2>&1
"$LIMN" run sweep.limn --threads 3 --out many/swept >out.many 2>&1
same "side by side, the same is said" "$(sed 's/one.swept//' out)" "$(sed 's/many.swept//' out.many)"
same "of all of them" "18 11 2" "$(grep -c '^run \|^fails ' out) $(grep -c '^holds' out) $(grep -c '^fails \|^FAILS\|error:' out)"
same "and the same is left" "report.html run.json" "$(diff -rq one/swept many/swept | sed 's/.* one.swept.\(.*\) and .*/\1/' | paste -sd ' ')"
# (long enough for any machine, and stopped when it was said)
sed 's/to 60 every 1/to 6000 every 100/' sweep.limn >long.limn
/usr/bin/python3 - "$LIMN" run long.limn --threads 3 --plain >out 2>&1 <<'END'
import os, pty, signal, sys
child, said = pty.fork()
if not child: os.execv(sys.argv[1], sys.argv[1:])
signal.alarm(100)
seen = b""
try:
    while b" of 18 runs, " not in seen: seen += os.read(said, 4096) or sys.exit(1)
except OSError: pass # it has ended
os.kill(child, signal.SIGKILL)
sys.stdout.buffer.write(seen)
END
has "how far they are" out " of 18 runs, "
# each run has files of its own, whatever the names: same values, numbers that meet, lower case, names longer than a file's may be
/usr/bin/python3 - "$LIMN" <<'END' || not_ok "files of runs"
import csv, json, os, subprocess, sys
machine = "machine %s(u: R[]) -> (x: R[]) {\n  state x = 0\n  x' = u\n}\n"
option = "machine %s[k] -> (x: R[]) {\n  state x = 0\n  x' = k\n}\n"
long, sums = "N" * 300, " + ".join(["time"] * 90)
greek = "λ" * 140
programs = {
    "expressions": (machine % "N" + "for u in [time * 2, time / 2, time ^ 2] {\n  run N(u: u) to 1\n}\n", [1, 0.25, 1 / 3], ["N.u=time_2", "N.u=time_2.2", "N.u=time_2.3"]),
    "counted": (option % "M" + "for k in [1, 1.2] {\n  run M[k: k] to 1\n}\nfor k in [1] {\n  run M[k: k] to 1\n}\n", [1, 1.2, 1], ["M.k=1", "M.k=1.2", "M.k=1.3"]),
    "counted_first": (option % "M" + "for k in [1] {\n  run M[k: k] to 1\n}\nfor k in [1, 1.2] {\n  run M[k: k] to 1\n}\n", [1, 1, 1.2], ["M.k=1", "M.k=1.3", "M.k=1.2"]),
    "unique": (option % "M" + "run M[k: 1] to 1\nrun M[k: 2] to 1\nrun a : M[k: 3] to 1\nfor k in [4, 0.5] {\n  run M[k: k] to 1\n}\nrun M[k: 6] to 1\n", [1, 2, 3, 4, 0.5, 6], ["M", "M.2", "a", "M.k=4", "M.k=0.5", "M.3"]),
    "lower": (option % "M" + option % "m" + "run M[k: 1] to 1\nrun m[k: 2] to 1\nrun M[k: 3] to 1\nrun m[k: 4] to 1\n", [1, 2, 3, 4], ["M", "m.3", "M.2", "m.4"]),
    "letters": (option % "Ω" + option % "ω" + option % "É" + option % "é" + "".join(f"run {n}[k: 1] to 1\n" for n in "ΩωÉé"), [1] * 4, ["Ω", "ω.2", "É", "é.2"]),
    "long": (option % long + option % greek + f"run {long}[k: 1] to 1\nrun {long}[k: 2] to 1\nrun {greek}[k: 3] to 1\nrun {greek}[k: 4] to 1\n", [1, 2, 3, 4], [long[:237], long[:235] + ".2", greek[:118], greek[:117] + ".2"]),
    "sums": (machine % "N" + f"for u in [{sums}, {sums} + 1, {sums} + 2] {{\n  run N(u: u) to 1\n}}\n", [45, 46, 47], None),
}
for name, (text, wanted, files) in programs.items():
    open(f"{name}.limn", "w").write(text)
    ran = subprocess.run([sys.argv[1], "run", f"{name}.limn", "--out", f"files_{name}", "--quiet"], capture_output=True, text=True)
    what = f"files of runs: {name}"
    if ran.returncode:
        print("not ok run:", what, ran.stdout[-2000:], ran.stderr[-2000:])
        continue
    runs = json.load(open(f"files_{name}/run.json"))["runs"]
    have = [float(list(csv.reader(open(f"files_{name}/{r['file']}.csv")))[-1][1]) for r in runs]
    there = [f for f in os.listdir(f"files_{name}") if f.endswith(".csv")]
    good = all(abs(a - b) < 1e-6 for a, b in zip(have, wanted)) and len(have) == len(wanted) == len({f.lower() for f in there})
    good = good and (files is None or [r["file"] for r in runs] == files)
    print("ok run:" if good else "not ok run:", what, "" if good else (have, [r["file"] for r in runs]))
    again = subprocess.run([sys.argv[1], "report", f"{name}.limn", "--from", f"files_{name}"], capture_output=True, text=True)
    print("ok run:" if again.returncode == 0 else "not ok run:", what, "are read back", again.stderr)
END
printf x >file
"$LIMN" run wrong.limn --out file/x >out 2>&1
same "a folder that cannot be: status" 3 $?
has "a folder that cannot be: words" out "cannot make the folder file/x"

# numbers
/usr/bin/python3 - <<'END' || not_ok "numbers"
import csv, json, math
def ok(what): print("ok run:", what)
rows = list(csv.reader(open("runs/room/House.csv")))
assert rows[0] == ["time", "T", "mean", "out", "h.T", "h.mode", "T^2 + mean"], rows[0]
for r in rows[1:]:
    t, T, mean, out = map(float, r[:4])
    assert float(r[4]) == T and r[5] in ("on", "off") and out == 5
    assert mean == (T + 5) / 2 and abs(float(r[6]) - (T * T + mean)) < 1e-10
    if t <= 2: assert r[5] == "on" and abs(T - (30 - 11 * math.exp(-t / 10))) < 1e-8, r
assert [float(r[0]) for r in rows[1:4]] == [0, 0.5, 1]
ok("time, ports, states, labels by name, what is shown")
rows = list(csv.reader(open("runs/room/House.happened.csv")))
assert rows[0] == ["time", "part", "what"] and [r[2] for r in rows[1:4]] == ["off", "on", "off"], rows
assert abs(float(rows[1][0]) - 10 * math.log(11 / 9)) < 1e-9
ok("what happened")
rows = list(csv.reader(open("runs/room/Counter.csv")))
assert rows[0] == ["tick", "n[0]", "n[1]", "odd", "up"] and rows[-1] == ["7", "21", "-21", "1", "3"], rows[-1]
ok("arrays cell by cell")
note = json.load(open("runs/room/run.json"))
assert note["kind"] == "machine" and note["state"] == "finished" and note["seed"] == 0 and note["program"] == "room.limn"
assert [r["name"] for r in note["runs"]] == ["House", "Counter"] and note["runs"][1]["steps"] == 8
assert [c["holds"] for c in note["checks"]] == [True] * 3 and note["checks"][2]["text"] == "last(n[0]) = 21"
ok("run.json")
END

# JSON on stdout is what run.json says
"$LIMN" run wrong.limn --out json --json >out 2>err
same "--json: status" 1 $?
/usr/bin/python3 -c 'import json; a = json.load(open("out"))["run"]; b = json.load(open("json/run.json")); assert a["checks"] == b["checks"] and a["dir"] == "json" and [c["holds"] for c in a["checks"]] == [False, True]' \
  && ok "--json is one object" || not_ok "--json is one object"

# the page
"$LIMN" run team.limn --out team --quiet
if /usr/bin/python3 - runs/room/report.html json/report.html team/report.html <<'END'
import sys
from html.parser import HTMLParser
void = {"meta", "link", "br", "img", "input", "hr"}
for path in sys.argv[1:]:
    class Tags(HTMLParser):
        open, ids = [], set()
        def handle_starttag(self, tag, attrs):
            if tag not in void: self.open.append(tag)
            for name, value in attrs:
                if name == "id":
                    assert value not in self.ids, f"{path}: id {value} is there twice"
                    self.ids.add(value)
        def handle_startendtag(self, tag, attrs):
            self.handle_starttag(tag, attrs)
            if tag not in void: self.open.pop()
        def handle_endtag(self, tag):
            assert self.open and self.open.pop() == tag, f"{path}: </{tag}> at {self.getpos()}"
    t = Tags()
    text = open(path, encoding="utf-8").read()
    t.feed(text)
    assert not t.open, t.open
    assert 'src="http' not in text and "url(http" not in text
END
then ok "pages are well-formed and need nothing else"; else not_ok "pages are well-formed and need nothing else"; fi
has "the page says what holds" runs/room/report.html "3 claims hold"
has "and what does not" json/report.html '<td class="no" title="fails">✗</td>'
has "the wiring is drawn" runs/room/report.html "Heater, takes out, gives T"
has "happenings are marked" runs/room/report.html "h: off at 2.007"
has "labels are bands" runs/room/report.html "h.mode"
has "ports are shown where nothing is" runs/room/report.html '<code>n</code> as curves'
has "a wiring over time moves" team/shown/02-g-over-time.svg "@keyframes"
has "parts by name" team/shown/01-g.svg "cell 2"
[ -s team/Team.safetensors ] && ok "many numbers are no table" || not_ok "many numbers are no table"

# made anew, from the folder alone
for name in room team; do
  at=team; [ $name = team ] || at=runs/room
  cp $at/report.html before.html
  "$LIMN" report $name.limn --from $at >out 2>err
  same "$name: report" "$at/report.html" "$(cat out err)"
  cmp -s before.html $at/report.html && ok "$name: the same page" || not_ok "$name: the same page"
done
sed 's/^show h.mode.*/show 2 * T, h.T as curves/' room.limn >other.limn
"$LIMN" report other.limn --from runs/room >out 2>&1
has "another show" runs/room/report.html "<code>2 * T, h.T</code> as curves"
"$LIMN" report wrong.limn --from runs/room >out 2>&1
same "of another program: status" 1 $?
has "of another program: words" out "was made by another program"
sed '2s/.*/x,y/' runs/room.2/House.csv >cut && mv cut runs/room.2/House.csv
"$LIMN" report room.limn --from runs/room.2 >out 2>&1
same "a broken table: status" 1 $?
has "a broken table: words" out "House.csv:2: found"

# the same bytes twice, but for dates and seconds
mkdir a b
(cd a && "$LIMN" run ../team.limn --quiet --threads 1) && (cd b && "$LIMN" run ../team.limn --quiet --threads 2)
for d in a b; do sed -i -E 's/"(date|seconds|threads)": ("[^"]*"|[0-9.]+)//g; s/<dt>(date|seconds|threads)<\/dt><dd>[^<]*//; s/<span>[0-9.]+ s<\/span>//g' $d/runs/team/run.json $d/runs/team/report.html; done
if diff -r a b >out; then ok "the same bytes twice"; else not_ok "the same bytes twice: $(head -3 out)"; fi

# what happened names the place that is set, also where there is but one
cat >places.limn <<'END'
machine Cell -> (w: R[2]) {
  state w : R[2] = 0
  next w[1] = 1 when time >= 1
}
wiring Places -> (g: R[1], v: R[2 2]) {
  c[2] : Cell
  state x = 0, g : R[1] = 0, h : R[1] = 0, v : R[2 2] = 0, k : {2} = 0
  x' = 1
  next g[0] = 1 when x >= 0.1
  next h[i] = 1 when x >= 0.2 + i
  next v[1 0] = 1 when x >= 0.3
  next v[0 j] = 1 when x >= 0.4
  next k = 1 when x >= 0.5
  next v[1 k] = 7 when x >= 0.6
  next g = 5 when x >= 0.7
}
run Places to 1
END
"$LIMN" run places.limn --quiet --out placed
same "places that are set" ":g[0] :h[0] :v[1 0] :v :k :v[1 1] :g c[0]:w[1] c[1]:w[1]" "$(awk -F, 'NR > 1 { printf "%s%s:%s", (NR > 2 ? " " : ""), $2, $3 }' placed/Places.happened.csv)"

# steps of a given size keep the same moments whether something is claimed of the run or not
cat >moments.limn <<'END'
machine Spin -> (x: R[]) {
  state x = 1, y = 0
  x' = y
  y' = -x
}
run a : Spin to 4 by rk4[0.01] every 0.05
run b : Spin to 4 by rk4[0.01] every 0.05
check highest(x) < 2
run c : Spin to 5 by euler[0.1]
run d : Spin to 5 by euler[0.1]
check highest(x) < 2
END
"$LIMN" run moments.limn --quiet --out moments
kept_times() { cut -d, -f1 "moments/$1.csv" | paste -sd ' '; }
same "moments of steps, with a claim or without" "$(kept_times a) $(kept_times c)" "$(kept_times b) $(kept_times d)"
same "which are those that were asked for" "0 0.05 0.1 0.15" "$(kept_times a | cut -d' ' -f2-5)"

# stopped, and failed
cat >slow.limn <<'END'
machine Spin -> (x: R[]) {
  state x = 1, y = 0
  x' = y
  y' = -x
}
run short : Spin to 1
run Spin to 1e9 by rk4[0.001] every 100
check last(x) < 2
END
"$LIMN" run slow.limn --out slow >out 2>err &
pid=$!
for _ in $(seq 1000); do [ -e slow/Spin.state.safetensors ] && break; sleep 0.1; done
touch begun # and is saved again when it is under way
for _ in $(seq 1000); do [ slow/Spin.state.safetensors -nt begun ] && break; sleep 0.1; done
"$LIMN" run slow.limn --resume slow >again 2>&1
same "under way: a second one is refused" 1 $?
has "under way: which is said" again "another run is under way in slow"
kill -TERM $pid
wait $pid
same "stopped: status" 143 $?
has "stopped: words" out ", stopped at "
said=$(sed -n 's/.*stopped at t = \([0-9.e+]*\).*/\1/p' out)
has "stopped: how it goes on" out "stopped; to go on: limn run slow.limn --resume slow"
/usr/bin/python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$LIMN" run slow.limn --plain >cut 2>err &
pid=$!
for _ in $(seq 1000); do grep -q "^run    short" cut && break; sleep 0.1; done
kill -INT $pid
wait $pid
same "interrupted: status" 130 $?
has "interrupted: nothing goes on without a folder" cut "stopped; without a folder nothing was saved, and it begins anew"

# A signal is heard within a row of steps, and the moment is the one that the run came to, whether it is kept or not.
cut_short() {
  printf 'machine L -> (x: R[]) {\n  state x = 1\n  x'"'"' = cos(9 * time) - x\n}\nrun L to %s\n' "$2" >"$1.limn"
  "$LIMN" run "$1.limn" --plain >"$1.cut" 2>"$1.err" &
  eval "pid_$1=$!"
}
cut_short fixed "1000 by rk4[1e-9]"
cut_short chosen "1e9"
sleep 2
for cut in fixed chosen; do
  eval "pid=\$pid_$cut"
  kill -TERM "$pid"
  wait "$pid"
  same "cut short, $cut: status" 143 $?
  grep -q ', stopped at t = [0-9.e-]*[1-9]' "$cut.cut" && ok "cut short, $cut: the moment" || not_ok "cut short, $cut: the moment: $(cat "$cut.cut" "$cut.err")"
done

# Also while a compiler is at work.
printf '#!/bin/sh\nsleep 20\nexit 1\n' >slow_cc
chmod +x slow_cc
LIMN_CC=$PWD/slow_cc LIMN_CACHE=$PWD/no_code timeout --foreground -s TERM 1 "$LIMN" run fixed.limn --plain >compiling.cut 2>compiling.err
has "cut short, compiling" compiling.cut ', stopped at t = '

# two that begin at once: one has the folder, the other says so
printf 'machine A -> (x: R[]) {\n  state x = 1\n  x'"'"' = -x\n}\nrun A to 1\n' >twin.limn
good=0 told=0
for i in 1 2 3; do
  for k in 1 2; do { "$LIMN" run twin.limn --out twin$i >twin$i.$k 2>&1; echo $? >>twin$i.$k; } & done
  wait
  good=$((good + $(cat twin$i.? | grep -c '^0$')))
  told=$((told + $(cat twin$i.? | grep -c 'twin. holds a run already\|another run is under way in twin')))
done
same "at once: one of two has the folder, the other says so" "3 3" "$good $told"
has "stopped: the page says so" slow/report.html "stopped at time"
paged=$(sed -n 's/.*stopped at time \([0-9.e+]*\).*/\1/p' slow/report.html)
same "stopped: where the page says, and the command" yes "$(echo "$said $paged" | awk '{ print ($1 > 0 && ($1 - $2) ^ 2 <= 1e-10 * $1 ^ 2 ? "yes" : $0) }')"
"$LIMN" report slow.limn --from slow >/dev/null 2>&1
has "stopped: the page made anew says it too" slow/report.html "stopped at time $paged"
has "stopped: what was not looked at" slow/report.html "not looked at"
[ -s slow/Spin.csv ] && ok "stopped: what there is stays" || not_ok "stopped: what there is stays"
cat >storm.limn <<'END'
machine Ball -> (h: R[]) {
  state h = 1, v = 0
  h' = v
  v' = -9.81
  next v = -0.8 * v when h <= 0
}
run Ball to 10
END
"$LIMN" run storm.limn --out storm >out 2>err
same "failed: status" 1 $?
has "failed: the page says why" storm/report.html "too many events"
has "failed: and how far it came" storm/report.html "failed after time 4.064"

# listed, drawn
"$LIMN" runs . >out 2>&1
has "limn runs" out "./json: wrong.limn"
has "limn runs: claims" out "  FAILS Half : last(x) = 1   0.125, not 1, off by 0.88"
"$LIMN" runs json --json >out
/usr/bin/python3 -c 'import json; r = json.load(open("out"))["runs"][0]; assert r["kind"] == "machine" and [c["holds"] for c in r["checks"]] == [False, True]' && ok "limn runs --json" || not_ok "limn runs --json"

# folders as version 0.1 wrote them first
cp -r "$here/before" .
"$LIMN" runs before >out 2>&1
has "a folder from before: training" out "finished after 15 steps, seed 0"
has "a folder from before: its measure" out "fit.hits "
has "a folder from before: machines" out "  holds House"
"$LIMN" report room.limn --from before/room >out 2>&1
same "a folder from before: its page" 0 $?
has "a folder from before: its claims" before/room/report.html "3 claims hold"
has "a folder from before: what happened" before/room/report.html "things happened"

"$LIMN" draw room.limn -o last.svg >out 2>&1
has "limn draw: what the last run runs" last.svg "Counter"
"$LIMN" draw room.limn Counter -o one.svg >out 2>&1
has "limn draw: a machine by name" one.svg "Counter"
"$LIMN" draw room.limn House --open x -o no.svg >out 2>&1
same "limn draw --open: status" 1 $?
has "limn draw --open: words" out "a machine is opened by levels"
"$LIMN" draw room.limn House --check >out 2>&1
same "limn draw --check" 0 $?
# every view of every shape: what `check` lets through has a picture, and what it refuses is refused before the run
cat >shapes.limn <<'EOF'
axis k = 3, n = 40
machine M -> (x: R[], y: R[], p: R[2], q: R[k], g: R[k k], h: R[n n], c: R[2 k 2], l: {red, green}, b: B[], m: {red, green}[k]) {
  state x = 0, l : {red, green} = red
  x' = 1
  next l = green when x > 0.5
  y = 2 * x
  p[i:2] = 0.5
  q[i:k] = x + i
  g[i:k j:k] = x * i + j
  h[i:n j:n] = x * i + j
  c[i:2 j:k r:2] = x + i + j + r
  b = x > 0.2
  m[i:k] = l
}
run M to 1
EOF
shown="x/x, y/x, y, x/x, l/p/q/g/h/c/l/b/m/p, p/g, q/g, p/x, q"
refuse="curves 0 scatter 8 table 0"
[ -z "${FULL:-}" ] || refuse="curves 0 bands 0 spacetime 7 matrix 10 paths 6 images 10 strip 10 scatter 8 latent 10 table 0 text 15 phase 14 wiring 13"
for view in $(echo "$refuse" | tr -d '[:digit:]'); do
  cp shapes.limn every.limn
  echo "$shown" | tr '/' '\n' | sed "s/.*/show & as $view/" >>every.limn
  echo "show h as $view every 0.25" >>every.limn
  "$LIMN" check every.limn >out 2>&1
  grep -c 'error: this cannot be shown: ' out >refused
  sed -n 's/^every.limn:\([0-9]*\):.*error: this cannot.*/\1d/p' out >refuse
  sed -f refuse every.limn >some.limn
  rm -rf some every
  "$LIMN" run some.limn --out some >out 2>&1
  same "$view: all that is let through is drawn" "0 0" "$? $(grep -c 'class="alarm"' some/report.html)"
  if [ -s refuse ]; then
    "$LIMN" run every.limn --out every >/dev/null 2>&1
    same "$view: what has no picture is not run" "1 no" "$? $([ -e every ] && echo yes || echo no)"
  fi
  echo "$view $(cat refused)" >>all_refused
done
same "how many shapes a view refuses" "$refuse" "$(paste -sd ' ' all_refused)"

# a picture that is missing is a failure
cp shapes.limn numbers.limn
echo 'show x as curves' >>numbers.limn
"$LIMN" run numbers.limn --out numbers >out 2>&1
sed '1s/,x,/,lost,/' numbers/M.csv >out && cp out numbers/M.csv
"$LIMN" report numbers.limn --from numbers >out 2>err
same "a picture that is missing is a failure" "1 1" "$? $(grep -c 'class="alarm"' numbers/report.html)"
has "and said" err '`x` is not among the numbers of numbers: run it again'

# of an array in a loop: the colour says which run, the stroke which place
printf "machine M -> (T: R[3]) {\n  state T : R[3] = 1\n  T'[i] = -(i + 1) * T[i]\n}\nfor a in [1, 2] {\n  run M(T: a) to 2\n  show T as curves\n}\n" >family.limn
"$LIMN" run family.limn --out family >out 2>&1
has "curves of one run are told apart" family/shown/01-T.svg "T[0] solid, T[1] dashed, T[2] dotted."

"$LIMN" run same_steps.limn --out same >out 2>&1
same "steps of a given size: status" 0 $?
# Euler's compiled steps are the bits of ticks that say the same (a law of machines), which know the step as a constant: one by one, they agree to 1e-12.
paste -d, same/euler.csv same/euler_watched.csv | awk -F, 'NR > 1 { n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d; if (d > 1e-12) bad = 1 } rows++ } END { exit bad || rows < 100 }' && ok "steps of a given size, whole and one by one: euler" || not_ok "steps of a given size, whole and one by one: euler"
for way in rk4 noisy curved; do
  cmp same/$way.csv same/${way}_watched.csv >/dev/null 2>&1 && ok "steps of a given size, whole and one by one: $way" || not_ok "steps of a given size, whole and one by one: $way"
done

exit $failed
