#!/bin/sh
# Installs the npm packages of the tests, by folder: the studio's page with a browser driver, a client of language servers, ONNX Runtime; or only
# those of the page: tools/npm.sh studio. The package-lock.json files (of studio and tools/npm) fix the version and checksum of every package. It installs
# only missing packages, and says so. Without npm or a network it says that, and the tests are skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
options="--ignore-scripts --no-audit --no-fund --loglevel=error --fetch-timeout=30000 --fetch-retries=1"
most=300 # seconds for a folder
limited() { if command -v timeout >/dev/null 2>&1; then timeout "$most" "$@"; else "$@"; fi; }

# has FOLDER PACKAGE LOCKS: it is there. The lock file is newer when another version is wanted.
has() { [ -d "$1/node_modules/$2" ] && [ ! "$3/package-lock.json" -nt "$1/node_modules" ]; }
# get FOLDER LOCKS
get() {
  [ "$1" = "$2" ] || { mkdir -p "$1" && cp "$2/package.json" "$2/package-lock.json" "$1"; }
  # shellcheck disable=SC2086
  if (cd "$1" && limited npm ci $options) >/dev/null 2>&1; then touch "$1/node_modules"; else echo "not installed by npm: what $1 needs" >&2; fi
}
wanted=""
has studio playwright-core studio || wanted="studio"
if [ "${1:-}" != studio ]; then
  has build/lsp-client vscode-languageserver-protocol tools/npm/lsp-client || wanted="$wanted lsp-client"
  has build/onnxruntime onnxruntime-node tools/npm/onnxruntime || wanted="$wanted onnxruntime"
fi
[ -n "$wanted" ] || exit 0
command -v npm >/dev/null 2>&1 || { echo "not installed: npm, and so not: $wanted" >&2; exit 0; }
echo "installing by npm, each in at most $most s: $wanted"
for folder in $wanted; do
  case $folder in
    studio) get studio studio ;;
    *) get "build/$folder" "tools/npm/$folder" ;;
  esac
done
