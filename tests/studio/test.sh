#!/bin/sh
# The studio's server: every method once, attacks, files changed by other programs, runs, many pages at once. Each part is a script of this
# folder: sh tests/studio/test.sh [PART…]. Tests in a browser are in browser/.
set -u
here=tests/studio
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if ! "$LIMN" studio --help >/dev/null 2>&1; then echo "not ok studio is a command"; exit 1; fi
if [ -z "$(pkg-config --libs libmicrohttpd 2>/dev/null)" ]; then
  "$LIMN" studio "$out" --no-browser 2>&1 | grep -q 'built without libmicrohttpd: install it' && echo "ok studio says what it was built without" || echo "not ok studio says what it was built without"
  echo "skipped studio: no libmicrohttpd"
  exit 0
fi
# A server leaves its threads to the end of its process; and looking for leaks takes longer than all that is looked at here.
case $LIMN in */san/*) export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" ;; esac
# They mostly wait: all at once.
for part in ${*:-messages values models files runs attacks load}; do
  mkdir "$out/$part"
  {
    timeout 300 /usr/bin/python3 "$here/$part.py" "$out/$part" >"$out/$part.out" 2>"$out/$part.error" ||
      { echo "not ok studio $part: ended by an error"; sed 's/^/    /' "$out/$part.error" | tail -15; } >>"$out/$part.out"
  } &
done
wait
cat "$out"/*.out
