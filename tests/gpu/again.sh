#!/bin/sh
# Reproducibility on a real GPU, in each precision: the same seed gives the same bytes in a second run, and in one with a pause; runs that began on
# the CPU continue on the GPU, and the reverse. tests/gpu/again.sh [FILE…]; files without their data are skipped.
set -u
. "$(dirname "$0")/../say.sh"
say='gpu '
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
said="$dir/said"
[ $# -gt 0 ] || set -- bench/iris.limn bench/nash.limn bench/mlp.limn bench/conv.limn bench/vae.limn bench/gan.limn bench/chargpt.limn
# train OUT OPTION…; go_on OUT OPTION…
train() { out=$1; shift; "$LIMN" train "$file" --plain --quiet --steps 60 --precision "$precision" --out "$dir/$out" "$@" >"$said" 2>&1; }
go_on() { out=$1; shift; "$LIMN" train "$file" --plain --quiet --resume "$dir/$out" "$@" >"$said" 2>&1; }
same() { cmp -s "$dir/$1/model.safetensors" "$dir/$2/model.safetensors"; }
whole() { grep -q '"steps": 60' "$dir/$1/run.json"; }
for file; do
  name=$(basename "$file" .limn)
  for precision in 32 tf32 bf16; do
    rm -rf "${dir:?}"/*
    train data --device cpu --pause 1 || { skip "$name: $(grep -m1 error "$said")"; break; }
    train one --device cuda && train two --device cuda && same one two && ok "$name, $precision: the same bytes" || not_ok "$name, $precision: the same bytes"
    train half --device cuda --pause 27 && go_on half --device cuda && same one half && ok "$name, $precision: paused" || not_ok "$name, $precision: paused"
    train here --device cpu --pause 27 && go_on here --device cuda && whole here && ok "$name, $precision: from the CPU" || not_ok "$name, $precision: from the CPU"
    train there --device cuda --pause 27 && go_on there --device cpu && whole there && ok "$name, $precision: to the CPU" || not_ok "$name, $precision: to the CPU"
  done
done
exit $failed
