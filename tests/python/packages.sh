#!/bin/sh
# The wheel in an empty environment without network and without LIMN_LIBRARY; the Debian packages in an empty root.
set -u
python=${PYTHON:-/usr/bin/python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset LIMN_LIBRARY PYTHONPATH
try='import limn; p = limn.loads("box f(x: R[n]) -> R[n] = 2 * x\n"); print(limn.__version__, list(p.f([1.0, 2.0])))'
said() { if [ "$2" = "$3" ]; then echo "ok python $1"; else echo "not ok python $1: $2, wanted $3"; fi; }
version=$(sed -n 's/^#define LIMN_VERSION "\(.*\)"/\1/p' include/limn.h)

make -s python >"$dir/log" 2>&1 || cat "$dir/log"
wheel=$(tail -1 "$dir/log")
cp "$wheel" "$dir/first.whl" 2>/dev/null
make -s python >/dev/null 2>&1
if cmp -s "$wheel" "$dir/first.whl"; then echo "ok python wheel: the same bytes again"; else echo "not ok python wheel: other bytes"; fi
if "$python" -m venv --system-site-packages "$dir/env" >"$dir/log" 2>&1; then
  "$dir/env/bin/python" -m pip install -q --no-index "$wheel" >"$dir/log" 2>&1 || cat "$dir/log"
  said "wheel installed by pip" "$(cd "$dir" && "$dir/env/bin/python" -c "$try" 2>&1)" "$version [2.0, 4.0]"
  said "library inside the wheel" "$(cd "$dir" && "$dir/env/bin/python" -c 'import limn, limn._library as l; limn.version(); print(l.library()._name.startswith(l.os.path.dirname(limn.__file__)))')" True
  "$dir/env/bin/python" -m pip uninstall -q -y limn >/dev/null 2>&1
  if [ -e "$dir"/env/lib/python3*/site-packages/limn ]; then echo "not ok python wheel: something is left"; else echo "ok python wheel uninstalled"; fi
else
  echo "skipped: python3 -m venv does not work (Debian's python3-venv)"
fi

if command -v dpkg-deb >/dev/null 2>&1; then
  make -s deb >"$dir/log" 2>&1 || cat "$dir/log"
  for deb in $(grep '\.deb$' "$dir/log"); do dpkg-deb -x "$deb" "$dir/root"; done
  library=$(dirname "$(find "$dir/root" -name liblimn.so.0 | head -1)")
  said "python3-limn with limn" "$(cd "$dir" && LD_LIBRARY_PATH=$library PYTHONPATH=$dir/root/usr/lib/python3/dist-packages "$python" -c "$try" 2>&1)" "$version [2.0, 4.0]"
else
  echo "skipped: dpkg-deb is not here"
fi
said "without a library" "$(cd "$dir" && PYTHONPATH="$OLDPWD/python" LIMN_LIBRARY=/nowhere "$python" -c 'import limn; limn.version()' 2>&1 | grep -c 'ImportError: liblimn is not found')" 1
