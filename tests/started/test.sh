#!/bin/sh
# Weights that a program takes from an earlier run (`learn f … from "run"`) have their values wherever the learner is read: in measures,
# machines, claims, exports and in each command; whether the learner is trained, not moved by any goal, frozen, a member of a family, a stale
# copy, or a stale copy of a stale copy.
set -u
. "$(dirname "$0")/../say.sh"
say="started: "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

net="R[4] -> R[3] = dense[5] ; tanh ; dense[3]"
in='x=[5, 3, 4, 1]'
numbers() { grep -oE -- '-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?' | head -3 | awk '{ printf "%.4f ", $1 }'; }
eval_of() { "$LIMN" eval "$1.limn" "$2" --in "$in" $3 2>/dev/null | numbers; } # PROGRAM NAME OPTIONS
measured() { sed -n 's/^finished.*: m \([0-9.]*\)[;,].*/\1/p'; }
same() { if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: wanted $2, found $3" /dev/null; fi; } # WHAT WANTED FOUND

# Runs whose learners are called g, h and f, with the values to be found again.
for name in g h; do
  printf 'given x, y from iris\nlearn %s : %s\ngoal fit : %s(x) ~ y by cross_entropy\nmeasure m : %s(x) ~ y by cross_entropy on iris.test\ntrain 20 steps, batch 10, adam(0.05)\n' \
    $name "$net" $name $name >run_$name.limn
  "$LIMN" train run_$name.limn --out run_$name --plain >run_$name.said 2>&1 || sed 's/^/    /' run_$name.said
done
printf 'given x, y from iris\nlearn f[2] : %s\ngoal a : f[0](x) ~ y by cross_entropy\ngoal b : f[1](x) ~ y by cross_entropy\ntrain 20 steps, batch 10, adam(0.05)\n' "$net" >family.limn
echo 'box one(x: R[4]) -> R[3] = f[1](x)' >>family.limn
"$LIMN" train family.limn --out family --plain --quiet >said 2>&1 || sed 's/^/    /' said
value_g=$(eval_of run_g g '--from run_g') value_h=$(eval_of run_h h '--from run_h') member=$(eval_of family one '--from family')
loss_g=$(measured <run_g.said) loss_h=$(measured <run_h.said)

program() { # KIND: a program that reads the learner or the copy `g`
  echo 'given x, y from iris'
  echo 'learn other : R[4] -> R[3] = dense[3]'
  echo 'goal rest : other(x) ~ y by cross_entropy'
  case $1 in stale*) echo "learn h : $net from \"run_h\"" ;; *) echo "learn g : $net from \"run_g\"" ;; esac
  case $1 in
    moved) echo 'goal own : g(x) ~ y by cross_entropy times 0' ;;
    frozen) printf 'goal own : g(x) ~ y by cross_entropy\nfreeze g\n' ;;
    teacher) echo 'goal own : other(x) ~ g(x) by l2 trains other' ;;
    stale) echo 'stale g = h by 0.9' ;;
    stale_moved) printf 'stale g = h every 100\ngoal own : h(x) ~ y by cross_entropy times 0\n' ;;
    stale_read) printf 'stale g = h every 100\ngoal own : other(x) ~ g(x) by l2 trains other\n' ;;
    stale_of_stale) printf 'stale k = h every 10\nstale g = k every 100\n' ;;
  esac
  echo 'box apart(x: R[4]) -> R[3] = g(x)'
  echo 'machine M(x: R[4]) -> (a: R[3]) { a = g(x) }'
}
for kind in unmoved moved frozen teacher stale stale_moved stale_read stale_of_stale; do
  case $kind in stale*) value=$value_h loss=$loss_h ;; *) value=$value_g loss=$loss_g ;; esac
  program $kind >$kind.limn
  { cat $kind.limn; printf 'measure m : g(x) ~ y by cross_entropy on iris.test\nshow g(x)\ntrain 2 steps, batch 10, gd(0)\n'; } >trained.limn
  { cat $kind.limn; printf 'run M(x: [5, 3, 4, 1]) for 1 ticks\ncheck last(a[0]) = %s within 1e-3\n' "${value%% *}"; } >machine.limn
  same "$kind: eval of the learner" "$value" "$(eval_of $kind g '')"
  same "$kind: eval of a box that calls it" "$value" "$(eval_of $kind apart '')"
  for how in '' --reference; do
    rm -rf new
    same "$kind: measured${how:+ by the interpreter}" "$loss" "$("$LIMN" train trained.limn --out new --plain $how 2>said | measured)"
    same "$kind: kept by the new run${how:+ of the interpreter}" "$value" "$(eval_of trained g '--from new')"
  done
  if "$LIMN" run machine.limn --plain >said 2>&1; then ok "$kind: in a machine and a claim"; else not_ok "$kind: in a machine and a claim" said; fi
  "$LIMN" export $kind.limn g --as safetensors -o copy.safetensors >said 2>&1 || not_ok "$kind: export" said
  same "$kind: exported" "$value" "$(eval_of $kind g '--weights copy.safetensors')"
