#!/bin/sh
# Every path that README, CONTRIBUTING or a page of docs names in backticks or as a link exists:
# `src/…`, `tests/…`, `docs/…`, `tools/…` from the root; `base/…`, `core/…` and so on from src; `name.c` or `name.h` anywhere in
# the source; a link from its page.
# Prints a line "ok PAGE" or "not ok PAGE" for each page.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find src include tests tools bench -type f | sed 's|.*/||' | sort -u >"$work/names"
status=0

# The text outside of fenced blocks.
prose() { awk '/^```/ { inside = !inside; next } !inside' "$1"; }

ticked() { prose "$1" | grep -oE '`[^` ]+`' | tr -d '`' | sort -u; }

linked() { prose "$1" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)# ]+(#[^) ]*)?\)' | sed 's/^](//; s/[#)].*//' | grep -v '^[a-z]*:' | sort -u; }

missing() { # page: a line for each path that is not there
  ticked "$1" | while read -r path; do
    case $path in
      *'*'* | *'{'* | *…* | *'['* | *[A-Z][A-Z]*) ;; # a pattern, not a path
      src/* | tests/* | docs/* | tools/*) [ -e "$path" ] || echo "\`$path\`" ;;
      base/* | io/* | core/* | lang/* | run/* | show/* | api/* | cli/*) [ -e "src/$path" ] || echo "\`$path\`" ;;
      */* | _* | .*) ;; # a name in a program, an ending
      *.c | *.h | *.def | *.inc) grep -qxF -- "$path" "$work/names" || echo "\`$path\`" ;;
    esac
  done
  linked "$1" | while read -r path; do [ -e "$(dirname "$1")/$path" ] || echo "($path)"; done
}

for page in README.md CONTRIBUTING.md docs/*.md docs/add/*.md; do
  missing "$page" >"$work/missing"
  if [ -s "$work/missing" ]; then
    echo "not ok paths of $page"
    sed 's/^/  there is no /' "$work/missing"
    status=1
  else
    echo "ok paths of $page"
  fi
done
exit $status
