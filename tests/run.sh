#!/bin/sh
# Runs all tests and ends with "N passed, N failed", or "N passed, N failed, N skipped".
#   tests/run.sh BUILD [--bless]        --bless rewrites the golden files; read the differences
#   ONLY=draw,block_test                runs some tests: folders of tests/, C tests, or texts (programs, errors, golden, rooms)
#   JOBS=2                              number of jobs in parallel
#   FULL=1                              also tests that exceed five minutes on two cores together: more programs, larger ones
# A C test counts as one job. A script prints a line "ok NAME", "not ok NAME" or "skipped WHY" for each check; a script that prints
# none has failed. Each job prints a line with its time when it ends. BUILD/tests/times has the elapsed time and the CPU time of each job; the latter does not depend on the load of the machine.
set -u

# The output of `times` in seconds: of the shell itself, and of its children
cpu() { awk '{ for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); all += 60 * part[1] + part[2] } } END { printf "%.1f\n", all }'; }

# One job, by its kind and name: its output goes to OUT/NAME.log, its exit status to OUT/NAME.status.
one() {
  kind=${1%%:*} name=${1#*:} begun=$(date +%s)
  case $name in answers | changed | devices | embed | learning | python_out | whole_test) PATH=$quick:$PATH ;;
    lens) PATH=$quick/run:$PATH ;; # its steps take long enough that optimisation matters
    special_test | steps_test | torch_steps_test) [ -n "${FULL:-}" ] || PATH=$quick:$PATH ;;
  esac
  case $kind in
    c) "$build/tests/$name" ;;
    script) LIMN=$PWD/$build/limn BUILD=$build sh "tests/$name/test.sh" ;;
    texts) LIMN=$PWD/$build/limn BUILD=$build sh tests/texts.sh "$name" $bless ;;
  esac >"$out/$1.log" 2>&1 </dev/null
  echo $? >"$out/$1.status"
  took=$(($(date +%s) - begun))
  times >"$out/$1.cpu" # not in a pipe, which would be a subshell
  echo "$took $1 $(cpu <"$out/$1.cpu")" >"$out/$1.time"
  echo "$name, $took s"
}
if [ "$1" = --one ]; then
  build=$3 out=$4 bless=${5:-}
  one "$2"
  exit 0
fi

build=$1
bless=${2:-}
case $bless in
  '') ;;
  --bless) [ -x "$build/limn" ] || { echo "$0: there is no $build/limn to say what golden files are" >&2; exit 2; } ;;
  *) sed -n '3s/^# *//p' "$0" >&2; exit 2 ;;
esac
# limn follows no link to ../shared/data unless the user names the folder.
if [ -L ../shared ] && [ -z "${LIMN_DATA:-}" ] && [ -d ../shared/data ]; then LIMN_DATA=$(cd ../shared/data && pwd -P) && export LIMN_DATA; fi
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM

all() {
  for t in tests/*_test.c; do t=${t##*/}; echo "c:${t%.c}"; done
  for t in rooms programs errors golden; do echo "texts:$t"; done
  for t in tests/*/test.sh; do t=${t%/test.sh}; echo "script:${t##*/}"; done
}
wanted() {
  [ -n "${ONLY:-}" ] || { all; return; }
  for name in $(echo "$ONLY" | tr ',' ' '); do
    all | awk -v n="$name" -F: '$2 == n || $2 == n "_test" { print; found = 1 } END { if (!found) print "none:" n }'
  done | sort -u
}
# The jobs that took longest in the last run start first. (The numbers here are used in the first run.)
by_time() {
  { printf '%s\n' "75 script:gpu" "36 script:answers" "17 c:laws_hybrid_test" "17 script:embed" "15 script:c_out" "14 script:install" "13 c:engine_test" \
    "12 script:resumed" "12 script:torture" "10 script:lens" "12 script:hostile" "11 script:learning" "11 script:devices" "10 c:whole_test" "10 script:train" "9 script:draw_wiring" "9 script:lsp" "9 script:studio"; cat "$build/tests/times" 2>/dev/null; } >"$out/times"
  awk 'NR == FNR { t[$2] = $1; next } { print t[$1] + 0, $1 }' "$out/times" - | sort -k1,1nr -k2 | cut -d' ' -f2
}
mkdir -p "$build/tests"
# Tests that compile hundreds of small steps would spend most of their time on compiler optimisation, so they use a lower level. Results do not
# depend on it; `make laws` and all other tests compile with the default flags, and with FULL=1 so do the C tests among them.
mkdir -p "$build/tests/quick/run"
# quick FOLDER LEVEL: makes a compiler wrapper in FOLDER with this optimisation level
quick() {
  printf '#!/bin/sh\nPATH="%s" exec "%s" "$@" %s\n' "$PATH" "$real" "$2" >"$1/cc.new"
  chmod +x "$1/cc.new"
  mv "$1/cc.new" "$1/cc"
}
if real=$(command -v cc); then
  quick "$build/tests/quick" -O0
  quick "$build/tests/quick/run" -O1
