#!/bin/sh
# Tests tests/run.sh on a small tree of scripts: its counts and its last lines.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tests/good" "$dir/tests/bad" "$dir/tests/silent" "$dir/tests/skipping" "$dir/tests/dying" "$dir/build/tests"
cp "$here/run.sh" "$here/texts.sh" "$dir/tests"
cd "$dir" || exit 1
printf 'echo "ok one"; echo "ok two"\n' >tests/good/test.sh
printf 'echo "ok one"; echo "not ok two"; echo "because"\n' >tests/bad/test.sh
printf 'exit 0\n' >tests/silent/test.sh
printf 'echo "skipped: nothing to see"; echo "ok one"\n' >tests/skipping/test.sh
printf 'echo "ok one"; exit 7\n' >tests/dying/test.sh
: >tests/fine_test.c
: >tests/wrong_test.c
printf '#!/bin/sh\necho "[  PASSED  ] 3 test(s)."\n' >build/tests/fine_test
printf '#!/bin/sh\necho "[  PASSED  ] 1 test(s)."; echo "[  FAILED  ] 2 test(s), listed below:"; exit 2\n' >build/tests/wrong_test
chmod +x build/tests/*_test

# counts NAME STATUS LAST-LINE ONLY
counts() {
  ONLY=$4 JOBS=2 sh tests/run.sh build >out 2>err
  status=$?
  last=$(tail -1 out)
  if [ $status -eq "$2" ] && [ "$last" = "$3" ]; then echo "ok $1"; else echo "not ok $1: status $status, \"$last\""; cat out err; fi
}
says() { if grep -qF -- "$2" "$3"; then echo "ok $1"; else echo "not ok $1"; cat out err; fi; }
counts "a good script" 0 "2 passed, 0 failed" good
counts "a script with a failure" 1 "1 passed, 1 failed" bad
says "its lines are shown" "because" out
counts "a script that says nothing" 1 "0 passed, 1 failed" silent
says "that is said" "FAILED: silent: it says nothing" out
counts "a script that skips" 0 "1 passed, 0 failed, 1 skipped" skipping
says "what is skipped is said" "skipped skipping: nothing to see" out
counts "a script that dies" 1 "1 passed, 1 failed" dying
says "its status is said" "FAILED: dying: exit status 7" out
says "a job prints a line when it ends" "dying, " out
counts "a C test" 0 "3 passed, 0 failed" fine_test
counts "a C test by its short name" 1 "1 passed, 2 failed" wrong
counts "a list" 1 "8 passed, 4 failed, 1 skipped" good,bad,silent,skipping,fine,wrong_test
counts "a name that is none" 2 "" nothing
says "that is said too" "there is no test nothing" err

# What npm installs for tests is the same each time: every package has its version and its sum.
cd "$here/.." || exit 1
! grep -rnE 'npm (install|i) |npx ' tools/*.sh tests/*/*.sh .ci Makefile | grep -v 'apt install' | grep -v '^tests/runner/' >"$dir/out" && [ ! -s "$dir/out" ]
status=$?
for lock in studio/package-lock.json tools/npm/*/package-lock.json; do
  awk '/^    "node_modules\// { name = $1; sums = 0 } /"integrity"|"link": true/ { sums++ } /^    }/ && name && !sums { print FILENAME, name, "has no sum" } /^    }/ { name = "" }' "$lock"
done >"$dir/sums"
cat "$dir/out" "$dir/sums"
if [ $status -eq 0 ] && [ ! -s "$dir/sums" ]; then echo "ok packages of npm are pinned"; else echo "not ok packages of npm are pinned"; fi
