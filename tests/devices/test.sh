#!/bin/sh
# Devices and precisions as users see them, on the emulated GPU (tests/gpu): refusals and their exit status; what runs, plans and comparisons
# print about the device; a lost GPU; a run that continues on another device.
set -u
say='devices '
. tests/gpu/here.sh
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

# -- what a run says ---------------------------------------------------------------------------------
train --device cuda --precision bf16 --out gpu --pause 5
has "a run begins with what computes" '; on emulated GPU 0, bf16; gpu'
train --device cpu --precision 64 --out wide --pause 5
has "… on the CPU too" '; on the CPU, 64 bits; '
grep -q '"device": "cuda:0"' gpu/run.json && grep -q '"device_is": "emulated GPU 0"' gpu/run.json && grep -q '"precision": "bf16"' gpu/run.json && ok "run.json has it" || not_ok "run.json has it" gpu/run.json
for way in tf32 bf16; do
  train --device cpu --precision $way --pause 1 --out "cpu.$way"
  has "$way on the CPU is said" "$way $(case $way in tf32) echo 'is 32 on the CPU' ;; *) echo 'on the CPU: the factors of large products are rounded' ;; esac)"
done
says "… by who uses it, too" 0 'limn: tf32 is 32 on the CPU' "$LIMN" predict small.limn f --from cpu --in x='[[5, 3, 1, 0]]' --precision tf32
train --device cuda --precision tf32 --pause 1 --out gpu.tf32
has_not "… and not on a GPU" 'tf32 is 32'

# -- a plan is that of the run -----------------------------------------------------------------------
first() { head -n 1 "$said"; }
plan() { "$LIMN" train "$@" --plan >"$said" 2>"$dir/aside"; }
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1"; fi; }
plan work.limn; is "a plan begins with what computes" 'on emulated GPU 0, 32 bits, batch 16' "$(first)"
plan small.limn --device cpu --precision 64; is "… on the CPU" 'on the CPU, 64 bits, batch 25' "$(first)"
plan small.limn --resume gpu; is "… where a run goes on" 'on emulated GPU 0, bf16, batch 25' "$(first)"
if plan work.limn --sandbox; then is "… in a sandbox, where there is no GPU" 'on the CPU, 32 bits, batch 16' "$(first)"; else skip "no sandbox here"; fi
if command -v python3 >/dev/null; then
  plan small.limn --device cuda --precision auto --json
  python3 -c 'import json, sys; p = json.load(sys.stdin)["plan"]; assert (p["device"], p["device_is"], p["precision"], p["batch"]) == ("cuda:0", "emulated GPU 0", "bf16", 25) and "kernel 0" in p["text"]' <"$said" && grep -q 'precision auto is bf16' "$dir/aside" && ok "a plan as one object" || not_ok "a plan as one object"
  echo 'train 1 steps, gd(1)' >none.limn
  plan none.limn --json
  python3 -c 'import json, sys; j = json.load(sys.stdin); assert j["errors"] == 1 and "plan" not in j' <"$said" && ok "… that there is none of" || not_ok "… that there is none of"
else
  skip "python3 is not here: JSON is not read"
fi

# -- two runs side by side ---------------------------------------------------------------------------
train --device cpu --batch 20 --pause 5 --out other
"$LIMN" diff gpu other >"$said" 2>&1
has "runs on two devices" 'device emulated GPU 0 -> the CPU'
has "… in two precisions" 'precision bf16 -> 32'
has "… with two batches" 'batch 25 -> 20'
"$LIMN" diff gpu gpu >"$said" 2>&1 && has_not "… and one beside itself" 'device'

# -- a GPU that is lost ------------------------------------------------------------------------------
# lost WHEN OUT OPTIONS…
lost() {
  when=$1 out=$2
  shift 2
  env FAKE_CUDA="lost=$when" "$LIMN" train small.limn --plain --device cuda --out "$out" "$@" >"$said" 2>&1
}
lost 40 lost.0
has "short epochs: what is kept" '; kept as it was after step 0; to go on: limn train small.limn --resume lost.0'
train --resume lost.0
has "… and goes on, and says so" 'on emulated GPU 0, 32 bits; lost.0; going on after step 0'
has "… to the end" 'finished after 12 steps'
for when in 37 38 39 40 41 42 43 44; do # in a step, in a measure
  lost $when lost.$when --every 2
  kept=$(sed -n 's/.*kept as it was after step \([0-9]*\);.*/\1/p' "$said")
  if [ "${kept:-0}" -ge 2 ] && train --resume lost.$when && grep -qF "going on after step $kept" "$said" && ! grep -q 'not finite' "$said"; then ok "lost at launch $when, kept after step $kept"; else not_ok "lost at launch $when"; fi
