#!/bin/sh
# Games, the library's optimisers and learning over bits, against independent formulas.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
/usr/bin/python3 "$here/games.py" "$LIMN" "$root" ${*:-files exploit optimisers players known bits laws}
