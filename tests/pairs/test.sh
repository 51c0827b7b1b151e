#!/bin/sh
# All options of each command, alone and in pairs: each has an effect or is refused. An option has an effect if the output
# or a written file differs from that without the option. tests/pairs/options.txt has the lines:
#   COMMAND LINE | OPTION | OPTION …
# `+ OPTION` need not have an effect; `~ OPTION` has one alone, but need not have one together with others, such as `--set c=5` in a
# picture without c; together with `! OPTION`, the others need not have one, as with `--check` of a picture without faults.
# FULL=1: also all pairs, and the lines that begin with `full`. ROW='export': lines that begin with this word.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r "$root"/tests/pairs/files/* "$dir"
cd "$dir" || exit 1
mkdir at
"$LIMN" train learn.limn --quiet --plain --out run >/dev/null 2>&1 || { echo "not ok pairs: a run to start from"; exit 1; }
"$LIMN" run tick.limn --quiet --out ran >/dev/null 2>&1 || { echo "not ok pairs: machines that ran"; exit 1; }
"$LIMN" export learn.limn f --as safetensors --seed 9 --out other.safetensors >/dev/null 2>&1 &&
  "$LIMN" export learn.limn f --as json --out f.json >/dev/null 2>&1 &&
  "$LIMN" export learn.limn f --as onnx --out f.onnx >/dev/null 2>&1 || { echo "not ok pairs: files to read"; exit 1; }

# seen OUT COMMAND LINE: what comes of it, as one file; the last line is the exit status. Times are left out.
seen() {
  to=$1
  shift
  rm -rf at/work && mkdir at/work
  (
    cd at/work || exit 1
    eval "timeout 60 \"\$LIMN\" $*" >said 2>complained </dev/null
    echo $? >status
    find . -type f | LC_ALL=C sort | while read -r file; do
      echo "== $file"
      cat "$file"
    done | sed 's/"[a-z_]*seconds": [0-9.e-]*//g; s/[0-9.]* s$//; s/-UUID-.*//'
  ) >"$to"
  status=$(cat at/work/status)
}

# Usage, or a message about what was asked.
refused() { [ "$status" = 2 ] || { [ "$status" = 1 ] && grep -q 'error: ' at/work/complained; }; }

# told LINE OPTION…: each option alone, then each pair
wrong=0 tried=0
told() {
  line=$1
  shift
  seen base "$line"
  [ "$status" -lt 2 ] || { echo "not ok pairs: $line: exit status $status"; cat base; wrong=1; return; }
  n=0
  for option in "$@"; do
    n=$((n + 1))
    case $option in [+~!]\ *) free=${option%% *} option=${option#? } ;; *) free= ;; esac
    eval "free_$n=\$free option_$n=\$option"
    seen "one$n" "$line $option"
    tried=$((tried + 1))
    refused || [ "$free" = + ] || ! cmp -s "one$n" base || { echo "not ok pairs: $line $option: without effect"; wrong=1; }
  done
  i=1
  [ -n "${FULL:-}" ] || i=$((n + 1))
  while [ $i -le $n ]; do
    k=$((i + 1))
    while [ $k -le $n ]; do
      eval "first=\$option_$i second=\$option_$k free_first=\$free_$i free_second=\$free_$k"
      seen two "$line $first $second"
      tried=$((tried + 1))
      case $free_first$free_second in *!*) free_first=+ free_second=+ ;; esac
      if ! refused; then
        [ -n "$free_second" ] || ! cmp -s two "one$i" || { echo "not ok pairs: $line $first $second: $second is without effect"; wrong=1; }
        [ -n "$free_first" ] || ! cmp -s two "one$k" || { echo "not ok pairs: $line $first $second: $first is without effect"; wrong=1; }
      fi
      k=$((k + 1))
    done
    i=$((i + 1))
  done
}

while IFS= read -r row; do
  case $row in '' | '#'*) continue ;; esac
  case $row in full\ *) [ -n "${FULL:-}" ] || continue ; row=${row#full } ;; esac
  [ -z "${ROW:-}" ] || case $row in $ROW*) ;; *) continue ;; esac
  set --
  rest=$row\|
  while [ -n "$rest" ]; do
    one=$(printf '%s' "${rest%%|*}" | sed 's/^ *//; s/ *$//')
    set -- "$@" "$one"
    rest=${rest#*|}
  done
  told "$@"
done <"$root/tests/pairs/options.txt"
[ $wrong -ne 0 ] || echo "ok pairs: $tried command lines"
exit $wrong