done
train --device cuda --out whole && cmp -s whole/model.safetensors lost.40/model.safetensors && ok "… and ends with the same bytes" || not_ok "… and ends with the same bytes"
lost 40 lost.json --json
grep -q '"how": "failed".*"kept": 0}' "$said" && ok "in JSON" || not_ok "in JSON"

# in Python: the reason, status 3, and weights as they were before
cat >lost.py <<'END'
import limn, numpy as np
p = limn.load("small.limn")
before = {name: np.array(w) for name, w in p.weights.items()}
for go in (lambda: p.train(device="cuda", progress=False), lambda: [p.step(device="cuda", steps=12) if i == 0 else p.step() for i in range(12)]):
    try:
        go()
        raise SystemExit("it was not lost")
    except limn.Error as error:
        assert error.status == 3 and "unspecified launch failure" in str(error), (error.status, str(error))
    assert all(np.array_equal(w, before[name]) for name, w in p.weights.items())
END
python=${PYTHON:-/usr/bin/python3}
if [ -e "$here/$BUILD/liblimn.so" ] && "$python" -c 'import numpy' 2>/dev/null; then
  FAKE_CUDA=lost=40 LIMN_LIBRARY="$here/$BUILD/liblimn.so" PYTHONPATH="$here/python" PYTHONPYCACHEPREFIX="$dir/pyc" "$python" lost.py >"$said" 2>&1 && ok "in Python" || not_ok "in Python"
else
  skip "python3 has no numpy, or there is no liblimn.so"
fi

# -- a run that goes on elsewhere --------------------------------------------------------------------
moved() { cp -r gpu "moved.$1"; }
moved 1; says "from a GPU that is gone" 0 'the run was on emulated GPU 0, and continues on the CPU, bf16, since no GPU can be used: ' env FAKE_CUDA=none "$LIMN" train small.limn --plain --resume moved.1
moved 2; says "from a GPU to the CPU, on purpose" 0 'the run was on emulated GPU 0, and continues on the CPU, bf16: the last digits may differ' "$LIMN" train small.limn --plain --resume moved.2 --device cpu
has "… in its own precision" '; on the CPU, bf16; '
says "from the CPU to a GPU" 0 'the run was on the CPU, and continues on emulated GPU 0, 64 bits: the last digits may differ' "$LIMN" train small.limn --plain --resume wide --device cuda
moved 3; says "where it was, nothing is said of it" 0 '; on emulated GPU 0, bf16; moved.3; going on after step 5' "$LIMN" train small.limn --plain --resume moved.3
has_not "… nothing" 'the run was on'
moved 4; says "another precision is refused" 1 'cannot resume moved.4: its precision is bf16, not 32' "$LIMN" train small.limn --resume moved.4 --precision 32

# -- auto, and a driver that does not work -----------------------------------------------------------
auto() { "$LIMN" train work.limn --plain --pause 1 --out "$1" >"$said" 2>&1; }
(FAKE_CUDA=old auto auto.1); has "an old driver" 'the CPU computes: the NVIDIA driver is for CUDA 11.4: 12.0 or later is needed'
(FAKE_CUDA=broken auto auto.2); has "a driver that fails" 'the CPU computes: no GPU can be used: the GPU'
mkdir half && cp "$LIMN_CUDA/libcuda.so.1" half
(LIMN_CUDA="$dir/half" auto auto.3); has "no compiler library" 'the CPU computes: there is no CUDA compiler library'
(FAKE_CUDA=none auto auto.4); has_not "no GPU, no word" 'the CPU computes'
(LIMN_CUDA="$dir" auto auto.5); has_not "no driver, no word" 'the CPU computes'
(FAKE_CUDA=memory=9000 auto auto.6); has "no room" 'the CPU computes: out of memory on emulated GPU 0: a step needs'
(FAKE_CUDA=old train --out auto.7); has_not "little work, no word" 'the CPU computes'

# -- machines ----------------------------------------------------------------------------------------
"$LIMN" run ticks.limn --device cuda --out ticks.gpu >"$said" 2>&1
has "machines say what follows them" 'machines with ticks run on emulated GPU 0'
grep -q '"device": "cuda:0"' ticks.gpu/run.json && grep -q '"device": "cpu"' ticks/run.json && ok "… and keep it" || not_ok "… and keep it" ticks.gpu/run.json
says "… and go on there" 0 'machines with ticks run on emulated GPU 0' "$LIMN" run ticks.limn --resume ticks.gpu
says "… or say why not" 0 'the run was on emulated GPU 0, and continues on the CPU, since no GPU can be used' env FAKE_CUDA=none "$LIMN" run ticks.limn --resume ticks.gpu
exit $failed
