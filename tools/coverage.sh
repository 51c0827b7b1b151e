#!/bin/sh
# Prints line and branch coverage of the tests: coverage.sh BUILD, where BUILD was built with --coverage (make coverage). A row for each room of
# src, one for the total, and the ten files with the lowest line coverage. Each file is measured in its own object only.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
find "$build" -name "*.gcno" | sed "s|^$build/||; s|\.gcno$||" | while read -r stem; do
  [ -e "src/$stem.c" ] || continue
  gcov -b -n -o "$build/$(dirname "$stem")" "$build/$stem.o" 2>/dev/null | awk -v file="src/$stem.c" '
    /^File / { own = index($0, "\x27" file "\x27") || index($0, "/" file "\x27") }
    own && /^Lines executed:/ { split(substr($0, 16), x, "% of "); lines = x[2]; reached = x[1] * x[2] / 100 }
    own && /^Taken at least once:/ { split(substr($0, 21), x, "% of "); branches = x[2]; taken = x[1] * x[2] / 100 }
    END { if (lines) printf "%s %d %d %d %d\n", file, reached + 0.5, lines, taken + 0.5, branches }'
done >"$build/coverage.txt"
share() { awk '{ printf "%-28s %6.1f %%  %6.1f %%  %6d\n", $1, 100 * $2 / $3, $5 ? 100 * $4 / $5 : 100, $3 }'; }
echo "room                            lines  branches   lines of code"
awk '{ room = $1; sub("^src/", "", room); sub("/[^/]*$", "", room); for (i = 2; i < 6; i++) { sum[room, i] += $i; sum["all", i] += $i } rooms[room] }
  END { for (room in rooms) print room, sum[room, 2], sum[room, 3], sum[room, 4], sum[room, 5]; print "~all", sum["all", 2], sum["all", 3], sum["all", 4], sum["all", 5] }' "$build/coverage.txt" |
  sort | sed 's/^~//' | share
echo "the least covered files"
awk '$3 >= 20 { print $2 / $3, $0 }' "$build/coverage.txt" | sort -n | head -10 | cut -d' ' -f2- | share
