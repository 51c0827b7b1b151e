#!/bin/sh
# run.sh FOLDER SECONDS HARNESS…: runs the fuzzers FOLDER/fuzz_HARNESS on JOBS cores for SECONDS in total, and prints a table.
# Each core cycles through all harnesses, starting from a different one, so that all get equal time. Inputs that reach
# new code are stored in FOLDER/corpus, failures in FOLDER/found with the command that repeats them. Status 1: there were failures.
# The table has the CPU seconds of the harnesses, including seeds and work between inputs; on a busy machine
# these are fewer than JOBS times SECONDS.
set -eu
folder=$1
seconds=$2
shift 2
cores=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
found=$folder/found
stats=$folder/stats
mkdir -p "$found" "$stats"
rm -f "$stats"/*
: >"$folder/begun"
export UBSAN_OPTIONS=print_stacktrace=1
# Freed memory is given out again soon: an arena that is made for each input would otherwise always be on new pages.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8:allocator_may_return_null=1
# Harnesses that read files write them here: in memory, where there is such a place.
FUZZ_TMP=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export FUZZ_TMP
trap 'rm -rf "$FUZZ_TMP"' EXIT
# The compiler has no part in this, and nothing is read from or left in the user's folders.
export LIMN_CC=none LIMN_CACHE="$folder/cache" LIMN_DATA="$folder/data"

for h in "$@"; do
  mkdir -p "$folder/corpus/$h"
  case $h in
    front | check | pass | draw) # small ones: much is tried with them
      find lib examples tests/errors tests/programs tests/answers -name '*.limn' -size -3 | while read -r f; do
        cp "$f" "$folder/corpus/$h/seed.$(basename "$f")"
      done ;;
    png | npz) cp tests/data/*."$h" "$folder/corpus/$h" ;;
  esac
done

# The seconds of the CPU between two outputs of `times`: of all that the shell has waited for.
cpu_between() { # FILE FILE
  awk -F '[ms ]+' 'FNR == 2 { sum = $1 * 60 + $2 + $3 * 60 + $4; if (NR == 2) first = sum } END { print sum - first }' "$1" "$2"
}
# clang's fuzzer ends with the first find: it is started again until its time is over, without the seed, if it was one.
by_libfuzzer() { # HARNESS SECONDS SEED
  times >"$stats/before.$3"
  end=$(($(date +%s) + $2))
  seed=$3
  log=$stats/log.$1.$3
  inputs=0
  kept=0
  finds=0
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ] && [ "$finds" -lt 20 ]; do
    dict=
    case $1 in front | check | pass | draw | words) dict=-dict=tests/fuzz/limn.dict ;; esac
    seeds=
    [ ! -d "tests/fuzz/corpus/$1" ] || seeds=tests/fuzz/corpus/$1
    # A second is for code that is not slowed down, by sanitizers and by other work on the same machine: fuzz-plain holds it.
    "$folder/fuzz_$1" -max_total_time="$left" -seed="$seed" -max_len=4096 -timeout=10 -malloc_limit_mb=65 -rss_limit_mb=2048 -reload=0 \
      -verbosity=0 -print_final_stats=1 -artifact_prefix="$found/$1-" $dict "$folder/corpus/$1" $seeds >"$log" 2>&1 || {
      finds=$((finds + 1))
      cp "$log" "$found/log.$1.$seed"
      find=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
      for f in "$folder/corpus/$1"/*; do
        if cmp -s "$f" "$find"; then rm -f "$f"; fi
      done
    }
    inputs=$((inputs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1 | grep . || echo 0)))
    kept=$((kept + $(sed -n 's/^stat::new_units_added: *//p' "$log" | tail -1 | grep . || echo 0)))
    seed=$((seed + 1000))
  done
  times >"$stats/after.$3"
  echo "$1 $inputs $(cpu_between "$stats/before.$3" "$stats/after.$3") $kept - $finds" >>"$stats/all.$3"
}
plainly() { # HARNESS SECONDS SEED
  seeds=
  [ ! -d "tests/fuzz/corpus/$1" ] || seeds=tests/fuzz/corpus/$1
  "$folder/fuzz_$1" --mutate "$2" "$3" "$1" "$found" $seeds "$folder/corpus/$1" >>"$stats/all.$3" 2>>"$found/log.$1.$3" || true
  [ -s "$found/log.$1.$3" ] || rm -f "$found/log.$1.$3"
}
if grep -q 'stat::number_of_executed_units' "$folder/fuzz_$1"; then by=by_libfuzzer; else by=plainly; fi

each=$((seconds / $#))
[ "$each" -ge 1 ] || each=1
first=$(($(date +%s) % 100000 * 100))
core=0
while [ "$core" -lt "$cores" ]; do
  (
    turn=0
    while [ "$turn" -lt $# ]; do
      k=$(((core * $# / cores + turn) % $# + 1))
      eval "h=\${$k}"
      $by "$h" "$each" "$((first + core))"
      turn=$((turn + 1))
    done
  ) &
  core=$((core + 1))
done
wait

cat "$stats"/all.* | awk '{ n[$1] += $2; t[$1] += $3; k[$1] += $4; if ($5 > p[$1]) p[$1] = $5; f[$1] += $6; N += $2; T += $3; K += $4; F += $6 }
  END { row = "%-12s %14s %10s %10s %8s %8s %6s\n"; printf row, "harness", "inputs", "CPU s", "per CPU s", "kept", "places", "finds"
    for (h in n) printf row, h, n[h], int(t[h]), t[h] ? int(n[h] / t[h]) : 0, k[h], p[h], f[h] | "sort"
    close("sort"); printf row, "all", sprintf("%.0f", N), int(T), T ? int(N / T) : 0, K, "", F }'
find "$found" -type f -newer "$folder/begun" ! -name 'log.*' | sort | while read -r f; do
  h=${f##*/}
  echo "found: LIMN_CC=none $folder/fuzz_${h%%-*} $f"
done
[ -z "$(find "$found" -type f -newer "$folder/begun" ! -name 'log.*')" ]
