// The playground's engine under node: node engine.mjs WASM EXAMPLE NAME=FILE… — files of data that the program reads, by their path there.
// Prints what the language server says of the program, and the losses of training it.
import fs from "node:fs";
import { Engine, type Train } from "../../studio/src/playground_engine";
import { MemoryFiles } from "../../studio/src/wasi";

const [wasm, example, ...data] = process.argv.slice(2);
const files = new MemoryFiles();
for (const pair of data) {
  const [name, file] = pair.split("=");
  files.write(name, fs.readFileSync(file));
}
const program = fs.readFileSync(example, "utf8"), uri = "file:///work/program.limn";
files.write("work/program.limn", program);

const engine = await Engine.start(await WebAssembly.compile(fs.readFileSync(wasm)), files, (text) => console.log(`C says ${text}`));
console.log(`version ${engine.version()}`);

const request = (id: number | null, method: string, params: unknown) => engine.take(JSON.stringify({ jsonrpc: "2.0", ...(id === null ? {} : { id }), method, params }));
const look = (text: string, version: number) => {
  if (version === 1) request(null, "textDocument/didOpen", { textDocument: { uri, languageId: "limn", version, text } });
  else request(null, "textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  const until = Date.now() + 10000;
  while (engine.work() >= 0 && Date.now() < until);
};
engine.open((text) => {
  const message = JSON.parse(text);
  if (message.id === 1) console.log(`initialize ${Object.keys(message.result).sort().join(" ")}`);
  if (message.id === 2) console.log(`hover ${JSON.stringify(message.result)}`);
  if (message.method === "textDocument/publishDiagnostics") console.log(`messages ${message.params.diagnostics.map((d: any) => d.message).join(" | ")}`);
});
request(1, "initialize", { processId: null, rootUri: null, capabilities: {} });
request(null, "initialized", {});
look(program, 1);
request(2, "textDocument/hover", { textDocument: { uri }, position: { line: 2, character: 6 } });
look(program.replace("given", "givn"), 2);

const train = (what: string, how: Train) => {
  try {
    const t = engine.trainer("work/program.limn", how, (line) => (line.startsWith("{") && console.log(`${what} ${line}`), false));
    while (t.step(7));
    t.close();
    console.log(`${what} done`);
  } catch (e) {
    console.log(`${what} refused ${(e as Error).message}`);
  }
};
train("row", { steps: 50, seed: 1 });
train("run", { steps: 5, out: "work/run" });
console.log(`files ${files.names("work/run").join(" ")}`);
files.write("work/program.limn", program.replace("given", "givn"));
train("wrong", {});
// 40 GB of weights, where addresses have 32 bits
files.write("work/program.limn", "given x from normal[100000]\nlearn f : R[100000] -> R[100000] = dense[100000]\ngoal g : f(x) ~ x by l2\ntrain 1 steps, batch 4, gd(0.1)\n");
train("large", {});
files.write("work/program.limn", program);
train("after", { steps: 3 });
