#!/bin/sh
# What a `for` in a box makes in one iteration is not that of another iteration: weights, learners, states, constants and lists, also
# if two iterations have the same number. Each body equals what its copies equal, written out.
set -u
. "$(dirname "$0")/../say.sh"
say="turns: "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

flat() { printf '%b' "$1" | tr -s '\n ' ' '; }

numbers() { # BODY: the numbers of `for i in [1, 2, 2]` around it, and those of its three copies
  {
    printf 'box loop(x: R[2]) -> R[2] {\n  y = x\n  for i in [1, 2, 2] {\n    %b\n  }\n  return y\n}\n' "$1"
    printf 'box copies(x: R[2]) -> R[2] {\n  y = x\n'
    for i in 1 2 2; do printf '  y = turn%s(y)\n' "$i"; done
    printf '  return y\n}\n'
    for i in 1 2; do printf 'box turn%s(x: R[2]) -> R[2] {\n  const i = %b\n  y = x\n  %b\n  return y\n}\n' "$i" "$i" "$1"; done
  } >p.limn
  loop=$("$LIMN" eval p.limn loop --in '[1, 3]' 2>&1)
  copies=$("$LIMN" eval p.limn copies --in '[1, 3]' 2>&1)
  if [ "$loop" = "$copies" ] && [ "${loop#\[}" != "$loop" ]; then ok "$(flat "$1")"; else not_ok "$1: $loop, not $copies" p.limn; fi
}
numbers 'y = y + [1, i]'
numbers 'y = y + [i, 1] * [2, i]'
numbers 'const c = i\n    y = c * y'
numbers 'const c : R[2] = [i, 5]\n    y = c + y'
numbers 'const c : R[2 2] = [[i, 5], [7, i]]\n    y[j] = c[0 j] + y[j]'
numbers 'const c = [1, i]\n    y = c + y'

weights() { # BODY NUMBER: how many weights and states the program has
  printf 'box loop(x: R[2]) -> R[2] {\n  y = x\n  for i in [2, 2, 3] {\n    %b\n  }\n  return y\n}\nlearn f : R[2] -> R[2] = loop\n' "$1" >p.limn
  found=$("$LIMN" print p.limn f --after inline 2>&1 | grep -Ec '^ *(weight|buffer) ')
  if [ "$found" = "$2" ]; then ok "$2 of $(flat "$1")"; else not_ok "$1: $found, not $2" p.limn; fi
}
weights 'y = dense[2](y)' 6
weights 'y = dense[2](dense[2](y))' 12
weights 'y = (dense[2] ^ 2)(y)' 12
weights 'for k in [1, 1] { y = dense[2](y) }' 12
weights 'learn w : R[2] = 1\n    y = w + y' 3
weights 'learn g : R[2] -> R[2] = dense[2]\n    y = g(g(y))' 6
weights 'learn g[4] : R[2] -> R[2] = dense[2]\n    y = g[i](g[0](y))' 12
weights 'state s : R[2] = 0\n    y = y + s\n    next s = s + 1' 3

# The names of weights in loops whose numbers differ are kept: runs of earlier versions have them.
printf 'box loop(x: R[2]) -> R[2] {\n  y = x\n  for i in [3, 5] {\n    y = dense[2](y)\n  }\n  return y\n}\nlearn f : R[2] -> R[2] = loop\n' >p.limn
"$LIMN" print p.limn f --after inline | sed -n 's/.*weight .*"\(.*\)".*/\1/p' | sort >out
printf 'f/loop/dense.%b\n' 3/b 3/linear/W 5/b 5/linear/W >want
if cmp -s out want; then ok 'names of weights'; else not_ok 'names of weights' out; fi

# Sizes may change between iterations with one number.
printf 'given x, y from iris\nbox net(x: R[a]) -> R[3] {\n  y = x\n  for width in [16, 16] {\n    y = relu(dense[width](y))\n  }\n  return dense[3](y)\n}
learn f : R[4] -> R[3] = net\ngoal g : f(x) ~ y by cross_entropy\ntrain 2 steps\n' >p.limn
if "$LIMN" check p.limn >out 2>&1 && grep -q '403 weights' out; then ok 'layers of one width'; else not_ok 'layers of one width' out; fi

# One list of the text has other numbers in each use of its box, also in several goals of a step.
cat >p.limn <<'PROGRAM'
box up[k](x: R[2]) -> R[2] {
  y = x
  for i in k..2 {
    y = y + [1, i]
  }
  return y
}
given s from normal[2]
learn a : R[2] = 0
learn b : R[2] = 0
goal one : up[1](a) + 0 * s ~ 0 by l2
goal two : up[2](b) + 0 * s ~ 0 by l2
train 1 steps, gd(0)
PROGRAM
for how in '' --reference; do
  rm -rf run
  if "$LIMN" train p.limn --out run --plain $how 2>&1 | grep -q 'one 6.5.*two 2.5'; then ok "a list in two goals $how"; else not_ok "a list in two goals $how" /dev/null; fi
done

# A name that is declared twice without a loop is refused, with both places.
for line in 'state k : R[2] = 0' 'const k = 1' 'axis k = 2' 'learn k : R[2] = 0' 'learn k : R[2] -> R[2] = dense[2]'; do
  printf 'box f(x: R[2]) -> R[2] {\n  %b\n  %b\n  return x\n}\n' "$line" "$line" >p.limn
  if "$LIMN" check p.limn >out 2>&1 || [ "$(grep -c '^ *[23] | ' out)" -lt 2 ] || grep -q 'cannot be a wire' out; then not_ok "$line twice" out; else ok "$line twice"; fi
done
