#!/bin/sh
# Two declarations with one name: every pair of kinds, in a machine
# and at the top of a program. Each pair is refused with the places of both, or is one of the few that are allowed.
. "$(dirname "$0")/../say.sh"
say="twice: "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# inside KIND: what declares `n` in a machine: options, ports that take, ports that show, a line
inside() {
  option= takes= shows= line=
  case $1 in
    option) option=n ;;
    takes) takes='n: R[]' ;;
    shows) shows='n: R[]' ;;
    state) line='state n = 0' ;;
    const) line='const n = 1' ;;
    axis) line='axis n = 2' ;;
    line) line='n = 1 + time' ;;
    part) line='n : Part' ;;
    array) line='n[2] : Part' ;;
    mode) line='mode n { w = 1 }' ;;
  esac
}

joined() { if [ -n "$1" ] && [ -n "$2" ]; then echo "$1, $2"; else echo "$1$2"; fi; }

machine_of() {
  inside "$1"
  o=$option t=$takes s=$shows l=$line
  inside "$2"
  o=$(joined "$o" "$option") t=$(joined "$t" "$takes") s=$(joined 'z: R[]' "$(joined "$s" "$shows")")
  printf 'machine Part -> (q: R[]) {\n  state q = 0\n}\n'
  printf 'wiring W%s%s -> (%s) {\n  state z = 0\n' "${o:+[$o]}" "${t:+($t)}" "$s"
  printf "  z' = 1\n"
  for x in "$l" "$line"; do [ -z "$x" ] || printf '  %s\n' "$x"; done
  printf '}\n'
}

# what modes call `mode`
for what in '(mode: R[]) -> (z: R[])@' '-> (z: R[])@state mode = 1' '-> (z: R[])@const mode = 1'; do
  printf 'machine M %s {\n  state z = 0\n  %s\n  mode a { }\n}\n' "${what%@*}" "${what#*@}" >p.limn
  "$LIMN" check p.limn >out 2>&1
  if [ $? = 1 ] && grep -q 'two things called `mode`' out; then ok "$what"; else not_ok "$what" out; fi
done

# above KIND: what declares `n` at the top of a program
above() {
  case $1 in
    machine) echo 'machine n -> (q: R[]) { state q = 0 }' ;;
    share) echo "share n(q) { q' = -q }" ;;
    const) echo 'const n = 1' ;;
    axis) echo 'axis n = 2' ;;
    box) echo 'box n(x: R[]) -> R[] = x' ;;
    learner) echo 'learn n : R[] -> R[] = dense[]' ;;
    space) echo 'space n = R[2]' ;;
    run) echo 'run n : A to 1' ;;
    longer) echo 'run n : A to 2' ;;
    itself) echo 'run n to 1' ;;
  esac
}

program_of() {
  printf "machine A -> (x: R[]) {\n  state x = 0\n  x' = 1\n}\n"
  above "$1"
  above "$2"
}

# pairs MAKE ALLOWED KIND…: the pairs that are taken without a word, or refused without both places
pairs() {
  make=$1 allowed=$2 taken= lone=
  shift 2
  while [ $# -gt 0 ]; do
    for other; do
      "$make" "$1" "$other" >p.limn
      if "$LIMN" check p.limn >out 2>&1; then
        taken="$taken $1-$other"
      elif ! grep -q 'error: .*`n`' out || [ "$(grep -c '^ *[0-9]* | ' out)" -lt 2 ]; then
        lone="$lone $1-$other"
      fi
    done
    shift
  done
  if [ "$taken" = "$allowed" ]; then ok "$make: what may have one name"; else not_ok "$make: wanted$allowed, taken are$taken"; fi
  if [ -z "$lone" ]; then ok "$make: both places are told"; else not_ok "$make: told without a place:$lone"; fi
}
pairs machine_of " shows-state shows-line" option takes shows state const axis line part array mode
pairs program_of " const-run const-longer axis-run axis-longer box-run box-longer learner-run learner-longer space-run space-longer" machine share const axis box learner space run longer
