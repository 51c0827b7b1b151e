#!/bin/sh
# Tests of texts whose changes must be reviewed:  tests/texts.sh programs|errors|golden|rooms [--bless]
#   programs   examples and tests/programs pass `limn check` and `limn fmt --check`
#   errors     the messages of tests/errors/NAME.limn are those of NAME.err
#   golden     tests/golden/FILE.NAME.graph|grad|cost|who|step
#   rooms      rooms use only the rooms that src/rooms allows
set -u
bless=${2:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# said NAME STATUS: the log is shown when it is not 0
said() { if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; head -40 "$out/log"; fi; }
# golden EXPECTED ACTUAL NAME
golden() {
  if [ -n "$bless" ]; then cp "$2" "$1"; fi
  diff -u "$1" "$2" >"$out/log" 2>&1
  said "$3" $?
}

case $1 in
  rooms)
    tools/rooms.sh "${BUILD:-build}" >"$out/log" 2>&1
    said rooms $? ;;
  programs)
    for f in examples/*.limn bench/*.limn tests/programs/*.limn; do
      "$LIMN" check "$f" >"$out/log" 2>&1
      status=$?
      if [ $status -eq 1 ] && grep -q 'error: cannot read .*: No such file or directory' "$out/log"; then
        echo "skipped check $f: its data are not here"
      else
        said "check $f" $status
      fi
      "$LIMN" fmt --check "$f" >"$out/log" 2>&1
      said "fmt --check $f" $?
    done ;;
  errors)
    for f in tests/errors/*.limn; do
      (cd tests/errors && "$LIMN" check "$(basename "$f")") >"$out/err" 2>&1
      status=$?
      if grep -q ' error: ' "$out/err" && [ $status -ne 1 ]; then echo "not ok exit status of $f is $status"; fi
      golden "${f%.limn}.err" "$out/err" "$f"
    done ;;
  golden)
    for f in tests/golden/*; do
      base=$(basename "$f")
      kind=${base##*.}
      rest=${base%.*}
      name=${rest##*.}
      file=tests/golden/${rest%.*}.limn
      [ -e "$file" ] || file=examples/${rest%.*}.limn
      case $kind in
        graph) "$LIMN" print "$file" "$name" ;;
        grad) "$LIMN" grad "$file" "$name" ;;
        cost) "$LIMN" cost "$file" "$name" ;;
        who) "$LIMN" check "$file" --who ;;
        step) "$LIMN" print "$file" --after step ;;
        *) continue ;;
      esac >"$out/text" 2>&1
      golden "$f" "$out/text" "$f"
    done ;;
  *) echo "not ok there are no texts $1"; exit 1 ;;
esac
