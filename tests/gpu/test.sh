#!/bin/sh
# The GPU's engine on a machine that need not have one: kernels run on the CPU, behind a driver of our own (fake_cuda.c). Training
# gives the CPU's numbers, stops and goes on with the same bytes, changes between CPU and GPU, and says what is wrong.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/../say.sh"
say='gpu '
said="$dir/said"
here=$PWD
export LIMN_CUDA="$here/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$here/tests/gpu/emulated.h" LIMN_CACHE="$dir/cache" TMPDIR="$dir"
command -v cc >/dev/null || { skip "there is no C compiler"; exit 0; }
case $BUILD in */san) skip "the sanitizers do not know the stacks of fibers"; exit 0 ;; esac
cp tests/gpu/small.limn tests/gpu/rows.limn tests/gpu/bad.limn "$dir"
awk 'BEGIN { print "at,u,v"; for (i = 0; i < 200; i++) print "r" i % 37 "," i % 7 "," i % 5 }' >"$dir/rows.csv"
cd "$dir" || exit 1

train() { "$LIMN" train small.limn --plain "$@" >"$said" 2>&1; }
# near A B: all losses of two runs agree to four digits
near() {
  paste -d, "$1/metrics.csv" "$2/metrics.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fit" || $i == "near") c[++n] = i; next }
    { a = $c[1]; b = $c[2]; d = a - b; if (d < 0) d = -d; if (d > 1e-4 * a + 1e-9) bad = 1; rows++ }
    END { exit bad || n != 2 || rows < 3 }'
}
same() { cmp -s "$1/model.safetensors" "$2/model.safetensors"; }

train --out cpu && train --device cuda --out gpu && near cpu gpu && ok "training gives the CPU's numbers" || not_ok "training gives the CPU's numbers"
train --device cuda --out again && same gpu again && ok "the same seed gives the same bytes" || not_ok "the same seed gives the same bytes"
train --device cuda --pause 5 --out paused && train --device cuda --resume paused && same gpu paused && ok "it goes on with the same bytes" || not_ok "it goes on with the same bytes"
train --pause 5 --out begun && train --device cuda --resume begun && near cpu begun && ok "a run of the CPU goes on on the GPU" || not_ok "a run of the CPU goes on on the GPU"
train --device cuda --pause 5 --out left && train --resume left && near cpu left && ok "a run of the GPU goes on on the CPU" || not_ok "a run of the GPU goes on on the CPU"
"$LIMN" train rows.limn --plain --out rows.cpu >"$said" 2>&1 && "$LIMN" train rows.limn --plain --device cuda --out rows.gpu >"$said" 2>&1 && near rows.cpu rows.gpu && ok "what is added up in slices" || not_ok "what is added up in slices"
train --device cuda --precision 64 --out wide && ok "in doubles" || not_ok "in doubles"
for on in cpu cuda; do "$LIMN" predict small.limn f --from gpu --in x='[[5, 3, 1, 0], [6, 3, 5, 2]]' --device $on >$on.txt 2>"$said"; done
[ -s cpu.txt ] && awk '{ n = split($0, a, /[^-0-9.e]+/); for (i = 1; i <= n; i++) if (a[i] != "") printf "%.4f\n", a[i] }' cpu.txt >a && awk '{ n = split($0, a, /[^-0-9.e]+/); for (i = 1; i <= n; i++) if (a[i] != "") printf "%.4f\n", a[i] }' cuda.txt >b && cmp -s a b && ok "predict" || not_ok "predict"
"$LIMN" devices >"$said" 2>&1 && grep -q '^cuda:0 .*emulated GPU' "$said" && ok "devices" || not_ok "devices"

# says NAME STATUS WORDS COMMAND…
says() {
  name=$1 status=$2 words=$3
  shift 3
  "$@" >"$said" 2>&1
  if [ $? -eq "$status" ] && grep -qF -- "$words" "$said"; then ok "$name"; else not_ok "$name"; fi
}

says "a step that is not finite" 1 "goal fit is not finite in step" "$LIMN" train bad.limn --plain --device cuda --out bad
says "no driver" 2 "there is no NVIDIA driver (libcuda.so.1) on this machine" env LIMN_CUDA="$dir" "$LIMN" train small.limn --device cuda
mkdir half && cp "$LIMN_CUDA/libcuda.so.1" half
says "no compiler" 2 "there is no CUDA compiler library (libnvrtc.so)" env LIMN_CUDA="$dir/half" "$LIMN" train small.limn --device cuda
says "no GPU" 2 "no GPU can be used: the GPU's driver says \`no CUDA-capable device is detected\` (100)" env FAKE_CUDA=none "$LIMN" train small.limn --device cuda
says "an old driver" 2 "the NVIDIA driver is for CUDA 11.4: 12.0 or later is needed" env FAKE_CUDA=old "$LIMN" train small.limn --device cuda
says "another number" 2 "there is no GPU 3: this machine has 1, counted from 0" "$LIMN" train small.limn --device cuda:3
says "another name" 2 "a device is cpu, cuda or cuda:1, not tpu" "$LIMN" train small.limn --device tpu
says "too little memory" 1 "out of memory on emulated GPU 0: a step needs 0.000" env FAKE_CUDA=memory=9000 "$LIMN" train small.limn --device cuda --out m
says "a kernel that does not compile" 1 "the CUDA compiler refuses a kernel: limn.cu(7): error: expected a \`;\`" env FAKE_CUDA=compiler LIMN_CACHE="$dir/other" "$LIMN" train small.limn --device cuda --out c
says "a lost device" 1 "the GPU's driver says \`unspecified launch failure\` (719)" env FAKE_CUDA=lost=100 "$LIMN" train small.limn --device cuda --every 1 --out lost
train --resume lost && near cpu lost && ok "what a lost device left goes on on the CPU" || not_ok "what a lost device left goes on on the CPU"
exit $failed
