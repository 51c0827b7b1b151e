#!/bin/sh
# limn as a library: hosts in C and C++, with a locale with decimal commas, clashing names, threads, long runs,
# no memory; the examples of the header and of docs/api.md. With liblimn.a, and with liblimn.so if it is built.
set -u
root=$PWD
build=$root/$BUILD
libs=${LDLIBS:--lpng -lz -lpthread -lm}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export LIMN_CACHE="$out/cache"
mkdir -m 700 "$LIMN_CACHE"
cc=${CC:-cc}
cxx=${CXX:-c++}
warn="-Wall -Wextra -Wshadow -Werror"
flags="-D_DEFAULT_SOURCE -g -O1 -I$root/include"
calls=4000
case $BUILD in
*/san)
  flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all"
  calls=2000
  ;;
*) flags="$flags -Wl,-S" ;; # what debuggers want is half of the time of a linker
esac

# report NAME STATUS LOG
report() {
  if [ "$2" -eq 0 ]; then echo "ok embed $1"; else
    echo "not ok embed $1: status $2"
    tail -20 "$3" | sed 's/^/    /'
  fi
}

# host NAME LIBRARY COMPILER SOURCE [FLAGS]: compiled; then run in a folder of its own with $args
host() {
  dir=$out/$1
  mkdir -p "$dir"
  if ! $3 $warn $flags ${5:-} -o "$dir/host" "$4" $2 $libs >"$dir/log" 2>&1; then
    report "$1 compiles" 1 "$dir/log"
    return 1
  fi
  (cd "$dir" && ./host ${args:-}) >"$dir/log" 2>&1
  status=$?
  report "$1" $status "$dir/log"
}

hidden=no
[ -e "$build/liblimn.so" ] && hidden=yes
[ $hidden = no ] && echo "skipped: there is no $BUILD/liblimn.so, so hidden symbols are not looked at"
locales=$out/locales
if command -v localedef >/dev/null; then
  mkdir -p "$locales"
  localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8" >/dev/null 2>&1
fi

wraps="-Wl,--wrap=calloc,--wrap=malloc,--wrap=aligned_alloc,--wrap=free"
# The two that take long go beside the others: many calls with steady memory, and every allocation of every function failing, with
# an arena that counts.
{
  host functions "$build/liblimn.a" "$cc -std=c11" tests/embed/functions.c "$wraps"
  args=$calls host steady "$build/liblimn.a" "$cc -std=c11" tests/embed/steady.c "$wraps"
  host exhaust "$build/libinner.a" "$cc -std=c11" tests/embed/exhaust.c "$wraps -Isrc -DLIMN_GUARD src/base/arena.c"
} >"$out/beside" &
for kind in a so; do
  library=$build/liblimn.$kind
  [ -e "$library" ] || continue
  [ $kind = so ] && library="$library -Wl,-rpath,$build"
  for name in misuse messages refused arrays threads edit; do host "$name.$kind" "$library" "$cc -std=c11" "tests/embed/$name.c"; done
  if command -v "${cxx%% *}" >/dev/null; then host "cxx.$kind" "$library" "$cxx -std=c++14 -Wno-missing-field-initializers" tests/embed/host.cpp
  else echo "skipped: there is no C++ compiler"; fi
  if [ -e "$locales/de_DE.UTF-8" ]; then LOCPATH=$locales host "locale.$kind" "$library" "$cc -std=c11" tests/embed/locale.c
  else echo "skipped: there is no localedef"; fi
  [ $hidden = yes ] && host "clash.$kind" "$library" "$cc -std=c11" tests/embed/clash.c
done
wait
cat "$out/beside"

# what is visible: limn_* only
if [ $hidden = yes ]; then
  for nm in "nm -g --defined-only $build/liblimn.a" "nm -D --defined-only $build/liblimn.so"; do
    $nm 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBRVW]/ && $3 !~ /^limn_/ && $3 !~ /^(_init|_fini|_edata|_end|__bss_start)/ {print $3}' >"$out/names"
    $nm 2>/dev/null | grep -q ' T limn_new$' || echo "limn_new is not there" >>"$out/names"
    [ ! -s "$out/names" ]
    report "${nm##*/} shows limn_* only" $? "$out/names"
  done
fi

# What another thread may write is read and written in one place: base/stop.h.
grep -rnE '(&& |\|\| |!|\(|= )\*[a-z>.-]*stop\b|(->|\.)(stop|quit) = [01]' src --include='*.c' | grep -vE 'cuda|\.stop = [01&]' >"$out/stops"
[ ! -s "$out/stops" ]
report "a wish to stop is read as one" $? "$out/stops"

# The example at the top of limn.h, and every C program of docs/api.md with what it prints.
awk '/^\/\/   Limn \*l/ {on = 1} on && /^\/\/   / {print substr($0, 4); next} on {exit}' include/limn.h >"$out/top"
{
  printf '#include "limn.h"\n#include <stdio.h>\nint main(void) {\n'
  cat "$out/top"
  printf '}\n'
} >"$out/header.c"
mkdir -p "$out/header"
printf 'box classify(x: R[3]) -> R[] = 0.5 * sum(x)\n' >"$out/header/net.limn"
host header "$build/liblimn.a" "$cc -std=c11" "$out/header.c"
grep -q '0\.5' "$out/header/log"
report "header prints a derivative" $? "$out/header/log"
sh tests/embed/pages.sh docs/api.md "$out/pages"
for program in "$out"/pages/*.c; do
  [ -e "$program" ] || continue
  name=page.$(basename "$program" .c)
  mkdir -p "$out/$name"
  cp "$out"/pages/*.limn "$out/$name" 2>/dev/null
  host "$name" "$build/liblimn.a" "$cc -std=c11" "$program"
  [ -e "${program%.c}.out" ] || continue
  diff -u "${program%.c}.out" "$out/$name/log" >"$out/diff"
  report "$name prints what the page says" $? "$out/diff"
done
