#!/bin/sh
# Trains examples/lens.limn on faces that are drawn by code, and writes demo/report.html.
set -eu
cd "$(dirname "$0")/.."
limn=${1:-build/limn}
rm -rf demo
"$limn" train examples/lens.limn --out demo
echo
echo "Open $PWD/demo/report.html: faces as they are and edited, half made edits, the curves, and the program."