done

printf 'given x, y from iris\nlearn f[2] : %s from "family"\nstale s = f[1] by 0.5\nbox one(x: R[4]) -> R[3] = f[1](x)\nbox two(x: R[4]) -> R[3] = s(x)\n' "$net" >members.limn
for what in one s two; do same "a family: eval of $what" "$member" "$(eval_of members "$what" '')"; done
{ cat run_g.limn; echo 'stale s = g by 0.5'; } >later.limn
same "a copy that the run of --from lacks" "$value_g" "$(eval_of later s '--from run_g')"

# Constants of random numbers are those that the run drew with its seed.
printf 'given x, y from iris\nconst U : R[4 3] = normal\nlearn f(x: R[4]) -> R[3] {\n  learn w : R[3] = 1\n  h[j] = x[i] U[i j]\n  return h * w\n}\ngoal g : f(x) ~ y by cross_entropy\nmachine M(x: R[4]) -> (a: R[3]) { a = f(x) }\nrun M(x: [5, 3, 4, 1]) for 1 ticks\ntrain 20 steps, batch 10, adam(0.05)\n' >drawn.limn
"$LIMN" train drawn.limn --seed 7 --out drawn --plain --quiet >said 2>&1 || not_ok "a run with random constants" said
value=$("$LIMN" predict drawn.limn f --from drawn --in '[5, 3, 4, 1]' 2>/dev/null | numbers)
same "a random constant: eval" "$value" "$(eval_of drawn f '--from drawn')"
echo "check last(a[0]) = ${value%% *} within 1e-3" >>drawn.limn
if "$LIMN" run drawn.limn --plain --from drawn >said 2>&1; then ok "a random constant: in a machine"; else not_ok "a random constant: in a machine" said; fi
"$LIMN" export drawn.limn f --as onnx --from drawn -o drawn.onnx >said 2>&1 && "$LIMN" import drawn.onnx -o back.limn >said 2>&1 || not_ok "a random constant: export" said
same "a random constant: exported" "$value" "$("$LIMN" eval back.limn model --in '[5, 3, 4, 1]' 2>said | numbers)"
# Members are named in commands; a family alone is not one learner.
first=$("$LIMN" eval members.limn f.0 --in "$in" 2>/dev/null | numbers)
for name in f.1 'f[1]' s; do
  same "eval of $name" "$member" "$(eval_of members "$name" '')"
  same "predict of $name" "$member" "$("$LIMN" predict members.limn "$name" --in "[[5, 3, 4, 1]]" 2>/dev/null | numbers)"
  "$LIMN" export members.limn "$name" --as safetensors -o member.safetensors >said 2>&1 || not_ok "export of $name" said
  same "export of $name" "$member" "$("$LIMN" eval members.limn "$name" --in "$in" --weights member.safetensors 2>/dev/null | numbers)"
done
if [ -n "$first" ] && [ "$first" != "$member" ]; then ok "members differ"; else not_ok "members differ" /dev/null; fi
for command in 'eval' 'predict' 'print' 'cost' 'export --as onnx -o f.onnx'; do
  # shellcheck disable=SC2086 # words
  "$LIMN" $command members.limn f --in "$in" >said 2>&1 || "$LIMN" $command members.limn f >said 2>&1
  if grep -q '`f` is a family of 2: say which, f.0 … f.1' said; then ok "$command of a family"; else not_ok "$command of a family" said; fi
