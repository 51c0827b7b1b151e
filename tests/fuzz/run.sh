#!/bin/sh
# run.sh build/fuzz/fuzz_TARGET RUNS: one fuzzer, on its corpus and seeds.
set -eu
target=${1##*/fuzz_}
corpus=$(dirname "$1")/corpus/$target
mkdir -p "$corpus"
seeds=tests/fuzz/corpus/$target
case $target in
  front | check)
    for f in lib/*.limn examples/*.limn tests/errors/*.limn tests/programs/*.limn; do [ ! -e "$f" ] || cp "$f" "$corpus/seed.$(basename "$f")"; done
    set -- "$1" "$2" -dict=tests/fuzz/limn.dict ;;
  png | npz) cp tests/data/*."$target" "$corpus" ;;
esac
[ ! -d "$seeds" ] || cp "$seeds"/* "$corpus" 2>/dev/null || true
fuzzer=$1
runs=$2
shift 2
echo "$fuzzer: $runs inputs"
"$fuzzer" -runs="$runs" -max_len=4096 -timeout=10 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 -artifact_prefix="$(dirname "$fuzzer")/$target-" "$@" "$corpus"
