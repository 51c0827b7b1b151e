#!/bin/sh
# Declarations with one name in two used files, and in the program itself: what reads them is as if the names were different, or
# `limn check` refuses the program with two places. And one file that is used under several paths is one file.
set -u
. "$(dirname "$0")/../say.sh"
say="uses: "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir a b link

# A file of KIND that declares @ with a meaning that NUMBER tells, and `read_WHERE`, `measure_WHERE` or claims that read it.
declared() { # KIND WHERE NUMBER
  box="box read_$2(x: R[])"
  case $1 in
    number) printf 'const @ = %s\n%s -> R[] = x * @\n' "$3" "$box" ;;
    list) printf 'const @ : R[2] = [%s, 1]\n%s -> R[2] { return y[i] = x * @[i] }\n' "$3" "$box" ;;
    shape) printf 'const @ = [%s]\n%s -> R[] = x * sum(@)\n' "$(seq -s, "$3")" "$box" ;;
    computed) printf 'const @ : R[2] = exp(%s)\n%s -> R[2] { return y[i] = x * @[i] }\n' "$3" "$box" ;;
    file) printf 'const @ : R[2] = "c.csv"\n%s -> R[2] { return y[i] = x * @[i] }\n' "$box" ;;
    local) printf 'box @(x: R[]) -> R[2] {\n  const w : R[2] = [%s, 1]\n  return y[i] = x * w[i]\n}\n%s -> R[2] = @(x)\n' "$3" "$box" ;;
    axis) printf 'axis @ = %s\n%s -> R[@] { return y[@] = x }\n' "$3" "$box" ;;
    box) printf 'box @(x: R[]) -> R[] = %s * x\n%s -> R[] = @(x)\n' "$3" "$box" ;;
    options) printf 'box @[k: %s](x: R[]) -> R[] = k * x\n%s -> R[] = @(x)\n' "$3" "$box" ;;
    space) printf 'space @ = R[%s]\n%s -> @ { return y[i] = x + 0 * i }\n' "$3" "$box" ;;
    machine) printf 'machine @ -> (x: R[]) {\n  state x = 0\n  next x = x + %s\n}\nwiring read_%s -> (x: R[]) {\n  m : @\n  x = m.x\n}\n' "$3" "$2" ;;
    share) printf "share @(q) {\n  q' = %s\n}\nmachine read_%s -> (x: R[]) {\n  state x = 0\n  @(x)\n}\n" "$3" "$2" ;;
    diagram) printf 'learn w%s : R[4] -> R[3] = dense[3]\ndiagram @ {\n  space N = iris\n  space X = R[4]\n  space Y = {3} by cross_entropy\n  box x : N -> X = iris.x\n  box y : N -> Y = iris.label\n  box g : X -> Y = w%s\n  x ; g <= y\n}\nmeasure measure_%s : sum(w%s([1, 2, 3, 4]))\n' "$2" "$2" "$2" "$2" ;;
    learner) printf 'learn @ : R[2] = %s\n%s -> R[2] { return y[i] = x * @[i] }\n' "$3" "$box" ;;
    network) printf 'learn @ : R[2] -> R[2] = dense[%s] ; dense[2]\nbox read_%s(x: R[2]) -> R[2] = @(x)\n' "$3" "$2" ;;
    family) printf 'learn @[2] : R[2] = %s\n%s -> R[2] { return y[i] = x * @[1][i] }\n' "$3" "$box" ;;
    stale) printf 'learn net%s : R[2] = %s\nstale @ = net%s by 0.5\n%s -> R[2] { return y[i] = x * @[i] }\n' "$3" "$3" "$3" "$box" ;;
    mixed)
      if [ "$2" = a ]; then printf 'const @ : R[2] = [%s, 1]\n' "$3"; else printf 'learn @ : R[2] = %s\n' "$3"; fi
      printf '%s -> R[2] { return y[i] = x * @[i] }\n' "$box"
      ;;
    noise) printf 'given @ from normal[%s]\nlearn w%s : R[] = 0\ngoal goal_%s : w%s ~ sum(@ * @) by l2\nmeasure measure_%s : mean[batch](sum(@ * @))\n' "$3" "$2" "$2" "$2" "$2" ;;
    data) printf 'given @ : R[] from "d.csv"\nlearn w%s : R[] = 0\ngoal goal_%s : w%s ~ @ by l2\nmeasure measure_%s : mean[batch](@)\n' "$2" "$2" "$2" "$2" ;;
    table) printf 'given x%s, l%s from "d.csv"\nlearn w%s : R[] = 0\ngoal goal_%s : w%s ~ x%s by l2\nmeasure measure_%s : mean[batch](x%s)\n' "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$2" ;;
    goal) printf 'learn w%s : R[] = %s\ngiven s%s from normal[]\ngoal @ : w%s + 0 * s%s ~ 0 by l2\nmeasure measure_%s : w%s * w%s\n' "$2" "$3" "$2" "$2" "$2" "$2" "$2" "$2" ;;
  esac
}

