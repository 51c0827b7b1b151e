#!/bin/sh
# Exported C compiles with gcc and clang without a warning, needs only libm, and has the interpreter's results
# and, step by step, the results of limn's training. `all` (make test-c) tests every learner and training step of every example, and
# other targets: a Cortex-M and wasm32, if their compilers are installed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
limn=${LIMN:-$root/build/limn}
steps=$root/${BUILD:-build}/c-steps
base=$(mktemp -d)
dir=$base/c
mkdir "$dir"
trap 'rm -rf "$base"' EXIT
values() { # options FILE NAME…
  mkdir -p "$dir/v$#"
  /usr/bin/python3 "$here/values.py" "$limn" "$dir/v$#" "$@" 2>&1
}
step() { /usr/bin/python3 "$here/steps.py" "$limn" "$steps" "$dir" "$@" 2>&1; }
told() { # what, sentence, command…: refused with this sentence
  what=$1 want=$2
  shift 2
  if "$@" >"$dir/out" 2>&1; then echo "not ok $what: not refused"
  elif grep -qF "$want" "$dir/out"; then echo "ok $what"
  else echo "not ok $what: $(cat "$dir/out")"; fi
}

if [ "${1:-}" = all ]; then
  for file in "$root"/examples/*.limn; do
    case $file in */gpt2.limn) continue ;; esac # half a gigabyte of weights
    values "$file"
    grep -q "^train" "$file" && step --precision 64 "$file"
  done
  /usr/bin/python3 "$here/names.py" "$limn" "$dir"
  /usr/bin/python3 "$here/boxes.py" "$limn" "$root/${BUILD:-build}/tests/whole_test" "$dir/boxes" 1 200
  sh "$here/elsewhere.sh"
  exit
fi

must() { "$@" | sed 's/^refused/not ok: refused/'; }
cd "$dir" || exit 1
cp "$here/turns.limn" .
/usr/bin/python3 -c 'import numpy as n; r = n.random.default_rng(1); n.savez("rows.npz", x=r.normal(size=(64, 6, 5)).astype("f4"), y=r.integers(0, 3, 64).astype("i4"))'
must values "$root/examples/iris.limn" guess
[ -z "${FULL:-}" ] || must values --batch 5 --precision 64 "$root/examples/digits_conv.limn" classify
must values --beside turns.limn judge sorted
[ -z "${FULL:-}" ] || must values "$root/examples/vae.limn" draw
must values "$root/examples/boolean.limn" odd
must step --beside "$root/bench/iris.limn"
must step --precision 64 --compiler gcc turns.limn

if echo "#include \"$dir/net.h\"" | c++ -x c++ -fsyntax-only - 2>/dev/null; then echo "ok the header is C++ too"
elif command -v c++ >/dev/null 2>&1; then echo "not ok the header is not C++"
else echo "skipped the header in C++: no c++ here"; fi
cat >"$dir/odd.limn" <<'END'
learn exp(main: R[2], CHUNK: R[2], limn_m: R[2]) -> R[2] = main + CHUNK * limn_m
learn Tile : R[2] -> R[3] = dense[3]
END
must values "$dir/odd.limn" exp Tile
/usr/bin/python3 "$here/names.py" "$limn" "$dir" few
cat >"$dir/one.limn" <<'END'
box rows(x: R[2]) -> (R[3], R[]) = ([1, 2, 3], 7)
box lone(x: R[]) -> (R[], R[]) = (2 * x, x + 1)
box add_cell(x: R[], s: R[]) -> R[] = s + x
box sums(x: R[8]) -> R[8] = scan[t, add_cell](x[t], 10)
box cases(x: R[2], X: R[2]) -> R[2] = x - X
box both(x: R[]) -> R[] = through(x + 0.1, sin(x))
END
must values "$dir/one.limn" lone sums cases both rows
must values --batch 3 "$dir/one.limn" lone sums cases both rows
cat >"$dir/labels.limn" <<'END'
learn word(w: {5}) -> R[2] = embed[2](w)
learn text(w: {300}[7], x: R[2]) -> R[2] = x + sum[i](embed[2](w[i]))
box gates(b: B[4]) -> R[4] = number(b)
END
must values "$dir/labels.limn" word text gates
must values --batch 3 --beside "$dir/labels.limn" word text gates
"$limn" export "$dir/one.limn" lone --as c -o "$dir/lone.c" >/dev/null
"$limn" export "$dir/one.limn" lone --as c --batch 3 -o "$dir/lone3.c" >/dev/null
if grep -q 'int lone(const float \*x, float \*out_1, float \*out_2);' "$dir/lone.h" && grep -q 'int lone(const float \*x, float \*out_1, float \*out_2);' "$dir/lone3.h"; then echo "ok reals are floats, with axes and without"; else echo "not ok reals are floats, with axes and without"; fi
if [ "$(wc -l <"$dir/lone.c")" -lt 120 ]; then echo "ok what is not used is not there"; else echo "not ok $(wc -l <"$dir/lone.c") lines for a product"; fi
cat >"$dir/phases.limn" <<'END'
given z from normal[2]
learn f : R[2] -> R[1] = dense[1]
goal g : f(z) ~ 1 by l2
train 2 steps, adam(0.1)
train 2 steps, gd(0.1)
END
told "two phases are refused" "trains in 2 phases, each with steps of its own" "$limn" export "$dir/phases.limn" --as c --train -o "$dir/two.c"
cat >"$dir/falls.limn" <<'END'
given x : R[784] from mnist.image
learn f : R[784] -> R[1] = dense[1]
goal g : f(x) ~ 1 by l2
train 2 epochs, adam(cosine(0.1))
END
told "steps that cannot be counted are refused" "how many steps there are depends on data that are not here" \
  env LIMN_DATA="$dir/none" HOME="$dir" "$limn" export "$dir/falls.limn" --as c --train -o "$dir/two.c"
told "a name that C cannot include is refused" 'C has no way to write that name: -o FILE.c says another one' "$limn" export "$dir/odd.limn" exp --as c -o "$dir/a\"b.c"
"$limn" eval "$dir/odd.limn" Tile --in '[1, 2]' --save "$dir/w.safetensors" >/dev/null
/usr/bin/python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(-8, 2); f.write(b"\0\0\0\0\0\0\xf0\x7f")' "$dir/w.safetensors"
told "weights that are no numbers are refused" "is not finite" "$limn" export "$dir/odd.limn" Tile --weights "$dir/w.safetensors" --as c -o "$dir/two.c"
