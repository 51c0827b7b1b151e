// The worker that holds the playground. The page posts {wasm, files, address} first, then messages of docs/protocol.md; what is posted back is
// {message}, {opened} when limn has begun, and begins anew: then `why` says what it fell over; and {address}, which has the program in it.

import { addressOf, programOf } from "./address";
import { type Message, Playground } from "./playground";
import { MemoryFiles } from "./wasi";

/** Addresses: of the module, and of what is there from the start, a JSON object of texts by path; and what is behind the page's `#`. */
export interface Start {
  wasm: string;
  files: string;
  address: string;
}
export type Posted = { message: Message } | { opened: true; why?: string } | { failed: string } | { address: string };

const post = (posted: Posted) => (self as unknown as { postMessage(x: unknown): void }).postMessage(posted);
let playground: Playground | null = null;

/** What is packed by gzip, unpacked; some servers have done it already. */
async function unpacked(address: string): Promise<ArrayBuffer> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const [a, b] = new Uint8Array(bytes);
  if (a !== 0x1f || b !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function start({ wasm, files, address }: Start): Promise<void> {
  const there = new MemoryFiles();
  const from = await fetch(files);
  if (!from.ok) throw new Error(`${files}: ${from.status}`);
  for (const [path, text] of Object.entries(await from.json())) there.write(path, text as string);
  const module = await WebAssembly.compile(await unpacked(wasm));
  const program = await programOf(address);
  let last = Promise.resolve(); // one behind the other, so that the last one is the last
  const seen = (path: string, text: string) => void (last = last.then(() => addressOf(path, text)).then((address) => post({ address })));
  playground = new Playground(module, there, (message) => post({ message }), (why) => post({ opened: true, why }), seen);
  await playground.start();
  if (program) playground.show(program);
  post({ opened: true });
}

self.onmessage = ({ data }: MessageEvent) => {
  if ("wasm" in data) start(data).catch((e) => post({ failed: String(e) }));
  else playground?.take(data);
};
