#!/bin/sh
# Distillation: test accuracy of the teacher, the student alone and the distilled student on MNIST, over five seeds.
# Takes a few minutes. LIMN is the program, THREADS the number of threads.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
limn=${LIMN:-$root/build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# the same program without the teacher's word
sed '/^  student <= teacher/d; /^train teach/d; /^measure teach/d' "$root/examples/distill.limn" >"$dir/alone.limn"
cp "$root/examples/distill.limn" "$dir/distill.limn"
cd "$dir"
last() { "$limn" runs "$1" --json | sed 's/.*"measures": {\([^}]*\)}.*/\1/' | tr ',' '\n' | sed -n "s/.*$2.*: *//p"; }
echo "seed teacher student distilled"
for seed in 0 1 2 3 4; do
  "$limn" train distill.limn --seed $seed --out d$seed --plain --quiet --threads "${THREADS:-0}"
  "$limn" train alone.limn --seed $seed --out a$seed --plain --quiet --threads "${THREADS:-0}" 2>/dev/null
  echo "$seed $(last d$seed 'teach') $(last a$seed 'distill') $(last d$seed 'distill')"
done | awk '{ print; if (NR > 0) { for (i = 2; i <= 4; i++) s[i] += $i; n++ } } END { printf "mean %.4f %.4f %.4f\n", s[2] / n, s[3] / n, s[4] / n }'
