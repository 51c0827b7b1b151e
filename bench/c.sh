#!/bin/sh
# Compares exported C with steps compiled by limn, alternating on one thread: bench/c.sh BUILD [NAME…]
set -eu
build=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for name in ${*:-iris mlp conv vae gan nash chargpt}; do
  /usr/bin/python3 tests/c_out/steps.py "$build/limn" "$build/c-steps" "$dir" --time "bench/$name.limn"
done
