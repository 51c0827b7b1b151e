// limn as wasm: texts in and out of its memory, and the functions of limn.h that a page needs. Everything happens in the thread that
// calls, so in a page it lives in a worker.

import { MemoryFiles, Wasi } from "./wasi";

/** What the module exports; pointers are numbers. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(n: number): number;
  free(at: number): void;
  limn_version(): number;
  limn_new(): number;
  limn_free(l: number): void;
  limn_load(l: number, path: number): number;
  limn_messages(l: number, json: number): number;
  limn_server_open(how: number): number;
  limn_server_take(s: number, message: number, n: number): number;
  limn_server_work(s: number, stop: number): number;
  limn_server_close(s: number): void;
  playground_serve(): number;
  playground_trainer(l: number, out: number, epochs: number, steps: number, seed: number): number;
  playground_step(t: number, steps: number): number;
  limn_trainer_close(t: number): number;
}

export interface Train {
  /** A folder for the run; without one, nothing is written. */
  out?: string;
  epochs?: number;
  steps?: number;
  seed?: number;
}

export const DATA = "data"; // where sets of data lie, by name

export class Engine {
  private exports!: Exports;
  private server = 0;
  private send: (message: string) => void = () => {};
  private say: (line: string) => boolean = () => false;

  private constructor(readonly files: MemoryFiles) {}

  /** `print` hears what C prints, which it does only when it ends. */
  static async start(module: WebAssembly.Module, files: MemoryFiles, print: (text: string) => void = () => {}): Promise<Engine> {
    const engine = new Engine(files);
    files.makeFolders(DATA);
    files.makeFolders("tmp");
    const wasi = new Wasi({ files, environment: { LIMN_DATA: `/${DATA}`, HOME: "/tmp" }, line: (_, text) => print(text) });
    const page = {
      send: (at: number, n: number) => engine.send(engine.text(at, n)),
      say: (at: number, n: number) => Number(engine.say(engine.text(at, n))),
    };
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.imports(module), page });
    engine.exports = instance.exports as unknown as Exports;
    wasi.memory = engine.exports.memory;
    engine.exports._initialize();
    return engine;
  }

  private text(at: number, n = -1): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, at), end = n < 0 ? bytes.indexOf(0) : n;
    return new TextDecoder().decode(bytes.subarray(0, end));
  }

  /** Calls with a text in the module's memory, ended by 0. */
  private withText<T>(text: string, call: (at: number, n: number) => T): T {
    const bytes = new TextEncoder().encode(text), at = this.exports.malloc(bytes.length + 1);
    if (!at) throw new Error("limn has no memory left for this text");
    const memory = new Uint8Array(this.exports.memory.buffer, at);
    memory.set(bytes);
    memory[bytes.length] = 0;
    try {
      return call(at, bytes.length);
    } finally {
      this.exports.free(at);
    }
  }

  version(): string {
    return this.text(this.exports.limn_version());
  }

  /** A server; what it sends is given to `send`, while `take` or `work` is at it. */
  open(send: (message: string) => void): void {
    this.send = send;
    if (this.server) this.exports.limn_server_close(this.server);
    this.server = this.exports.limn_server_open(this.exports.playground_serve());
    if (!this.server) throw new Error("limn has no memory left for a server");
  }

  take(message: string): void {
    this.withText(message, (at, n) => this.exports.limn_server_take(this.server, at, n));
  }

  /** Looks at texts that have changed. In how many milliseconds there is more to do; -1: nothing. */
  work(): number {
    return this.exports.limn_server_work(this.server, 0);
  }

  /** A program of a file, to be trained a few steps at a time. `say` hears lines, and rows of metrics as JSON, and answers whether to
   * stop. Refused with the messages of the program. */
  trainer(path: string, how: Train, say: (line: string) => boolean): Training {
    const { exports } = this, l = exports.limn_new();
    if (!l) throw new Error(NO_MEMORY);
    this.say = say;
    let status = this.withText(`/${MemoryFiles.plain(path)}`, (at) => exports.limn_load(l, at)), t = 0;
    const open = (out: number) => exports.playground_trainer(l, out, how.epochs ?? 0, how.steps ?? 0, how.seed ?? -1);
    if (!status) t = how.out ? this.withText(`/${MemoryFiles.plain(how.out)}`, open) : open(0);
    const messages = () => this.text(exports.limn_messages(l, 0)).trim() || NO_MEMORY;
    const close = () => {
      if (t) exports.limn_trainer_close(t);
      exports.limn_free(l);
      t = 0;
    };
    if (!t) {
      const why = messages();
      close();
      throw new Error(why);
    }
    const step = (steps: number) => {
      const went = exports.playground_step(t, steps);
      if (went > 0) throw new Error(messages());
      return went === 0;
    };
    return { step, close };
  }
}

const NO_MEMORY = "there is not enough memory for this in a page";

/** `step` makes so many steps and answers whether there are more; what goes wrong is an error. `close` saves a run that has a folder. */
export interface Training {
  step(steps: number): boolean;
  close(): void;
}
