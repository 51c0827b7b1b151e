#!/bin/sh
# Installed files work at their place: libraries, header, pkg-config file, man pages, completions, editor files; the Debian package
# in an empty root; `make uninstall` removes everything. Flags are respected, and make itself installs nothing.
set -u
. "$(dirname "$0")/../say.sh"
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=${CC:-$(cut -d" " -f1 "$build/flags")} # as it was built: nothing is to be built anew here
make=${MAKE:-make}
export LIMN_CACHE="$dir/cache"
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 # how small a package is, is nothing to test
unset MAKEFLAGS MFLAGS MAKELEVEL LDLIBS

# good NAME COMMAND…
good() {
  name=$1
  shift
  if "$@" >"$dir/log" 2>&1; then ok "$name"; else not_ok "$name"; head -20 "$dir/log"; fi
}
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: $3, wanted $2"; fi; }
# only NAME: the names that come in are limn_* (macOS puts a _ before)
only() {
  cat >"$dir/names"
  if [ -s "$dir/names" ] && ! grep -qv '^_*limn_[a-z_]*$' "$dir/names"; then ok "$1"; else not_ok "$1"; grep -v '^_*limn_' "$dir/names" | head; fi
}

# -- one version ---------------------------------------------------------------------------------------------------------------------
number() { sed -n "s/^#define LIMN_VERSION_$1 //p" include/limn.h; }
version=$(sed -n 's/^#define LIMN_VERSION "\(.*\)"/\1/p' include/limn.h)
same "the version is its numbers" "$(number MAJOR).$(number MINOR).$(number PATCH)" "$version"
same "limn --version" "limn $version" "$("$build/limn" --version)"

# -- what the libraries show -----------------------------------------------------------------------------------------------------------
nm -g --defined-only "$build/liblimn.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | only "liblimn.a shows limn_* only"
if [ -e "$build/liblimn.so" ]; then
  nm -D --defined-only "$build/liblimn.so" | awk 'NF == 3 { print $3 }' | only "liblimn.so shows limn_* only"
  if command -v readelf >/dev/null 2>&1; then
    same "its soname" "liblimn.so.${version%%.*}" "$(readelf -d "$build/liblimn.so" | sed -n 's/.*soname: \[\(.*\)\].*/\1/p')"
  fi
fi
for name in $(sed -n 's/^[^/]*[ *]\(limn_[a-z_]*\)(.*/\1/p' include/limn.h | sort -u); do
  grep -q "^_*$name\$" "$dir/names" || not_ok "$name is not in the library"
done
ok "every declared function is there"
if grep -n '#include "' src/cli/*.[ch] src/studio/*.[ch] | grep -v '"limn.h"\|"cli/\|"studio/\|"rpc/\|"rpc/\|studio/.*"\(base\|io/bytes\)/' >"$dir/log"; then not_ok "the command line and the studio use limn.h alone"; cat "$dir/log"; else ok "the command line and the studio use limn.h alone"; fi

# -- hardened, where compiler and linker can ------------------------------------------------------------------------------------------
# asked FLAG: it was found, and not taken away by flags of the caller
asked() { grep -q -- ":$1" "$build/harden" && grep -q -- "$1" "$build/flags"; }
# hard NAME FILE PATTERN READELF-OPTION: what the flag does is seen in the file
hard() { if readelf -W "$4" "$2" 2>/dev/null | grep -q "$3"; then ok "${2##*/} $1"; else not_ok "${2##*/} $1"; readelf -W "$4" "$2" | head -40; fi; }
case $build in */san) ;; *)
  if [ "$(uname -s)" = Linux ] && command -v readelf >/dev/null 2>&1; then
    for f in -fstack-protector-strong -D_FORTIFY_SOURCE= -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -pie; do
      if grep -q -- ":$f" "$build/harden"; then ok "there is $f"; else skip "this compiler has no $f"; fi
    done
    for f in "$build/limn" "$build/liblimn.so"; do
      if asked -Wl,-z,relro; then hard "has tables that become read-only" "$f" GNU_RELRO -l; fi
      if asked -Wl,-z,now; then hard "is bound before it begins" "$f" 'BIND_NOW\|Flags:.*NOW' -d; fi
      if asked -Wl,-z,noexecstack; then hard "has a stack that is no code" "$f" 'GNU_STACK.* RW ' -l; fi
      if asked -fstack-protector-strong; then hard "watches its stack" "$f" __stack_chk_fail -s; fi
      if asked -D_FORTIFY_SOURCE=; then hard "watches copies" "$f" '__[a-z]*_chk' -s; fi
    done
    if grep -q ':-pie' "$build/harden"; then hard "lies anywhere in memory" "$build/limn" 'FLAGS_1.*PIE' -d; fi
  else skip "no readelf: hardening is not looked at"; fi ;;
