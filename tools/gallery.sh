#!/bin/sh
# Draws the pictures of docs/figures/gallery.txt into docs/pictures/gallery and writes docs/gallery.md.
#
#   tools/gallery.sh LIMN            everything
#   tools/gallery.sh LIMN NAME...    only draws these
#
# The list has paragraphs. `# Title` opens a section, what begins with `@ NAME` is a picture, all else is text of the page:
#
#   @ NAME
#   title: above the picture
#   draw: FILE [BOX] [options of limn draw]
#   program: full, or the lines to show as a pattern of sed's, or nothing, and the page has a link
#   score: a sign for each point of the list in drawing.md: 0, 1, 2, or - where the point does not apply
#   lacks: what is missing, for each point below 2
#   then lines of text, which stand below the picture
set -eu
limn=$1
shift
cd "$(dirname "$0")/.."
out=docs/pictures/gallery
list=docs/figures/gallery.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p $out

# name, then the words of its command, on one line for each picture
awk '/^@ / { name = $2 } /^draw: / { sub(/^draw: /, ""); print name, $0 }' $list >"$work/commands"

# The smallest letters that one reads, in units: those that stand lower or higher are smaller, as everywhere.
letters() { grep -o '\\limn\(sans\|sansbold\|serif\|italic\|bold\|math\){[0-9.]*}' "$1" | grep -o '[0-9.]*}' | tr -d '}' | sort -n | uniq -c | awk '$2 >= 12 { print $2; exit }'; }
size() { head -1 "$1" | sed 's/.* width="\([0-9.]*\)" height="\([0-9.]*\)".*/\1 \2/'; }

# A program with mistakes is drawn as far as it goes, and limn says what is wrong with status 1.
picture() {
  if head -1 "${2%% *}" | grep -q '^# With mistakes'; then want=1; else want=0; fi
  got=0
  # shellcheck disable=SC2086
  "$limn" draw $2 -o "$1" >/dev/null 2>"$work/says" || got=$?
  [ $got -eq $want ] || { cat "$work/says" >&2; exit 1; }
}

: >"$work/sizes"
while read -r name words; do
  [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
  picture "$out/$name.svg" "$words"
  picture "$work/picture.tex" "$words"
  echo "$name $(size "$out/$name.svg") $(letters "$work/picture.tex")" >>"$work/sizes"
done <"$work/commands"
[ $# -eq 0 ] || exit 0
for old in "$out"/*.svg; do
  grep -q "^$(basename "$old" .svg) " "$work/commands" || rm "$old"
done

awk -v sizes="$work/sizes" -f tools/gallery.awk $list >"$work/page"
mv "$work/page" docs/gallery.md
echo docs/gallery.md
