#!/bin/sh
# The report: every view in one page, in a headless browser, light and dark, narrow and wide.
#   tests/report/test.sh [PICTURES]        PICTURES: a folder for screenshots
# Without a browser only the page's text is checked.
set -u
. "$(dirname "$0")/../say.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 1
case $build in *san*) flags="-fsanitize=address,undefined" ;; *) flags="" ;; esac


# shellcheck disable=SC2086
if ! ${CC:-cc} -std=c11 -g $flags -Isrc -Iinclude -Itests -o "$dir/make" tests/report/make.c tests/shown_help.c \
  "$build/libinner.a" -lpng -lz -lpthread -lm; then
  not_ok "the program that makes a page compiles"
  exit 1
fi
mkdir "$dir/run"
if "$dir/make" "$dir/run" 2>"$dir/err"; then ok "a report is written"; else not_ok "a report is written: $(cat "$dir/err")"; exit 1; fi
if [ -z "$(find "$dir" -name '*.part')" ]; then ok "nothing half-written"; else not_ok "nothing half-written"; fi
if grep -q 'src="http\|url(http\|@import' "$dir/run/report.html"; then not_ok "the page needs nothing else"; else ok "the page needs nothing else"; fi
if /usr/bin/python3 - "$dir/run/report.html" <<'END'
import sys
from html.parser import HTMLParser
void = {"meta", "link", "br", "img", "input", "hr"}
class Tags(HTMLParser):
    open, ids = [], set()
    def handle_starttag(self, tag, attrs):
        if tag not in void: self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                assert value not in self.ids, f"id {value} is there twice"
                self.ids.add(value)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in void: self.open.pop()
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"
t = Tags()
t.feed(open(sys.argv[1], encoding="utf-8").read())
assert not t.open, t.open
END
then ok "every tag is closed, every id is there once"; else not_ok "every tag is closed, every id is there once"; fi

# a page whose pictures move through time: no larger than it has to be
if "${LIMN:-$build/limn}" run "$here/moments.limn" --out "$dir/moments" >"$dir/log" 2>&1; then ok "a page with sliders is written"; else
  not_ok "a page with sliders is written: $(cat "$dir/log")"
fi
page=$dir/moments/report.html
if [ "$(grep -c 'class="scrub" hidden' "$page")" -eq 2 ]; then ok "each run has a slider"; else not_ok "each run has a slider"; fi
if grep -q 'The slider stops at [0-9]* of [0-9]* moments' "$page"; then ok "it says which moments are left out"; else not_ok "it says which moments are left out"; fi
if [ "$(wc -c <"$page")" -lt 2000000 ]; then ok "the page is small"; else not_ok "the page is small: $(wc -c <"$page")"; fi
if grep -q '<script[^>]*src' "$page"; then not_ok "no script comes from outside"; else ok "no script comes from outside"; fi

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ] || ! command -v node >/dev/null; then
  echo "skipped: no browser or no node, the page is not looked at"
  exit $failed
fi
[ -z "${1:-}" ] || mkdir -p "$1"
node "$here/look.js" "$chromium" "$dir/run/report.html" ${1:+"$1"} || failed=1
[ -z "${1:-}" ] || mkdir -p "$1/moments"
node "$here/look.js" "$chromium" "$dir/moments/report.html" ${1:+"$1/moments"} || failed=1
exit $failed
