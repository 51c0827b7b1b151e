#!/bin/sh
# The programs of docs/figures pass `limn check`, each picture of the gallery can be drawn and is on the page, and point 15 of its score agrees with the faults that limn finds.
set -u
. "$(dirname "$0")/../say.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
limn=${LIMN:-$PWD/build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 1
said=$dir/says

for file in docs/figures/*.limn; do
  want=0
  ! head -1 "$file" | grep -q '^# With mistakes' || want=1
  "$limn" check "$file" >"$dir/says" 2>&1
  if [ $? -eq $want ]; then ok "$file"; else not_ok "$file"; fi
  grep -q "$file" docs/figures/gallery.txt || { echo "no picture is made of it" >"$dir/says"; not_ok "$file"; }
done

awk '/^@ / { if (name) print name, score, draw; name = $2; score = "-" }
  /^score: / { score = substr($0, 8); gsub(/ /, "", score) }
  /^draw: / { draw = substr($0, 7) }
  END { print name, score, draw }' docs/figures/gallery.txt >"$dir/pictures"
while read -r name score words; do
  # shellcheck disable=SC2086
  "$limn" draw $words --check >"$dir/says" 2>"$dir/errors"
  code=$?
  # What is wrong with the program is said elsewhere than what is wrong with the picture.
  ! head -1 "${words%% *}" | grep -q '^# With mistakes' || [ $code -ne 1 ] || [ -s "$dir/says" ] || code=0
  cat "$dir/errors" >>"$dir/says"
  case $code$(echo "$score" | cut -c 15) in
    02 | 10 | 11 | 0 | 1) ok "$name" ;;
    *) echo "status $code, score $score" >>"$dir/says"; not_ok "$name" ;;
  esac
  [ -s "docs/pictures/gallery/$name.svg" ] && grep -q "gallery/$name.svg" docs/gallery.md || { echo "not on the page" >"$dir/says"; not_ok "$name"; }
done <"$dir/pictures"
exit $failed
