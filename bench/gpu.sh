#!/bin/sh
# Measures one training step of each workload on a GPU, in limn, PyTorch (eager, compiled) and JAX (jit, scan), in turn in one run:
#   bench/gpu.sh [--device cuda] [--only "mlp conv"] [--python python3] [--build build] [--modes eager,compile] [--seconds 300]
# A line for each: milliseconds of all, the ratio of the fastest other system to limn, the TFLOP/s of limn's products,
# the GPU memory of limn and PyTorch, and the seconds of opening with an empty and with a full cache.
# Products of floats use TF32 in all systems if limn has it (otherwise limn uses floats); res18 and gpt2s use bf16.
# Without a GPU it says so and ends; missing systems have no column. --seconds: time limit for PyTorch.
set -eu
build=build python="" device=cuda modes=eager,compile seconds=300
only="iris nash mlp mlp_b512 conv vae gan chargpt res18 gpt2s"
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=$2 ;;
    --only) only=$2 ;;
    --python) python=$2 ;;
    --build) build=$2 ;;
    --modes) modes=$2 ;;
    --seconds) seconds=$2 ;;
    *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
why=$("$build/limn" devices | sed -n 's/^no GPU *//p')
if [ -n "$why" ]; then
  echo "skipped: no GPU can be used here: $why"
  exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
has() { "$1" -c "import $2" >/dev/null 2>&1; }
if [ -z "$python" ]; then
  for python in python3 /usr/bin/python3; do if has "$python" torch; then break; fi; done
fi
floats=32
if "$build/limn" help train | grep -q tf32; then floats=tf32; fi

"$build/limn" devices | grep '^cuda'
: >"$out/all"
# rows PEER FILE: what it printed as lines "name peer_mode.key value"
rows() { awk -v peer="$1" '$1 == "name" { name = $2 } $1 == "mode" { mode = "_" $2 } { print name, peer mode "." $1, $2 }' "$2" >>"$out/all"; }
for name in $only; do
  program=${name%_b*} batch="" precision=$floats
  [ "$program" = "$name" ] || batch="--batch ${name##*_b}"
  case $program in res18 | gpt2s) precision=bf16 ;; esac
  echo "name $name" >"$out/limn"
  # shellcheck disable=SC2086 # --batch N is two words, or none
  if "$build/bench-step" "bench/$program.limn" $batch --device "$device" --precision "$precision" >>"$out/limn" 2>"$out/log"; then
    "$build/limn" check "bench/$program.limn" | sed -n 's/.*, \([0-9]*\) weights$/weights \1/p' >>"$out/limn"
    rows limn "$out/limn"
  else
    echo "$name: $(head -3 "$out/log" | tr '\n' ' ')" >&2
  fi
done
# The large ones first, which take long to compile.
turned=""
for name in $only; do turned="$name $turned"; done
if has "$python" torch; then
  for mode in $(echo "$modes" | tr ',' ' '); do
    # shellcheck disable=SC2086 # several names
    timeout "$seconds" "$python" bench/torch_steps.py $turned --device "${device%%:*}" --mode "$mode" --threads "$(nproc)" >"$out/torch" 2>"$out/log" ||
      { grep -v '^ ' "$out/log" | tail -3 >&2; echo "PyTorch, $mode: stopped, after $seconds s or by a fault" >&2; }
    rows torch "$out/torch"
  done
else
  echo "no PyTorch: $python does not have it" >&2
fi
if has "$python" jax; then
  small=""
  for name in $only; do case $name in iris* | nash* | mlp*) small="$small $name" ;; esac; done
  # shellcheck disable=SC2086
  [ -z "$small" ] || timeout 120 "$python" bench/jax_steps.py $small --device "${device%%:*}" --mode jit,scan >"$out/jax" 2>"$out/log" || tail -3 "$out/log" >&2
  [ -z "$small" ] || rows jax "$out/jax"
else
  echo "no JAX: $python does not have it" >&2
fi

awk -v only="$only" -v modes="$modes" '
  { value[$1, $2] = $3; known[$2] = 1 }
  function number(name, key, form) { return (name, key) in value ? sprintf(form, value[name, key]) : "-" }
  END {
    n = split(modes, mode, ",")
    for (i = 1; i <= n; i++) peer[++peers] = "torch_" mode[i]
    peer[++peers] = "jax_jit"
    peer[++peers] = "jax_scan"
    for (i = 1; i <= peers; i++) if (!((peer[i] ".round_ms") in known)) { for (k = i; k < peers; k++) peer[k] = peer[k + 1]; peers--; i-- }
    printf "%-10s %10s", "step, ms", "limn"
    for (i = 1; i <= peers; i++) printf " %14s", peer[i]
    printf " %7s %8s %9s %9s %7s %7s\n", "ratio", "TFLOP/s", "limn_MB", "torch_MB", "cold_s", "again_s"
    rows = split(only, row, " ")
    for (r = 1; r <= rows; r++) {
      name = row[r]
      if (value[name, "limn.weights"] && value[name, "torch_eager.weights"] && value[name, "limn.weights"] != value[name, "torch_eager.weights"])
        printf "%s has %s weights, in PyTorch %s\n", name, value[name, "limn.weights"], value[name, "torch_eager.weights"]
      best = 0
      printf "%-10s %10s", name, number(name, "limn.round_ms", "%.4f")
      for (i = 1; i <= peers; i++) {
        printf " %14s", number(name, peer[i] ".round_ms", "%.4f") # first: to look at a value makes it one
        t = value[name, peer[i] ".round_ms"] + 0
        if (t && (!best || t < best)) best = t
      }
      ours = value[name, "limn.round_ms"] + 0
      value[name, "limn.mb"] = value[name, "limn.arena_mb"] + value[name, "limn.states_mb"]
      printf " %7s %8s %9s %9s %7s %7s\n", best && ours ? sprintf("%.2f", best / ours) : "-", number(name, "limn.tflops", "%.1f"),
        ours ? number(name, "limn.mb", "%.0f") : "-", number(name, "torch_eager.device_mb", "%.0f"), number(name, "limn.open_cold_s", "%.2f"), number(name, "limn.open_cached_s", "%.2f")
    }
  }' "$out/all"
