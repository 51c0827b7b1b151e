// The playground's folder: node playground.mjs FOLDER [DATA], where limn.wasm is already (make playground). The studio's page, told that its home is
// the browser; the worker; and files.json, the examples that need nothing but limn, and sets of data where DATA has them.

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, ".."), [out, data] = process.argv.slice(2);
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
writeFileSync(join(out, "files.json"), JSON.stringify(files));
