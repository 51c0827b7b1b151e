# Functions for test.sh and full.sh: train an example, read its results, compare them.
root=$(cd "$(dirname "$0")/../.." && pwd)
LIMN=${LIMN:-$root/build/limn}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 1

# train NAME ARGUMENT…: examples/NAME.limn, into $dir/NAME
train() {
  example=$1
  shift
  rm -rf "${dir:?}/$example"
  start=$(date +%s)
  "$LIMN" train "${folder:-examples}/$example.limn" --out "$dir/$example" --quiet "$@" >"$dir/log" 2>&1 || cat "$dir/log"
  seconds=$(($(date +%s) - start))
}

# value NAME MEASURE: the last one
value() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
    NR > 1 && at && $at != "" { last = $at } END { print at && last != "" ? last : "nothing" }' "$dir/$1/metrics.csv" 2>/dev/null
}

oracle() { /usr/bin/python3 "$root/tests/examples/oracle.py" "$@" 2>>"$dir/log"; }

# reached WHAT VALUE LOW HIGH: whether it lies between; "-" is no bound
reached() {
  want=
  [ "$3" = - ] || want="at least $3"
  [ "$4" = - ] || want="${want:+$want, }at most $4"
  if awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN {
      exit !(x ~ /^[-+0-9.]/ && (low == "-" || x + 0 >= low + 0) && (high == "-" || x + 0 <= high + 0)) }'; then
    say "ok" "$1" "$want" "$2"
  else
    say "not ok" "$1" "$want" "${2:-nothing}"
  fi
}

has() { "$LIMN" data "$1" >/dev/null 2>&1; }
rows() { "$LIMN" data "$1" --out "$dir/$1.safetensors" >"$dir/log" 2>&1 || cat "$dir/log"; }
