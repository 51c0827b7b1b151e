# Functions for test scripts, which source this file; tests/run.sh counts the lines that they print.
# ok NAME, not_ok NAME [FILE], skip NAME print the result of a check. $say, if set, is printed before NAME; not_ok also prints the beginning of FILE,
# or of $said, and sets $failed to 1.
failed=0
ok() { echo "ok ${say-}$1"; }
skip() { echo "skipped ${say-}$1"; }
not_ok() {
  failed=1
  echo "not ok ${say-}$1"
  if [ -f "${2-${said-}}" ]; then sed 's/^/    /' "${2-$said}" | head -20; fi
}
