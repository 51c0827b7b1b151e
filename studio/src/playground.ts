// The home that a page has in the browser: `host/…` is answered by files in memory and runs that train a few steps at a time; everything
// else goes to limn as wasm. Messages are those of docs/protocol.md. It lives in a worker (playground_worker.ts), and under node in tests.

import { DATA, Engine, type Training } from "./playground_engine";
import { Ended, MemoryFiles } from "./wasi";

export interface Message {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: any;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

interface Row {
  step: number;
  steps: number;
  epoch: number;
  values: Record<string, number | null>;
}

interface Run {
  run: string;
  program: string;
  state: "running" | "paused" | "finished" | "stopped" | "failed";
  training: Training | null;
  rows: Row[];
  started: number;
  seconds: number;
  message?: string; // why it failed
}

const REFUSED = -32803, UNKNOWN = -32601;
const SLICE_MS = 30; // of training, between two messages
/** What only `limn studio` has, in words for who asks for it. */
const LACKS: Record<string, string> = {
  "host/change": "a run in the playground goes on as it was begun: `limn studio` and `limn change` change one that runs",
  "host/weights": "weights of a run are seen in `limn studio`: the playground does not show them",
  "host/diff": "two runs are compared by `limn studio` and `limn diff`: the playground does not",
};
const HIDDEN = [DATA, "tmp"]; // folders that are not the user's

class Refused extends Error {
  constructor(message: string, readonly code = REFUSED, readonly data?: unknown) {
    super(message);
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Of a text: another text has another one, all but surely. */
function stampOf(text: string): string {
  let h = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
  return h.toString(16);
}

export class Playground {
  private engine!: Engine;
  private runs: Run[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private training = false; // a slice is due
  private examples: Map<string, string> | null = null; // programs that were there from the start, as they were
  private first = "iris.limn"; // what is shown first
  private open = ""; // the program that was read last

  /** `send` gets every message for the page; `opened` says that limn begins anew and knows nothing of what was open; `seen` is told what is in the editor. */
  constructor(
    private readonly module: WebAssembly.Module,
    readonly files: MemoryFiles,
    private readonly send: (message: Message) => void,
    private readonly opened: (why: string) => void = () => {},
    private readonly seen: (path: string, text: string) => void = () => {},
  ) {}

  async start(): Promise<void> {
    this.examples ??= this.programs();
    this.engine = await Engine.start(this.module, this.files);
    this.engine.open((text) => this.send(JSON.parse(text)));
  }

  private programs(): Map<string, string> {
    return new Map(this.userFiles().filter((p) => p.endsWith(".limn")).map((p) => [p, this.read(p)]));
  }

  /** The program of a link is shown first, under its own name: an example of that name is still among the examples, as it was. What somebody wrote stays: then it is beside that. */
  show({ name, text }: { name: string; text: string }): void {
    const examples = (this.examples ??= this.programs());
    const own = (p: string) => this.files.find(p) && ![text, examples.get(p)].includes(this.read(p));
    this.first = name;
    for (let i = 2; own(this.first); i++) this.first = name.replace(/(-\d+)?\.limn$/, `-${i}.limn`);
    this.files.write(this.first, text);
  }

  take(message: Message): void {
    if (message.method?.startsWith("host/")) this.answer(message);
    else this.guarded(() => this.engine.take(JSON.stringify(message)));
    this.soon(0);
  }

  /** What limn does; where it ends for good, it begins anew with the same files. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (e) {
      clearTimeout(this.timer);
      this.training = false;
      for (const run of this.runs) if (run.state === "running" || run.state === "paused") Object.assign(run, { state: "failed", training: null, message: String(e) });
      void this.start().then(() => this.opened(String(e)));
    }
  }

  private soon(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.guarded(() => this.work()), ms);
  }

  private work(): void {
    const wait = this.engine.work();
    if (this.training) this.slice();
    if (this.training) this.soon(0);
    else if (wait >= 0) this.soon(wait);
  }

  // -- answers ----------------------------------------------------------------------------------------------------------------------
  private answer({ id, method, params = {} }: Message): void {
    const done = (rest: Partial<Message>) => id !== undefined && this.send({ jsonrpc: "2.0", id, ...rest });
    try {
      const call = this.host[method!.slice(5)];
      if (!call) throw new Refused(LACKS[method!] ?? `the playground has no ${method}`, UNKNOWN);
      done({ result: call(params) ?? null });
    } catch (e) {
      const { code = REFUSED, message, data } = e as Refused;
      done({ error: { code, message, data } });
    }
  }

  private host: Record<string, (params: any) => unknown> = {
    about: () => ({ home: "playground", folder: "", open: this.files.find(this.first) ? `file:///${encodeURI(this.first)}` : null, examples: [...(this.examples?.keys() ?? [])], can: ["train", "files"], version: this.engine.version() }),
    files: () => [
      ...this.userFiles().map((path) => ({ path, kind: path.endsWith(".limn") ? "program" : /\.(onnx|safetensors)$/.test(path) ? "model" : "data" })),
      ...this.runs.map(({ run, state }) => ({ path: run, kind: "run", state })),
    ],
    read: ({ path }) => {
      const text = this.read(path);
      this.seen((this.open = path), text);
      return { text, stamp: stampOf(text) };
    },
    example: ({ name }) => ({ text: this.examples?.get(name) ?? this.read(name) }),
    write: ({ path, text, stamp }) => this.write(path, text, stamp),
    new: ({ path }) => {
      if (this.files.find(path)) throw new Refused(`there is a ${path} already`);
      this.files.write(path, "");
      return { stamp: stampOf("") };
    },
    rename: ({ path, to }) => {
      if (!this.files.find(path)) throw new Refused(`there is no ${path}`);
      if (this.files.find(to)) throw new Refused(`there is a ${to} already`);
      this.files.move(path, to);
    },
    upload: ({ name, data }) => {
      const path = MemoryFiles.plain(name).split("/").pop() ?? "";
      if (!path) throw new Refused("a file has a name");
      if (path.endsWith(".onnx")) throw new Refused("a model becomes a program with `limn import`, which the playground has not");
      const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
      return { path: this.place(path, bytes) };
    },
    train: ({ path, options = {} }) => this.train(path, options),
    pause: ({ run }) => this.hold(run, "paused"),
    stop: ({ run }) => this.hold(run, "stopped"),
    resume: ({ run }) => {
      const found = this.find(run);
      if (found.state !== "paused") throw new Refused(`${run} is not paused`);
      found.state = "running";
      this.training = true;
      this.tell(found);
    },
    runs: () => this.runs.map((run) => this.describe(run)),
    metrics: ({ run, since = 0 }) => this.metrics(this.find(run), since),
    shown: () => [],
  };

  /** A file of this name, or `NAME-2` … where there is another one. */
  private place(name: string, bytes: Uint8Array): string {
    const same = (p: string) => String(this.files.read(p)) === String(bytes);
    let path = name;
    for (let i = 2; this.files.find(path) && !same(path); i++) path = name.replace(/(\.[^.]*)?$/, `-${i}$1`);
    this.files.write(path, bytes);
    return path;
  }

  private userFiles(): string[] {
    const hidden = [...HIDDEN, ...this.runs.map((r) => r.run)];
    return this.files.paths().filter((p) => !hidden.some((h) => p === h || p.startsWith(h + "/")));
  }

  private read(path: string): string {
    const bytes = this.files.read(path);
    if (!bytes) throw new Refused(`there is no ${path}`);
    return decode(bytes);
  }

  private write(path: string, text: string, stamp?: string): unknown {
    const there = this.files.read(path), now = there && decode(there);
    if (now !== null && stamp && stampOf(now) !== stamp) throw new Refused(`${path} is not the one that was read`, REFUSED, { text: now, stamp: stampOf(now) });
    this.files.write(path, text);
    if (path === this.open) this.seen(path, text);
    return { stamp: stampOf(text) };
  }

  // -- runs -------------------------------------------------------------------------------------------------------------------------
  private find(run: string): Run {
    const found = this.runs.find((r) => r.run === run);
    if (!found) throw new Refused(`there is no run ${run}`);
    return found;
  }

  private train(path: string, options: Record<string, unknown>): unknown {
    const number = (name: string) => (options[name] === undefined ? undefined : Number(options[name]));
    if (this.runs.some((r) => r.training)) throw new Refused("one run at a time: stop the other one first");
    const name = path.replace(/^.*\//, "").replace(/\.limn$/, "");
    let out = `runs/${name}`;
    for (let i = 2; this.files.find(out); i++) out = `runs/${name}.${i}`;
    this.files.makeFolders("runs");
    const run: Run = { run: out, program: path, state: "running", training: null, rows: [], started: performance.now(), seconds: 0 };
    const say = (line: string) => (line.startsWith("{") && this.row(run, JSON.parse(line)), false);
    try {
      run.training = this.engine.trainer(path, { out, epochs: number("epochs"), steps: number("steps"), seed: number("seed") }, say);
    } catch (e) {
      throw new Refused((e as Error).message);
    }
    this.runs.push(run);
    this.training = true;
    return { run: out };
  }

  private row(run: Run, row: Row): void {
    run.rows.push(row);
    this.tell(run);
  }

  /** Steps for a while, first one to see how long it takes. */
  private slice(): void {
    const run = this.runs.find((r) => r.state === "running" && r.training);
    this.training = !!run;
    if (!run) return;
    const until = performance.now() + SLICE_MS;
    try {
      let more = true;
      while (more && performance.now() < until) more = run.training!.step(1);
      if (!more) this.end(run, "finished");
    } catch (e) {
      if (e instanceof WebAssembly.RuntimeError || e instanceof RangeError || e instanceof Ended) throw e; // limn itself has ended
      run.message = (e as Error).message;
      this.end(run, "failed");
    }
    run.seconds = (performance.now() - run.started) / 1000;
  }

  private end(run: Run, state: Run["state"]): void {
    run.training?.close();
    run.training = null;
    run.state = state;
    this.tell(run);
  }

  private hold(name: string, state: "paused" | "stopped"): void {
    const run = this.find(name);
    if (!run.training) throw new Refused(`${name} has ended`);
    if (state === "stopped") return this.end(run, state);
    run.state = state;
    this.tell(run);
  }

  private describe(run: Run): unknown {
    const last = run.rows.at(-1);
    return {
      run: run.run, program: run.program, state: run.state, step: last?.step ?? 0, steps: last?.steps ?? 0, epoch: last?.epoch ?? 0,
      seconds: run.seconds, losses: last?.values ?? {}, measures: {}, message: run.message,
    };
  }

  private metrics(run: Run, since: number): unknown {
    const names = [...new Set(run.rows.flatMap((r) => Object.keys(r.values)))];
    const rows = run.rows.slice(since).map((r) => [r.step, r.epoch, ...names.map((n) => r.values[n] ?? null)]);
    return { names: ["step", "epoch", ...names], rows, next: run.rows.length };
  }

  private tell(run: Run): void {
    const last = run.rows.at(-1);
    this.send({ jsonrpc: "2.0", method: "host/run", params: { run: run.run, state: run.state, step: last?.step ?? 0, steps: last?.steps ?? 0, row: run.rows.length, message: run.message } });
  }
}
