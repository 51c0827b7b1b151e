#!/bin/sh
# Small steps, which are compiled as one function: transposed rows, packed weights, sums of all kinds, rows of noise. Training has the losses of the interpreter,
# with and without compiled code, also if the last batch of an epoch is short.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LIMN_CACHE="$dir/cache"

cat >iris.limn <<'END'
given x, label from iris
learn f : R[4] -> R[3] = dense[16] ; relu ; dense[3]
goal fit : f(x) ~ label   by cross_entropy
train 40 steps, batch 32, adam(0.01)
END
cat >narrow.limn <<'END'
given x, label from moons
learn f : R[2] -> R[2] = dense[5] ; tanh ; dense[7] ; gelu ; dense[2]
goal fit : f(x) ~ label   by cross_entropy
train 40 steps, batch 48, momentum(0.1)
END
cat >mirror.limn <<'END'
given x from moons
learn e : R[2] -> R[3] = dense[20] ; sigmoid ; dense[3]
learn d : R[3] -> R[2] = softmax ; dense[20] ; tanh ; dense[2]
goal back : (e ; d)(x) ~ x   by l2
train 40 steps, batch 37, adam(0.01)
END
cat >game.limn <<'END'
axis a = 3, b = 3
const U : R[a b] = [[0.5, 0.77, 0.09], [0.13, 0.31, 0.63], [0.49, 0.9, 0.46]]
const V : R[a b] = [[0.63, 0.35, 0.94], [0.17, 0.79, 0.02], [0.46, 0.66, 0.24]]
learn p : simplex[a]
learn q : simplex[b]
goal first : maximise p[i] U[i j] q[j]   trains p
goal second : maximise p[i] V[i j] q[j]   trains q
train 40 steps, adam(0.01)
END

cat >noise.limn <<'END'
given x from moons
given n from normal[64]
given u from uniform[36]
learn g : R[64] -> R[2] = dense[2]
learn h : R[36] -> R[2] = dense[2]
goal back : g(n) + h(u) ~ x   by l2
train 40 steps, batch 37, adam(0.01)
END

# The largest relative difference of two tables of losses, in millionths.
differ() {
  paste -d, "$1/metrics.csv" "$2/metrics.csv" | awk -F, 'NR > 1 {
    n = NF / 2
    for (i = 4; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d; s = $i < 0 ? -$i : $i; d /= s + 1e-3; if (!(d <= most)) most = d }
  } END { if (NR <= 20) most = 1000; printf "%d\n", most * 1e6 }'
}

for name in iris narrow mirror game noise; do
  if ! "$LIMN" train $name.limn --reference --out ref_$name --quiet || ! "$LIMN" train $name.limn --out run_$name --quiet || ! LIMN_CC= "$LIMN" train $name.limn --out pre_$name --quiet; then
    echo "not ok $name runs"
    continue
  fi
  for way in run pre; do
    d=$(differ ref_$name ${way}_$name)
    if [ "$d" -le 200 ]; then echo "ok $name $way"; else echo "not ok $name $way: off by $d millionths"; fi
  done
done
