#!/bin/sh
# Law of exactness: programs with small integers (exact.awk) have the same weights and losses on the
# CPU and on a GPU, in every precision, to the last bit: sums have no rounding, so their order does not matter.
#
#   BUILD=build LIMN=$PWD/build/limn tests/gpu/exact.sh FIRST PROGRAMS     any number of programs, by hand
#
# Programs whose factors need more than eight bits, or whose sums need more than 24, are left out: on the CPU their
# results in bf16 or 64 differ from those in 32. One more run rounds most wires, and must have similar results.
# $KEEP: a folder for programs that fail.
set -u
first=${1:-1} programs=${2:-8}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LIMN_CACHE="$dir/cache" TMPDIR="$dir"
[ -n "${LIMN_GPU:-}" ] || export LIMN_CUDA="$PWD/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$here/emulated.h"
cd "$dir" || exit 1
ran=0 runs=0 wide=0 failed=0

# numbers RUN BYTES: its losses, and its weights, of so many bytes each, as they lie behind the header
numbers() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) is[i] = $i; next } { for (i = 1; i <= NF; i++) if (is[i] == "fit" || is[i] == "other") print is[i], $i }' "$1/metrics.csv"
  skip=$(od -An -tu8 -N8 "$1/model.safetensors" | tr -d ' ')
  tail -c +$((skip + 9)) "$1/model.safetensors" | od -An -v -tf"$2" | awk '{ for (i = 1; i <= NF; i++) print $i + 0 }' OFMT=%.17g CONVFMT=%.17g
}
# train OUT OPTION…: with the number of steps that the numbers stay small for
train() {
  out=$1 bytes=4
  shift
  case "$*" in *64) bytes=8 ;; esac
  rm -rf "$out"
  "$LIMN" train p.limn --plain --steps "$steps" --out "$out" "$@" >said 2>&1 && numbers "$out" $bytes >"$out.txt"
}
# What has failed is kept for who asks for it.
count_failure() {
  failed=$((failed + 1))
  echo "seed $seed, $steps steps: $1"
  [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/$seed" && cp p.limn p.csv "$KEEP/$seed"; }
}
# try PRECISION STRIPES DEVICE LAUNCHES
try() {
  runs=$((runs + 1))
  why=
  ( case $2 in -) ;; *) export LIMN_STRIPES="$2" ;; esac
    [ "$4" = 0 ] || export LIMN_LAUNCHES=1
    FAKE_CUDA=$3 train gpu --device cuda --precision "$1" ) || why=$(grep -v '^[a-z.]*: [0-9]* rows' said | head -n 3)
  [ -n "$why" ] || cmp -s 32.txt gpu.txt || why=$(diff 32.txt gpu.txt | sed -n 2p)" instead of "$(diff 32.txt gpu.txt | sed -n 's/^> //p' | head -n 1)
  [ -n "$why" ] || return 0
  count_failure "--precision $1 LIMN_STRIPES=$2 FAKE_CUDA=$3 LIMN_LAUNCHES=$4: $why"
}

# Where small wires are bfloat16 in memory too, whoever reads them, numbers are rounded: all of them are still about as large as
# they should be. (Floats that are read as bfloat16 are anything.)
try_narrow() {
  runs=$((runs + 1))
  ( export LIMN_LAUNCHES=narrow FAKE_CUDA=processors=132
    train narrow --device cuda --precision bf16 ) && paste -d ' ' 32.txt narrow.txt | awk '
    { a = $(NF / 2) + 0; b = $NF; if (b !~ /^-?[0-9.]/) b = 1e300; if (a < 0) a = -a; if (a > most) most = a; far = $NF - $(NF / 2); if (far < 0) far = -far
      if (b > top) top = b; if (-b > top) top = -b; apart += far; all += a }
    END { exit !(NR && top <= 4 * most + 1 && apart <= 0.25 * all + 1) }' && return
  count_failure "LIMN_LAUNCHES=narrow --precision bf16: $(head -n 1 said) $(diff 32.txt narrow.txt | head -n 4 | tr '\n' ' ')"
}

seed=$first
while [ "$seed" -lt $((first + programs)) ]; do
  rm -rf 32 64 bf16 gpu narrow ./*.txt
  awk -v SEED="$seed" -v PROGRAM=p.limn -v TABLE=p.csv -f "$here/exact.awk"
  exact=
  for steps in 2 1; do
    for by in 32 64 bf16; do LIMN_CC='' train $by --device cpu --precision $by || { echo "seed $seed: $(cat said)"; failed=$((failed + 1)); break 2; }; done
    cmp -s 32.txt 64.txt && cmp -s 32.txt bf16.txt && { exact=1; break; }
  done
  if [ -n "$exact" ]; then
    ran=$((ran + 1))
    processors=processors=$(( seed % 2 ? 4 : 132 ))
    case $((seed % 4)) in
    0) try 32 - $processors 1; try bf16 - askew,$processors 1; try tf32 1000 $processors 1 ;;
    1) try tf32 - askew,$processors 1; try bf16 0 code=80,$processors 1; try bf16 1000 $processors 1 ;;
    2) try tf32 0 $processors 1; try bf16 0 products,$processors 1; try bf16 1000 askew,$processors 1 ;;
    3) try bf16 - $processors 0; try tf32 1000 backwards,$processors 1; try 32 - products,askew,$processors 1 ;;
    esac
    try_narrow
  else
    wide=$((wide + 1))
  fi
  seed=$((seed + 1))
done
echo "$ran programs, $runs runs on the GPU, $wide whose factors need more bits; $failed failed"
[ "$failed" -eq 0 ] && [ "$ran" -gt 0 ]
