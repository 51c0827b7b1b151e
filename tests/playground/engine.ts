// The playground's engine under node: node engine.mjs WASM EXAMPLE NAME=FILE… — files of data that the program reads, by their path there.
// Prints what the language server says of the program, and the losses of training it.
import fs from "node:fs";
import { Engine } from "../../studio/src/playground_engine";
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

let rows = 0;
const done = engine.train("work/program.limn", { steps: 50, seed: 1 }, (line) => {
  if (line.startsWith("{")) rows++, console.log(`row ${line}`);
  return false;
});
console.log(`trained ${done.status} ${done.messages}`);
const run = engine.train("work/program.limn", { steps: 5, out: "work/run" }, () => false);
console.log(`run ${run.status} ${run.messages}${files.names("work/run").join(" ")}`);
