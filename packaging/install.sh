#!/bin/sh
# Installs and uninstalls, by one list of files:  packaging/install.sh install|uninstall
# `make` sets BUILD VERSION SHARED SHARED_MAJOR SHARED_LINK PRIVATE_LIBS and the folders PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR.
set -eu
way=$1
root=${DESTDIR:-}
case $PREFIX in /*) ;; *) echo "PREFIX must begin with /, not $PREFIX" >&2; exit 2 ;; esac

tidy() { # folder: it goes if it is empty, and so do those around it; those that every system has stay
  at=$1
  while case $at in "$DATADIR"/* | "$LIBDIR"/*) rmdir "$root$at" 2>/dev/null ;; *) false ;; esac; do at=${at%/*}; done
}
put() { # mode file folder [name]
  to=$root$3/${4:-${2##*/}}
  if [ "$way" = uninstall ]; then rm -f "$to"; tidy "$3"; return; fi
  [ -d "$root$3" ] || mkdir -p "$root$3"
  # Beside, then renamed: a program that is running keeps its file.
  cp "$2" "$to.new"
  chmod "$1" "$to.new"
  mv -f "$to.new" "$to"
}
link() { # what folder name
  if [ "$way" = uninstall ]; then rm -f "$root$2/$3"; else ln -sf "$1" "$root$2/$3"; fi
}
tree() { # folder to: all its files
  (cd "$1" && find . -type f ! -name '.*' | sort) | while read -r f; do
    f=${f#./} below=
    case $f in */*) below=${f%/*} ;; esac
    put 644 "$1/$f" "$2${below:+/$below}"
  done
}
gone() { # a folder that is ours alone
  if [ "$way" = install ]; then return; fi
  rm -rf "$root${1:?}"
  tidy "${1%/*}"
}

share=$BUILD/share
put 755 "$BUILD/limn" "$BINDIR"
put 644 "$BUILD/liblimn.a" "$LIBDIR"
put 755 "$BUILD/$SHARED" "$LIBDIR"
link "$SHARED" "$LIBDIR" "$SHARED_MAJOR"
link "$SHARED_MAJOR" "$LIBDIR" "$SHARED_LINK"
put 644 include/limn.h "$INCLUDEDIR"
below() { case $1 in "$PREFIX"/*) printf '${prefix}%s' "${1#"$PREFIX"}" ;; *) printf %s "$1" ;; esac; } # so that the folder can move
sed -e "s,@PREFIX@,$PREFIX," -e "s,@LIBDIR@,$(below "$LIBDIR")," -e "s,@INCLUDEDIR@,$(below "$INCLUDEDIR")," -e "s,@VERSION@,$VERSION," -e "s,@PRIVATE@,$PRIVATE_LIBS," \
  packaging/limn.pc.in >"$BUILD/limn.pc"
put 644 "$BUILD/limn.pc" "$LIBDIR/pkgconfig"
for page in "$share"/man/*.[0-9]; do put 644 "$page" "$MANDIR/man${page##*.}"; done
put 644 "$share/completions/limn.bash" "$DATADIR/bash-completion/completions" limn
put 644 "$share/completions/limn.zsh" "$DATADIR/zsh/site-functions" _limn
put 644 "$share/completions/limn.fish" "$DATADIR/fish/vendor_completions.d"
for part in syntax ftdetect ftplugin; do put 644 "$share/vim/$part/limn.vim" "$DATADIR/vim/vimfiles/$part"; done
put 644 "$share/vim/lsp/limn.lua" "$DATADIR/nvim/site/lsp"
put 644 "$share/emacs/limn-mode.el" "$DATADIR/emacs/site-lisp"
tree "$share/vscode" "$DATADIR/limn/vscode"
put 644 README.md "$DOCDIR"
put 644 LICENSE "$DOCDIR"
tree docs "$DOCDIR/docs"
# What the pages link to.
put 644 CONTRIBUTING.md "$DOCDIR"
put 644 CHANGELOG.md "$DOCDIR"
put 644 SECURITY.md "$DOCDIR"
put 644 bench/README.md "$DOCDIR/bench"
put 644 include/limn.h "$DOCDIR/include"
put 644 src/rooms "$DOCDIR/src"
tree examples "$DOCDIR/examples"
gone "$DATADIR/limn"
gone "$DOCDIR"
