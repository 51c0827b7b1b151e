#!/bin/sh
# Short training of the examples on built-in data; FULL=1: of the large ones too. tests/examples/full.sh compares complete runs with the figures in their headers.
set -u
. "$(dirname "$0")/lib.sh"
say() { echo "$1 examples $2: $4, wanted $3"; }

# -- who moves whom, and what a goal that is left out changes
who() { "$LIMN" check "$1" --who 2>/dev/null; }
same() { if [ "$2" = "$3" ]; then echo "ok examples $1"; else echo "not ok examples $1"; echo "  wanted: $2"; echo "  is:     $3"; fi; }
# movers FILE LEARNER: the goals that move it
movers() { who "$1" | awk -v l="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == l) at = i + 1; next } $at == "moves" { printf "%s ", $1 }'; }
same "gan: who moves dis" "real fake calm " "$(movers examples/gan.limn dis)"
same "gan: who moves gen" "fool " "$(movers examples/gan.limn gen)"
for goal in real fake fool calm; do
  sed "/^goal $goal /d" examples/gan.limn >"$dir/gan.limn"
  case $goal in
    fool) dis="real fake calm " gen="" ;;
    *) dis=$(echo "real fake calm " | sed "s/$goal //") gen="fool " ;;
  esac
  same "gan without $goal: who moves dis" "$dis" "$(movers "$dir/gan.limn" dis)"
  same "gan without $goal: who moves gen" "$gen" "$(movers "$dir/gan.limn" gen)"
done

# -- the story's programs are the examples
awk '/^```limn$/ { n++; on = 1; next } /^```/ { on = 0 } on { print > out "/story." n }' out="$dir" docs/story.md
n=0
for f in autoencoder refined sampled vae; do
  n=$((n + 1))
  same "the story's $f" "$(grep -v '^#' examples/$f.limn | grep .)" "$(grep . "$dir/story.$n")"
done

# -- small ones, to the end
train iris
reached "iris" "$(value iris fit.hits)" 0.95 -
train equations
reached "equations, one number for each point" "$(value equations rebuild.l2)" - 0.03
train iris_lens
reached "iris_lens, a matrix" "$(value iris_lens matrix_hits)" 0.6 0.9
reached "iris_lens, one layer" "$(value iris_lens single_hits)" 0.9 -
reached "iris_lens, two layers" "$(value iris_lens hidden_hits)" 0.97 -
train regress
reached "regress" "$(value regress off)" - 0.03
same "regress, measured again" "$(printf %.4g "$(value regress off)")" "$("$LIMN" eval examples/regress.limn --from "$dir/regress" | awk '{ printf "%.4g", $2 }')"
train energy
rows iris
rows blobs
reached "energy, angle to the principal components" "$(oracle angle "$dir/energy" "$dir/iris.safetensors")" - 0.01
reached "energy, k-means by Lloyd's best" "$(oracle lloyd "$dir/energy" "$dir/blobs.safetensors")" - 1.01

case ${BUILD:-} in
  */san) echo "skipped: the larger examples are too slow under the sanitizers"; exit 0 ;;
esac

[ -n "${FULL:-}" ] || exit 0
# -- large ones, for a moment, with drawn digits in the place of written ones
mkdir "$dir/glyphs"
for f in autoencoder refined sampled vae gan deepdream; do sed 's/mnist/glyphs/g' examples/$f.limn >"$dir/glyphs/$f.limn"; done
rows glyphs
# -- learning diagrams, for a moment
for f in distill multitask; do sed 's/mnist/glyphs/g; s/ 40 epochs/ 1 epochs/; s/ 20 epochs/ 1 epochs/; s/ 5 epochs/ 1 epochs/; s/ 6 epochs/ 1 epochs/' examples/$f.limn >"$dir/glyphs/$f.limn"; done
sed 's/omniglot/glyphs/g; s/964/10/g; s/layer\[64\] ^ 4/layer[16] ^ 2 ; layer[64] ^ 2/; s/shot: \([15]\)\]/shot: \1, episodes: 20]/; /wide/d; /twenty/d' examples/fewshot.limn >"$dir/glyphs/fewshot.limn"
folder=$dir/glyphs
train distill
reached "distill, a student and its teacher" "$(value distill distill.Y.hits)" 0.8 -
train multitask
reached "multitask, two tasks and one encoder" "$(value multitask both.parity.Y.hits)" 0.9 -
train fewshot --steps 30 --every 30
reached "fewshot, a new head for each task" "$(value fewshot way5_shot5)" 0.5 -
unset folder
train tying --epochs 1
reached "tying" "$(value tying tied.l2)" - 10
reached "tying, two matrices" "$(value tying free.l2)" - 14
folder=$dir/glyphs
exact=$(oracle pca "$dir/glyphs.safetensors" 20)
train refined --epochs 3
reached "refined, error by that of principal components" "$(echo "$(value refined rebuild.l2) $exact" | awk '{ print $1 / $2 }')" - 1
train vae --epochs 2
bound=$(value vae bound)
reached "vae" "$bound" - 250
train sampled --epochs 2
reached "sampled, bound by that of the vae" "$(echo "$(value sampled bound) $bound" | awk '{ print $1 / $2 }')" 1.05 -
train gan --steps 150
"$LIMN" sample "$folder/gan.limn" --from "$dir/gan" --n 256 --out "$dir/gan.npy" >"$dir/log" 2>&1
reached "gan, how bright its pictures are" "$(oracle grey "$dir/gan.npy" "$dir/glyphs.safetensors")" 0.4 2
train deepdream --steps 150
reached "deepdream, dreams that are read" "$(value deepdream dreams)" 0.99 -
