#!/bin/sh
# Compares limn's SVG rendered by rsvg-convert and its PDF rendered by poppler with limn's PNG.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
test=$BUILD/tests/canvas_test

if "$test" draw "$out"; then echo "ok canvas draws"; else echo "not ok canvas draws"; exit 1; fi

# has PROGRAM NAME: whether it is there; a word where it is not
has() {
  command -v "$1" >/dev/null 2>&1 && return 0
  echo "skipped: $2 needs $1"
  return 1
}

# near OTHER LIMIT NAME: the mean difference of all.png and OTHER, of 255
near() {
  mean=$("$test" compare "$out/all.png" "$1")
  if awk "BEGIN { exit !(\"$mean\" ~ /^[0-9.]+\$/ && $mean + 0 < $2) }" 2>/dev/null; then
    echo "ok canvas $3: $mean"
  else
    echo "not ok canvas $3: $mean, where less than $2 was wanted"
  fi
}

if has xmllint "well-formed SVG"; then
  if xmllint --noout "$out/all.svg"; then echo "ok canvas well-formed"; else echo "not ok canvas well-formed"; fi
fi
if has rsvg-convert "SVG against PNG"; then
  rsvg-convert -z 2 "$out/all.svg" | cat >"$out/svg.png"
  near "$out/svg.png" 0.2 "SVG and PNG"
fi
# poppler draws letters of type 3 at whole pixels
if has pdftoppm "PDF against PNG"; then
  pdftoppm -r 192 -png -singlefile "$out/all.pdf" "$out/pdf" 2>"$out/log"
  near "$out/pdf.png" 3 "PDF and PNG"
  if [ -s "$out/log" ]; then echo "not ok canvas PDF without complaints: $(cat "$out/log")"; else echo "ok canvas PDF without complaints"; fi
fi
if has pdftotext "text of PDF"; then
  pdftotext "$out/all.pdf" "$out/text"
  for words in 'Hamburgefonstiv 0123456789' 'x₁² + 10⁻³ ≤ λ' 'AVATAR αβγ ↦ ∇' '𝒜𝒳ℒ 𝔼ℝ ∞ ⊕'; do
    if grep -qF "$words" "$out/text"; then echo "ok canvas text $words"; else echo "not ok canvas text $words: $(cat "$out/text")"; fi
  done
fi
if has pdfinfo "title of PDF"; then
  if pdfinfo "$out/all.pdf" | grep -qF 'Every <mark> & "quote"'; then echo "ok canvas title"; else echo "not ok canvas title"; fi
fi