esac

# -- in a folder ---------------------------------------------------------------------------------------------------------------------
case $build in */san) san=1 flags="-fsanitize=address,undefined" ;; *) san="" flags="" ;; esac
# check_host NAME PREFIX-OF-PKG-CONFIG-FOLDER ROOT
check_host() {
  name=$1 pc=$2 root=$3
  if ! command -v pkg-config >/dev/null 2>&1; then skip "$name: no pkg-config"; return; fi
  export PKG_CONFIG_PATH="$pc"
  prefix=$root$(sed -n 's/^prefix=//p' "$pc/limn.pc")
  same "$name: pkg-config's version" "$version" "$(pkg-config --modversion limn)"
  # shellcheck disable=SC2086,SC2046
  good "$name: a host with the shared library" $cc -std=c11 $flags -o "$dir/host" tests/install/host.c $(pkg-config --define-variable=prefix="$prefix" --cflags --libs limn)
  same "$name: it runs" "[2, 4, 6]" "$(LD_LIBRARY_PATH=${pc%/pkgconfig} DYLD_LIBRARY_PATH=${pc%/pkgconfig} "$dir/host" 2>&1)"
  # shellcheck disable=SC2086,SC2046
  good "$name: a host with the static library" $cc -std=c11 $flags -o "$dir/host" tests/install/host.c $(pkg-config --define-variable=prefix="$prefix" --cflags limn) \
    "${pc%/pkgconfig}/liblimn.a" $(pkg-config --static --libs libpng zlib) -lpthread -lm
  same "$name: it runs too" "[2, 4, 6]" "$("$dir/host" 2>&1)"
  unset PKG_CONFIG_PATH
}
# check_pages NAME MAN-FOLDER
check_pages() {
  if ! command -v man >/dev/null 2>&1; then skip "$1: no man"; return; fi
  for page in "$2"/man*/*; do
    short=$(basename "$page" .gz)
    MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -l "$page" >"$dir/page" 2>"$dir/log"
    if [ -s "$dir/page" ] && [ ! -s "$dir/log" ]; then ok "$1: page $short"; else not_ok "$1: page $short"; head -5 "$dir/log"; fi
  done
  same "$1: limn(7) has its headings" 1 "$(MANWIDTH=100 LC_ALL=C.UTF-8 man -l "$2"/man7/limn-language.7* 2>/dev/null | grep -c '^ *Index equations$')"
  MANPATH="$2" MANWIDTH=100 LC_ALL=C.UTF-8 man limn-train 2>/dev/null | tr -s ' ' >"$dir/page"
  # every option of help is in the page
  for o in $("$build/limn" help train | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do grep -q -- "$o" "$dir/page" || not_ok "$1: $o is not in limn-train(1)"; done
  if grep -q 'bit for bit' "$dir/page"; then ok "$1: man limn-train"; else not_ok "$1: man limn-train"; fi
}
# completes WORDS…: what bash offers for the last word
completes() {
  bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _limn; printf "%s\n" "${COMPREPLY[@]}"' - "$file" "$@" 2>&1 | sort | tr '\n' ' '
}
check_completion() {
  file=$2
  if ! command -v bash >/dev/null 2>&1; then skip "$1: no bash"; return; fi
  same "$1: commands" "read report run runs " "$(completes limn r)"
  same "$1: options" "--paths " "$(completes limn check --p)"
  same "$1: choices" "32 64 auto bf16 tf32 " "$(completes limn train x.limn --precision '')"
  same "$1: programs" "examples/iris.limn " "$(completes limn train examples/iris.)"
  same "$1: nothing of another command" "" "$(completes limn check --prec | tr -d ' ')"
}

good "make install" $make -s install DESTDIR="$dir/root" PREFIX=/opt/limn ${san:+SAN=1} CC="$cc" AR="${AR:-ar}"
prefix=$dir/root/opt/limn
same "the installed program" "limn $version" "$("$prefix/bin/limn" --version)"
check_host "installed" "$prefix/lib/pkgconfig" "$dir/root"
check_pages "installed" "$prefix/share/man"
check_completion "installed" "$prefix/share/bash-completion/completions/limn"
for f in zsh/site-functions/_limn fish/vendor_completions.d/limn.fish; do
  for c in $("$build/limn" --help | sed -n 's/^  limn \([a-z][a-z]*\).*/\1/p'); do grep -q "[ ']$c" "$prefix/share/$f" || not_ok "$f does not know $c"; done
  ok "$f knows every command"
