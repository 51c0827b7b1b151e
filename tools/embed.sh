#!/bin/sh
# Concatenates files to a C array on standard output: tools/embed.sh HEADER NAME FILE…
# HEADER declares NAME and NAME_size. A line `#include "…"` is replaced by that file of src/. $DEPENDS, if set, is a file for a make rule that
# lists these files.
set -eu
header=$1
name=$2
shift 2
echo "#include \"$header\""
echo "const char $name[] = {"
awk -v depends="${DEPENDS:-}" '
function put(file, line, word) {
  if (depends) { printf "%s: %s\n", target, file >depends; printf "%s:\n", file >depends }
  while ((getline line < file) > 0)
    if (split(line, word, "\"") == 3 && word[1] == "#include ") put("src/" word[2])
    else print line
  close(file)
}
BEGIN { target = depends; sub(/\.d$/, "", target); for (i = 1; i < ARGC; i++) put(ARGV[i]) }' "$@" | od -An -v -tu1 | sed 's/[0-9][0-9]*/(char)&,/g'
echo '0};'
echo "const size_t ${name}_size = sizeof $name - 1;"
