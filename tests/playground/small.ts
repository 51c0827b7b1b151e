// small.c in the memory file system: node small.mjs WASM
import fs from "node:fs";
import zlib from "node:zlib";
import { MemoryFiles, Wasi } from "../../studio/src/wasi";

const module = await WebAssembly.compile(fs.readFileSync(process.argv[2])), files = new MemoryFiles(), lines: string[] = [];
const wasi = new Wasi({ files, line: (stream, text) => lines.push(`${stream} ${text}`) });
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.imports(module) });
wasi.memory = instance.exports.memory as WebAssembly.Memory;
(instance.exports._initialize as () => void)();
const wrong = (instance.exports.test as () => number)(), got = zlib.inflateSync(files.read("packed")!);
const want = Buffer.from(Array.from({ length: 100000 }, (_, i) => ((i * i) % 4294967296 >>> 3) & 255));
console.log(wrong ? `not ok files, jumps and paths: number ${wrong}` : "ok files, jumps and paths");
console.log(got.equals(want) ? "ok what is stored as deflate is read by zlib" : "not ok what is stored as deflate is read by zlib");
console.log(files.paths().join() === "packed" && lines.join() === "1 good" ? "ok what is left, and what was printed" : `not ok what is left: ${files.paths()}, printed: ${lines}`);
