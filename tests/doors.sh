#!/bin/sh
# Runs the law of doors on another machine: random programs through every back end and export (tests/whole_test.c).
#
#   tests/doors.sh pack             packs the stripped test binaries, the emulated GPU and the libraries that they need into build/doors, for a
#                                   machine with this source tree and no build. SAN=1: also the test of whole programs with sanitizers, which it builds
#   tests/doors.sh run FIRST RUNS   tests seeds FIRST to FIRST + RUNS on that machine. JOBS=16: jobs in parallel; THIN=16: the slowest doors,
#                                   which start compilers or compare mutated programs, for every 16th program; EVERY=512: programs for each line of output; SECONDS=440: time limit for starting programs;
#                                   DOOR=onnx: one door (the script lists them); LAW=hybrid: the laws of hybrid systems; SAN=1: with sanitizers;
#                                   OUT=DIR: failures in DIR/faults.txt, by default in build/doors/out
# The last lines have the numbers of programs and of accepted programs, the inputs and failures of each door, and the seeds of failures.
set -u
cd "$(dirname "$0")/.." || exit 1
pack=build/doors

put() { # BUILD KIND TEST…: binaries and their libraries, in one file
  from=$1 kind=$2
  shift 2
  mkdir -p "$pack/$kind/lib"
  for test in "$@"; do
    [ -x "$from/tests/$test" ] || { echo "no $from/tests/$test: build it first" >&2; exit 1; }
    strip -o "$pack/$kind/$test" "$from/tests/$test"
    ldd "$from/tests/$test" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*ld-[^ ]*\) .*/\1/p' | while read -r library; do cp -Ln "$library" "$pack/$kind/lib/"; done
  done
  tar -czf "$pack/$kind.tar.gz" -C "$pack" "$kind" && rm -r "${pack:?}/$kind"
}

packed() {
  rm -rf "$pack"
  mkdir -p "$pack/fake-cuda"
  put build plain whole_test laws_hybrid_test
  [ -z "${SAN:-}" ] || put build/san san whole_test
  cp build/fake-cuda/*.so* "$pack/fake-cuda/"
  du -sh "$pack"
}

# The binary as it is, or, where the libraries of this machine are others, with its own.
started() { # BINARY ARGUMENT…
  binary=$1
  shift
  if "$binary" program 1 >/dev/null 2>&1 || "$binary" order 1 1 >/dev/null 2>&1; then "$binary" "$@"; else
    lib=$(dirname "$binary")/lib
    "$lib"/ld-linux* --library-path "$lib" "$binary" "$@"
  fi
}

ran() { # FIRST RUNS
  first=$1 end=$(($1 + $2)) every=${EVERY:-512} out=${OUT:-$pack/out} kind=${SAN:+san}
  binary=$pack/${kind:-plain}/whole_test law=${LAW:-doors} begun=$(date +%s)
  case $law in hybrid*) binary=$pack/${kind:-plain}/laws_hybrid_test law=${law#hybrid} law=${law#.} ;; esac
  law=${law:-all}
  mkdir -p "$out" "build/${kind:-.}"
  [ -d "$pack/${kind:-plain}" ] || tar -xzf "$pack/${kind:-plain}.tar.gz" -C "$pack" || exit 2
  for at in build "build/${kind:-.}"; do [ -e "$at/fake-cuda" ] || ln -s "$PWD/$pack/fake-cuda" "$at/fake-cuda"; done
  : >"$out/faults.txt"
  : >"$out/said.txt"
  doors=${DOOR:-}
  if ! command -v cc >/dev/null 2>&1 && [ -z "$doors" ]; then
    doors=batch,runs,engines,who,diff,onnx,json,check,draw,python
    echo "no C compiler here: without the doors compiled, c and gpu"
  fi
  while [ "$first" -lt "$end" ]; do
    n=$((end - first < every ? end - first : every)) left=$((${SECONDS_IN_ALL:-0} - $(date +%s) + begun))
    if [ "${SECONDS_IN_ALL:-0}" -gt 0 ] && [ "$left" -le 0 ]; then break; fi
    [ "${SECONDS_IN_ALL:-0}" -gt 0 ] || left=0
    SECONDS=$left DOOR=$doors JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)} started "$binary" "$law" "$first" "$n" >>"$out/faults.txt" 2>>"$out/said.txt"
    first=$((first + n))
    echo "up to seed $first, $(($(date +%s) - begun)) s: $(grep -c '^== ' "$out/faults.txt") faults"
  done
  awk '
    / programs, / { programs += $1; accepted += $1 * $3 }
    / through, / { through[$1] += $2; wrong[$1] += $4 }
    / of .* fail/ { bad += $1; all += $3; died += /died/ }
    END {
      if (programs) printf "%d programs, %.1f %% accepted\n", programs, accepted / programs
      for (door in through) printf "%-10s %8d through, %d wrong\n", door, through[door], wrong[door]
      printf "%d of %d fail%s\n", bad, all, died ? ", and a process died" : ""
    }' "$out/said.txt"
  grep '^== ' "$out/faults.txt" | cut -c1-160 | sort | head -60
  [ ! -s "$out/faults.txt" ]
}

SECONDS_IN_ALL=${SECONDS:-0}
case ${1:-} in
pack) packed ;;
run) ran "${2:-1}" "${3:-1000}" ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" ;;
esac
