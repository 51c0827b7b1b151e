#!/bin/sh
# The studio's page: the built copy in studio/dist is that of studio/src, within the size limits; the programs of the tutorial are
# correct; and in a real browser (browser.mjs) a short test, with LONG=1 all of docs/studio.md. Skipped without npm's packages
# (`make studio-page`) or chromium.
set -u
here=tests/studio_page
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
verdict() { if [ "$2" -eq 0 ]; then echo "ok studio_page $1"; else echo "not ok studio_page $1"; fi; }

for f in studio/src/tour/*.limn playground/programs/*.limn; do
  "$LIMN" check "$f" >"$out/said" 2>&1 && "$LIMN" fmt --check "$f" >>"$out/said" 2>&1
  status=$?
  [ $status -eq 0 ] || cat "$out/said"
  verdict "$(basename "$f")" $status
done

# 600 kB, and 180 kB for those who fetch it compressed. The manual and Play come when they are opened.
page=$(ls studio/dist/* | grep -v /play.js)
all=$(cat $page | wc -c)
small=0
for f in $page; do small=$((small + $(gzip -9c "$f" | wc -c))); done
echo "the page has $all bytes, $small compressed"
[ "$all" -le 600000 ] && [ "$small" -le 180000 ]
verdict 'its size' $?
! grep -rlE 'https?://(registry|npm)' studio --include=*.json --exclude-dir=node_modules
verdict 'no address to fetch from in the lock file' $?

if ! command -v node >/dev/null 2>&1 || [ ! -d studio/node_modules/esbuild ]; then
  echo 'skipped: npm packages of the page are not there (make studio-page)'
  exit 0
fi
studio/node_modules/.bin/tsc --noEmit -p studio
verdict 'types' $?
node studio/build.mjs "$out/dist" && for f in index.html page.js chunk.js play.js page.css icon.svg; do cmp "studio/dist/$f" "$out/dist/$f" || exit 1; done
verdict 'studio/dist is what studio/src gives (make studio-page)' $?
if ! "$LIMN" studio --help >/dev/null 2>&1 || [ ! -d studio/node_modules/playwright-core ] || ! command -v chromium >/dev/null 2>&1; then
  echo 'skipped: a browser and playwright-core, or libmicrohttpd, are not there'
  exit 0
fi
node $here/browser.mjs
