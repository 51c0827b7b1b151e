#!/bin/sh
# The playground: WASI in the in-memory file system of studio/src/wasi.ts; and, if build/playground-objects/limn.wasm exists
# (make playground), the language server and training in it, with reference losses. Runs in node; esbuild, of studio/node_modules or Debian's,
# removes the types.
cd "$(dirname "$0")" || exit 1
root=$(cd ../.. && pwd)
build=$(cd "$root" && cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$root/studio/node_modules/.bin:$PATH
./lacks.sh "$build"
for need in clang wasm-ld node esbuild; do
  command -v $need >/dev/null || { echo "skipped: there is no $need"; exit 0; }
done
if ! echo '#include <stdlib.h>' | clang --target=wasm32-wasi -E - >/dev/null 2>&1 || [ ! -e "$(clang --target=wasm32-wasi -print-libgcc-file-name)" ]; then echo "skipped: clang has no WASI"; exit 0; fi
bundle() { esbuild "$1.ts" --bundle --platform=node --format=esm --log-level=warning --outfile="$work/$1.mjs" >&2; }

wasi=$root/playground/wasi
clang --target=wasm32-wasi -mexec-model=reactor -Oz -I"$wasi" -include lacks.h -mllvm -wasm-enable-sjlj -o "$work/small.wasm" small.c "$wasi/jump.c" "$wasi/lacks.c" "$wasi/zlib.c" \
  2>"$work/said" && bundle small && node "$work/small.mjs" "$work/small.wasm" || { echo "not ok small.c for wasm"; cat "$work/said"; }

if [ ! -e "$build/playground-objects/limn.wasm" ]; then echo "skipped: make playground has not been run"; exit 0; fi
if [ -e "$build/playground/index.html" ]; then
  bytes=$(cat "$build"/playground/* | wc -c)
  if [ "$bytes" -lt 2000000 ]; then echo "ok the folder has $bytes bytes, below 2 MB"; else echo "not ok the folder has $bytes bytes, not below 2 MB"; fi
fi
# Drawn data, so that both have the same.
cat >"$work/p.limn" <<'LIMN'
given x from normal[4]
learn f : R[4] -> R[4] = dense[8] ; tanh ; dense[4]
goal same : f(x) ~ x by l2
train 40 steps, batch 16, adam(0.01), seed 3
LIMN
bundle home && node "$work/home.mjs" "$build/playground-objects/limn.wasm" || echo "not ok home"
bundle engine
node "$work/engine.mjs" "$build/playground-objects/limn.wasm" "$work/p.limn" >"$work/out" 2>&1 || { echo "not ok engine"; cat "$work/out"; }
holds() { if grep -q -- "$2" "$work/out"; then echo "ok $1"; else echo "not ok $1"; cat "$work/out"; fi; }
holds "the server begins" '^initialize capabilities serverInfo$'
holds "a text without faults" '^messages $'
holds "a text with one" '^messages found `givn`'
holds "a word is explained" '^hover .*goal'
holds "trained" '^row done$'
holds "a run in memory" '^files .*metrics.csv model.safetensors'
holds "what is wrong is refused" '^wrong refused .*program.limn:1:1: error: found `givn`'
holds "what is too large is refused" '^large refused .*out of memory for weights/gd'
holds "and after that all goes on" '^after done$'
"$LIMN" train "$work/p.limn" --steps 50 --seed 1 -o "$work/run" --quiet || echo "not ok train"
node -e '
  const fs = require("fs"), rows = fs.readFileSync(process.argv[1], "utf8").split("\n").filter((l) => l.startsWith("row {")).map((l) => JSON.parse(l.slice(4)).values.same);
  const want = fs.readFileSync(process.argv[2], "utf8").trim().split("\n").slice(1).map((l) => Number(l.split(",")[3]));
  const far = Math.max(...want.map((x, i) => Math.abs(x - rows[i]) / Math.abs(x)));
  console.log(rows.length === want.length && want.length >= 5 && far < 1e-5 ? `ok ${rows.length} losses as here` : `not ok losses: ${rows.length} of ${want.length}, off by ${far}`);
' "$work/out" "$work/run/metrics.csv"
