#!/bin/sh
# Checks the dependences between rooms against src/rooms, twice: by the includes of files, and by the undefined symbols of
# objects (if a build folder is given). Also checks that there are no cycles, that private headers (_own.h) are not used outside of their room, that no room is too large, and
# that every header guard is its path.
set -eu
cd "$(dirname "$0")/.."
build=${1:-}
{
  find src -name '*.[ch]' -o -name '*.inc' -o -name '*.def' | sort | xargs awk '
    function ends() { if (file != "") print "file", file, lines }
    FNR == 1 { ends(); file = substr(FILENAME, 5) }
    { lines = FNR }
    /^ *# *include "/ { split($0, part, "\""); print "include", file, part[2] }
    /^#ifndef [A-Z0-9_]*_H$/ { print "guard", file, $2 }
    END { ends() }'
  if [ -n "$build" ]; then
    find src -name '*.c' | sort | sed "s|^src|$build|; s|c\$|o|" | while read -r o; do [ ! -f "$o" ] || echo "$o"; done |
      xargs nm -A -g | awk -v build="$build/" '
      { n = index($0, ":"); file = substr($0, length(build) + 1, n - length(build) - 2) "c"; $0 = substr($0, n + 1) }
      NF == 3 && $2 ~ /[TDRBVW]/ { print "defines", file, $3 }
      NF == 2 && $1 == "U" { print "needs", file, $2 }'
  fi
} | awk '
function room_of(file,   d) {
  d = file
  while (sub(/\/[^\/]*$/, "", d)) if (d in order) return d
  return ""
}
function complain(text) { print text; bad = 1 }
function use(from, to, how,   a, b) {
  a = room_of(from); b = room_of(to)
  if (a == b || b == "") return
  used[a, b] = 1
  if (!((a, b) in may) && !told[a, b, how]++) complain("src/" from " " how " of " b ", which src/rooms does not let " a " use")
}
BEGIN {
  while ((getline line < "src/rooms") > 0) {
    if (line ~ /^#/ || line ~ /^ *$/) continue
    if (line ~ /^ /) continue                     # the sentence about a room
    n = split(line, word, /[: ]+/)
    if (word[1] in order) complain("src/rooms: " word[1] " stands twice")
    order[word[1]] = ++rooms
    name[rooms] = word[1]
    for (i = 2; i <= n; i++) if (word[i] != "") {
      may[word[1], word[i]] = 1
      if (!(word[i] in order)) complain("src/rooms: " word[1] " uses " word[i] ", which stands below it or nowhere")
    }
  }
}
$1 == "file" {
  known[$2] = 1
  if (room_of($2) == "") { if ($2 ~ /\//) complain("src/" $2 " is in no room of src/rooms") ; next }
  files[room_of($2)]++
  if ($2 !~ /glyphs\.inc$/) lines[room_of($2)] += $3
}
$1 == "guard" {
  want = toupper("limn_" $2)
  gsub(/[^A-Z0-9]/, "_", want)
  if ($3 != want) complain("src/" $2 " is guarded by " $3 ", not by " want)
}
$1 == "include" { from[++includes] = $2; header[includes] = $3 }
$1 == "defines" { home[$3] = $2 }
$1 == "needs" { need[++needs] = $2; symbol[needs] = $3; built[room_of($2)] = 1 }
END {
  for (i = 1; i <= includes; i++) if (header[i] in known) {
    use(from[i], header[i], "includes " header[i])
    if (header[i] ~ /_own\.h$/ && room_of(from[i]) != room_of(header[i])) complain("src/" from[i] " includes " header[i] ", which is private to " room_of(header[i]))
  }
  for (i = 1; i <= needs; i++) if (symbol[i] in home) use(need[i], home[symbol[i]], "calls " symbol[i])
  for (i = 1; i <= rooms; i++) {
    if (!files[name[i]]) complain("src/rooms: there is no room " name[i])
    if (files[name[i]] > 45 || lines[name[i]] > 9200) complain(name[i] " is too large: " files[name[i]] " files, " lines[name[i]] " lines")
  }
  if (needs) for (pair in may) { split(pair, p, SUBSEP); if (p[1] in built && !((p[1], p[2]) in used)) complain("src/rooms: " p[1] " does not use " p[2]) }
  exit bad
}'
