#!/bin/sh
# Messages of `limn run`: the messages of each program of this folder are those of its .err, and the status is 1.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd tests/machine_errors || exit 1
for f in *.limn; do
  "$LIMN" run "$f" --plain --reference >"$out/text" 2>&1
  status=$?
  if [ $status -eq 1 ] && diff -u "${f%.limn}.err" "$out/text" >"$out/diff"; then echo "ok run $f"; else
    echo "not ok run $f: status $status"
    cat "$out/diff"
  fi
done
