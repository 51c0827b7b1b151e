// Steps of training in the playground's module under node: node steps.mjs WASM PROGRAM STEPS [FILE…]. For bench/playground.py.
import fs from "node:fs";
import { basename } from "node:path";
import { Engine } from "../../studio/src/playground_engine";
import { MemoryFiles } from "../../studio/src/wasi";

const [wasm, program, steps, ...beside] = process.argv.slice(2);
const files = new MemoryFiles();
files.write("program.limn", fs.readFileSync(program, "utf8"));
for (const file of beside) files.write(basename(file), fs.readFileSync(file, "utf8"));
const engine = await Engine.start(await WebAssembly.compile(fs.readFileSync(wasm)), files);
const training = engine.trainer("program.limn", { steps: Number(steps), seed: 1 }, () => false);
while (training.step(50));
training.close();
