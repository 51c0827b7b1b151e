#!/bin/sh
# How long `limn check --paths` takes on learning diagrams of 1000 spaces and 10000 edges with few pairs of paths: the whole command.
#
#   bench/paths.sh            a line for each shape: spaces, edges, pairs, seconds of CPU
#   bench/paths.sh SHAPE      the program itself
#
# away      one pair; all other edges lead away from what has a distance
# unstated  the same, with no order said
# learners  the same, and each edge is a learner of its own
# corners   as many pairs as there is room for indices, spaces and ends of their own, and ladders of paths between them
# LIMN may say which limn, SPACES how many spaces; there are ten times as many edges.
set -eu
program() {
  awk -v shape="$1" -v V="${SPACES:-1000}" '
  function edge(k, a, b) {
    if (shape == "learners") printf "  learn e%d : S%d -> S%d = dense[2]\n", k, a, b
    else printf "  box e%d : S%d -> S%d = f\n", k, a, b
  }
  function away(   k, a) {
    for (k = 0; k < V - 2; k++) printf "  space S%d = R[2]\n", k
    print "  box x : N -> S0 = moons.x\n  box y : N -> Y = moons.x\n  box g : N -> S1 = moons.x\n  box last : S1 -> Y = f"
    for (k = 0; k < E - 4; k++) { # S0, S2, S3, … in this order; none comes to S1 or leaves it
      a = int(rand() * (V - 4)); a += a > 0
      edge(k, a, (a < 2 ? 2 : a + 1) + int(rand() * (V - 2 - (a < 2 ? 2 : a + 1))))
    }
    if (shape != "unstated") print "  g ; last <= y"
  }
  function corners(   i, k) {
    for (i = 0; i < C; i++) printf "  space N%d = moons\n  space A%d = R[2]\n  space Z%d = R[2] by l2\n", i, i, i
    for (i = 0; i < C; i++) {
      printf "  box x%d : N%d -> A%d = N%d.x\n  box f%d : A%d -> Z%d = f\n", i, i, i, i, i, i, i
      printf "  box y%d : N%d -> Z%d = N%d.x\n  x%d ; f%d <= y%d\n", i, i, i, i, i, i, i
    }
    print "  box x : N -> Y = moons.x\n  box y : N -> Y = moons.x / 2\n  x <= y"
    for (k = 3 * C + 2; k < E; k++) { i = int(rand() * (C - 1)); printf "  box e%d : A%d -> A%d = f\n", k, i, i + 1 }
  }
  BEGIN {
    srand(7); E = 10 * V; C = int((V - 2) / 3)
    print "learn f : R[2] -> R[2] = dense[2]\n\ndiagram large {\n  space N = moons\n  space Y = R[2] by l2"
    if (shape == "corners") corners(); else away()
    print "}"
  }'
}
if [ $# -gt 0 ]; then program "$1"; exit; fi
limn=${LIMN:-$(cd "$(dirname "$0")/.." && pwd)/build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for shape in away unstated learners corners; do
  program $shape >"$dir/large.limn"
  (
    "$limn" check --paths "$dir/large.limn" >"$dir/out" 2>"$dir/err" || { grep error "$dir/err"; exit 1; }
    times >"$dir/time"
  )
  printf '%-9s %s, ' $shape "$(sed -n 's/^large: //p' "$dir/out")"
  tail -n 1 "$dir/time" | tr 'ms' '  ' | awk '{ printf "%.2f s\n", 60 * ($1 + $3) + $2 + $4 }' # minutes and seconds of the user and the system
done
