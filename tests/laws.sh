#!/bin/sh
# Implements `make laws`: laws.sh BUILD LAW FIRST RUNS tests RUNS random programs from seed FIRST. JOBS=2: jobs in parallel.
#   options        domains of options against an oracle (tests/options_test.c)
#   exports        programs with training, exported to PyTorch and JAX, ten steps compared with limn's (tests/python_out), and to C, thirty steps (tests/c_out)
#   hostile_names  names with special characters in every output format (tests/names)
#   gestures       edits in pictures (tests/gesture_test.c)
#   hybrid, hybrid.order, …  hybrid systems (tests/laws_hybrid_test.c)
#   all, doors, batch, …     random whole programs (tests/whole_test.c)
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1 law=$2 first=$3 runs=$4
LIMN=$PWD/$build/limn

# without_faults FILE: what a script said of things that it looked at, "ok NAME" or "not ok NAME"
without_faults() {
  grep -v '^ok ' "$1"
  echo "$(grep -c '^not ok ' "$1") of $runs fail"
  ! grep -q '^not ok ' "$1" && grep -q '^ok ' "$1"
}

case $law in
options) "$build/tests/options_test" "$first" "$runs" && echo "0 of $runs fail" ;;
exports)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python=${PYTHON:-/usr/bin/python3}
  export PYTHONDONTWRITEBYTECODE=1
  cd tests/python_out || exit 1
  programs=$("$python" random_programs.py "$work/programs" "$runs" "$first")
  # shellcheck disable=SC2086 # paths without spaces
  "$python" -W ignore make.py "$LIMN" "$work/cases" --train $programs >"$work/said"
  ways=""
  for way in torch jax; do if "$python" -c "import $way" 2>/dev/null; then ways="$ways $way"; fi; done
  for way in ${ways:-shim}; do "$python" all.py "$work/cases" "$way" >>"$work/said" || echo "not ok all.py $way" >>"$work/said"; done
  mkdir "$work/c"
  # shellcheck disable=SC2086
  "$python" ../c_out/steps.py "$LIMN" "${LIMN%/*}/c-steps" "$work/c" --precision 64 --steps 30 --compiler cc $programs >>"$work/said" || echo "not ok steps.py" >>"$work/said"
  without_faults "$work/said"
  ;;
hostile_names)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  /usr/bin/python3 tests/names/hostile.py "$LIMN" "$work" "$runs" "$first" >"$work/said"
  without_faults "$work/said"
  ;;
gestures) "$build/tests/gesture_test" gestures "$first" "$runs" ;;
hybrid*)
  law=${law#hybrid} law=${law#.}
  "$build/tests/laws_hybrid_test" "${law:-hybrid}" "$first" "$runs"
  ;;
*) "$build/tests/whole_test" "$law" "$first" "$runs" ;;
esac
