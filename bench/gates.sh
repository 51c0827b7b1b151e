#!/bin/bash
# Machines in discrete time: gates per second of the adder of examples/logic.limn with slow gates, the cost of a ring by the number of its
# cells, and the time of a wiring of very many parts from its text to its first tick, in CPU seconds.
#   LIMN=build/limn bench/gates.sh
set -u
limn=${LIMN:-build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LIMN_CACHE="$dir/cache"

# seconds FILE: user time of a second run, so that what is compiled is there
seconds() {
  "$limn" run --plain "$1" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
  again "$1"
}
again() {
  { LC_ALL=C; export LC_ALL; time -p "$limn" run --plain "$1" >"$dir/log" 2>&1; } 2>"$dir/time"
  sed -n 's/^user //p' "$dir/time"
}
per() { awk "BEGIN { printf \"$1\", $2 }"; }

ticks=5000000
sed '/^check/d' examples/logic.limn >"$dir/adder.limn"
echo "run Adder[Slow](a: [1, 1, 1, 1], b: [1, 0, 0, 0], c: 0) for $ticks ticks every $ticks" >>"$dir/adder.limn"
s=$(seconds "$dir/adder.limn")
echo "adder          36 gates, $ticks ticks: $s s, $(per '%.0f' "36 * $ticks / $s / 1e6") million gates a second (wanted: 50)"

for n in 1000 10000 100000 1000000; do
  cat >"$dir/ring.limn" <<END
machine Cell(left, right: R[]) -> (x: R[]) {
  state x = 0
  next x = x + 0.1 * (left + right - 2 * x)
}
wiring Ring[n] -> (total: R[]) {
  cell[n] : Cell
  cell[i-1].x when i > 0 else cell[size[n]-1].x -> cell[i].left pad 0
  cell[i+1].x when i < size[n] - 1 else cell[0].x -> cell[i].right pad 0
  total = sum(cell.x)
}
axis n = $n
run Ring[n](cell.x: 1) for $((1000000000 / n)) ticks every 1000
END
  s=$(seconds "$dir/ring.limn")
  echo "ring           $n cells, $((1000000000 / n)) ticks: $s s, $(per '%.2f' "$s") ns a cell and tick"
done

for n in 1000 3000 10000 30000; do
  awk -v n=$n 'BEGIN {
    print "machine Nand(a, b: B[]) -> (y: B[]) {\n  state y : B[] = 0\n  next y = 1 + a * b\n}"
    print "wiring Big(x: B[]) -> (y: B[]) {"
    for (i = 0; i < n; i++) printf "  g%d : Nand\n", i
    srand(1)
    print "  x -> g0.a, x -> g0.b"
    for (i = 1; i < n; i++) printf "  g%d.y -> g%d.a, g%d.y -> g%d.b\n", rand() * n, i, rand() * n, i
    printf "  g%d.y -> y\n}\nrun Big(x: 1) for 1 ticks\n", n - 1
  }' >"$dir/big.limn"
  s=$(again "$dir/big.limn")
  echo "wiring         $n parts, from text to the first tick: $s s$([ $n -eq 10000 ] && echo ' (wanted: 3)')"
done
