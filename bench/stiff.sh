#!/bin/sh
# Measures the stiff integrator: bench/stiff.sh [LIMN]
#   The Brusselator on 10 000 cells in limn, and in CVODE with its banded solver (brusselator.c), at the same tolerances. The error is
#   the largest of three numbers at the end, against CVODE at 1e-12. Goal: 3 times the time of CVODE.
# CPU times, the best of three; limn's are those of the whole program, with a full cache.
set -eu
limn=${1:-build/limn}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if ! ${CC:-cc} -O3 -march=native -o "$out/cvode" bench/brusselator.c -lsundials_cvode -lsundials_nvecserial -lm 2>"$out/why"; then
  echo "SUNDIALS is not here (Debian: libsundials-dev): nothing to compare with"
  exit 0
fi

. bench/seconds.sh
for i in 1 2 3; do "$out/cvode" 10000 1e-12; done | sort -n | head -1 >"$out/exact"
read -r _ _ a b c <"$out/exact"
for tolerance in 1e-4 1e-6 1e-8; do
  sed "s/1e-6/$tolerance/" bench/brusselator.limn >"$out/long.limn"
  { cat "$out/long.limn"; for x in "a = $a" "b = $b" "c = $c"; do echo "check last(${x%% *}) = ${x##* }"; done; } >"$out/claims.limn"
  "$limn" run --plain "$out/claims.limn" >"$out/found" 2>&1 || true
  ours=$(seconds "$limn" run --plain --threads 1 "$out/long.limn")
  for i in 1 2 3; do "$out/cvode" 10000 "$tolerance"; done | sort -n | head -1 >"$out/theirs"
  awk -v tolerance="$tolerance" -v ours="$ours" -v a="$a" -v b="$b" -v c="$c" '
    function far(x, y) { x -= y; x = x < 0 ? -x : x; if (x > off) off = x }
    FILENAME ~ /found/ && /steps/ { match($0, /[0-9]+ steps/); steps = substr($0, RSTART, RLENGTH) + 0 }
    FILENAME ~ /found/ && /off by/ { sub(/.*off by /, ""); sub(/,.*/, ""); if ($0 + 0 > mine) mine = $0 + 0 }
    FILENAME ~ /theirs/ { far($3, a); far($4, b); far($5, c); time = $1; count = $2 }
    END { printf "brusselator at %s: limn %.2f s, %d steps, off by %.1e; CVODE %.2f s, %d steps, off by %.1e; ratio %.2f\n", tolerance, ours, steps, mine, time, count, off, ours / time }' "$out/found" "$out/theirs"
done
