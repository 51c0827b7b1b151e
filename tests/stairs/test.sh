#!/bin/sh
# Curves of runs: piecewise constant values are drawn as steps, jumps are vertical, continuous values are curves; bands too narrow for
# their names are named below.
set -u
. "$(dirname "$0")/../say.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

cat >held.limn <<'L'
machine Plant(u: R[]) -> (x: R[]) {
  state x = 0
  x' = u - x
}
machine Sampler(x: R[]) -> (u: R[]) {
  state u = 0
  next u = u + 0.3 * (1 - x)
}
machine Ball -> (h, v, bounces: R[], rising: B[], side: R[]) {
  state h = 1, v = 0, bounces = 0
  h'     = v
  v'     = -9.81
  rising = v > 0
  side   = 2 when v > 0 else -2
  next v = -0.8 * v when h <= 0
  next bounces = bounces + 1 when h <= 0
}
wiring Both(set_to: R[]) -> (x, u: R[]) {
  p : Plant
  c : Sampler every 0.1
  b : Ball
  p.x -> c.x
  c.u -> p.u
  x = p.x
  u = c.u + 0 * set_to
}
run Both(set_to: 1 when time < 1 else 2) to 2 every 0.1
show u
show x
show 2 * c.u
show b.v
show b.h
show b.bounces
show b.rising as curves
show b.side
show set_to
L
"$LIMN" run held.limn --quiet --out r >says 2>&1 || { cat says; not_ok "it runs"; }

# steps NAME: of the points of its curve, in how many is it upright, and in how many neither that nor level
steps() {
  sed -n '/<g class="line"/,/<\/g>/p' "r/shown/$1.svg" | sed -n 's/.* d="\([^"]*\)".*/\1/p' | head -1 | sed 's/[a-zA-Z]/\n&/g' |
    awk '/^v/ { up++ } /^l/ { slopes++ } END { print up + 0, slopes + 0 }'
}
stairs() {
  set -- "$1" "$2" $(steps "$1")
  if [ "$3" -ge 3 ] && [ "$4" -eq 0 ]; then ok "$2"; else not_ok "$2: upright $3, aslant $4"; fi
}
flows() {
  set -- "$1" "$2" "$3" $(steps "$1")
  if [ "$4" -eq "$3" ] && [ "$5" -gt 0 ]; then ok "$2"; else not_ok "$2: upright $4, aslant $5"; fi
}
stairs 01-u "a sampled part, kept as often as it ticks"
flows 02-x "what flows has no steps" 0
stairs 03-2-c-u "what is made of what holds"
flows 04-b-v "each jump of what flows is upright" 3
flows 05-b-h "what bends only has none" 0
stairs 06-b-bounces "what changes in events"
stairs 07-b-rising "bits"
stairs 08-b-side "what bits choose"
set -- $(steps 09-set_to)
if [ "$1 $2" = "1 0" ]; then ok "an input that is held"; else not_ok "an input that is held: $*"; fi

cat >names.limn <<'L'
machine Lift -> (z: R[]) {
  state z = 0
  z' = 1
  mode opening { jump closing when z >= 1 }
  mode closing { jump at_rest when z >= 2 }
  mode at_rest { }
}
run Lift to 100
show mode as bands
L
"$LIMN" run names.limn --quiet --out n >says 2>&1 || cat says
for name in opening closing; do
  if grep -A3 'class="legend"' n/shown/01-mode.svg | grep -q ">$name<"; then ok "$name is named below"; else not_ok "$name is named below"; fi
done
if [ "$(grep -c 'class="legend"' n/shown/01-mode.svg)" = 2 ]; then ok "what is named inside is not"; else not_ok "what is named inside is not"; fi
