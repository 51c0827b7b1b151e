// Steps of training in the playground's module under node: node steps.mjs WASM PROGRAM STEPS. For bench/playground.py.
import fs from "node:fs";
import { Engine } from "../../studio/src/playground_engine";
import { MemoryFiles } from "../../studio/src/wasi";

const [wasm, program, steps] = process.argv.slice(2);
const files = new MemoryFiles();
files.write("program.limn", fs.readFileSync(program, "utf8"));
const engine = await Engine.start(await WebAssembly.compile(fs.readFileSync(wasm)), files);
const training = engine.trainer("program.limn", { steps: Number(steps), seed: 1 }, () => false);
while (training.step(50));
training.close();
