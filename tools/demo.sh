#!/bin/sh
# Trains examples/lens.limn on generated drawings of faces, and writes demo/report.html.
set -eu
cd "$(dirname "$0")/.."
limn=${1:-build/limn}
rm -rf demo
"$limn" train examples/lens.limn --out demo
echo
echo "Open $PWD/demo/report.html: faces as they are and edited, half made edits, the curves, and the program."
