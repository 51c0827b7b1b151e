# seconds COMMAND…: user and system time, the best of three. To be sourced by the scripts of this folder.
seconds() {
  for i in 1 2 3; do
    bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null' - "$@" 2>&1 | awk '{ print $1 + $2 }'
  done | sort -n | head -1
}
