#!/bin/sh
# The Python module: tests/python/calls.py with numpy; with LONG=1 (make test-python) also torch and the packages.
set -u
build=$PWD/$BUILD
case $BUILD in
*/san)
  echo "skipped: a library under the sanitizers cannot be opened by python3"
  exit 0
  ;;
esac
library=$build/liblimn.so
python=${PYTHON:-/usr/bin/python3}
if [ ! -e "$library" ]; then echo "skipped: there is no $library"; exit 0; fi
if ! "$python" -c 'import numpy' 2>/dev/null; then echo "skipped: python3 has no numpy"; exit 0; fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export LIMN_CACHE="$out/cache" LIMN_LIBRARY="$library" PYTHONPATH="$PWD/python" PYTHONPYCACHEPREFIX="$out/pyc"
mkdir -m 700 "$LIMN_CACHE"

# The structs of the module are those of limn.h.
"$python" tests/python/structs.py >"$out/structs.c" && ${CC:-cc} -Iinclude -o "$out/structs" "$out/structs.c" && "$out/structs" || echo "not ok python structs"
"$python" tests/python/calls.py
"$python" tests/python/page.py docs/python.md
if [ -z "${LONG:-}" ]; then exit 0; fi
if "$python" -c 'import torch' 2>/dev/null; then "$python" tests/python/with_torch.py; else echo "skipped: python3 has no torch"; fi
sh tests/python/packages.sh