program() { # KIND OWN SAME
  for where in a b; do
    if [ $where = a ]; then n=2; else n=3; fi
    declared "$1" $where $n | sed "s/@/$([ "$3" ] && echo name || echo "name_$where")/g" >$where/f.limn
  done
  {
    printf 'use "a/f.limn"\nuse "b/f.limn"\n'
    [ -z "$2" ] || declared "$1" own 5 | sed "s/@/$([ "$3" ] && echo name || echo name_own)/g"
    case $1 in
      noise | data | table | goal) printf 'train 3 steps, batch 8, gd(0.1)\n' ;;
      share) for r in a b $2; do printf 'run read_%s to 3\ncheck last(x) = 0 within 1000\n' "$r"; done ;;
      machine) for r in a b $2; do printf 'run read_%s for 3 ticks\ncheck last(x) = 0 within 1000\n' "$r"; done ;;
    esac
  } >main.limn
}

values() { # KIND OWN: what the program computes
  case $1 in
    noise | data | table | goal) rm -rf run && "$LIMN" train main.limn --out run --plain --quiet >said 2>&1 && cut -d, -f1,2,4- run/metrics.csv | sed 's/name[_a-z]*/name/g' ;;
    machine | share) "$LIMN" run main.limn --plain 2>&1 ;;
    *) for r in a b $2; do "$LIMN" eval main.limn "read_$r" --in "$([ "$1" = network ] && echo '[1, 2]' || echo 1)" 2>&1; done ;;
  esac
}

for dir in a b .; do
  case $dir in a) n=2 ;; b) n=3 ;; *) n=5 ;; esac
  echo "x,label" >$dir/d.csv
  echo "$n,1" >$dir/c.csv
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "$n,$(echo word$i | cut -c1-5)$n" >>$dir/d.csv; done
done
for kind in number list file shape computed local axis box options space machine share diagram learner network family stale mixed noise data table goal; do
  for own in '' own; do
    [ "$kind $own" != 'goal own' ] || continue # a goal of the program replaces those of used files
    program $kind "$own" same
    if ! "$LIMN" check main.limn >out 2>&1; then
      if grep -q 'error: ' out && grep -q '^   in [ab]/f.limn' out; then ok "$kind $own: refused"; else not_ok "$kind $own: refused without two places" out; fi
      continue
    fi
    values $kind "$own" >same
    program $kind "$own" ''
    values $kind "$own" >apart
    if [ -s apart ] && cmp -s same apart; then ok "$kind $own: distinct"; else diff same apart >out; not_ok "$kind $own" out; fi
  done
done

