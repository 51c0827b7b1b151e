# The lines that tests/run.sh counts, for test scripts, which say `. "$(dirname "$0")/../say.sh"`.
# ok NAME, not_ok NAME [FILE], skip NAME: in front of NAME stands $say, if it is set; of FILE, or of $said, the beginning is shown.
# After a failure $failed is 1.
failed=0
ok() { echo "ok ${say-}$1"; }
skip() { echo "skipped ${say-}$1"; }
not_ok() {
  failed=1
  echo "not ok ${say-}$1"
  if [ -f "${2-${said-}}" ]; then sed 's/^/    /' "${2-$said}" | head -20; fi
}
