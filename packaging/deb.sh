#!/bin/sh
# Builds a Debian package from `make install` with dpkg-deb: packaging/deb.sh BUILD VERSION CC (called by `make deb`)
set -eu
build=$1
version=$2
if ! command -v dpkg-deb >/dev/null 2>&1; then
  echo "make deb: dpkg-deb is not here; it comes with Debian's dpkg" >&2
  exit 3
fi
arch=$(dpkg --print-architecture)
triple=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $3 -print-multiarch 2>/dev/null || echo)
root=$build/deb/root
rm -rf "$build/deb"
mkdir -p "$root/DEBIAN" "$build/deb/debian"
${MAKE:-make} -s --no-print-directory install BUILD="$build" PREFIX=/usr LIBDIR="/usr/lib${triple:+/$triple}" DESTDIR="$PWD/$root"
strip --strip-unneeded "$root/usr/bin/limn" "$root"/usr/lib/*/liblimn.so.* 2>/dev/null || true
strip --strip-debug "$root"/usr/lib/*/liblimn.a 2>/dev/null || true
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions" # Debian's name
find "$root/usr/share/man" -name '*.[0-9]' -exec gzip -9n {} +
mv "$root/usr/share/doc/limn/LICENSE" "$root/usr/share/doc/limn/copyright"

# What the program and the library are linked with. Without dpkg-shlibdeps, by the owners of the libraries.
: >"$build/deb/debian/control"
needs=$(cd "$build/deb" && dpkg-shlibdeps -O -xlimn root/usr/bin/limn root/usr/lib/*/liblimn.so.* 2>/dev/null | sed -n 's/^shlibs:Depends=//p') || needs=
if [ -z "$needs" ]; then
  needs=$(ldd "$root/usr/bin/limn" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | while read -r f; do
    real=$(readlink -f "$f")
    dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}" 2>/dev/null || true
  done | sed 's/:.*//' | sort -u | paste -sd, - | sed 's/,/, /g')
fi
# The studio opens this one by its name.
http=$(grep -ao 'libmicrohttpd\.so\.[0-9]*' "$root/usr/bin/limn" | head -1)
http=$([ -z "$http" ] || dpkg -S "*/$http" 2>/dev/null | sed 's/:.*//' | head -1)
case $needs in *libmicrohttpd*) ;; *) needs="$needs${http:+, $http}" ;; esac
size=$(du -sk "$root/usr" | cut -f1)
cat >"$root/DEBIAN/control" <<END
Package: limn
Version: $version
Architecture: $arch
Maintainer: ${DEBFULLNAME:-limn} <${DEBEMAIL:-limn@localhost}>
Installed-Size: $size
Depends: $needs
Recommends: gcc | clang, libc6-dev
Suggests: libpng-dev, zlib1g-dev
Section: science
Priority: optional
Description: deep learning written as diagrams
 A language, a compiler and a trainer. A program says what data there is,
 which boxes there are, which of them are to be learned, and which diagrams
 should come out equal; limn checks it, draws it, differentiates it,
 compiles a step of training, and trains.
 .
 With the library (static and shared), its header, man pages, completions,
 syntax files for Vim and Visual Studio Code, docs and examples. A C compiler
 makes training faster; without one, prebuilt loops run.
END
cat >"$root/DEBIAN/triggers" <<END
activate-noawait ldconfig
END
# pack ROOT FILE
pack() {
  (cd "$1" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
  find "$1" -type d -exec chmod 755 {} +
  [ -z "${SOURCE_DATE_EPOCH:-}" ] || find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$1" "$2" >/dev/null
  echo "$2"
}

# The Python module, where there is a Python to lay it out.
if command -v python3 >/dev/null 2>&1; then
  python=$build/deb/python
  mkdir -p "$python/DEBIAN" "$python/usr/share/doc/python3-limn"
  python3 python/wheel.py --files "$python/usr/lib/python3/dist-packages" "$version"
  cp LICENSE "$python/usr/share/doc/python3-limn/copyright"
  cp docs/python.md "$python/usr/share/doc/python3-limn/"
  cat >"$python/DEBIAN/control" <<END
Package: python3-limn
Version: $version
Architecture: all
Maintainer: ${DEBFULLNAME:-limn} <${DEBEMAIL:-limn@localhost}>
Installed-Size: $(du -sk "$python/usr" | cut -f1)
Depends: python3 (>= 3.9), limn (>= $version)
Recommends: python3-numpy
Suggests: python3-torch, jupyter-notebook
Section: python
Priority: optional
Description: deep learning written as diagrams, for Python
 Programs of limn are loaded, checked, drawn, trained and called, with numpy
 arrays in and out. Learners are PyTorch modules too.
END
  cat >"$python/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null 2>&1; then py3compile -p python3-limn; fi
END
  cat >"$python/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then py3clean -p python3-limn; fi
END
  chmod 755 "$python/DEBIAN/postinst" "$python/DEBIAN/prerm"
  pack "$python" "$build/python3-limn_${version}_all.deb"
fi
pack "$root" "$build/limn_${version}_$arch.deb"
