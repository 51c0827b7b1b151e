# Setup of tests that use a GPU, real or emulated (fake_cuda.c): a folder, $dir, functions, and the
# emulated GPU. The caller sets $say and is in the root of the project.
# shellcheck shell=sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/say.sh
# shellcheck disable=SC2034 # for the caller
said="$dir/said" here=$PWD
export LIMN_CUDA="$PWD/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$PWD/tests/gpu/emulated.h" FAKE_CUDA_KEPT="$dir/kept" LIMN_CACHE="$dir/cache" TMPDIR="$dir"
mkdir "$FAKE_CUDA_KEPT"
command -v cc >/dev/null || { skip "there is no C compiler"; exit 0; }
case $BUILD in */san) skip "the sanitizers do not know the stacks of fibers"; exit 0 ;; esac
