#!/bin/sh
# Small programs with known answers. Comments of a program contain commands and their expected results:
#   #! eval f --in '[1, 2]'     a command of limn; the file name is inserted after the command's name
#   #= 3 6                      numbers in its output, in this order, within 1e-6 of their size
#   #= rc 1                     its exit status (default 0)
#   #= ~ TEXT                   a regular expression that must match a line of its output;  #= !~ TEXT: must not
#   #= differ a.svg b.svg       two output files differ;  #= same …: are equal
#   #% full                     takes seconds: run only with FULL=1
# There is a folder for each kind of error; commands run in a copy of it.
cd "$(dirname "$0")" || exit 1
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# numbers WANTED: are they what comes first on the standard input?
numbers() {
  awk -v wanted="$1" '
    function near(a, b) { d = a - b; if (d < 0) d = -d; s = b < 0 ? -b : b; return d <= 1e-6 * (s > 1 ? s : 1) }
    { while (match($0, /[-+]?([0-9]+\.?[0-9]*([eE][-+]?[0-9]+)?|inf|nan)/)) { got[++n] = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }
    END {
      m = split(wanted, want, " ")
      for (i = 1; i <= m; i++) {
        if (i > n) exit 1
        if (want[i] ~ /inf|nan/ ? got[i] != want[i] : !near(got[i] + 0, want[i] + 0)) exit 1
      }
    }'
}

# holds STATUS LINE: does what came out fit what is said of it?
holds() {
  case $2 in
    "rc any") ;;
    "rc "*) [ "$1" -eq "${2#rc }" ] ;;
    "!~ "*) ! grep -Eq -- "${2#!~ }" out ;;
    "~ "*) grep -Eq -- "${2#~ }" out ;;
    "differ "*) set -- ${2#differ }; [ -s "$1" ] && [ -s "$2" ] && ! cmp -s "$1" "$2" ;;
    "same "*) set -- ${2#same }; [ -s "$1" ] && cmp -s "$1" "$2" ;;
    *) numbers "$2" <out ;;
  esac
}

# ask FILE COMMAND EXPECTED…: what does not hold is printed
ask() {
  program=$1 command=$2 expected=$3
  verb=${command%% *} rest=
  [ "$verb" = "$command" ] || rest=${command#* }
  eval "timeout 60 \"\$LIMN\" $verb $program $rest" >out 2>&1 </dev/null
  status=$?
  sed -i '/^limn: compiling [0-9]* kernel/d' out # progress, which only a slow compiler shows
  case $expected in *"rc "*) ;; *) expected="rc 0
$expected" ;; esac
  echo "$expected" >expected
  while read -r want; do # `line` is what `try` is reading
    [ -z "$want" ] || holds $status "$want" || { echo "    $command: wanted \"$want\", exit $status:"; sed 's/^/      /' out | head -12; }
  done <expected
}

try() {
  command= expected=
  while IFS= read -r line; do
    case $line in
      "#! "*) [ -z "$command" ] || ask "$1" "$command" "$expected"; command=${line#"#! "} expected= ;;
      "#= "*) expected="$expected
${line#"#= "}" ;;
    esac
  done <"$1"
  [ -z "$command" ] || ask "$1" "$command" "$expected"
}

for folder in */; do
  folder=${folder%/}
  cp -r "$folder" "$work/$folder"
  for file in "$folder"/*.limn; do
    [ -n "${FULL:-}" ] || ! grep -q "^#% full" "$file" || continue
    cd "$work/$folder" || exit 1
    try "${file##*/}" >"$work/wrong"
    if [ -s "$work/wrong" ]; then echo "not ok $file"; cat "$work/wrong"; else echo "ok $file"; fi
    cd "$here" || exit 1
  done
done
