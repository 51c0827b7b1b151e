// The playground's home under node: node home.mjs WASM. Files, runs and what limn says, all by messages.
import fs from "node:fs";
import { addressOf, programOf } from "../../studio/src/address";
import { type Message, Playground } from "../../studio/src/playground";
import { MemoryFiles } from "../../studio/src/wasi";

const heard: Message[] = [], waiting = new Map<number, (m: Message) => void>();
const files = new MemoryFiles();
const program = "given x from normal[4]\nlearn f : R[4] -> R[4] = dense[8] ; tanh ; dense[4]\ngoal same : f(x) ~ x by l2\ntrain 30 steps, batch 16, adam(0.01)\n";
files.write("auto.limn", program);
let opened = "";
const home = new Playground(await WebAssembly.compile(fs.readFileSync(process.argv[2])), files, (m) => {
  heard.push(m);
  if (m.id !== undefined) waiting.get(m.id as number)?.(m);
}, (why) => (opened = why));
await home.start();
let next = 1;
const ask = (method: string, params: unknown = {}): Promise<any> => new Promise((done) => {
  const id = next++;
  waiting.set(id, (m) => done(m.error ? { refused: m.error.message, data: m.error.data } : m.result));
  home.take({ jsonrpc: "2.0", id, method, params });
});
const until = async (what: () => boolean) => {
  for (let i = 0; i < 500 && !what(); i++) await new Promise((done) => setTimeout(done, 20));
  return what();
};
const ok = (what: string, good: boolean, found?: unknown) => console.log(good ? `ok ${what}` : `not ok ${what}: ${JSON.stringify(found)}`);
const states = (run: string) => heard.filter((m) => m.method === "host/run" && m.params.run === run).map((m) => m.params);

const about = await ask("host/about");
ok("what it is", about.home === "playground" && about.can.includes("train") && about.examples.join() === "auto.limn", about);
await ask("initialize", { processId: null, rootUri: null, capabilities: {} });
home.take({ jsonrpc: "2.0", method: "initialized", params: {} });
home.take({ jsonrpc: "2.0", method: "textDocument/didOpen", params: { textDocument: { uri: "file:///auto.limn", languageId: "limn", version: 1, text: program } } });
ok("a text is looked at by itself", await until(() => heard.some((m) => m.method === "textDocument/publishDiagnostics")), heard);

const read = await ask("host/read", { path: "auto.limn" });
const written = await ask("host/write", { path: "auto.limn", text: read.text + "# more\n", stamp: read.stamp });
const stale = await ask("host/write", { path: "auto.limn", text: "lost", stamp: read.stamp });
ok("a file is written once", written.stamp !== read.stamp && stale.data.stamp === written.stamp && (await ask("host/read", { path: "auto.limn" })).text.endsWith("# more\n"), stale);
ok("what is not there is refused", (await ask("host/read", { path: "none.limn" })).refused === "there is no none.limn");
ok("a model is refused", /limn import/.test((await ask("host/upload", { name: "m.onnx", data: "" })).refused));
for (const method of ["host/diff", "host/weights", "host/change"]) ok(`${method} is refused in words`, /`limn studio`/.test((await ask(method)).refused));
ok("what nobody knows is refused", /has no host\/nothing/.test((await ask("host/nothing")).refused));
await ask("host/upload", { name: "../d.csv", data: btoa("a,b\n1,2\n") });
ok("a file of the user", (await ask("host/files")).some((f: any) => f.path === "d.csv" && f.kind === "data"), await ask("host/files"));

ok("an example, as it was", (await ask("host/example", { name: "auto.limn" })).text === read.text && /there is no/.test((await ask("host/example", { name: "none.limn" })).refused));

// Programs in addresses.
const links = [{ name: "a b-ä.limn", text: "# ä → β\r\nbox f(x: R[]) -> R[] = x\n" }, { name: "empty.limn", text: "" }];
for (const link of links) {
  const back = await programOf(await addressOf(link.name, link.text));
  ok(`${link.name} through an address`, back?.text === link.text, back);
}
const long = Array.from({ length: 30000 }, (_, i) => `# ${Math.sin(i)}\n`).join("");
ok("what is too long is in no address", (await addressOf("long.limn", long)) === "#" && (await programOf("#")) === null && (await programOf("")) === null);
const far = await addressOf("../../data/x.limn", "a"), bomb = await addressOf("b.limn", "#".repeat(5_000_000));
ok("a name is a name of a file alone", (await programOf(far))?.name === "....datax.limn", await programOf(far));
for (const broken of [bomb, "#x", "#x:!!!", "#x.limn:AAAA", far.slice(0, -5), "#%ff:S0kEAA=="]) ok(`${broken.slice(0, 20)} says that it cannot be read`, /cannot be read/.test((await programOf(broken))?.text ?? ""), await programOf(broken));
home.show({ name: "auto.limn", text: "# another\n" });
ok("the program of a link is shown first, beside that of its name", (await ask("host/about")).open === "file:///auto-2.limn" && (await ask("host/read", { path: "auto-2.limn" })).text === "# another\n" && (await ask("host/read", { path: "auto.limn" })).text === read.text + "# more\n");
home.show({ name: "auto-2.limn", text: "# another\n" });
ok("and is found again", (await ask("host/about")).open === "file:///auto-2.limn");

const { run } = await ask("host/train", { path: "auto.limn", options: { seed: 1 } });
ok("one at a time", /one run at a time/.test((await ask("host/train", { path: "auto.limn" })).refused));
ok("trained to the end", await until(() => states(run).at(-1)?.state === "finished"), states(run).at(-1));
const metrics = await ask("host/metrics", { run, since: 20 });
ok("its numbers", metrics.names.join() === "step,epoch,same" && metrics.next === 30 && metrics.rows.length === 10 && metrics.rows[9][2] > 0, metrics);
ok("its weights", !!files.read(`${run}/model.safetensors`), files.names(run));
const second = (await ask("host/train", { path: "auto.limn", options: { steps: 1e6 } })).run;
ok("another folder", second === `${run}.2`, second);
await until(() => states(second).length > 3);
await ask("host/pause", { run: second });
const rows = (await ask("host/metrics", { run: second })).next;
await new Promise((done) => setTimeout(done, 100));
ok("paused", (await ask("host/metrics", { run: second })).next === rows, rows);
await ask("host/resume", { run: second });
ok("and goes on", await until(() => states(second).at(-1).row > rows), rows);
await ask("host/stop", { run: second });
ok("stopped", (await ask("host/runs")).find((r: any) => r.run === second).state === "stopped", await ask("host/runs"));
files.write("wrong.limn", "goal g : f(x) ~ x by l2\n");
ok("a program that is wrong is refused", /wrong.limn:1:/.test((await ask("host/train", { path: "wrong.limn" })).refused));

// Where limn itself falls, it begins anew, with the same files.
(home as any).engine.take = () => { throw new WebAssembly.RuntimeError("unreachable"); };
home.take({ jsonrpc: "2.0", method: "initialized", params: {} });
ok("after a fall it begins anew", (await until(() => opened !== "")) && (await ask("initialize", { processId: null, rootUri: null, capabilities: {} })).serverInfo !== undefined, opened);
process.exit(0);
