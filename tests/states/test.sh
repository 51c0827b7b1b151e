#!/bin/sh
# A state of a learner moves to the mean over all its uses in a step, however these are divided among boxes, learners that call it, repeats
# and goals: random groupings of six uses give the same states, also with batch_norm, by the interpreter and in exports.
set -u
. "$(dirname "$0")/../say.sh"
say="states: "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

printf 'x\n1\n2\n6\n' >d.csv # the mean is 3, the variance 14/3
same() { if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: wanted $2, found $3" "$work/p.limn"; fi; } # WHAT WANTED FOUND
head="given x from \"d.csv\"
learn f(x: R[]) -> R[] {
  state m : R[] = 0
  learn w : R[] = 1
  next m = mean[batch](x)
  return w * x when training else m
}
learn bn : R[1] -> R[1] = batch_norm[keep: 0]
box norm(x: R[]) -> R[] {
  y[i:1] = x
  return sum(bn(y))
}"
state() { # OPTIONS: the state of f, and two values that depend on the mean and the variance of bn
  "$LIMN" train p.limn --out "$work/run" --plain --quiet $1 >said 2>&1 || sed 's/^/    /' said
  { "$LIMN" eval p.limn f --in 'x=0' --from "$work/run"; "$LIMN" eval p.limn norm --in 'x=0' --from "$work/run"
    "$LIMN" eval p.limn norm --in 'x=9' --from "$work/run"; } 2>&1 | awk '/^-?[0-9]/ { printf "%.3f ", $1; next } { print "failed: " $0 }'
  rm -rf "$work/run"
}
program() { printf '%s\n' "$head" "$@" 'train 1 steps, batch 3, gd(0)' >p.limn; }

# Uses of 1, 2 and 3 times x: the mean of m is 6, in each grouping.
sum='f(%s) + norm(%s)'
call() { for k in "$@"; do printf "$sum + " "$k * x" "$k * x"; done; echo 0; }
program "goal g : $(call 1 2 3) ~ 0 by l2"
three=$(state '')
same "three uses in one goal" 6.000 "${three%% *}"
while IFS='|' read -r what lines; do
  program "$(printf '%b' "$lines")"
  same "$what" "$three" "$(state '')"
  same "$what, by the interpreter" "$three" "$(state --reference)"
done <<END
two uses in a box|box two(x: R[]) -> R[] = $(call 2 3)\ngoal g : $(call 1) + two(x) ~ 0 by l2
two goals|goal g : $(call 1) ~ 0 by l2\ngoal h : $(call 2 3) ~ 0 by l2
three goals|goal g : $(call 1) ~ 0 by l2\ngoal h : $(call 2) ~ 0 by l2\ngoal i : $(call 3) ~ 0 by l2
boxes in boxes|box two(x: R[]) -> R[] = $(call 2 3)\nbox all(x: R[]) -> R[] = $(call 1) + two(x)\ngoal g : all(x) ~ 0 by l2
a learner that calls it|learn net(x: R[]) -> R[] {\n learn v : R[] = 1\n return v * ($(call 2 3))\n}\ngoal g : net(x) ~ 0 by l2\ngoal h : $(call 1) ~ 0 by l2
every use twice, in two boxes|box one(x: R[]) -> R[] = $(call 1 1 2)\nbox two(x: R[]) -> R[] = $(call 2 3 3)\ngoal g : one(x) + two(x) ~ 0 by l2
a goal that moves another learner only|learn v : R[] = 1\ngoal g : $(call 1 2 3) ~ 0 by l2\ngoal h : v * ($(call 7)) ~ 0 by l2 trains v
batches that are accumulated|goal g : $(call 1) ~ 0 by l2\ngoal h : $(call 2 3) ~ 0 by l2\ntrain 1 steps, batch 3, gd(0), accumulate 2
END

# A repeat counts each time.
program "box again(x: R[]) -> R[] = (f ^ 2)(x)" "goal g : f(x) + again(4 * x) + norm(x) ~ 0 by l2"
again=$(state '')
same "a repeated learner" 9.000 "${again%% *}"

# Random groupings of uses of 1 to 6 times x: each is in one of three goals, directly, in a box, or in a box in a box.
groups() { # SEED
  awk -v seed="$1" 'BEGIN {
    srand(seed)
    for (k = 1; k <= 6; k++) {
      goal = int(3 * rand()); depth = int(3 * rand())
      at[goal, depth] = at[goal, depth] sprintf("f(%d * x) + norm(%d * x) + ", k, k)
    }
    for (g = 0; g < 3; g++) {
      if (at[g, 2] != "") printf "box inner_%d(x: R[]) -> R[] = %s0\n", g, at[g, 2]
      inner = at[g, 2] != "" ? "inner_" g "(x) + " : ""
      if (at[g, 1] != "") { printf "box outer_%d(x: R[]) -> R[] = %s%s0\n", g, inner, at[g, 1]; inner = "outer_" g "(x) + " }
      if (at[g, 0] inner != "") printf "goal g%d : %s%s0 ~ 0 by l2\n", g, inner, at[g, 0]
    }
  }'
}
program "goal g : $(call 1 2 3 4 5 6) ~ 0 by l2"
six=$(state '')
for seed in 1 2 3 4 5 6; do
  program "$(groups $seed)"
  same "a random grouping, $seed" "$six" "$(state '')"
done

# The mean of bits or labels is refused.
while IFS='|' read -r what type next goals; do
  printf '%b\n' 'given x from "d.csv"' "learn f(x: R[]) -> R[] {\n state m : $type = 0\n learn w : R[] = 1\n next m = $next\n return w * x\n}" "$goals" 'train 1 steps, batch 3, gd(0)' >p.limn
  "$LIMN" train p.limn --out run --plain >said 2>&1
  status=$?
  if [ $status = 1 ] && grep -q 'moves by several uses here, and there is no mean of' said; then ok "$what"; else not_ok "$what: status $status" said; fi
done <<END
bits in one goal|B[]|(sum[batch](x) > 0)|goal g : f(x) + f(2 * x) ~ 0 by l2
bits in two goals|B[]|(sum[batch](x) > 0)|goal g : f(x) ~ 0 by l2\ngoal h : f(2 * x) ~ 0 by l2
labels in one goal|{4}|1|goal g : f(x) + f(2 * x) ~ 0 by l2
labels in two goals|{4}|1|goal g : f(x) ~ 0 by l2\ngoal h : f(2 * x) ~ 0 by l2
END
