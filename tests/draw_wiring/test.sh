#!/bin/sh
# Pictures of machines: every machine and wiring of the examples is drawn without faults, closed and opened, with reproducible bytes; the content
# of some; networks are unfolded, and other wirings are refused.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

draw() { "$LIMN" draw "$@" >out 2>err; }
count() { grep -o "$1" "$2" | wc -l; }
seen() { if [ "$(count "$2" "$3")" -eq "$1" ]; then ok "$4"; else not_ok "$4: $(count "$2" "$3") and not $1"; fi; }

# every machine; one that wants options has none that can be drawn alone
drawn=0
for file in "$root"/examples/*.limn "$root"/docs/figures/neuron.limn "$root"/docs/figures/network.limn; do
  for name in $(sed -n 's/^\(machine\|share\|wiring\) \([A-Za-z_0-9]*\).*/\2/p' "$file"); do
    bad=
    for level in learner model layer; do
      draw "$file" "$name" --level $level --check && [ ! -s out ] && drawn=$((drawn + 1)) && continue
      grep -q 'wants its option' err || bad=$level
      [ -z "$bad" ] || cat out err >faults
    done
    if [ -z "$bad" ]; then ok "$(basename "$file") $name"; else not_ok "$(basename "$file") $name at level $bad"; cat faults; fi
  done
done
if [ $drawn -ge 200 ]; then ok "$drawn pictures have no faults"; else not_ok "only $drawn pictures have no faults"; fi

# the programs with known answers
faulty=
for file in "$root"/tests/answers/machines/*.limn; do
  for name in $(sed -n 's/^\(machine\|share\|wiring\) \([A-Za-z_0-9]*\).*/\2/p' "$file"); do
    draw "$file" "$name" --check
    if [ -s out ]; then faulty="$faulty $(basename "$file"):$name"; fi
  done
done
if [ -z "$faulty" ]; then ok "no faults in programs with answers"; else not_ok "faults in$faulty"; fi

# files
for kind in svg pdf png tex txt; do
  draw "$root/examples/logic.limn" Or -o a.$kind && draw "$root/examples/logic.limn" Or -o b.$kind
  if [ -s a.$kind ] && cmp -s a.$kind b.$kind; then ok "the same $kind twice"; else not_ok "the same $kind twice"; fi
done
for word in Or Nand Not; do
  if grep -q $word a.txt; then ok "$word is in the text"; else not_ok "$word is in the text"; fi
done
if command -v xmllint >/dev/null; then
  if xmllint --noout a.svg; then ok "well-formed"; else not_ok "well-formed"; fi
fi

# what is there: three gates in two wirings
seen 3 'data-id="[pqr.n]*" class="glyph"' a.svg "three gates"
seen 2 'data-id="[pq]" class="frame"' a.svg "two parts are opened"
draw "$root/examples/logic.limn" Or --level learner -o c.svg
seen 3 'data-id="[pqr]" class="glyph"' c.svg "all parts are closed"
seen 0 'data-id="[pq]" class="frame"' c.svg "and none is opened"