done
for shell in zsh fish; do
  if ! command -v $shell >/dev/null 2>&1; then skip "$shell is not here: its completion is not read"; continue; fi
  case $shell in zsh) f=zsh/site-functions/_limn ;; fish) f=fish/vendor_completions.d/limn.fish ;; esac
  good "$shell reads its completion" $shell -n "$prefix/share/$f"
done

if command -v fish >/dev/null 2>&1; then
  offers() { fish -N -c "complete -e limn; source '$prefix/share/fish/vendor_completions.d/limn.fish'; complete -C '$1'" 2>&1 | cut -f1 | sort | tr '\n' ' '; }
  same "fish: commands" "run runs " "$(offers 'limn ru')"
  same "fish: choices" "32 64 auto bf16 tf32 " "$(offers 'limn train x.limn --precision ')"
fi

# editors: every word of the language has a color
if /usr/bin/python3 - "$prefix/share/limn/vscode" "$build/share/words" <<'END' >"$dir/log" 2>&1
import json, re, sys
folder, words = sys.argv[1:]
package = json.load(open(folder + "/package.json"))
json.load(open(folder + "/language-configuration.json"))
grammar = json.load(open(folder + "/" + package["contributes"]["grammars"][0]["path"]))
rules = [re.compile(p["match"].replace(r"\p{L}", "a-zA-Z").replace(r"\p{N}", "0-9")) for p in grammar["patterns"]]
lines = [line.split() for line in open(words)]
kinds = {kind for kind, word in lines}
assert kinds == {"keyword", "declaration", "builtin"}, kinds
for kind in kinds: assert sum(k == kind for k, w in lines) >= 20, kind
for known in "box when relu sum dense adam".split(): assert known in {w for k, w in lines}, known
for kind, word in lines: assert any(r.fullmatch(word) for r in rules), word
END
then ok "the grammar knows every word"; else not_ok "the grammar knows every word"; cat "$dir/log"; fi
if command -v vim >/dev/null 2>&1; then
  printf 'box f(x: R[3]) -> R[3] = relu(x)  # why\n' >"$dir/a.limn"
  vim -es -u NONE --cmd "set rtp^=$prefix/share/vim/vimfiles" -c 'syntax on' -c 'filetype plugin on' -c "edit $dir/a.limn" \
    -c "call writefile([&ft, synIDattr(synID(1,1,1),'name'), synIDattr(synID(1,10,1),'name'), synIDattr(synID(1,26,1),'name'), synIDattr(synID(1,36,1),'name')], '$dir/colors')" -c 'qa!' </dev/null >/dev/null 2>&1
  same "Vim" "limn limnDeclaration limnType limnFunction limnComment " "$(tr '\n' ' ' <"$dir/colors")"
else skip "vim is not here: its syntax file is not read"; fi

# the examples and docs that come along
if [ -e "$prefix/share/doc/limn/examples/iris.limn" ] && [ -e "$prefix/share/doc/limn/docs/language.md" ]; then ok "examples and docs"; else not_ok "examples and docs"; fi
# every page's links lead somewhere
find "$prefix/share/doc/limn" -name '*.md' | while read -r page; do
  # neither code nor a list of inputs is a link
  sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$page" | grep -o '][(][^)# ]*[)#]' | sed 's/^](//; s/.$//' | grep -v '^http\|^$' | while read -r to; do
    [ -e "$(dirname "$page")/$to" ] || echo "${page#"$prefix/share/doc/limn/"}: $to"
  done
