#!/bin/sh
# Kills a run at random moments and resumes it each time: the result must be that of a run that was not killed.
#   LIMN=build/limn tests/train/kill.sh N        N kills; exit status 0 if every run ended the same
#   HOW=             with the compiled engine
set -u
kills=${1:-1000}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cp "$here/noisy.limn" .
hash() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1/run.json"; }
rows() { cut -d, -f1,2,4- "$1/metrics.csv"; }

"$LIMN" train noisy.limn --out whole --every 1 --quiet ${HOW---reference} || exit 1
want=$(hash whole)
rows whole >want.csv
bad=0
done=0
seed=$$
while [ $done -lt "$kills" ]; do
  rm -rf part
  how="--out part"
  while [ $done -lt "$kills" ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # shellcheck disable=SC2086
    timeout -s KILL "0.$(printf %03d $((seed / 65536 % ${SPAN:-60} + 5)))" "$LIMN" train noisy.limn $how --every 1 --quiet ${HOW---reference} >out 2>&1
    status=$?
    [ $status -eq 137 ] || break
    done=$((done + 1))
    [ -d part ] && how="--resume part"
  done
  if [ $status -ne 0 ]; then # the last one was killed, or something is wrong
    [ $status -eq 137 ] || { echo "status $status after $done kills"; cat out; bad=$((bad + 1)); }
    # shellcheck disable=SC2086
    "$LIMN" train noisy.limn $how --every 1 --quiet ${HOW---reference} >out 2>&1 || { echo "cannot go on after $done kills"; cat out; bad=$((bad + 1)); }
  fi
  if [ "$(hash part)" != "$want" ]; then echo "another end after $done kills"; bad=$((bad + 1)); fi
  rows part | cmp -s - want.csv || { echo "other rows after $done kills"; rows part | diff - want.csv | head -5; bad=$((bad + 1)); }
  find part -name '*.part' | grep . && bad=$((bad + 1))
  [ $bad -lt 5 ] || break
done
echo "$done kills, $bad wrong"
[ $bad -eq 0 ]
