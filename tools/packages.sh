#!/bin/sh
# Finds missing packages for a purpose (build, test, c, playground, python, film, fuzz, format, bench, glyphs), by asking the compiler and the shell instead of looking for paths.
#   tools/packages.sh WHAT…          installs the Debian packages and names them; on other systems names what is missing
#   tools/packages.sh --look WHAT…   installs nothing: prints one line with what is missing and how to install it, exit status 3
# CC may have several words (ccache gcc); CPPFLAGS have the folders of headers.
set -eu
look=""
if [ "${1:-}" = --look ]; then look=1; shift; fi
compiler=${CC:-cc}
need="" # Debian packages
lack="" # the same in words
wish="" # good to have: without them some tests are skipped
lacks() { lack="$lack${lack:+, }$1"; need="$need $2"; } # words package
want() { command -v "$1" >/dev/null 2>&1 || lacks "$1" "$2"; } # command package
hope() { command -v "$1" >/dev/null 2>&1 || wish="$wish $2"; } # command package
preprocess() { # header…: they are all there
  # shellcheck disable=SC2086
  for h in "$@"; do echo "#include <$h>"; done | $compiler ${CPPFLAGS:-} -E -x c - >/dev/null 2>&1
}
header() { preprocess "$1" || lacks "$1" "$2"; } # header package
python() { /usr/bin/python3 -c "import $1" 2>/dev/null || lacks "Python's $1" "python3-$1"; } # module

# shellcheck disable=SC2086
if ! $compiler --version >/dev/null 2>&1; then
  lacks "the C compiler ($compiler)" gcc
  compiler=true # whether headers are there cannot be asked
  need="$need libc6-dev zlib1g-dev libpng-dev"
elif ! preprocess math.h zlib.h png.h; then
  header math.h libc6-dev
  header zlib.h zlib1g-dev
  header png.h libpng-dev
fi
for what in "$@"; do
  case "$what" in
    build) ;;
    test)
      want make make
      header cmocka.h libcmocka-dev
      [ "$(uname -s)" != Linux ] || want strace strace
      want pkg-config pkg-config
      want rsvg-convert librsvg2-bin
      want pdftoppm poppler-utils
      want xmllint libxml2-utils
      [ -x /usr/bin/python3 ] || lacks python3 python3 # faults injected, oracles
      python numpy
      pkg-config --exists libmicrohttpd 2>/dev/null || wish="$wish libmicrohttpd-dev" # the studio
      hope chromium chromium
      hope node nodejs
      hope npm npm
      hope c++ g++
      if command -v localedef >/dev/null 2>&1 && [ ! -e /usr/share/i18n/locales/de_DE ]; then wish="$wish locales"; fi # Linux
      [ -d /usr/share/libonnx-testdata ] || wish="$wish libonnx-testdata"
      hope man man-db ;;
    c) # exported C, on other machines
      hope clang clang
      hope arm-none-eabi-gcc gcc-arm-none-eabi
      hope qemu-system-arm qemu-system-arm
      echo '#include <math.h>' | arm-none-eabi-gcc --specs=rdimon.specs -E -x c - >/dev/null 2>&1 || wish="$wish libnewlib-arm-none-eabi"
      hope wasm-ld lld
      hope node nodejs ;;
    playground) # wasm of C, and smaller
      want clang clang
      want wasm-ld lld
      if command -v clang >/dev/null 2>&1 && ! echo '#include <stdlib.h>' | clang --target=wasm32-wasi -E - >/dev/null 2>&1; then lacks "WASI's C library" wasi-libc; fi
      if command -v clang >/dev/null 2>&1 && [ ! -e "$(clang --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)" ]; then lacks "clang's wasm part" libclang-rt-dev-wasm32; fi
      hope wasm-opt binaryen
      hope esbuild esbuild
      hope node nodejs ;;
    python)
      python numpy
      hope jupyter-nbconvert jupyter-nbconvert
      for module in torch ipykernel matplotlib venv; do
        /usr/bin/python3 -c "import $module" 2>/dev/null || wish="$wish python3-$module"
      done ;;
    film) # pictures of the studio's page
      want chromium chromium
      want node nodejs
      want convert imagemagick ;;
    fuzz)
      want clang clang
      echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null || lacks "clang's fuzzer" libclang-rt-dev ;;
    bench) # with a BLAS that is not the reference
      python torch
      [ -n "$(ls /usr/lib/*/openblas-pthread/libblas.so.3 2>/dev/null)" ] || lacks OpenBLAS libopenblas0-pthread ;;
    format) want clang-format clang-format ;;
    clang) want clang clang ;;
    glyphs)
      want pkg-config pkg-config
      pkg-config --exists freetype2 2>/dev/null || lacks freetype2 libfreetype-dev
      fonts=/usr/share/texmf/fonts/opentype/public # Debian's
      [ -e $fonts/tex-gyre ] || lacks "TeX Gyre" fonts-texgyre
      [ -e $fonts/tex-gyre-math ] || lacks "TeX Gyre Math" fonts-texgyre-math ;;
    *) echo "packages.sh: what is $what?" >&2; exit 2 ;;
  esac
done
if [ -n "$look" ]; then wish=""; fi
[ -n "$need$wish" ] || exit 0

# The command that gets it, as the system at hand has it.
command_for() {
  if command -v apt-get >/dev/null 2>&1; then echo "sudo apt-get install$need   (or: make deps)"
  elif command -v dnf >/dev/null 2>&1; then echo "sudo dnf install gcc zlib-devel libpng-devel"
  elif command -v apk >/dev/null 2>&1; then echo "apk add gcc musl-dev zlib-dev libpng-dev"
  elif command -v pacman >/dev/null 2>&1; then echo "sudo pacman -S gcc zlib libpng"
  elif command -v brew >/dev/null 2>&1; then echo "brew install libpng pkg-config"
  elif command -v pkg_add >/dev/null 2>&1; then echo "pkg_add png"
  elif command -v pkg >/dev/null 2>&1; then echo "pkg install png pkgconf"
  else echo "a C compiler, zlib and libpng with their headers"; fi
}
run=""
[ "$(id -u)" = 0 ] || run="sudo"
if [ -n "$look" ] || ! command -v apt-get >/dev/null 2>&1 || { [ -n "$run" ] && ! command -v sudo >/dev/null 2>&1; }; then
  [ -z "$wish" ] || echo "not installed:$wish" >&2
  [ -n "$need" ] || exit 0
  echo "missing: $lack. To install: $(command_for)" >&2
  exit 3
fi
echo "installing:$need$wish"
# A server that does not answer is given up.
fetch="-o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 -o Acquire::Retries=1"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$run apt-get $fetch update -qq >/dev/null 2>&1 || true
if [ -n "$need" ]; then
  # shellcheck disable=SC2086
  $run apt-get $fetch install -y -qq --no-install-recommends $need >/dev/null 2>&1 || { echo "could not install:$need" >&2; exit 3; }
fi
if [ -n "$wish" ]; then
  # shellcheck disable=SC2086
  $run apt-get $fetch install -y -qq --no-install-recommends $wish >/dev/null 2>&1 || echo "not installed:$wish" >&2
fi