done >"$dir/links"
same "links of the docs" "" "$(cat "$dir/links")"
# left PREFIX: only the folders that every system has
left() { (cd "$1" && find . | sort | tr '\n' ' '); }
good "make uninstall" $make -s uninstall DESTDIR="$dir/root" PREFIX=/opt/limn ${san:+SAN=1} CC="$cc" AR="${AR:-ar}"
same "nothing is left" ". ./bin ./include ./lib ./share " "$(left "$prefix")"
good "make install without DESTDIR" $make -s install PREFIX="$dir/own" ${san:+SAN=1} CC="$cc" AR="${AR:-ar}"
: >"$dir/own/share/man/man1/other.1"
good "make uninstall without DESTDIR" $make -s uninstall PREFIX="$dir/own" ${san:+SAN=1} CC="$cc" AR="${AR:-ar}"
same "only what is not ours is left" ". ./bin ./include ./lib ./share ./share/man ./share/man/man1 ./share/man/man1/other.1 " "$(left "$dir/own")"
# make help is the head of the Makefile
$make -s help >"$dir/log" 2>&1
same "make help" "make deps     installs the Debian packages that building and testing need" "$(grep '^make deps' "$dir/log")"
same "and nothing but the head" 0 "$(grep -c 'CC ?=\|OBJCOPY' "$dir/log")"

# -- the Debian package -----------------------------------------------------------------------------------------------------------------
if [ -z "${FULL:-}" ]; then skip "make deb: with FULL=1"
elif [ -n "$san" ]; then skip "make deb: not under the sanitizers"
elif ! command -v dpkg-deb >/dev/null 2>&1; then skip "make deb: dpkg-deb is not here"
elif ! $make -s deb CC="$cc" AR="${AR:-ar}" >"$dir/log" 2>&1; then not_ok "make deb"; cat "$dir/log"
else
  deb=$(tail -1 "$dir/log")
  ok "make deb"
  root=$dir/debian
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
  : >"$root/var/lib/dpkg/status"
  if [ "$(id -u)" = 0 ]; then good "dpkg -i in an empty root" dpkg --root="$root" --force-depends --log="$dir/dpkg.log" -i "$deb"
  else good "dpkg-deb -x" dpkg-deb -x "$deb" "$root"; fi
  dpkg-deb -f "$deb" Depends >"$dir/depends"
  for p in libc6 libpng zlib1g; do grep -q "$p" "$dir/depends" || not_ok "it does not depend on $p: $(cat "$dir/depends")"; done
  same "the package's version" "$version" "$(dpkg-deb -f "$deb" Version)"
  same "its program" "limn $version" "$("$root/usr/bin/limn" --version)"
  same "no path of this machine is in it" "" "$(grep -rlF "$PWD" "$root/usr" | head -3)"
  set -- "$root"/usr/lib/*/pkgconfig
  check_host "package" "$1" "$root"
  check_completion "package" "$root/usr/share/bash-completion/completions/limn"
  good "package: the page is there" test -s "$root/usr/share/man/man1/limn.1.gz"
  cp "$root/usr/share/doc/limn/examples/iris.limn" "$dir/iris.limn"
  if (cd "$dir" && "$root/usr/bin/limn" train iris.limn --out run >"$dir/log" 2>&1) && [ -s "$dir/run/report.html" ]; then ok "package: iris is learned"; else not_ok "package: iris is learned"; cat "$dir/log"; fi
fi

# -- flags -----------------------------------------------------------------------------------------------------------------------------
# shows NAME TEXT ARGUMENT…: the commands of a build have this in them
shows() {
  name=$1 text=$2
  shift 2
  if $make -n V=1 -W src/base/buf.c BUILD="$build" CC="$cc" "$@" "$build/base/buf.o" 2>&1 | grep -q -- "$text"; then ok "$name"; else not_ok "$name"; fi
}
shows "CFLAGS come after ours" '-O2.* -Ofunny' CFLAGS=-Ofunny
shows "CPPFLAGS" ' -DFUNNY' CPPFLAGS=-DFUNNY
CFLAGS=-Oodd shows "CFLAGS of the environment" ' -Oodd'
mkdir "$dir/none"
if CC="$cc -nostdinc" tools/packages.sh --look build >"$dir/log" 2>&1; then not_ok "what is missing is seen"; else ok "what is missing is seen"; fi
if [ "$(wc -l <"$dir/log")" -eq 1 ] && grep -q 'missing: .*zlib.h, png.h. To install: ' "$dir/log"; then ok "and said in one line"; else not_ok "and said in one line"; cat "$dir/log"; fi
good "a compiler of two words" env CC="env $cc" tools/packages.sh --look build
PATH=/nowhere /bin/sh tools/packages.sh --look film >"$dir/log" 2>&1; if grep -q "chromium, node, convert" "$dir/log"; then ok "what a film needs is named"; else not_ok "what a film needs is named"; fi
if $make -n all 2>/dev/null | grep -q 'apt-get\|packages.sh build\|packages.sh test'; then not_ok "make installs nothing"; else ok "make installs nothing"; fi
