# Setup of tests that use a GPU, real or emulated (fake_cuda.c): a folder, $dir, functions, and the
# emulated GPU. The caller sets $say and is in the root of the project.
# shellcheck shell=sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/say.sh
# shellcheck disable=SC2034 # for the caller
said="$dir/said" here=$PWD
export LIMN_CUDA="$PWD/$BUILD/fake-cuda" FAKE_CUDA_HEADER="$PWD/tests/gpu/emulated.h" LIMN_CACHE="$dir/cache" TMPDIR="$dir"
# Kernels are compiled once for all runs of the tests, as long as the emulation and the compiler are the same.
kept=$PWD/$BUILD/tests/emulated-code/$({ ${CC:-cc} --version; echo "${CC:-cc}"; cat tests/gpu/emulated.h tests/gpu/fake_nvrtc.c; } 2>&1 | cksum | tr ' ' -)
mkdir -p "$kept"
find "$PWD/$BUILD/tests/emulated-code" -mindepth 1 -maxdepth 1 ! -path "$kept" -exec rm -rf {} +
find "$kept" -name '*.so' -atime +30 -exec rm -f {} +
export FAKE_CUDA_KEPT="$kept"
command -v cc >/dev/null || { skip "there is no C compiler"; exit 0; }
case $BUILD in */san) skip "the sanitizers do not know the stacks of fibers"; exit 0 ;; esac
