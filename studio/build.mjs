// Builds the page into dist/ (or the folder named): node build.mjs [FOLDER]. The words of the language and the inks of pictures are
// read where the compiler has them, so that the page can never say something else.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const out = process.argv[2] ?? join(here, "dist");

function words() {
  const lines = execFileSync("sh", [join(root, "editors/words.sh")], { encoding: "utf8" }).trim().split("\n");
  const of = (kind) => lines.filter((l) => l.startsWith(kind + " ")).map((l) => l.slice(kind.length + 1));
  return { keyword: of("keyword"), declaration: of("declaration") };
}

/** src/show/canvas/inks.def as custom properties and the classes that pictures have. */
function inks() {
  const rows = [...readFileSync(join(root, "src/show/canvas/inks.def"), "utf8").matchAll(/^INK\((\w+), 0x(\w{6}), 0x(\w{6})/gm)];
  const name = (r) => r[1].toLowerCase().replace(/_/g, "-");
  const properties = (column) => rows.map((r) => `--ink-${name(r)}:#${r[column]};`).join("");
  const classes = rows.map((r) => `.ink-${name(r)}{fill:var(--ink-${name(r)})}.pen-${name(r)}{stroke:var(--ink-${name(r)})}`).join("\n");
  return `:root{${properties(2)}}\n:root[data-theme="dark"]{${properties(3)}}\n${classes}\n`;
}

const inkPlugin = {
  name: "inks",
  setup(b) {
    b.onResolve({ filter: /^inks\.css$/ }, () => ({ path: "inks.css", namespace: "inks" }));
    b.onLoad({ filter: /.*/, namespace: "inks" }, () => ({ contents: inks(), loader: "css" }));
  },
};

mkdirSync(out, { recursive: true });
for (const old of ["page.js", "chunk.js", "play.js", "page.css", "index.html", "icon.svg"]) rmSync(join(out, old), { force: true });
await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: out,
  bundle: true,
  splitting: true, // what is seldom opened is fetched when it is
  chunkNames: "[name]",
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox110", "safari16"],
  loader: { ".limn": "text", ".md": "text" },
  define: { WORDS: JSON.stringify(words()), "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  charset: "utf8",
  plugins: [inkPlugin],
  logLevel: "warning",
});
writeFileSync(join(out, "index.html"), readFileSync(join(here, "src/index.html")));
copyFileSync(join(here, "src/icon.svg"), join(out, "icon.svg"));