# One text names different files in two folders.
same() { if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: wanted $2, found $3" /dev/null; fi; } # WHAT WANTED FOUND
ends() { rm -rf run && "$LIMN" train main.limn --out run --plain 2>&1 | sed -n 's/^finished.*: \(m.*\); the model.*/\1/p' | sed 's/;.*//'; }
for where in a b; do
  printf 'given x_%s : R[] from "d.csv"\nmeasure m_%s : mean[batch](x_%s)\n' $where $where $where >$where/f.limn
done
rest='learn w : R[] = 0\ngiven s from normal[]\ngoal fit : w + 0 * s ~ 0 by l2\ntrain 1 steps, gd(0)\n'
printf "use \"a/f.limn\"\nuse \"b/f.limn\"\n$rest" >main.limn
same 'data of two folders' 'm_b 3, m_a 2' "$(ends)"
printf "use \"b/f.limn\"\nuse \"a/f.limn\"\n$rest" >main.limn
same 'data of two folders, turned' 'm_a 2, m_b 3' "$(ends)"
printf "use \"b/f.limn\"\ngiven x : R[] from \"d.csv\"\nmeasure m : mean[batch](x)\n$rest" >main.limn
same 'data of a folder and of the program' 'm_b 3, m 5' "$(ends)"
printf "use \"b/f.limn\"\ngiven x : R[] from \"d.csv\"\nmeasure m : mean[batch](x) on \"a/d.csv\"\n$rest" >main.limn
same 'a measure on another file' 'm_b 3, m 2' "$(ends)"
printf 'measure m_a : mean[batch](x) on "d.csv"\ngiven x : R[] from "../b/d.csv"\n' >a/on.limn
printf "use \"a/on.limn\"\nuse \"b/f.limn\"\n$rest" >main.limn
same 'a measure on a file of its folder' 'm_b 3, m_a 2' "$(ends)"

# Words of labels belong to their files, also in a run that is continued; so do check sums.
for where in a b; do
  if [ $where = a ]; then one=ant other=bee; else one=cow other=dog; fi
  { echo 'x,kind'; for i in 1 2 3 4 5 6 7 8 9; do echo "$i,$one"; echo "-$i,$other"; done; } >$where/words.csv
  printf 'given x_%s, kind_%s from "words.csv"\nlearn f_%s : R[] -> R[2] = dense[2]\ngoal fit_%s : f_%s(x_%s) ~ kind_%s by cross_entropy\nmeasure m_%s : f_%s(x_%s) ~ kind_%s by hits\n' \
    $where $where $where $where $where $where $where $where $where $where $where >$where/f.limn
done
printf 'use "a/f.limn"\nuse "b/f.limn"\ntrain 60 steps, batch 4, adam(0.1)\n' >main.limn
same 'words of two folders' 'm_b 1, m_a 1' "$(ends)"
if "$LIMN" train main.limn --resume run --steps 70 --plain >out 2>&1; then ok 'words of a run that is continued'; else not_ok 'words of a run that is continued' out; fi
sed 's/dog/eel/' b/words.csv >new && mv new b/words.csv
if "$LIMN" train main.limn --resume run --steps 80 --plain >out 2>&1 || ! grep -q 'b/words.csv' out; then not_ok 'changed data of one folder' out; else ok 'changed data of one folder'; fi

# Exported training finds arrays by name.
for where in a b; do declared noise $where 2 | sed 's/@/n/g; s/w2/w_'$where'/g' >$where/f.limn; done
printf 'use "a/f.limn"\nuse "b/f.limn"\ntrain 3 steps\n' >main.limn
for as in torch jax; do
  if "$LIMN" export main.limn --as $as -o m.py >out 2>&1 || ! grep -q 'two fields are called `n`' out || ! grep -q '^   in [ab]/f.limn' out; then
    not_ok "two fields of one name in $as" out
  else ok "two fields of one name in $as"; fi
done

# A name that two used files declare is refused where the third reads it, with both files; not if that declares it, or reads it never.
printf 'const c = 1\nbox h(x: R[]) -> R[] = c * x\naxis k = 2\nspace S = R[2]\nmachine M -> (x: R[]) { state x = 1 }\ngiven g from normal[2]\noptimiser o(r: 1) { next p = p - r * grad }\n' >a/f.limn
printf 'const c = 3\nbox h(x: R[]) -> R[] = c + x\naxis k = 3\nspace S = R[3]\nmachine M -> (x: R[]) { state x = 2 }\ngiven g from normal[3]\noptimiser o(r: 2) { next p = p - r * grad }\n' >b/f.limn
for reads in 'box r(x: R[]) -> R[] = h(x)' 'box r(x: R[]) -> R[] = c * x' 'box r(x: R[k]) -> R[] = sum(x)' 'box r(x: S) -> R[] = sum(x)' 'wiring W -> (x: R[]) { m : M  x = m.x }' 'measure m : sum(g)' 'const d = c + 1' 'run M for 2 ticks' 'learn w : R[] = 1\ngoal f : minimise w * w\ntrain 1 steps, o(0.1)'; do
  printf 'use "a/f.limn"\nuse "b/f.limn"\n%b\n' "$reads" | sed 's/  x = m/\n  x = m/; s/{ m/{\n  m/; s/m.x }/m.x\n}/' >main.limn
  "$LIMN" check main.limn >out 2>&1
  if grep -q 'main.limn:.*declared in two files.*a/f.limn and b/f.limn' out; then ok "ambiguous: $reads"; else not_ok "ambiguous: $reads" out; fi
done
printf 'use "a/f.limn"\nuse "b/f.limn"\nbox r(x: R[]) -> R[] = x\n' >main.limn
if "$LIMN" check main.limn >out 2>&1; then ok 'names that are not read'; else not_ok 'names that are not read' out; fi
for command in "eval main.limn h --in 1" "check main.limn --set c=9"; do
  if "$LIMN" $command >out 2>&1 || ! grep -q 'declared in two files' out; then not_ok "ambiguous: $command" out; else ok "ambiguous: $command"; fi
done
printf 'use "a/f.limn"\nuse "b/f.limn"\nconst c = 7\nbox h(x: R[]) -> R[] = x + c\nbox r(x: R[]) -> R[] = h(x)\n' >main.limn
if [ "$("$LIMN" eval main.limn r --in 1 2>&1)" = 8 ]; then ok 'an own declaration hides both'; else not_ok 'an own declaration hides both' main.limn; fi

# One file under several paths.
printf 'given x, y from iris\nlearn enc : R[4] -> R[3] = dense[3]\ngoal fit : enc(x) ~ y by cross_entropy\n' >base.limn
ln -s ../base.limn link/base.limn
for path in ./base.limn a/../base.limn link/base.limn "$work/base.limn"; do
  printf 'use "base.limn"\nuse "%s"\nmeasure m : enc(x) ~ y by hits\ntrain 2 steps, batch 8\n' "$path" >main.limn
  rm -rf run
  if "$LIMN" train main.limn --out run --plain >out 2>&1 && "$LIMN" check main.limn | grep -q ' 1 learner, 1 goal, ' && [ "$(ls run/used)" = base.limn ] &&
    "$LIMN" train main.limn --resume run --steps 4 >out 2>&1; then ok "one file: $path"; else not_ok "one file: $path" out; fi
done
printf 'use "./self.limn"\nbox f(x: R[]) -> R[] = x\n' >self.limn
if "$LIMN" check self.limn >out 2>&1 && grep -q '1 box' out; then ok 'a file that uses itself'; else not_ok 'a file that uses itself' out; fi
