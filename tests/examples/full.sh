#!/bin/sh
# Trains the examples completely and compares the results with the figures in their headers. One line for each: wanted,
# reached, seconds. ONLY='vae gan' runs some.
set -u
. "$(dirname "$0")/lib.sh"
failed=0
say() {
  printf '%-6s  %-52s %-28s %-10.6g %4s s\n' "$1" "$2" "$3" "$4" "$seconds"
  [ "$1" = ok ] || failed=$((failed + 1))
}
wanted() { case " ${ONLY:-$1} " in *" $1 "*) return 0 ;; esac; return 1; }
# skip NAME: it needs written digits
skip() { wanted "$1" && echo "skipped $1: MNIST is not on this machine; \`limn data\` says how to get it"; }
seconds=0
digits=mnist
has mnist || digits=glyphs
folder=$dir/programs # gan and what judges it do with drawn digits where there are no written ones
mkdir "$folder"
for f in examples/*.limn; do
  case $f in
    */gan.limn | */digits.limn) sed "s/mnist/$digits/g" "$f" >"$folder/${f#examples/}" ;;
    *) cp "$f" "$folder" ;;
  esac
done

judge() { # NPY: what the reader of digits says of pictures
  [ -e "$dir/digits/model.safetensors" ] || train digits
  "$LIMN" predict "$folder/digits.limn" classify --from "$dir/digits" --in "image=$1" --out "$dir/scores.npy" >>"$dir/log" 2>&1
}

if wanted iris; then
  train iris
  reached "iris, hits on the held-out third" "$(value iris fit.hits)" 0.95 -
fi
if wanted equations; then
  train equations
  reached "equations, distance of a point that came back" "$(value equations rebuild.l2)" 0.01 0.022
fi
if wanted iris_lens; then
  train iris_lens
  reached "iris_lens, hits of a matrix" "$(value iris_lens matrix_hits)" 0.67 0.82
  reached "iris_lens, hits of one layer" "$(value iris_lens single_hits)" 0.93 0.96
  reached "iris_lens, hits of two layers" "$(value iris_lens hidden_hits)" 0.97 0.98
fi
if wanted regress; then
  train regress
  reached "regress, distance from the law" "$(value regress off)" - 0.02
fi
if wanted energy; then
  train energy
  rows iris
  rows blobs
  reached "energy, angle to the principal components" "$(oracle angle "$dir/energy" "$dir/iris.safetensors")" - 0.01
  reached "energy, k-means by Lloyd's best of ten" "$(oracle lloyd "$dir/energy" "$dir/blobs.safetensors")" - 1.01
fi
if wanted tying; then
  train tying
  reached "tying, error with one matrix" "$(value tying tied.l2)" - 5
  reached "tying, error with two" "$(value tying free.l2)" - 8
fi
if [ $digits = mnist ]; then
  if wanted digits; then
    train digits
    reached "digits, hits on the test images" "$(value digits fit.hits)" 0.98 -
  fi
  if wanted digits_conv; then
    train digits_conv
    reached "digits_conv, hits on the test images" "$(value digits_conv fit.hits)" 0.99 -
  fi
  if wanted autoencoder || wanted refined; then
    rows mnist
    exact=$(oracle pca "$dir/mnist.safetensors" 20)
    for f in autoencoder refined; do
      wanted $f || continue
      train $f
      reached "$f, error; at most that of PCA" "$(value $f rebuild.l2)" - "$exact"
    done
    rm "$dir/mnist.safetensors"
  fi
  if wanted sampled; then
    train sampled
    reached "sampled, bound without the prior" "$(value sampled bound)" 200 -
  fi
  if wanted vae; then
    train vae
    reached "vae, bound on the test images" "$(value vae bound)" - 107
  fi
  if wanted deepdream; then
    train deepdream
    taken=$seconds
    "$LIMN" sample "$folder/deepdream.limn" --from "$dir/deepdream" --n 1 --out "$dir/dream.npy" >>"$dir/log" 2>&1
    oracle flat "$dir/dream.npy" "$dir/dreams.npy" >/dev/null
    judge "$dir/dreams.npy"
    seconds=$taken
    reached "deepdream, dreams read by its own reader" "$(value deepdream dreams)" 1 -
    reached "deepdream, of ten, read by that of digits" "$(oracle order "$dir/scores.npy")" 8 -
  fi
else
  for f in digits digits_conv autoencoder refined sampled vae deepdream; do skip $f; done
fi
# -- learning diagrams
if wanted caption; then
  train caption
  reached "caption, exact captions" "$(value caption exact)" 0.95 -
  reached "caption, BLEU" "$(value caption bleu)" 0.98 -
  train caption --set see=deep
  reached "caption, exact with another encoder" "$(value caption exact)" 0.95 -
fi
if [ $digits = mnist ]; then
  if wanted distill; then
    train distill
    reached "distill, the teacher" "$(value distill teach.Y.hits)" 0.98 -
    reached "distill, the student" "$(value distill distill.Y.hits)" 0.968 -
  fi
  if wanted multitask; then
    train multitask
    reached "multitask, the digit" "$(value multitask both.digit.Y.hits)" 0.94 -
    reached "multitask, whether it is odd" "$(value multitask both.parity.Y.hits)" 0.985 -
  fi
fi
if has cifar10 && wanted distill_cifar; then
  train distill_cifar
  reached "distill_cifar, the teacher" "$(value distill_cifar teach.Kind.hits)" 0.72 -
  reached "distill_cifar, the student alone" "$(value distill_cifar lone.Kind.hits)" 0.66 -
  reached "distill_cifar, the student with its teacher" "$(value distill_cifar distill.Kind.hits)" 0.66 -
fi
if has omniglot && wanted fewshot; then
  train fewshot
  reached "fewshot, 5 kinds, 1 example" "$(value fewshot way5_shot1)" 0.93 -
  reached "fewshot, 5 kinds, 5 examples" "$(value fewshot way5_shot5)" 0.97 -
  reached "fewshot, 20 kinds, 1 example" "$(value fewshot way20_shot1)" 0.8 -
fi
if wanted gan; then
  train gan
  taken=$seconds
  "$LIMN" sample "$folder/gan.limn" --from "$dir/gan" --n 1000 --out "$dir/gan.npy" >>"$dir/log" 2>&1
  judge "$dir/gan.npy"
  seconds=$taken
  set -- $(oracle classes "$dir/scores.npy")
  reached "gan on $digits, share of the rarest digit" "${1:-nothing}" 0.03 -
  reached "gan on $digits, how sure the reader is" "${2:-nothing}" 0.8 -
fi
for more in tests/games/full.sh tests/lens/full.sh; do
  [ -z "${ONLY:-}" ] && [ -e "$more" ] || continue
  sh "$more" || failed=$((failed + 1))
done
[ $failed -eq 0 ]