# a value is made of what its lines are made of, and a state may be an output
draw "$root/examples/handover.limn" Cell -o d.svg
seen 11 'class="dot"' d.svg "states and lines go to guards and outputs" # and nothing ends in the air
if grep -q 'Its own state: link' d.svg; then ok "the state is said"; else not_ok "the state is said"; fi
cat >lines.limn <<'L'
machine Part(x: R[]) -> (y: R[]) = x
wiring Lines(x: R[]) -> (y: R[]) {
  p, q : Part
  twice = 2 * p.y
  x -> p.x
  twice -> q.x
  q.y -> y
}
L
draw lines.limn Lines -o lines.svg
seen 1 'aria-label="twice = 2 · p.y"' lines.svg "what a line computes is on a plate"
draw "$root/examples/dils.limn" Team -o moves.svg
seen 2 'aria-label="(guess − truth)^2"\|aria-label="mu\[i\] worker\[i\].guess"' moves.svg "each equation is there once"
seen 1 'aria-label="(worker\[i\].guess − truth)^2"' moves.svg "what a state learns on is there"
draw "$root/examples/listeners.limn" Team -o rows.svg
seen 2 '<title>mu ' rows.svg "a state that learns leaves its row, and enters another"
seen 5 'goes to another row' rows.svg "rows are cut where few wires are"
cat >edge.limn <<'L'
machine Part(x: R[]) -> (a, b, c: R[]) {
  a = x
  b = x
  c = x
}
wiring Edge(x: R[]) -> (top, far: R[]) {
  p : Part
  x -> p.x
  wide  = p.c * sin(p.c) + p.b * cos(p.c) * exp(p.c) + p.a
  wider = wide * sin(wide) + cos(wide) * exp(wide) + 12
  top   = p.c
  far   = wider + 1
}
L
draw edge.limn Edge --width 500 -o edge.svg
edge=$(grep -A1 '<title>top: R' edge.svg | sed -n 's/.* d="\(M[0-9.]* [0-9.]*\)h.*/\1/p' | head -1)
seen 2 "d=\"${edge:-none}h" edge.svg "from a short row, a wire that is drawn from its end goes on to the frame"
draw "$root/examples/dils.limn" Team --width 0 -o one.svg
seen 0 'another row' one.svg "one row where that is asked for"
seen 6 'class="wire"' lines.svg "and is wired to what it is made of" # four between parts, and what sticks out

# a port that nobody reads
draw "$root/examples/thermostat.limn" Home -o h.svg
if grep -q 'gives warm, has a state' h.svg; then ok "a mode that is not wired is no port"; else not_ok "a mode that is not wired is no port"; fi

