#!/bin/sh
# Measures one training step of each workload in limn and in PyTorch, alternating:
#   bench/run.sh [--threads "1 2"] [--only "mlp conv"] [--python python3] [--mode eager|compile] [--jax] [--build build] [--device cuda]
# A line for each: name, threads, milliseconds of both, the ratio, the share of the peak that
# limn's matrix products reach, and the peak memory of both processes. Then the time of `limn train` to its first step.
# --python: a Python with PyTorch; by default Debian's is installed. --jax: also JAX (jit, scan) for some workloads.
# --device cuda: bench/gpu.sh.
set -eu
case " $* " in *" --device "*) exec "$(dirname "$0")/gpu.sh" "$@" ;; esac
build=build python="" mode=eager jax="" threads="" only="iris mlp mlp_b512 conv vae gan nash chargpt"
while [ $# -gt 0 ]; do
  case $1 in
    --threads) threads=$2; shift ;;
    --only) only=$2; shift ;;
    --python) python=$2; shift ;;
    --mode) mode=$2; shift ;;
    --build) build=$2; shift ;;
    --jax) jax=yes ;;
    *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
. "$(dirname "$0")/peer.sh"
if [ -z "$threads" ]; then
  threads=1
  [ "$(nproc)" -lt 2 ] || threads="1 2"
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

get() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

# Both models have as many weights.
same() {
  have=$("$build/limn" check "bench/$program.limn" | sed -n 's/.*, \([0-9]*\) weights$/\1/p')
  [ "$have" = "$(get "$out/torch" weights)" ] || { echo "$program has $have weights, in PyTorch $(get "$out/torch" weights)" >&2; exit 1; }
}

# peer NAME THREADS KIND SCRIPT ARGUMENT…: the line of a peer, after limn's own numbers are in $out/limn
peer() {
  name=$1 number=$2 kind=$3 script=$4
  shift 4
  # shellcheck disable=SC2086 # --batch N is two words, or none
  "$python" "bench/$script" "$program" $batch --threads "$number" "$@" >"$out/$kind" || exit 1
  awk -v name="$name" -v number="$number" -v limn="$(get "$out/limn" round_ms)" -v torch="$(get "$out/$kind" round_ms)" \
    -v share="$(get "$out/limn" share_of_peak)" -v mb="$(get "$out/limn" peak_rss_mb)" -v torch_mb="$(get "$out/$kind" peak_rss_mb)" \
    'BEGIN { printf "%-14s %7d %11.4f %11.4f %8.2f %13s %8.0f %8.0f\n", name, number, limn, torch, torch / limn, share, mb, torch_mb }'
}

version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || { echo "$python has no PyTorch" >&2; exit 3; }
echo "PyTorch $version, $mode; $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
printf '%-14s %7s %11s %11s %8s %13s %8s %8s\n' name threads limn_ms torch_ms ratio share_of_peak limn_mb torch_mb
for name in $only; do
  program=${name%_b*} batch=""
  [ "$program" = "$name" ] || batch="--batch ${name##*_b}"
  for number in $threads; do
    # shellcheck disable=SC2086 # as above
    "$build/bench-step" "bench/$program.limn" $batch --threads "$number" >"$out/limn" || { cat "$out/limn" >&2; exit 1; }
    peer "$name" "$number" torch torch_steps.py --mode "$mode"
    same
    case $jax$program in
      yesiris | yesmlp | yesnash)
        for way in jit scan; do peer "$name jax $way" "$number" jax jax_steps.py --mode $way; done ;;
    esac
  done
  echo "$name $(get "$out/limn" open_cold_s) $(get "$out/limn" open_cached_s)" >>"$out/open"
done

echo
printf '%-14s %10s %10s   seconds to open the compiled step\n' name cold cached
awk '{ printf "%-14s %10.3f %10.3f\n", $1, $2, $3 }' "$out/open"
echo
printf '%-14s %10s %10s   seconds from "limn train" to the first step done\n' name cold cached
for program in iris mlp; do
  if found=$("$python" bench/first_step.py "$build/limn" "bench/$program.limn" 2>"$out/log"); then
    echo "$program $found" | awk '{ printf "%-14s %10.3f %10.3f\n", $1, $2, $3 }'
  else
    printf '%-14s skipped: %s\n' "$program" "$(head -1 "$out/log")"
  fi
done
