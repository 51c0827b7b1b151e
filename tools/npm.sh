#!/bin/sh
# What tests want of npm, by package name: the studio's page and a browser's driver (studio/package-lock.json), a client of language servers,
# ONNX Runtime; or the page alone: tools/npm.sh studio. Installs what is missing, quietly, and says so; where there is no npm, or no network, says that, and those tests are skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build
options="--ignore-scripts --no-audit --no-fund --loglevel=error"

# has FOLDER PACKAGE: it is there. The lock file is newer when another version is wanted.
has() { [ -d "$1/node_modules/$2" ] && [ ! studio/package-lock.json -nt "$1/node_modules" ]; }
# get FOLDER COMMAND…
get() {
  folder=$1
  shift
  # shellcheck disable=SC2086
  if (mkdir -p "$folder" && cd "$folder" && "$@" $options) >/dev/null 2>&1; then touch "$folder/node_modules"; else echo "not installed by npm: what $folder needs" >&2; fi
}
wanted=""
has studio playwright-core || wanted="$wanted studio"
if [ "${1:-}" != studio ]; then
  has "$build/lsp-client" vscode-languageserver-protocol || wanted="$wanted vscode-languageserver-protocol"
  has "$build/onnxruntime" onnxruntime-node || wanted="$wanted onnxruntime-node"
fi
[ -n "$wanted" ] || exit 0
command -v npm >/dev/null 2>&1 || { echo "not installed: npm, and so not:$wanted" >&2; exit 0; }
echo "installing by npm:$wanted"
for package in $wanted; do
  case $package in
    studio) get studio npm ci ;;
    onnxruntime-node) get "$build/onnxruntime" npm install --prefix . onnxruntime-node ;;
    *) get "$build/lsp-client" npm install --prefix . vscode-languageserver-protocol vscode-jsonrpc ;;
  esac
done
