#!/bin/sh
# Prints the hardening flags that this compiler and linker support, each after a word for its use: compiling (compile), linking
# anything (link), linking programs (program).
#   tools/harden.sh KEEP CC…        stores the result in the file KEEP, which is reused while the compiler is the same
# A flag is used if a small program compiles with it without a warning. Generated code does not use these flags.
set -u
keep=$1
shift
cc=$* # of several words, as `ccache gcc`
who="$* $("$@" -dumpmachine 2>/dev/null) $("$@" -dumpversion 2>/dev/null) $(cksum <"$0")"
if [ "$(sed -n 1p "$keep" 2>/dev/null)" = "$who" ]; then
  sed 1d "$keep"
  exit
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat >"$dir/a.c" <<'END'
#include <string.h>
int main(int n, char **v) { char a[64]; memset(a, n, sizeof a); return v[0][0] == a[n & 63]; }
END
compile="" link="" program=""
# has FLAG…: with them nothing is said, not even a warning
has() {
  $cc -O2 -fPIC $compile $link "$@" -Werror -o "$dir/a" "$dir/a.c" >"$dir/log" 2>&1 && [ ! -s "$dir/log" ]
}
for f in -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard; do
  if has $f; then compile="$compile $f"; fi
done
for n in 3 2; do # some compilers set it themselves, to another number
  if has -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$n; then compile="$compile -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$n" && break; fi
done
for f in -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack; do
  if has $f; then link="$link $f"; fi
done
if has -pie; then program=" -pie"; fi
mkdir -p "$(dirname "$keep")"
printf '%s\n' "$who" $(printf 'compile:%s\n' $compile; printf 'link:%s\n' $link; printf 'program:%s\n' $program) >"$keep.$$" && mv "$keep.$$" "$keep"
sed 1d "$keep"
