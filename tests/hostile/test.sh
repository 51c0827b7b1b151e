#!/bin/sh
# Programs meant to hurt get an answer: exit status 0 or 1 with some text, within seconds and in bounded memory, never a crash.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 tests/hostile/make.py "$out/p" || exit 1
limit=${HOSTILE_SECONDS:-5}
case $BUILD in */san) limit=60 ;; *) ulimit -v 8000000 ;; esac

# answers NAME ARGUMENT…
answers() {
  name=$1
  shift
  timeout "$limit" "$LIMN" "$@" >"$out/text" 2>&1
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

for f in "$out"/p/*.limn; do
  answers "check $(basename "$f" .limn)" check "$f"
done

# what is written once and asked for in full
for pass in inline simplify reverse forward; do
  answers "$pass instances_doubling" print "$out/p/instances_doubling.limn" b0 --after $pass
  answers "$pass weights_doubling" print "$out/p/weights_doubling.limn" b0 --after $pass
done
answers "cost instances_doubling" cost "$out/p/instances_doubling.limn" b0
answers "cost expression_doubling" cost "$out/p/expression_doubling.limn" f
answers "grad expression_doubling" grad "$out/p/expression_doubling.limn" f
answers "print polynomial_terms" print "$out/p/polynomial_terms.limn" f
answers "print nested_quotients" print "$out/p/nested_quotients.limn" g
answers "print axis_2_40" print "$out/p/axis_2_40.limn" f --after reverse
answers "cost axis_2_40" cost "$out/p/axis_2_40.limn" f

# too large for memory, or for a lifetime
printf 'box f(x: R[n]) -> R[1000000 1000000] { return y[i:1000000 j:1000000] = x[0] }\nbox g(x: R[n]) -> R[] { return sum[a b c](1 + 0*x[0]) }\nbox w(x: R[3]) -> R[3] { learn W : R[300000 300000]\n return x + W[0 0] }\nbox l(x: R[n]) -> R[] { return y = sum[i:1000000 j:1000000 k:1000000](x[0]) }\n' >"$out/large.limn"
for f in f g w l; do answers "eval large $f" eval "$out/large.limn" $f --in 'x=[1, 2, 3]'; done
answers "eval instances_doubling" eval "$out/p/instances_doubling.limn" b0 --in 'x=[1, 2, 3]'
answers "eval 2^40" eval "$out/p/axis_2_40.limn" f --in 'x=[1, 2, 3]'
for f in deep_parentheses ten_megabyte_line megabyte_name many_errors_of_syntax deep_blocks; do answers "fmt $f" fmt --check "$out/p/$f.limn"; done
for f in wirings_nested_300_deep machine_in_unicode array_of_2_62; do answers "run $f" run "$out/p/$f.limn" --plain --reference; done
