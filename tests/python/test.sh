#!/bin/sh
# The Python module with numpy and prebuilt kernels; LONG=1 (make test-python): compiled, with torch, the packages, a notebook and
# measurements.
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
[ -n "${LONG:-}" ] || export LIMN_CC=none # prebuilt kernels: nothing is waited for

# The structs of the module are those of limn.h.
"$python" tests/python/structs.py >"$out/structs.c" && ${CC:-cc} -Iinclude -o "$out/structs" "$out/structs.c" && "$out/structs" || echo "not ok python structs"
# What was written for Python 3.9 is read by it, whatever this one is; so is what is exported.
"$python" - python/limn/*.py src/port/python/*.py <<'END'
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path, feature_version=(3, 9))
print("ok python: %d files are Python 3.9" % len(sys.argv[1:]))
END
"$python" tests/python/calls.py
if "$python" -c 'import torch' 2>/dev/null && [ -n "${LONG:-}" ]; then with=--torch; else with=; fi
"$python" tests/python/page.py docs/python.md $with
if [ -z "${LONG:-}" ]; then exit 0; fi
if "$python" -c 'import torch' 2>/dev/null; then "$python" tests/python/with_torch.py; else echo "skipped: python3 has no torch"; fi
sh tests/python/packages.sh
sh tests/python/notebook.sh
"$python" tests/python/figures.py