done
if "$LIMN" eval members.limn f.2 --in "$in" 2>&1 | grep -q 'there is no `f.2`: the family has 2, counted from 0'; then ok "no such member"; else not_ok "no such member" /dev/null; fi

# What `stale` and `from` leave out is said, unless it is frozen, has a `from` of its own, or is declared inside.
inner='learn enc : R[4] -> R[5] = dense[5] ; tanh'
warns() { # WHAT WANTED LINE…: is there a warning with these words? '': none
  what=$1 wanted=$2
  shift 2
  printf '%s\n' 'given x, y from iris' "$@" >left.limn
  "$LIMN" check left.limn >said 2>&1 || not_ok "$what" said
  if [ -z "$wanted" ]; then ! grep -q warning said; else grep -q "warning: .*$wanted" said; fi
  if [ $? = 0 ]; then ok "$what"; else not_ok "$what" said; fi
}
fit='goal fit : two(x) ~ y by cross_entropy'
printf '%s\n' 'given x, y from iris' "$inner" 'learn two : R[4] -> R[3] = enc ; dense[3]' "$fit" 'train 2 steps, batch 10, gd(0.1)' >run_two.limn
"$LIMN" train run_two.limn --out run_two --plain --quiet >said 2>&1 || sed 's/^/    /' said
warns "from leaves a learner out" '`two` also uses `enc`, which starts anew' "$inner" 'learn two : R[4] -> R[3] = enc ; dense[3] from "run_two"' "$fit"
warns "from of both" '' "$inner from \"run_two\"" 'learn two : R[4] -> R[3] = enc ; dense[3] from "run_two"' "$fit"
warns "a stale copy leaves a learner out" '`s` is a copy of `two` alone: `enc`' "$inner" 'learn two : R[4] -> R[3] = enc ; dense[3]' 'stale s = two by 0.5' "$fit"
warns "a box between them" '`s` is a copy of `two` alone: `enc`' "$inner" 'box mid(x: R[4]) -> R[5] = enc(x)' 'learn two : R[4] -> R[3] = mid ; dense[3]' 'stale s = two by 0.5' "$fit"
warns "a frozen learner in a copy" '' "$inner" 'freeze enc' 'learn two : R[4] -> R[3] = enc ; dense[3]' 'stale s = two by 0.5' "$fit"
warns "a learner inside the learner" '' 'learn two(x: R[4]) -> R[3] {' ' learn enc = dense[5]' ' return dense[3](enc(x))' '}' 'stale s = two by 0.5' "$fit"
# Weights of another shape are reported at the learner that names them, in each command and for a copy too.
for kind in plain stale box; do
  case $kind in
    plain) printf 'learn g : R[4] -> R[3] = dense[7] ; tanh ; dense[3] from "run_g"\n' ;;
    stale) printf 'learn g : R[4] -> R[3] = dense[7] ; tanh ; dense[3] from "run_g"\nstale k = g by 0.9\nbox b(x: R[4]) -> R[3] = k(x)\n' ;;
    box) printf 'learn g : R[4] -> R[3] = dense[7] ; tanh ; dense[3] from "run_g"\nbox b(x: R[4]) -> R[3] = g(x)\n' ;;
  esac >shape.limn
  printf 'given x, y from iris\ngoal a : g(x) ~ y by cross_entropy\ntrain 1 steps\n' >>shape.limn
  for command in "check shape.limn" "eval shape.limn g --in [5,3,4,1]" "train shape.limn --out shaped --plain" "export shape.limn g --as onnx -o s.onnx"; do
    "$LIMN" $command >said 2>&1
    if [ $? -eq 1 ] && grep -q '^shape.limn:1:[0-9]*: error: [gk]/.* is .* in .*run_g/model.safetensors, but the program wants' said; then ok "another shape: $kind: $command"; else not_ok "another shape: $kind: $command" said; fi
  done
done
