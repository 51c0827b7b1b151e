#!/bin/sh
# What a user sees of devices and precisions, on a GPU that need not be there (tests/gpu): what is refused, and with which status; what a
# run, a plan and a comparison say about what computes; what happens when a GPU is lost, and when a run goes on elsewhere.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/../say.sh"
say='devices '
said="$dir/said"
here=$PWD
export LIMN_CUDA="$here/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$here/tests/gpu/emulated.h" LIMN_CACHE="$dir/cache" TMPDIR="$dir"
command -v cc >/dev/null || { skip "there is no C compiler"; exit 0; }
case $BUILD in */san) skip "the sanitizers do not know the stacks of fibers"; exit 0 ;; esac
cp tests/gpu/small.limn tests/gpu/ticks.limn tests/gpu/work.limn tests/gpu/wide.limn "$dir"
cd "$dir" || exit 1

train() { "$LIMN" train small.limn --plain "$@" >"$said" 2>&1; }
# says NAME STATUS WORDS COMMAND…
says() {
  name=$1 status=$2 words=$3
  shift 3
  "$@" >"$said" 2>&1
  if [ $? -eq "$status" ] && grep -qF -- "$words" "$said"; then ok "$name"; else not_ok "$name"; fi
}
# has NAME WORDS: what was said last has them
has() { if grep -qF -- "$2" "$said"; then ok "$1"; else not_ok "$1"; fi; }
has_not() { if grep -qF -- "$2" "$said"; then not_ok "$1"; else ok "$1"; fi; }

# -- what is asked for, and makes no sense -----------------------------------------------------------
train --device cpu --out cpu || not_ok "a run on the CPU"
"$LIMN" run ticks.limn --out ticks >"$said" 2>&1 || not_ok "machines on the CPU"
for command in 'train small.limn' 'predict small.limn f --from cpu --in x=[1,2,3,4]' 'sample small.limn f --from cpu' 'eval small.limn --from cpu' 'report small.limn --from cpu' 'run ticks.limn'; do
  # shellcheck disable=SC2086 # it is several words
  says "${command%% *}: another name" 2 'a device is auto, cpu, cuda, or cuda:0, cuda:1, … for one of several GPUs, not tpu' "$LIMN" $command --device tpu
  # shellcheck disable=SC2086
  says "${command%% *}: the interpreter has no GPU" 2 '--reference computes on the CPU: it does not go with --device cuda' "$LIMN" $command --device cuda --reference
  case $command in run*) continue ;; esac
  # shellcheck disable=SC2086
  says "${command%% *}: the interpreter does not round" 2 '--reference computes in doubles: it does not go with --precision bf16' "$LIMN" $command --precision bf16 --reference
  # shellcheck disable=SC2086
  says "${command%% *}: another precision" 2 '--precision wants 32, 64, bf16, tf32 or auto, not 16' "$LIMN" $command --precision 16
done
says "the interpreter where auto is said" 0 'the reference interpreter' "$LIMN" train small.limn --plain --reference --device auto --precision auto --steps 1 --out by_hand
for option in '--device cpu' '--precision 64' '--threads 1' --reference; do
  # shellcheck disable=SC2086
  says "eval of a name: ${option%% *}" 2 "limn eval: ${option%% *} goes without a name, not with f" "$LIMN" eval small.limn f --in x='[1, 2, 3, 4]' $option
done
for option in '--in x=1' '--weights w' '--out o.npy' '--dy 1' '--grads g' '--save s' '--watch W' --training --count; do
  # shellcheck disable=SC2086
  says "eval without a name: ${option%% *}" 2 "limn eval: ${option%% *} goes with a name only" "$LIMN" eval small.limn --from cpu $option
done
says "the page of machines computes nothing" 2 'ticks is a run of machines' "$LIMN" report ticks.limn --from ticks --device cuda

# -- what this machine cannot: exit status 3 ---------------------------------------------------------
for command in 'train small.limn' 'predict small.limn f --from cpu --in x=[1,2,3,4]' 'eval small.limn --from cpu' 'run ticks.limn --plain'; do
  # shellcheck disable=SC2086
  says "${command%% *}: no GPU" 3 'no GPU can be used' env FAKE_CUDA=none "$LIMN" $command --device cuda
  # shellcheck disable=SC2086
  says "${command%% *}: a GPU without memory" 3 'out of memory on emulated GPU 0' env FAKE_CUDA=memory=2000 "$LIMN" $command --device cuda
  # shellcheck disable=SC2086
  says "${command%% *}: a lost GPU" 3 'unspecified launch failure' env FAKE_CUDA=lost=3 "$LIMN" $command --device cuda
done
for way in bf16 tf32; do says "an old GPU has no units for $way" 3 "emulated GPU 0 (code 7.5) has no matrix units for $way: --precision 32, or auto, is what it can do" env FAKE_CUDA=code=75 "$LIMN" train small.limn --device cuda --precision $way; done
exit $failed
