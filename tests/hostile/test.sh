#!/bin/sh
# Hostile programs get an answer: exit status 0 or 1 with output, within seconds of CPU time (which does not depend on other
# jobs) and in bounded memory, never a crash. FULL=1: also those that take a second and more.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 tests/hostile/make.py "$out/p" || exit 1
if [ -z "${FULL:-}" ]; then
  for f in many_boxes many_errors goals_of_a_family many_named_lines chain_of_axes cycle_of_files array_of_2_62 loops_in_loops weights_doubling ten_megabyte_line \
    ten_thousand_learners_with_goals two_thousand_learners_with_goals machine_of_many_lines machine_of_many_lines_backwards machine_of_many_states wiring_of_many_parts; do
    rm "$out/p/$f.limn" || exit 1
  done
fi
# asked_for ARGUMENT…: is the program among them there?
asked_for() {
  for a in "$@"; do case $a in "$out"/p/*) [ -e "$a" ] || return 1 ;; esac; done
}
limit=${HOSTILE_SECONDS:-15} # three times what the slowest takes on a slow machine; quadratic time takes minutes
case $BUILD in */san) limit=60 memory=unlimited ;; *) memory=8000000 ;; esac # kilobytes; the sanitizers take theirs

# What grows as the square of a program shows in the memory that it takes, on any machine.
memory_of() {
  case $memory:$1 in
    unlimited:*) ;;
    *:two_thousand_learners_with_goals) memory=1200000 ;;
    *:ten_thousand_learners_with_goals) memory=1500000 ;;
    *:parts_2_18) memory=200000 ;;
    *:parts_side_by_side) memory=450000 ;;
  esac
  ulimit -v $memory
}
# ask ARGUMENT…: what limn says, in $out/text. What waits for something takes no time of a processor: `timeout` is for that.
ask() {
  name_of=${2##*/}
  (memory_of "${name_of%.limn}" && ulimit -t "$limit" && exec timeout $((60 + limit)) "$LIMN" "$@") >"$out/text" 2>&1
}

# answers NAME ARGUMENT…
answers() {
  name=$1
  shift
  asked_for "$@" || return 0
  ask "$@"
  status=$?
  if [ $status -gt 1 ] || [ ! -s "$out/text" ]; then
    echo "not ok hostile $name: status $status"
    tail -c 300 "$out/text"
  elif [ "$(wc -c <"$out/text")" -gt 10000000 ]; then
    echo "not ok hostile $name: $(wc -c <"$out/text") bytes of answer"
  else
    echo "ok hostile $name"
  fi
}

mkfifo "$out/p/pipe" 2>/dev/null && printf 'use "pipe"\n' >"$out/p/use_of_a_pipe.limn"
for f in "$out"/p/*.limn; do
  answers "check $(basename "$f" .limn)" check "$f"
  mv "$out/text" "${f%.limn}.said"
done

# what is written once and asked for in full
for pass in inline simplify reverse forward; do
  answers "$pass instances_doubling" print "$out/p/instances_doubling.limn" b0 --after $pass
  answers "$pass weights_doubling" print "$out/p/weights_doubling.limn" b0 --after $pass
done
answers "cost instances_doubling" cost "$out/p/instances_doubling.limn" b0
answers "cost expression_doubling" cost "$out/p/expression_doubling.limn" f
answers "grad expression_doubling" grad "$out/p/expression_doubling.limn" f
for f in machine_of_many_lines machine_of_many_states; do
  answers "cost $f" cost "$out/p/$f.limn" M
  answers "grad $f" grad "$out/p/$f.limn" M
  answers "find $f" find 'exp(_)' "$out/p/$f.limn"
done
answers "print polynomial_terms" print "$out/p/polynomial_terms.limn" f
answers "print nested_quotients" print "$out/p/nested_quotients.limn" g
answers "print axis_2_40" print "$out/p/axis_2_40.limn" f --after reverse
answers "draw wiring_of_many_parts" draw "$out/p/wiring_of_many_parts.limn" -o "$out/many.svg"
answers "cost axis_2_40" cost "$out/p/axis_2_40.limn" f

# whatever stack the shell leaves
case $BUILD in */san) small="" ;; *) small="128 1024" ;; esac # kilobytes; the sanitizers want more
for f in deep_in_deep powers_of_powers learners_doubling chain_of_constants; do
  for k in $small; do
    (ulimit -s $k && answers "check $f with a stack of $k KB" check "$out/p/$f.limn")
  done
done

# too large for memory, or for a lifetime
printf 'box f(x: R[n]) -> R[1000000 1000000] { return y[i:1000000 j:1000000] = x[0] }\nbox g(x: R[n]) -> R[] { return sum[a b c](1 + 0*x[0]) }\nbox w(x: R[3]) -> R[3] { learn W : R[300000 300000]\n return x + W[0 0] }\nbox l(x: R[n]) -> R[] { return y = sum[i:1000000 j:1000000 k:1000000](x[0]) }\n' >"$out/large.limn"
for f in f g w l; do answers "eval large $f" eval "$out/large.limn" $f --in 'x=[1, 2, 3]'; done
answers "eval instances_doubling" eval "$out/p/instances_doubling.limn" b0 --in 'x=[1, 2, 3]'
answers "eval 2^40" eval "$out/p/axis_2_40.limn" f --in 'x=[1, 2, 3]'
for f in deep_parentheses ten_megabyte_line megabyte_name many_errors_of_syntax deep_blocks; do answers "fmt $f" fmt --check "$out/p/$f.limn"; done
for f in wirings_nested_300_deep machine_in_unicode array_of_2_62; do answers "run $f" run "$out/p/$f.limn" --plain --reference; done