# shared variables: each line says its place, a part has no name of its own, a pile of opened wirings cuts nothing
cat >shares.limn <<'L'
share Line(a, b) {
  a' = b - a
  b' = a - b
}
share Leak[k](v) { v' = -k * v }
wiring Rod(v: R[4]) {
  Line(v[i], v[i+1])
  Leak[1000000000](v[0])
  Line(v[0], v[3])
}
wiring Rods -> (v: R[3 4]) {
  state v : R[3 4] = 0
  Rod(v[i])
}
L
draw shares.limn Rod -o rod.svg
for place in '\[i\]' '\[i + 1\]' '\[0\]' '\[3\]'; do
  if grep -q "aria-label=\"$place\"" rod.svg; then ok "the line of $place says so"; else not_ok "the line of $place says so"; fi
done
if grep -q 'Line\.2:\|aria-label="Line.2"' rod.svg; then not_ok "a second part is called by its kind"; else ok "a second part is called by its kind"; fi
if grep -q 'Leak (1e9)' rod.svg; then ok "1e9"; else not_ok "1e9"; fi
if draw shares.limn Rods --check && [ ! -s out ]; then ok "an array of opened wirings"; else not_ok "an array of opened wirings"; cat out; fi

# what is padded says so; what guards read leads to them; a condition of life is dashed; a learner is a state that learns
cat >asked.limn <<'L'
machine Cell(l, r: R[]) -> (x: R[]) {
  state x = 1
  next x = (l + r) / 2
}
wiring Row -> (y: R[5], stage: R[]) {
  cell[5] : Cell
  cell[i-1].x pad 0 -> cell[i].l
  2 * cell[i+1].x pad 0 -> cell[i].r
  y[i] = cell[i-1].x + cell[i+1].x pad 0
  big = max(cell.x)
  state stage = 0
  next stage = stage + 1 when big >= 2
}
wiring Colony(food: R[4]) -> (many: R[]) {
  state alive : B[4] = 1
  cell[4] : Cell while alive[i]
  food -> cell.l, food -> cell.r
  next alive[i] = cell[i].x < 3
  many = sum(cell.x)
}
machine Switch(level: R[]) -> (x: R[]) {
  state x = 0
  mode low { jump high when level > 5 }
  mode high { jump low when level < 5 }
}
wiring Asked(level: R[]) -> (y: R[]) {
  s : Switch
  c : Cell
  level -> s.level
  1 -> c.l when s.mode = low
  level -> c.l when s.mode = high
  s.x -> c.r
  c.x -> y
}
learn net(x: R[]) -> R[] {
  learn w : R[] = 0.5
  return w * x
}
machine Pupil(see, truth: R[]) -> (guess: R[]) {
  guess = net(see)
  next net by adam(0.01) on (guess - truth)^2
}
L
for name in Row Colony Asked Pupil; do
  if draw asked.limn $name --check && [ ! -s out ]; then ok "$name has no faults"; else not_ok "$name has no faults"; cat out err; fi
  draw asked.limn $name -o $name.svg
done
seen 1 'aria-label="\[i − 1\] pad 0"' Row.svg "a wire that is padded"
seen 1 'aria-label="2 · cell\[i + 1\].x pad 0"' Row.svg "a plate that is padded"
seen 1 'aria-label="cell\[i − 1\].x + cell\[i + 1\].x pad 0"' Row.svg "a line that is padded"
seen 2 '<title>big = max(cell.x)' Row.svg "a line that a guard reads leads to it"
seen 6 '<title>s.mode = [a-z]*' Asked.svg "a mode leads to its guards"
if grep -q 'gives x, mode, has a state' Asked.svg; then ok "and is a port then"; else not_ok "and is a port then"; fi
seen 1 'aria-label="alive\[i\]"' Colony.svg "what a part is there for"
seen 2 '<title>state net: by adam(0.01), learns' Pupil.svg "a learner is a state that learns"
seen 2 '<title>(guess − truth)^2' Pupil.svg "and its loss moves it"

# nothing is left out: equations 0 = …, arrows to modes in modes, unroll, a state that is shared as one thing, modes of a wiring, and to which places wires lead
cat >whole.limn <<'L'
machine Source -> (i: R[]) {
  state t = 0
  t' = 1
  i = sin(t)
}
wiring Net -> (v: R[]) {
  s : Source
  state v = 0, u = 0
  u' = v - u
  0 = s.i - v - v^3
}
machine Lamp -> (light: R[]) {
  state heat = 0
  mode on {
    heat' = 1
    jump hot when heat >= 9
    mode warm { light = 1, jump hot when heat >= 2 }
    mode hot { light = 2 }
    jump off when heat >= 3
  }
  mode off { heat' = -1, light = 0, jump on.hot when heat <= 2.5 }
}
learn net(x: R[]) -> R[] {
  learn w : R[] = 0.5
  return w * x
}
machine Recalls(see, truth: R[]) -> (h: R[]) {
  state h = 0
  next h = net(see + h)
  next net by adam(0.01) on (h - truth)^2 unroll 4
}
share Growth(r) { r' = 0.3 * r }
share Predation(r, f) { r' = -0.1 * r * f, f' = 0.1 * r * f }
wiring Land -> (r: R[]) {
  state r = 10, f = 3
  Growth(r)
  Predation(r, f)
  next r = r / 2 when r >= 20
}
machine Tank(u: R[]) -> (h: R[]) {
  state h = 0
  h' = u - 0.1 * h
}
wiring Kettle(full: R[]) -> (h, heat: R[]) {
  t : Tank
  state pump = 0, T = 20
  pump -> t.u
  h = t.h
  jump rest when T > 90
  mode fill { heat = 0, next pump = 1 when t.h < full, jump cook when t.h >= 2 }
  mode cook { T' = 5 - 0.1 * t.h, heat = 1, jump fill when T >= 60 }
  mode rest { heat = 0 }
}
machine Vec(v: R[3], a: R[]) -> (y: R[]) { y = sum(v) + a }
wiring Places(a: R[], b: R[2]) -> (z: R[4]) {
  q[3] : Vec
  b[i-1] pad 0 -> q[i].v[1], a -> q[i].v[0], 1 -> q[i].v[2]
  a -> q[0].a
  q[i].y -> q[i+1].a pad 0
  z[0] = a
  z[i+1] = q[i].y
}
L
for name in Net Lamp Recalls Land Kettle Places; do
  if draw whole.limn $name --check && [ ! -s out ]; then ok "$name has no faults"; else not_ok "$name has no faults"; cat out err; fi
  draw whole.limn $name -o $name.svg
done
seen 1 'aria-label="0 = s.i − v − v^3"' Net.svg "an equation that holds at every moment"
seen 0 'aria-label="jump' Lamp.svg "every jump is an arrow"
seen 4 '<title>heat ≤ 2.5</title>' Lamp.svg "one goes through the edge of a mode" # from a mode to its label, on to the edge, and from there
seen 2 '<title>state net: by adam(0.01) unroll 4, learns' Recalls.svg "how far credit flows back"
seen 0 '<title>shared variable' Land.svg "a state that is shared is the state"
seen 1 'aria-label="always"' Kettle.svg "modes of a wiring are a graph"
seen 1 'aria-label="next pump = 1 when t.h &lt; full"' Kettle.svg "with what they say"
seen 8 '<title>said by modes\|<title>its modes' Kettle.svg "and they lead to ports and states"
seen 1 'aria-label="\[i − 1\] → \[i 1\] pad 0"' Places.svg "from which places to which"
seen 2 'aria-label="→ \[0\]"' Places.svg "and to which"
seen 1 'aria-label="→ \[i + 1\]"' Places.svg "by a shifted index"

# a long formula is broken at operators before it is cut
cat >long.limn <<'L'
machine P -> (x: R[]) {
  state x = 1
  x' = -x
}
wiring Long(mu, s: R[]) -> (err: R[]) {
  p[3] : P
  err = max[i](abs(p[i].x - exp((mu - s^2 / 2) * time + s * p[i].x + 3 * cos(time) * p[i].x)))
}
L
draw long.limn Long -o long.svg
seen 0 'aria-label="[^"]*…' long.svg "nothing of it is cut"
seen 1 'aria-label="[+−] [^"]*"' long.svg "its second line begins with an operator"

# a machine with modes is a graph: modes are boxes, jumps are arrows with conditions; modes in modes, and one that stops
cat >modes.limn <<'L'
machine Lift(call: R[]) -> (h: R[]) {
  state h = 0, d = 1
  mode idle {
    mode open { jump closing when call > 0 }
    mode closing {
      d' = -0.5
      jump moving when d <= 0
    }
  }
  mode moving {
    h' = 1
    jump idle when h >= 3
    jump broken when h >= 9
  }
  mode broken stop
}
L
if draw modes.limn Lift --check && [ ! -s out ]; then ok "modes have no faults"; else not_ok "modes have no faults"; cat out err; fi
draw modes.limn Lift --width 0 -o modes.svg
seen 1 'data-id="idle" class="frame"' modes.svg "a mode with modes in it is a frame"
seen 4 'data-id="[a-z.]*" class="glyph"' modes.svg "each other mode is a box"
seen 2 '<title>it starts here</title><circle\|class="dot"[^>]*><title>it starts here' modes.svg "where it starts"
for cond in 'call &gt; 0' 'd ≤ 0' 'h ≥ 3' 'h ≥ 9'; do
  seen 1 "aria-label=\"$cond\"" modes.svg "an arrow says $cond"
done
if grep -q 'mode closing; jumps to moving when d ≤ 0' modes.svg; then ok "the graph in words"; else not_ok "the graph in words"; fi
if grep -q 'mode broken, stops' modes.svg; then ok "and what stops"; else not_ok "and what stops"; fi

# one that is too wide is cut into rows, and every arrow goes on to its end; what leaves a mode whatever the mode in it begins with a dot
cat >wide.limn <<'L'
machine Lift(call: R[]) -> (z: R[], door: R[]) {
  state z = 0, door = 0, t = 0
  mode rest {
    mode open { door' = 0, t' = 1, jump closing when t >= 2 }
    mode closing { door' = -1, jump shut when door <= 0 }
    mode shut { jump moving.up when call > z + 0.01, jump moving.down when call < z - 0.01 }
    mode opening { door' = 1, jump open when door >= 1 }
  }
  mode moving {
    mode up { z' = 0.5, jump rest.opening when z >= call }
    mode down { z' = -0.5, jump rest.opening when z <= call }
    jump rest when t != 2 * z
  }
  next t = 0 when door >= 1
}
L
draw wide.limn Lift -o wide.svg
seen 0 'another row' wide.svg "no arrow between modes is cut"
grep -A3 '<title>call &lt; z − 0.01' wide.svg >arrow
seen 1 'v[0-9.]*c[^"]*h-[0-9.]*c[^"]*v[0-9.]*c[^"]*h' arrow "it runs back between rows"
seen 1 'aria-label="next t = 0 when door ≥ 1"' wide.svg "lines have the signs that arrows have"
wide=$(sed -n 's/.*viewBox="0 0 \([0-9]*\).*/\1/p' wide.svg)
if [ "${wide:-9999}" -le 1000 ]; then ok "rows are narrow enough"; else not_ok "it is $wide wide"; fi

draw wide.limn Lift -o wide.txt
for words in 'state z = 0, door = 0, t = 0' "door' = −1" "t' = 1 *" "z' = 0.5"; do
  if grep -q "\(│\|╎\|▶\|┤\) *$words *\(│\|╎\)" wide.txt; then ok "$words stands between borders"; else not_ok "$words stands between borders"; fi
done

# random modes in modes
faulty=
for seed in $(seq 1 "${MODES:-40}"); do
  awk -v seed="$seed" -f "$here/modes.awk" >random.limn
  draw random.limn Random --check && [ ! -s out ] || faulty="$faulty $seed"
done
if [ -z "$faulty" ]; then ok "random modes have no faults"; else not_ok "faults of random modes of seed$faulty"; fi

# without a name it is what runs, with its options, wired to what it stands on; parts that are too wide are cut too
cat >stands.limn <<'L'
machine World(guess: R[]) -> (x, truth: R[], far: R[]) {
  state s = 0
  next s = s + 0.1 * guess
  x = s
  truth = sin(2 * s)
  far = s - guess
}
machine Student[k](x, truth: R[], hint: R[]) -> (guess: R[]) {
  state w = 0
  next w = w + k * (truth - w * x) + hint
  guess = w * x
}
wiring Other -> (y: R[]) { y = 1 }
run Student[2](x: 1, truth: 2, hint: 1) for 3 ticks
run Student[0.5](hint: 1) for 3 ticks on World
L
draw stands.limn -o stands.svg && draw stands.limn Student -o alone.svg && draw stands.limn --check
if [ ! -s out ]; then ok "what stands on another has no faults"; else not_ok "what stands on another has no faults"; cat out; fi
seen 2 '<title>Student on World</title>' stands.svg "what runs is drawn with what it stands on"
seen 2 'data-id="\(World\|Student\)" class="glyph"' stands.svg "both are there"
seen 6 'class="wire"' stands.svg "wired by names, both ways" # four between them and outside, and what sticks out
if grep -q 'Student (0.5)' stands.svg && grep -q 'Student (2)' alone.svg; then ok "with the options of that run"; else not_ok "with the options of that run"; fi
for of in dils market; do # parts of parts too, as much as the whole needs
  draw "$root/examples/$of.limn" -o team.svg
  wide=$(sed -n 's/.*viewBox="0 0 \([0-9]*\).*/\1/p' team.svg)
  if [ "${wide:-9999}" -le 1000 ]; then ok "a part that is too wide is cut into rows: $of"; else not_ok "$of is $wide wide"; fi
done

# what is cut has a name of its own
cat >cut.limn <<'L'
machine Add(a, b: R[]) -> (y: R[]) { y = a + b }
wiring Cut(long: R[4]) -> (z: R[]) {
  p, q, r : Add
  long[0] -> p.a, long[1] -> p.b
  sin(p.y) * cos(p.y) * exp(p.y) / 2 -> q.a
  long[2] -> q.b
  sin(q.y) * cos(q.y) * exp(q.y) / 3 -> r.a
  long[3] -> r.b
  z = r.y * sin(r.y) * cos(r.y) * exp(r.y)
}
L
draw cut.limn Cut --width 400 -o cut.svg
grep -o '<title>[^<]* goes to another row' cut.svg | sort >names
if [ -s names ] && [ "$(sort -u names | wc -l)" -eq "$(wc -l <names)" ]; then ok "no two are cut under one name"; else not_ok "no two are cut under one name"; cat names; fi

# unfolding
for picture in neuron:Single network:Two network:Three network:Talking; do
  file=$root/docs/figures/${picture%:*}.limn name=${picture#*:}
  if draw "$file" "$name" --unfold --check && [ ! -s out ]; then ok "$name unfolds"; else not_ok "$name unfolds"; cat out err; fi
done
for picture in dils:Team logic:Or unfold:Unfolded kuramoto:Hebb; do
  if draw "$root/examples/${picture%:*}.limn" ${picture#*:} --unfold --check && [ ! -s out ]; then ok "$picture unfolds"; else not_ok "$picture unfolds"; fi
done
draw "$root/docs/figures/network.limn" Three --unfold -o u.svg && draw "$root/docs/figures/network.limn" Three --unfold -o v.svg
if [ -s u.svg ] && cmp -s u.svg v.svg; then ok "the same unfolded twice"; else not_ok "the same unfolded twice"; fi
seen 2 'which is opened elsewhere' u.svg "what has two managers is opened in one"
if grep -q 'its 5 neurons in 3 layers' u.svg; then ok "five neurons in three layers"; else not_ok "five neurons in three layers"; fi
draw "$root/examples/dils.limn" Team --unfold -o t.svg
seen 2 'aria-label="see2"' t.svg "each worker sees its own" # at the left, and in one box
# a line past a layer goes round what stands there
cat >skip.limn <<'L'
machine One(x: R[]) -> (y: R[]) = 2 * x
machine Two(x, z: R[]) -> (y: R[]) = x + z
wiring Skip(x: R[]) -> (y: R[]) {
  a, b : One
  c    : Two
  x -> a.x
  a.y -> b.x, a.y -> c.z
  b.y -> c.x
  c.y -> y
}
L
draw skip.limn Skip --unfold -o s.svg
seen 4 'd="M[0-9.]* [0-9.]*l[-0-9. ]*"' s.svg "a line past a layer goes round what stands there" # two up, two down
# says WORDS ARGUMENTS…
says() {
  words=$1; shift
  if ! draw "$@" && grep -q "$words" err; then ok "$words"; else not_ok "$words"; cat err; fi
}
says 'Adder. cannot be unfolded: that wants a wiring whose parts hear each other in layers' "$root/examples/logic.limn" Adder --unfold -o x.svg
says 'Nand. cannot be unfolded' "$root/examples/logic.limn" Nand --unfold -o x.svg
says 'unfolding wants the name of a wiring' "$root/examples/iris.limn" --unfold -o x.svg
if [ ! -e x.svg ]; then ok "and makes no picture"; else not_ok "and makes no picture"; fi
# a closed part says how it goes: how often it ticks, and through how many ticks it learns
cat >pupils.limn <<'L'
learn net : R[] -> R[] = dense[4] ; tanh ; dense[]
machine Pupil(x: R[]) -> (y: R[]) {
  state y = 0
  next y = net(x + y)
  next net by adam(0.01) on (y - 1)^2 unroll 6
}
wiring Pair -> (y: R[]) {
  a : Pupil every 2
  1 -> a.x
  y = a.y
}
L
draw pupils.limn Pair -o p.svg
seen 1 'aria-label="a, every 2, unroll 6"' p.svg "a closed part says through how many ticks it learns"
