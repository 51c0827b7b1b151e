#!/bin/sh
# Measures the time of drawing: bench/draw.sh [LIMN]
# First pictures of the examples: the time of the command minus that of `limn check` on the same file. Goals: multi-head
# attention in less than 20 ms, the whole transformer in less than 100 ms at every level. Then programs of n boxes, whose time should be
# linear: 10 000 boxes in less than 5 s.
#   pipe: a pipe of n calls      two: n calls, each of the two before      residual: n calls, each added to its input
#   wide: n / 10 calls that all read the input and are summed
# Times are CPU times, which depend little on other load.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

head_of() { printf 'box f(x: R[8]) -> R[8] { return x * 2 }\nbox g(x, y: R[8]) -> R[8] { return x * y + 1 }\nbox all(x: R[8]) -> R[8] {\n  a0 = x + 1\n  a1 = x + 2\n'; }
program() {
  head_of
  awk -v shape="$1" -v n="$2" 'BEGIN {
    if (shape == "wide") n /= 10
    for (i = 2; i < n; i++) {
      if (shape == "pipe") print "  a" i " = f(a" i - 1 ")"
      if (shape == "two") print "  a" i " = g(a" i - 1 ", a" i - 2 ")"
      if (shape == "residual") print "  a" i " = a" i - 1 " + f(a" i - 1 ")"
      if (shape == "wide") print "  a" i " = f(x)"
    }
    sum = "a" n - 1
    if (shape == "wide") for (i = 2; i < n - 1; i++) sum = sum " + a" i
    print "  return " sum "\n}"
  }'
}
# seconds COMMAND…: user and system time
seconds() { bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null' - "$@" 2>&1 | awk '{ print $1 + $2 }'; }

printf '%-34s %10s\n' picture "ms"
while read -r file name level; do
  check=$(seconds "$limn" check "examples/$file.limn")
  draw=$(seconds "$limn" draw "examples/$file.limn" "$name" --level "$level" -o "$out/p.svg")
  awk -v what="$file $name, $level" -v d="$draw" -v c="$check" 'BEGIN { printf "%-34s %10.0f\n", what, 1000 * (d - c) }'
done <<'END'
attention multihead model
attention multihead layer
transformer model model
transformer model layer
unet unet model
unet unet layer
resnet net layer
END
printf '\n%-12s %10s %10s %14s\n' shape boxes seconds "us per box"
for shape in pipe two residual wide; do
  for n in 100 1000 10000; do
    program $shape $n >"$out/p.limn"
    seconds "$limn" draw "$out/p.limn" all -o "$out/p.svg" | awk -v s=$shape -v n=$n '{ printf "%-12s %10d %10.2f %14.1f\n", s, n, $1, 1e6 * $1 / n }'
  done
done
