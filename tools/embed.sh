#!/bin/sh
# Files, one after the other, as a C array on standard output: tools/embed.sh HEADER NAME FILE…
# HEADER declares NAME and NAME_size. A line `#include "…"` stands for that file of src/.
set -eu
header=$1
name=$2
shift 2
echo "#include \"$header\""
echo "const char $name[] = {"
awk '
function put(file, line, word) {
  while ((getline line < file) > 0)
    if (split(line, word, "\"") == 3 && word[1] == "#include ") put("src/" word[2])
    else print line
  close(file)
}
BEGIN { for (i = 1; i < ARGC; i++) put(ARGV[i]) }' "$@" | od -An -v -tu1 | sed 's/[0-9][0-9]*/(char)&,/g'
echo '0};'
echo "const size_t ${name}_size = sizeof $name - 1;"
