#!/bin/sh
# Installs by name, quietly, the Debian packages that are missing for what is asked: build, test, fuzz, format, bench, glyphs.
set -eu
need=""
wish="" # good to have: without them some tests are passed over
want() { # command-or-file package
  case "$1" in
    /*) [ -e "$1" ] || need="$need $2" ;;
    *) command -v "$1" >/dev/null 2>&1 || need="$need $2" ;;
  esac
}
want "${CC:-cc}" gcc
want make make
want /usr/include/math.h libc6-dev
want /usr/include/zlib.h zlib1g-dev
want /usr/include/png.h libpng-dev
for what in "$@"; do
  case "$what" in
    test)
      want /usr/include/cmocka.h libcmocka-dev
      want strace strace
      want rsvg-convert librsvg2-bin
      want pdftoppm poppler-utils
      want xmllint libxml2-utils
      /usr/bin/python3 -c 'import numpy' 2>/dev/null || need="$need python3-numpy"
      command -v chromium >/dev/null 2>&1 || wish="$wish chromium"
      command -v node >/dev/null 2>&1 || wish="$wish nodejs" ;;
    fuzz)
      want clang clang
      [ -n "$(ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a 2>/dev/null)" ] || need="$need libclang-rt-dev" ;;
    bench) # with a BLAS that is not the reference
      /usr/bin/python3 -c 'import torch' 2>/dev/null || need="$need python3-torch"
      [ -n "$(ls /usr/lib/*/openblas-pthread/libblas.so.3 2>/dev/null)" ] || need="$need libopenblas0-pthread" ;;
    format) want clang-format clang-format ;;
    glyphs)
      want pkg-config pkg-config
      want /usr/include/freetype2/ft2build.h libfreetype-dev
      want /usr/share/texmf/fonts/opentype/public/tex-gyre fonts-texgyre
      want /usr/share/texmf/fonts/opentype/public/tex-gyre-math fonts-texgyre-math ;;
  esac
done
[ -n "$need$wish" ] || exit 0
run=""
[ "$(id -u)" = 0 ] || run="sudo"
if ! command -v apt-get >/dev/null 2>&1 || { [ -n "$run" ] && ! command -v sudo >/dev/null 2>&1; }; then
  [ -z "$wish" ] || echo "not installed:$wish" >&2
  [ -n "$need" ] || exit 0
  echo "please install:$need" >&2
  exit 3
fi
echo "installing:$need$wish"
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq >/dev/null 2>&1 || true
if [ -n "$need" ]; then
  $run apt-get install -y -qq --no-install-recommends $need >/dev/null 2>&1 || { echo "could not install:$need" >&2; exit 3; }
fi
if [ -n "$wish" ]; then
  $run apt-get install -y -qq --no-install-recommends $wish >/dev/null 2>&1 || echo "not installed:$wish" >&2
fi
