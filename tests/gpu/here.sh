# shellcheck shell=sh
# What tests begin with that want a GPU, whether or not there is one (fake_cuda.c): a folder, $dir, words of their own, and the
# emulated GPU. Its caller says $say, and is in the root of the project.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/say.sh
# shellcheck disable=SC2034 # for the caller
said="$dir/said" here=$PWD
export LIMN_CUDA="$PWD/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$PWD/tests/gpu/emulated.h" FAKE_CUDA_KEPT="$dir/kept" LIMN_CACHE="$dir/cache" TMPDIR="$dir"
mkdir "$FAKE_CUDA_KEPT"
command -v cc >/dev/null || { skip "there is no C compiler"; exit 0; }
case $BUILD in */san) skip "the sanitizers do not know the stacks of fibers"; exit 0 ;; esac
