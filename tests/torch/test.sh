#!/bin/sh
# Values and gradients of the library's boxes, compared with PyTorch's in data/, which make_numbers.py generates.
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 compare.py split data "$work" || exit 1
for dir in "$work"/*/; do
  cd "$dir" || exit 1
  # shellcheck disable=SC2046 # names without spaces
  set -- $(cat args)
  program=$here/$1
  shift
  "$LIMN" eval "$program" "$@" --out y.npy --dy dy.npy --grads g.safetensors >log 2>&1
done
cd "$here" && /usr/bin/python3 compare.py check data "$work"
