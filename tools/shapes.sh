#!/bin/sh
# Checks the shape of the source: functions have at most seven parameters and 70 lines, and only
# src/lang/syntax uses the layout of syntax nodes; other rooms use the accessors of nodes.def.
#   tools/shapes.sh [FOLDER]    lists violations in src; the status says whether there are any
set -eu
[ -n "${1:-}" ] || cd "$(dirname "$0")/.."
src=${1:-src}
most_lines=70
most_params=7
bad=0

if grep -rnE --include='*.[ch]' '(\.|->)n?kid\b|(\.|->)signs\b' "$src" | grep -v "^$src/lang/syntax/" >&2; then
  echo "only src/lang/syntax reads the parts of a node by number; elsewhere they have names (src/lang/syntax/nodes.def)" >&2
  bad=1
fi

# Functions begin in column 1 with a signature that ends in `) {`, and end with `}` in column 1: clang-format sees to both.
shapes() {
  find "$src" -name '*.[ch]' ! -name 'prelude*.h' | sort | while read -r f; do
    awk -v file="$f" '
    function params(text,   i, c, depth, n, inner) {
      depth = 0; n = 0; inner = ""
      for (i = index(text, "("); i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(" && ++depth == 1) { n = 1; continue }
        if (c == ")" && --depth == 0) break
        if (c == "," && depth == 1) n++
        inner = inner c
      }
      gsub(/[ \t]/, "", inner)
      return inner == "" || inner == "void" ? 0 : n
    }
    function name_in(text) { sub(/\(.*/, "", text); sub(/.*[ *]/, "", text); return text }
    { sub(/\/\/.*/, "") }
    open == 0 && /^[A-Za-z_][A-Za-z_0-9 *]*\(/ && !/^typedef|^#/ { open = 1; head = ""; at = NR }
    open == 1 {
      head = head " " $0
      if (head ~ /;[ \t]*$/) { print file, at, 0, params(head), name_in(head); open = 0 }
      else if (head ~ /\{[ \t]*$/) open = 2
      else if (head ~ /\}[ \t]*$/) { print file, at, 1, params(head), name_in(head); open = 0 }
    }
    open == 2 && /^\}/ { print file, at, NR - at + 1, params(head), name_in(head); open = 0 }' "$f"
  done
}
shapes | awk -v lines=$most_lines -v params=$most_params '
  $3 > lines { print $1 ":" $2 ": " $5 " has " $3 " lines, more than " lines; bad = 1 }
  $5 == "small_product" { next } # generated code calls it, with plain arguments
  $5 == "handle_request" { next } # libmicrohttpd calls it so
  $4 > params { print $1 ":" $2 ": " $5 " has " $4 " parameters, more than " params; bad = 1 }
  END { exit bad }' >&2 || bad=1
exit $bad
