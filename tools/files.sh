#!/bin/sh
# Writes docs/files.md to standard output: every room with its files, each with the first sentence of its comment.
set -eu
cd "$(dirname "$0")/.."
cat <<'TEXT'
# The files

Written by `make docs` from `src/rooms` and the first sentence of each file. [architecture.md](architecture.md) follows a program through the rooms.
TEXT
awk '/^[^# ]/ { sub(/:.*/, ""); room = $0 } /^ / { sub(/^ +/, ""); print room "|" $0 }' src/rooms | while IFS='|' read -r room about; do
  printf '\n## %s\n\n%s.\n\n' "$room" "$about"
  find "src/$room" -name '*.[ch]' -o -name '*.inc' -o -name '*.def' | sort | while read -r f; do
    inner=$(awk '/^[^# ]/ { sub(/:.*/, ""); print }' src/rooms | grep "^$room/" || true)
    rest=${f#src/"$room"/}
    case "$inner " in *"$room/${rest%%/*}"*) case "$rest" in */*) continue ;; esac ;; esac
    awk -v name="$rest" '
      !/^\/\// { if (text != "") exit; next }
      { sub(/^\/\/ ?/, ""); if ($0 == "") exit; text = text (text == "" ? "" : " ") $0 }
      END {
        sub("^" name ": ", "", text)
        if (match(text, /[.:?]( [A-Z`]|$)/)) text = substr(text, 1, RSTART)
        sub(/:$/, ".", text)
        print "* `" name "`: " text
      }' "$f"
  done
done
