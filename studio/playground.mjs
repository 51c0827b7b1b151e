// The playground's folder: node playground.mjs FOLDER WASM [DATA] (make playground). The module, packed, since servers of files do not all pack
// what they send; the studio's page, told that its home is
// the browser; the worker; and files.json: the examples that need nothing but limn, those of playground/programs with what they read, and sets
// of data where DATA has them.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, ".."), [out, wasm, data] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "limn.wasm.gz"), gzipSync(readFileSync(wasm), { level: 9 }));
await import("./build.mjs");
const page = join(out, "index.html");
writeFileSync(page, readFileSync(page, "utf8").replace("<html ", '<html data-home="playground" '));
await build({
  absWorkingDir: here,
  entryPoints: { worker: "src/playground_worker.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox110", "safari16"],
  legalComments: "none",
  logLevel: "warning",
});

const files = {}, small = ["iris/iris.csv", "lynx-hare/Lynx_Hare.csv"];
for (const name of small) if (data && existsSync(join(data, name))) files[`data/${name}`] = readFileSync(join(data, name), "utf8");
for (const name of readdirSync(join(root, "examples")).filter((n) => n.endsWith(".limn"))) files[name] = readFileSync(join(root, "examples", name), "utf8");
const own = join(root, "playground/programs");
for (const name of readdirSync(own)) files[name] = readFileSync(join(own, name), "utf8");
writeFileSync(join(out, "files.json"), JSON.stringify(files));