fi
case $build in /*) quick=$build/tests/quick ;; *) quick=$PWD/$build/tests/quick ;; esac
export quick
# Compiled steps are cached between runs in a cache of their own, so that the user's cache is not swept. Code for the emulated GPU is
# not shared with other versions of the emulation, which have no compiler version.
emulated=$(cat tests/gpu/emulated.h tests/gpu/fake_cuda.c | cksum)
if [ "$emulated" != "$(cat "$build/tests/emulated" 2>/dev/null)" ]; then
  rm -rf "$build/tests/code"
  echo "$emulated" >"$build/tests/emulated"
fi
case $build in /*) : "${LIMN_CACHE:=$build/tests/code}" ;; *) : "${LIMN_CACHE:=$PWD/$build/tests/code}" ;; esac
export LIMN_CACHE
wanted >"$out/wanted"
if grep -q '^none:' "$out/wanted"; then
  sed -n 's/^none:/there is no test /p' "$out/wanted" >&2
  exit 2
fi
by_time <"$out/wanted" >"$out/order"
xargs -P "$jobs" -I{} sh tests/run.sh --one {} "$build" "$out" $bless <"$out/order"
# The times of jobs that ran; for others, those of the last run.
touch "$build/tests/times"
cat "$out"/*.time "$build/tests/times" | awk '!seen[$2]++' | sort -nr >"$out/all_times" && mv "$out/all_times" "$build/tests/times"

passed=0
failed=0
skipped=0
# number PATTERN: a count in the output of cmocka
number() { sed -n "s/.*$1 *\] [^0-9]*\([0-9][0-9]*\) test(s).*/\1/p" "$log" | head -1; }
while read -r job; do
  log=$out/$job.log
  status=$(cat "$out/$job.status" 2>/dev/null || echo "none")
  case $job in
    c:*) good=$(number PASSED) bad=$(number FAILED) left=$(number SKIPPED) ;;
    *) good=$(grep -c '^ok ' "$log") bad=$(grep -c '^not ok ' "$log") left=$(grep -c '^skipped' "$log") ;;
  esac
  good=${good:-0} bad=${bad:-0} left=${left:-0} why=""
  if [ "$status" != 0 ] && [ "$bad" -eq 0 ]; then bad=1 why=": exit status $status"; fi
  if [ $((good + bad + left)) -eq 0 ]; then bad=1 why=": it says nothing"; fi
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
  [ "$left" -eq 0 ] || sed -n "s/^skipped:* */skipped ${job#*:}: /p" "$log"
  [ "$bad" -eq 0 ] && continue
  echo "FAILED: ${job#*:}$why"
  grep -v -e '^ok ' -e 'OK \]' -e 'RUN  ' -e '^skipped' "$log" | head -60 | sed 's/^/    /'
done <"$out/wanted"

if [ $skipped -eq 0 ]; then echo "$passed passed, $failed failed"; else echo "$passed passed, $failed failed, $skipped skipped"; fi
[ $failed -eq 0 ]
