#!/bin/sh
# Executes docs/notebook.ipynb with Debian's jupyter-nbconvert; the page and a picture of it are written to BUILD/python.
set -u
build=$PWD/$BUILD/python
mkdir -p "$build"
for module in nbconvert ipykernel matplotlib torch; do
  if ! /usr/bin/python3 -c "import $module" 2>/dev/null; then echo "skipped: the notebook wants Python's $module"; exit 0; fi
done
if ! /usr/bin/python3 -m nbconvert --to html --execute --output-dir "$build" docs/notebook.ipynb >"$build/log" 2>&1; then
  echo "not ok python notebook"
  tail -30 "$build/log" | sed 's/^/    /'
  exit 1
fi
pictures=$(grep -c 'alt="limn picture of' "$build/notebook.html")
if [ "$pictures" = 3 ]; then echo "ok python notebook: $build/notebook.html"; else echo "not ok python notebook: $pictures pictures of limn, wanted 3"; fi
if command -v chromium >/dev/null 2>&1; then
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,4300 --screenshot="$build/notebook.png" "file://$build/notebook.html" >/dev/null 2>&1
  if [ -s "$build/notebook.png" ]; then echo "ok python notebook, painted: $build/notebook.png"; else echo "not ok python notebook: chromium paints nothing"; fi
fi
