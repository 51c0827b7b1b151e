#!/bin/sh
# Fault injection, short version: some faults of each attack, always the same. All of them: make torture.
set -u
cd "$(dirname "$0")/../.." || exit 1
case $BUILD in */san) echo "skipped: the sanitizers' own library does not stand one that fails in front of it"; exit 0 ;; esac
if [ "$(uname -s)" != Linux ]; then echo "skipped: what fails is put between programs and the C library as Linux has it"; exit 0; fi
exec /usr/bin/python3 tests/torture/torture.py --limn "$LIMN" --build "$BUILD" --small --seconds "${TORTURE_SECONDS:-0}" 2>&1
