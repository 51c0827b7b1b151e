#!/bin/sh
# Compares the ODE solver of src/run/solve with SUNDIALS, if Debian's libsundials-dev is installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
lib=$(ls /usr/lib/*/libsundials_cvode.a 2>/dev/null | head -1)
if [ -z "$lib" ] || [ ! -e /usr/include/cvode/cvode.h ]; then
  echo "skipped: libsundials-dev is not installed"
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
case $build in *san*) flags="-fsanitize=address,undefined" ;; *) flags="" ;; esac
# Static libraries only: the shared ones bring MPI along.
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O1 -g $flags -Isrc -o "$dir/cross" tests/cross/cvode.c "$build/libinner.a" "$lib" "${lib%cvode.a}nvecserial.a" -lpng -lz -lpthread -lm || exit 1
"$dir/cross"
