#!/bin/sh
# Compares ten steps of every example on the GPU with the CPU: tests/gpu/examples.sh [FILE…]. Programs without `train` or without their data are skipped;
# programs whose first line says how to make them small are made small. PRECISION=tf32 FAR=0.03 sets the precision and the tolerance.
set -u
. "$(dirname "$0")/../say.sh"
say='gpu example '
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
said="$dir/said"
[ $# -gt 0 ] || set -- examples/*.limn
for file; do
  name=$(basename "$file" .limn)
  grep -q '^train' "$file" || continue
  small=$(sed -n '1s/.*A small one: //p' "$file")
  # shellcheck disable=SC2086 # several words, or none
  if ! "$LIMN" train "$file" $small --steps 10 --plain --device cpu --out "$dir/cpu.$name" >"$said" 2>&1; then
    skip "$name: $(grep -m1 error "$said")"
    continue
  fi
  # shellcheck disable=SC2086
  "$LIMN" train "$file" $small --steps 10 --plain --device cuda --precision "${PRECISION:-32}" --out "$dir/gpu.$name" >"$said" 2>&1 || { not_ok "$name"; continue; }
  measures=$(sed -n 's/^measure \([a-z_]*\) *:.*/\1/p' "$file" | tr '\n' ' ') # shares of samples: one may fall to the other side
  far=$(paste -d, "$dir/cpu.$name/metrics.csv" "$dir/gpu.$name/metrics.csv" | awk -F, -v measures=" $measures" '
    NR == 1 { n = NF / 2; for (i = 1; i <= n; i++) if ($i !~ /second|time/) use[i] = index(measures, " " $i " ") ? 0.05 : 1; next }
    { for (i in use) { a = $i + 0; b = $(i + n) + 0; d = a - b; if (d < 0) d = -d; if (a < 0) a = -a; d *= use[i] / (a + 1e-6); if (d > far) far = d } }
    END { print far + 0 }')
  if awk "BEGIN { exit !($far < ${FAR:-1e-4}) }"; then ok "$name: $far apart"; else not_ok "$name: $far apart"; fi
done
exit $failed
