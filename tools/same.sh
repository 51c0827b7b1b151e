#!/bin/sh
# Compare the results of two builds of limn byte for byte: a change of structure must not change results.
#
#   tools/same.sh OLD NEW [FIRST RUNS]   OLD and NEW are folders with a built tree (build/limn). Compared are, for each
#                                        example and for RUNS random programs from seed FIRST on (of this tree's generator):
#                                        check     what `limn check` prints
#                                        c         weights and metrics after a few steps, by compiled C
#                                        prebuilt  the same by prebuilt kernels
#                                        gpu       the same by the emulated GPU
#                                        export    the exported C, JSON and PyTorch texts
#                                        draw      the SVG of the goals, and of each box and learner
#                                        WAYS='c draw': these alone; JOBS=2: so many programs at once; EXAMPLES=0: random programs alone; KEEP=DIR: keep what differs there
# Prints a line for each difference, then a table of how many results were equal. Exits with 1 if any differs.
set -u
here=$(cd "$(dirname "$0")" && pwd)

result() { # LIMN WAY PROGRAM OUT: the result of one way, as files in OUT; a failure is a result too
  limn=$1 way=$2 program=$3 out=$4
  mkdir -p "$out"
  case $way in
    check) "$limn" check "$program" >"$out/said" 2>&1 ;;
    c) "$limn" train "$program" --steps 3 --threads 1 --plain --quiet --out "$out/run" >"$out/said" 2>&1 ;;
    prebuilt) LIMN_CC= "$limn" train "$program" --steps 3 --threads 1 --plain --quiet --out "$out/run" >"$out/said" 2>&1 ;;
    gpu) LIMN_CUDA=$fake FAKE_CUDA_HEADER=$here/../tests/gpu/emulated.h "$limn" train "$program" --steps 3 --device cuda --plain --quiet --out "$out/run" >"$out/said" 2>&1 ;;
    export) for as in c json torch; do "$limn" export "$program" --as $as -o "$out/as.$as" >>"$out/said" 2>&1; done ;;
    draw)
      "$limn" draw "$program" -o "$out/goals.svg" >>"$out/said" 2>&1
      for name in $(sed -nE 's/^(learn|box) ([A-Za-z0-9]+).*/\2/p' "$program"); do "$limn" draw "$program" "$name" -o "$out/$name.svg" >>"$out/said" 2>&1; done
      find "$out" -name '*.svg' | grep -q . # a program may have no goals
      ;;
  esac
  echo "exit $?" >>"$out/said" # of the last command
  # Weights and metrics are compared; logs with times, versions and paths are not.
  if [ -d "$out/run" ]; then
    mv "$out"/run/model.safetensors "$out/model" 2>/dev/null
    cut -d, -f1,2,4- "$out/run/metrics.csv" >"$out/metrics" 2>/dev/null
    rm -r "$out/run"
  fi
  find "$out" -type f -exec sed -i "s|$out|OUT|g" {} +
}

if [ "${1:-}" = --one ]; then # PROGRAM: one program by every way
  program=$2 name=$(basename "$2" .limn)
  [ "$name" != program ] || name=$(basename "$(dirname "$2")")
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  for way in $WAYS; do
    # Both run in a folder of the same name, since some texts say it.
    for build in old new; do
      eval "tree=\$$build"
      mkdir -p "$dir/$build"
      (cd "$dir/$build" && LIMN_CACHE="$dir/cache" result "$tree/build/limn" "$way" "$program" "$dir/$build/$way")
    done
    if diff -r "$dir/old/$way" "$dir/new/$way" >"$dir/diff" 2>&1; then
      grep -qx 'exit 0' "$dir/old/$way/said" && echo "same $way" || echo "refused $way"
    else
      echo "differs $way $name: $(grep -m1 '^[<>BO]' "$dir/diff" | cut -c1-160)"
      [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/$name" && cp -r "$dir/old/$way" "$KEEP/$name/$way.old" && cp -r "$dir/new/$way" "$KEEP/$name/$way.new"; }
    fi
  done
  exit 0
fi

[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd) first=${3:-1} runs=${4:-0}
WAYS=${WAYS:-check c prebuilt gpu export draw}
for tree in "$old" "$new"; do [ -x "$tree/build/limn" ] || { echo "no $tree/build/limn: build it first" >&2; exit 2; }; done
fake=$here/../build/fake-cuda # built with the tests
export old new WAYS fake
[ -z "${KEEP:-}" ] || export KEEP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/programs"
: >"$work/list"
cp "$old"/examples/* "$work/programs/" 2>/dev/null
[ "${EXAMPLES:-1}" = 0 ] || find "$work/programs" -name '*.limn' >"$work/list"
if [ "$runs" -gt 0 ]; then
  i=0
  while [ $i -lt "$runs" ]; do
    seed=$((first + i)) i=$((i + 1))
    mkdir "$work/seed_$seed"
    "$here/../build/tests/whole_test" written $seed "$work/seed_$seed" 2>/dev/null && echo "$work/seed_$seed/program.limn" >>"$work/list"
  done
fi
xargs -P "${JOBS:-2}" -n 1 "$here/same.sh" --one <"$work/list" >"$work/results"
grep '^differs' "$work/results" | sort
echo "programs: $(grep -c . "$work/list")"
for way in $WAYS; do echo "$way: $(grep -c "^same $way\$" "$work/results") same, $(grep -c "^refused $way\$" "$work/results") refused by both, $(grep -c "^differs $way " "$work/results") different"; done
! grep -q '^differs' "$work/results"
