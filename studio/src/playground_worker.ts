// The worker that holds the playground. The page posts {wasm, files} first, then messages of docs/protocol.md; what is posted back is
// {message}, or {opened} when limn has begun, and begins anew: then `why` says what it fell over.

import { type Message, Playground } from "./playground";
import { MemoryFiles } from "./wasi";

/** `wasm`: where the module is; `files`: what is there from the start, by path. */
export interface Start {
  wasm: string;
  files: Record<string, string | Uint8Array>;
}
export type Posted = { message: Message } | { opened: true; why?: string } | { failed: string };

const post = (posted: Posted) => (self as unknown as { postMessage(x: unknown): void }).postMessage(posted);
let playground: Playground | null = null;

async function start({ wasm, files }: Start): Promise<void> {
  const there = new MemoryFiles();
  for (const [path, content] of Object.entries(files)) there.write(path, content);
  const module = await WebAssembly.compileStreaming(fetch(wasm));
  playground = new Playground(module, there, (message) => post({ message }), (why) => post({ opened: true, why }));
  await playground.start();
  post({ opened: true });
}

self.onmessage = ({ data }: MessageEvent) => {
  if ("wasm" in data) start(data).catch((e) => post({ failed: String(e) }));
  else playground?.take(data);
};
