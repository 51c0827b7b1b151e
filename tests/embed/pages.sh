#!/bin/sh
# Extracts the programs of a page as files: ```c blocks with a main, the ```text block after each (its output), and ```limn blocks whose
# first line is `# NAME.limn`.
#   pages.sh PAGE FOLDER
mkdir -p "$2"
awk -v to="$2" '
  /^```/ {
    if (on) {
      on = 0
      if (kind == "c" && body ~ /int main\(/) { n++; file = sprintf("%s/%02d", to, n); printf "%s", body > (file ".c"); fresh = 1 }
      else if (kind == "text" && fresh) { printf "%s", body > (file ".out"); fresh = 0 }
      else if (kind == "limn" && match(body, /^# [a-z_]+\.limn/)) { name = substr(body, 3, RLENGTH - 2); printf "%s", body > (to "/" name) }
      else if (kind == "c") fresh = 0
    } else { on = 1; kind = substr($0, 4); body = "" }
    next
  }
  on { body = body $0 "\n" }
' "$1"
