#!/bin/sh
# Writes the files of a folder as C arrays, with their names and types, to standard output: tools/embed_files.sh HEADER NAME FOLDER [PATTERN]
# HEADER declares NAME_files and NAME_file_count. PATTERN selects files, such as '*.limn'.
set -eu
header=$1
name=$2
folder=$3
pattern=${4:-*}
echo "#include \"$header\""
type_of() {
  case "$1" in
    *.html) echo "text/html; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.gz) echo "application/gzip" ;;
    *.json) echo "application/json" ;;
    *.svg) echo "image/svg+xml" ;;
    *.png) echo "image/png" ;;
    *.ico) echo "image/x-icon" ;;
    *.woff2) echo "font/woff2" ;;
    *.wasm) echo "application/wasm" ;;
    *) echo "text/plain; charset=utf-8" ;;
  esac
}
files=$(cd "$folder" && find . -type f ! -name '.*' -name "$pattern" | sort)
k=0
for f in $files; do
  k=$((k + 1))
  echo "static const unsigned char file_$k[] = {"
  od -An -v -tu1 "$folder/$f" | sed 's/[0-9][0-9]*/&,/g'
  echo '0};'
done
echo "const PageFile ${name}_files[] = {"
k=0
for f in $files; do
  k=$((k + 1))
  echo "{\"${f#./}\", \"$(type_of "$f")\", (const char *)file_$k, sizeof file_$k - 1},"
done
echo "};"
echo "const uint32_t ${name}_file_count = $k;"
