#!/bin/sh
# Compares renderings of real pictures: SVG by rsvg-convert and a browser, PDF by poppler, each with limn's PNG, in every theme. The limits are
# out of 255: for the mean of all pixels, and for the worst block of 16 by 16. Measured: rsvg-convert 0.06 and 1.5; chromium 0.7 and 28, since it shifts letters by
# a fraction of a pixel; poppler 1.3 and 53, since it places Type 3 letters at whole pixels.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
test=$BUILD/tests/canvas_test
root=$PWD

# near NAME OTHER MEAN WORST
near() {
  got=$("$test" blocks "$out/own.png" "$2")
  if echo "$got" | awk "{ exit !(NF == 2 && \$1 < $3 && \$2 < $4) }"; then echo "ok looks $1: $got"; else echo "not ok looks $1: $got, where less than $3 $4 was wanted"; fi
}

# look NAME FILE [BOX] [OPTION…]: in one theme, by all
look() {
  name=$1
  shift
  for kind in png svg pdf; do "$LIMN" draw "$@" -o "$out/own.$kind" >"$out/log" 2>&1 || { echo "not ok looks $name: $(head -1 "$out/log")"; return; }; done
  if command -v rsvg-convert >/dev/null; then
    rsvg-convert -z 2 "$out/own.svg" >"$out/rsvg.png"
    near "$name by rsvg-convert" "$out/rsvg.png" 0.2 3
  fi
  if command -v pdftoppm >/dev/null; then
    pdftoppm -r 192 -png -singlefile "$out/own.pdf" "$out/poppler" 2>/dev/null
    near "$name by poppler" "$out/poppler.png" 2 75
  fi
}

# browse NAME: the SVG that `look` drew last
browse() {
  size=$(sed -n 's/.*<svg[^>]* width="\([0-9.]*\)" height="\([0-9.]*\)".*/\1 \2/p' "$out/own.svg" | head -1 | awk '{ print int($1) + 41 "," int($2) + 201 }')
  timeout 60 "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --force-device-scale-factor=2 --user-data-dir="$out/profile" \
    --window-size="$size" --screenshot="$out/chromium.png" "file://$out/own.svg" >/dev/null 2>&1
  near "$1 by chromium" "$out/chromium.png" 1.2 40
}

cd "$root" || exit 1
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
for theme in light dark mono; do look "multihead $theme" examples/attention.limn multihead --theme $theme; done
if [ -n "$chromium" ]; then browse "multihead mono"; fi
look "goals" examples/gan.limn --theme light
if [ -n "$chromium" ]; then browse "goals"; else echo "skipped: a browser"; fi
look "transformer" examples/transformer.limn layer --theme light
look "unet" examples/unet.limn unet --theme dark
