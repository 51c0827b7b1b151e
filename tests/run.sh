#!/bin/sh
# Runs every test and ends with "N passed, N failed".
#   tests/run.sh BUILD [--bless]        --bless writes the golden files anew; read them in the diff
set -u
build=$1
bless=${2:-}
limn=$PWD/$build/limn
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAILED: $1"; [ -z "${2:-}" ] || sed 's/^/    /' "$2" | head -40; }

# golden EXPECTED ACTUAL NAME
golden() {
  if [ -n "$bless" ]; then cp "$2" "$1"; fi
  if diff -u "$1" "$2" >"$out/diff" 2>&1; then pass; else fail "$3" "$out/diff"; fi
}

# C tests, two at a time: cmocka counts for itself
ls "$build"/tests/*_test | xargs -P 2 -I{} sh -c '"$1" >"$2/${1##*/}.log" 2>&1; echo $? >"$2/${1##*/}.status"' - {} "$out"
for test in "$build"/tests/*_test; do
  cp "$out/${test##*/}.log" "$out/log"
  status=$(cat "$out/${test##*/}.status")
  good=$(sed -n 's/.*PASSED  \] \([0-9]*\) test(s)\.*$/\1/p' "$out/log" | head -1)
  bad=$(sed -n 's/.*FAILED  \] [^0-9]*\([0-9]*\) test(s).*/\1/p' "$out/log" | head -1)
  passed=$((passed + ${good:-0}))
  if [ $status -ne 0 ]; then
    failed=$((failed + ${bad:-1}))
    echo "FAILED: $test"
    grep -v -e 'OK \]' -e 'RUN  ' "$out/log" | head -60 | sed 's/^/    /'
  fi
done

# every layer includes only earlier ones
if tools/layers.sh >"$out/log" 2>&1; then pass; else fail "layers" "$out/log"; fi

# programs: they check, keep their layout, and say what they said
for f in examples/*.limn bench/*.limn tests/programs/*.limn; do
  [ -e "$f" ] || continue
  if "$limn" check "$f" >"$out/log" 2>&1; then pass; else fail "check $f" "$out/log"; fi
  if "$limn" fmt --check "$f" >"$out/log" 2>&1; then pass; else fail "fmt --check $f" "$out/log"; fi
done

# golden files by extension: NAME.limn beside NAME.err (messages), NAME.NAME2.graph|grad|cost|who|step (texts)
for f in tests/errors/*.limn; do
  [ -e "$f" ] || continue
  (cd tests/errors && "$limn" check "$(basename "$f")") >"$out/err" 2>&1
  status=$?
  if grep -q ' error: ' "$out/err" && [ $status -ne 1 ]; then fail "exit status of $f is $status"; fi
  golden "${f%.limn}.err" "$out/err" "$f"
done
for f in tests/golden/*; do
  [ -e "$f" ] || continue
  base=$(basename "$f")
  kind=${base##*.}
  rest=${base%.*}
  name=${rest##*.}
  file=tests/golden/${rest%.*}.limn
  [ -e "$file" ] || file=examples/${rest%.*}.limn
  case $kind in
    graph) "$limn" print "$file" "$name" ;;
    grad) "$limn" grad "$file" "$name" ;;
    cost) "$limn" cost "$file" "$name" ;;
    who) "$limn" check "$file" --who ;;
    step) "$limn" print "$file" --after step ;;
    *) continue ;;
  esac >"$out/text" 2>&1
  golden "$f" "$out/text" "$f"
done

# further scripts count for themselves: each prints lines "ok NAME" or "not ok NAME"
for script in tests/*/test.sh; do
  [ -e "$script" ] || continue
  LIMN=$limn BUILD=$build sh "$script" >"$out/log" 2>&1
  status=$?
  good=$(grep -c '^ok ' "$out/log")
  bad=$(grep -c '^not ok ' "$out/log")
  passed=$((passed + good))
  failed=$((failed + bad))
  if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then failed=$((failed + 1)); fi
  if [ $status -ne 0 ] || [ "$bad" -gt 0 ]; then echo "FAILED: $script"; grep -v '^ok ' "$out/log" | head -40 | sed 's/^/    /'; fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
