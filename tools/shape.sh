#!/bin/sh
# The size and shape of the source, as a table (make shape).
set -eu
cd "$(dirname "$0")/.."
source_files() { find src \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' \) ! -name 'glyphs.inc' | sort; }

row() { printf '%-58s %s\n' "$1" "$2"; }

row "lines of src (.c .h .def .inc, without glyphs)" "$(source_files | xargs cat | wc -l)"
row "files" "$(source_files | wc -l)"
row "rooms (src/rooms)" "$(grep -c '^[a-z]' src/rooms)"
row "rooms that src/api uses" "$(sed -n 's/^api: *//p' src/rooms | wc -w)"

# Functions begin in column 1 with a signature that ends in `) {`, and end with `}` in column 1: clang-format sees to both.
lengths=$(mktemp)
trap 'rm -f "$lengths"' EXIT
source_files | grep '\.[ch]$' | grep -v '/prelude' | xargs awk '
  FNR == 1 { open = 0 }
  !open && /^[A-Za-z_][A-Za-z_0-9 *]*\(/ && !/^typedef|^#/ { open = 1; at = FNR }
  open == 1 && /;[ \t]*$/ { open = 0 }
  open == 1 && /\}[ \t]*$/ { print 1; open = 0 }
  open == 1 && /\{[ \t]*$/ { open = 2 }
  open == 2 && /^\}/ { print FNR - at + 1; open = 0 }' | sort -n >"$lengths"
row "functions; median and largest number of lines" "$(awk '{ n[NR] = $1 } END { print NR "; " n[int((NR + 1) / 2)] ", " n[NR] }' "$lengths")"
row "functions of more than 60 lines" "$(awk '$1 > 60' "$lengths" | wc -l)"

# A line counts as alike when only names, numbers and strings differ. Runs of six lines with text in at least four, in two places.
alike() {
  source_files | grep '\.c$' | xargs awk '
    FNR == 1 { n = 0; file++ }
    { sub(/\/\/.*/, ""); gsub(/"([^"\\]|\\.)*"/, "s"); gsub(/[A-Za-z_][A-Za-z_0-9]*/, "a"); gsub(/[0-9][0-9.]*/, "0"); gsub(/[ \t]/, "") }
    length($0) < 3 || /^#/ { next }
    {
      line[n % 6] = $0; n++
      if (n < 6) next
      run = ""; long = 0
      for (i = 0; i < 6; i++) { run = run "\n" line[(n + i) % 6]; long += length(line[(n + i) % 6]) > 11 }
      if (long < 5) next
      if (run in first) { if (!(n == last + 1 && file == where)) pairs++; last = n; where = file } else first[run] = 1
    }
    END { print pairs + 0 }'
}
row "runs of six lines that stand twice but for names" "$(alike)"
row "functions called take or keep" "$(source_files | xargs grep -hcE '^(static )?[A-Za-z_].*[ *](take|keep)\(' | awk '{ n += $1 } END { print n + 0 }')"
# asinh is used nowhere, so its name stands only where functions are listed: ops.def, and the names that C reserves.
row "places that know asinh: files of src" "$(source_files | xargs grep -lw asinh | grep -vc /fn_names.def)"

# By the dependencies that the compiler wrote at the last build, of sources that are still there.
dependencies() { find src tests -maxdepth 6 -name '*.c' | sed 's|^src/|build/|; s|^tests/|build/tests/|; s|c$|d|' | while read -r d; do [ ! -f "$d" ] || echo "$d"; done; }
included_by() { dependencies | xargs grep -lE " src/$1( |$)" /dev/null | wc -l; }
for header in base/base.h base/diag.h base/names.h core/diagram/diagram.h core/diagram/ops.h core/diagram/ops.def; do
  row "objects that a change of $header builds anew" "$(included_by $header)"
done