# and the answer names the limit
says() { # PROGRAM TEXT
  [ -e "$out/p/$1.limn" ] || return 0
  if grep -qaF "$2" "$out/p/$1.said"; then echo "ok hostile $1 says why"; else echo "not ok hostile $1: no \"$2\""; tail -c 300 "$out/p/$1.said"; fi
}
says arrays_of_arrays "arrays of parts are nested more than 8 levels deep here"
says chain_of_axes "the size of axis a300 is reached through more than 300 others"
says chain_of_boxes "boxes are nested more than 200 levels deep here"
says chain_of_constants "boxes and calls are nested too deeply here"
says chain_of_spaces "space S301 is reached through more than 300 others"
says derivatives_of_one_number "this derivative is too large: what it is of has an equation of 3211 steps, and 2000 are the most"
says derivatives_of_rows "this derivative is too large: what it is of has 6496 boxes, written out, and 5000 are the most"
says copies_side_by_side "4097 wires side by side are too many: 4096 are the most"
says copies_doubling "8192 wires side by side are too many: 4096 are the most"
says glued_to_itself "this diagram is too large: its parts have 2050 spaces, edges and orders, and 2000 are the most"
[ ! -p "$out/p/pipe" ] || says use_of_a_pipe "it is not a regular file"
says chain_of_stales "stale copy \`s301\` follows a learner through more than 300 others"
says loops_in_loops "this program is too large: its loops and boxes, written out, are more than"
says machine_of_many_modes "a machine has at most 64 modes"
says megabyte_name "this name has 1000000 bytes; the longest may have 1000"
says starts_doubling "this program is too large: its loops and boxes, written out, are more than"
says points_doubling "this program is too large: its loops and boxes, written out, are more than"
says options_doubling "this program is too large: its loops and boxes, written out, are more than"
says weight_of_what_doubles "weight f/dense/linear/W, R[i:4611686018427387904 o_0:3], is too large: it has more numbers than can be counted"
says goal_of_what_doubles "this goal is more than 100000 boxes, written out: too many to train"
says ten_thousand_learners_with_goals "this goal and those before it are more than 100000 boxes, written out: too many to train"
says two_thousand_learners_with_goals "2000 learners, 2000 goals"
says parts_side_by_side "is too large: with all that is in its parts it has more than 250000 wires"
says parts_2_18 "is too large: with all that is in its parts it has more than 250000 wires"
says squares "this expression is too long for one equation: give its parts names"
says ten_megabyte_line "it is larger than 8388608 bytes"
says wires_with_many_modes "depend on too many modes to be checked"
says wirings_doubling "is too large: with all that is in its parts it has more than 250000 wires"
says wirings_in_a_ring "machines are nested more than 64 levels deep here"
says zero_bytes "zero_bytes.limn is no text, which a program is"
says cycle_of_files "1 box"
says long_path "this path is longer than 4000 bytes"
tells() { # NAME TEXT ARGUMENT…
  name=$1 text=$2
  shift 2
  asked_for "$@" || return 0
  ask "$@"
  if grep -qaF "$text" "$out/text"; then echo "ok hostile $name"; else echo "not ok hostile $name: no \"$text\"" && tail -c 300 "$out/text"; fi
}
tells "too many boxes are counted" '`b0` is more than 100000 boxes, written out: too many for this' print "$out/p/instances_doubling.limn" b0 --after inline
for f in f "h"; do tells "eval concat_doubling $f" "$f needs more memory than the interpreter allows: 6." eval "$out/p/concat_doubling.limn" $f --in 'x=[1, 2, 3]'; done
tells "eval what is called doubles" "needs more memory than the interpreter allows: 6.59707e+12 numbers" eval "$out/p/concat_doubling.limn" g --in 'x=[1, 2, 3]'
tells "draw too many edges" "this picture would have 2415 edges, and 2000 are the most" draw "$out/p/edges_between_all.limn" d -o -
tells "draw 4096 wires" "this picture would be more than 100 000 units wide or high" draw "$out/p/copies_doubling.limn" f12 -o -
tells "draw many named lines" "this picture would be more than 100 000 units wide or high" draw "$out/p/many_named_lines.limn" f -o -
tells "draw goals of a family" "this picture would be more than 100 000 units wide or high" draw "$out/p/goals_of_a_family.limn" -o -
tells "draw a machine of many lines" "this picture would be more than 100 000 units wide or high" draw "$out/p/machine_of_many_lines.limn" -o -
tells "draw a machine of many states" "this picture would be more than 100 000 units wide or high" draw "$out/p/machine_of_many_states.limn" -o -
tells "draw ten thousand goals" "this picture would be more than 100 000 units wide or high" draw "$out/p/ten_thousand_learners_with_goals.limn" -o -
tells "who trains whom in a family" "3000 goals and 3001 learners are too many for one table: 2000000 places are the most" check "$out/p/goals_of_a_family.limn" --who
