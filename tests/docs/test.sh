#!/bin/sh
# The programs and outputs on the pages are those of limn.
#
#   ```limn          a program that must pass `limn check` alone
#   ```limn part     continues the program before it in the same section: together they must pass
#   ```limn error    must be refused; `<!-- wants: … -->` after it has a part of the message
#   ```console       each line `$ limn …` is run with the program before it as the file that the command names;
#                    the following lines must be its output, except spaces at line ends. Other commands are not run.
#
#   tests/docs/test.sh [--bless]        --bless rewrites the outputs on the pages; read the differences
# Paths on the pages must exist: paths.sh. LIMN is the program to test. Prints a line "ok NAME" or "not ok NAME" for each block and command.
set -u
limn=${LIMN:-$PWD/build/limn}
bless=${1:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$limn" "$work/bin/limn"
PATH=$work/bin:$PATH
export PATH
status=0

good() { echo "ok $1"; }
bad() { # name file-to-show
  echo "not ok $1"
  sed 's/^/  /' "$2"
  status=1
}

# The last word of a command that names a program file.
program_of() { tr ' ' '\n' <"$1" | grep '\.limn$' | head -1; }

run_console() { # block name
  c=1
  while [ -e "$blocks/$1.$c.run" ]; do
    case $(cat "$blocks/$1.$c.run") in
      "limn "*)
        file=$(program_of "$blocks/$1.$c.run")
        [ -z "$file" ] || [ ! -e "$work/program" ] || cp "$work/program" "$place/$file"
        (cd "$place" && sh "$blocks/$1.$c.run") >"$work/raw" 2>&1
        sed 's/[[:space:]]*$//' "$work/raw" >"$work/got"
        [ -z "$bless" ] || cp "$work/got" "$blocks/$1.$c.says"
        sed 's/[[:space:]]*$//' "$blocks/$1.$c.says" >"$work/want"
        if diff "$work/want" "$work/got" >"$work/diff"; then good "$2 $(cat "$blocks/$1.$c.run")"
        else bad "$2 $(cat "$blocks/$1.$c.run")" "$work/diff"; fi ;;
    esac
    c=$((c + 1))
  done
}

check_program() { # name
  cp "$work/program" "$place/program.limn"
  if (cd "$place" && limn check program.limn) >"$work/got" 2>&1; then good "$1"; else bad "$1" "$work/got"; fi
}

check_error() { # block name
  cp "$work/program" "$place/program.limn"
  (cd "$place" && limn check program.limn) >"$work/got" 2>&1
  [ $? -eq 1 ] || { echo "should be refused with status 1" >>"$work/got"; bad "$2" "$work/got"; return; }
  if [ ! -e "$blocks/$1.wants" ]; then echo "no message is asked for" >"$work/got"; bad "$2" "$work/got"
  elif grep -qF -f "$blocks/$1.wants" "$work/got"; then good "$2"
  else bad "$2" "$work/got"; fi
}

for page in README.md docs/language.md docs/story.md docs/architecture.md; do
  blocks=$work/blocks/$page
  place=$work/place/$page # files stay: a later program may `use` an earlier one
  mkdir -p "$blocks" "$place"
  cp "$root"/tests/docs/files/* "$place" # the data that programs of the pages name
  rm -f "$work/program"
  awk -v out="$blocks" -f "$root/tests/docs/blocks.awk" "$root/$page"
  n=1
  section=
  while [ $n -le "$(cat "$blocks/blocks")" ]; do
    if [ -e "$blocks/$n.kind" ]; then
      name=$page:$(cat "$blocks/$n.line")
      case $(cat "$blocks/$n.kind") in
        limn) cp "$blocks/$n.limn" "$work/program"; check_program "$name" ;;
        part)
          if [ "$section" = "$(cat "$blocks/$n.section")" ]; then cat "$blocks/$n.limn" >>"$work/program"
          else cp "$blocks/$n.limn" "$work/program"; fi
          check_program "$name" ;;
        error) cp "$blocks/$n.limn" "$work/program"; check_error $n "$name" ;;
        console) run_console $n "$name" ;;
      esac
      section=$(cat "$blocks/$n.section")
    fi
    n=$((n + 1))
  done
  if [ -n "$bless" ]; then
    awk -v out="$blocks" -f "$root/tests/docs/bless.awk" "$root/$page" >"$work/page" && cat "$work/page" >"$root/$page"
  fi
done
# editors show what stands above a declaration of the library, or behind it
silent=$(awk '/^(box|optimiser) / { if ((before !~ /^#/ || before ~ /^# --/) && !/#/) print FILENAME ": " $2 } { before = $0 }' "$root"/lib/*.limn)
if [ -z "$silent" ]; then echo "ok every box of the library has a word about it"; else echo "not ok of the library without a word: $silent"; status=1; fi
sh "$root/tests/docs/paths.sh" || status=1
exit $status
