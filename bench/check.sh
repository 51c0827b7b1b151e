#!/bin/sh
# Measures how the time of `limn check` grows with the program: bench/check.sh [LIMN]
#   statements: one box of n equations      boxes: n boxes, a hundred in each pipe      pipe: one box, a pipe of n
# Goal: 100 000 boxes in less than 2 s, with a time for each box that does not depend on their number.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

statements() {
  awk -v n="$1" 'BEGIN {
    print "box all(x: R[k]) -> R[k] {\n  y = x"
    for (i = 0; i < n; i++) print "  y = y + " i
    print "  return y\n}"
  }'
}
boxes() {
  awk -v n="$1" 'BEGIN {
    for (i = 0; i < n; i++) print "box b" i "(x: R[k]) -> R[k] = x * " i " + 1"
    for (g = 0; g < n; g += 100) {
      line = "box g" g "(x: R[k]) -> R[k] = (b" g
      for (i = g + 1; i < g + 100 && i < n; i++) line = line " ; b" i
      print line ")(x)"
    }
    line = "box all(x: R[k]) -> R[k] = (g0"
    for (g = 100; g < n; g += 100) line = line " ; g" g
    print line ")(x)"
  }'
}
pipe() {
  awk -v n="$1" 'BEGIN {
    print "box b(x: R[k]) -> R[k] = x * 2 + 1"
    line = "box all(x: R[k]) -> R[k] = (b"
    for (i = 1; i < n; i++) line = line " ; b"
    print line ")(x)"
  }'
}

printf '%-12s %10s %10s %14s %12s\n' shape boxes seconds "us per box" "MB"
for shape in statements boxes pipe; do
  for n in 1000 10000 100000; do
    $shape $n >"$out/p.limn"
    /usr/bin/env time -f '%U %S %M' -o "$out/time" "$limn" check "$out/p.limn" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }
    awk -v shape=$shape -v n=$n '{ t = $1 + $2; printf "%-12s %10d %10.2f %14.1f %12.0f\n", shape, n, t, 1e6 * t / n, $3 / 1024 }' "$out/time"
  done
done
