// WASI for a page: files in memory, a clock, random bytes, and lines that C prints. As much of `wasi_snapshot_preview1` as the C
// library asks for; one folder is open from the start, the root. Nothing here knows limn.

const BADF = 8, EXIST = 20, INVAL = 28, ISDIR = 31, NOENT = 44, NOSYS = 52, NOTDIR = 54, NOTEMPTY = 55, SPIPE = 70;
const CHARACTERS = 2, FOLDER = 3, FILE = 4; // kinds
const ROOT_FD = 3;
const CREATE = 1, DIRECTORY = 2, EXCLUSIVE = 4, TRUNCATE = 8; // how a file is opened
const APPEND = 1;
const encoder = new TextEncoder(), decoder = new TextDecoder();

/** A file, whose bytes are the first `size` of `data`; or a folder. */
class Node {
  data = new Uint8Array(0);
  size = 0;
  changed = 0; // nanoseconds since the epoch, as a number
  constructor(readonly folder: boolean, readonly id: number) {}

  write(at: number, bytes: Uint8Array): void {
    const end = at + bytes.length;
    if (end > this.data.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.data.length, 256));
      more.set(this.data.subarray(0, this.size));
      this.data = more;
    }
    if (at > this.size) this.data.fill(0, this.size, at);
    this.data.set(bytes, at);
    this.size = Math.max(this.size, end);
    this.changed = Date.now() * 1e6;
  }

  cut(size: number): void {
    if (size > this.size) this.write(size - 1, new Uint8Array(1));
    this.size = size;
  }
}

/** Files by their path from the root, without a slash in front: "data/iris/iris.csv". */
export class MemoryFiles {
  private nodes = new Map<string, Node>([["", new Node(true, 1)]]);
  private made = 1;

  /** The path without empty parts, `.` and `..`. */
  static plain(path: string): string {
    const parts: string[] = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    }
    return parts.join("/");
  }

  find(path: string): Node | undefined {
    return this.nodes.get(MemoryFiles.plain(path));
  }

  /** What is in a folder, in order. */
  names(folder: string): string[] {
    const front = MemoryFiles.plain(folder), start = front ? front + "/" : "";
    const inside = [...this.nodes.keys()].filter((p) => p && p.startsWith(start) && !p.slice(start.length).includes("/"));
    return inside.map((p) => p.slice(start.length)).sort();
  }

  /** All files, with their paths. */
  paths(): string[] {
    return [...this.nodes].filter(([, node]) => !node.folder).map(([p]) => p).sort();
  }

  /** A new file or folder; null where the folder around it is not there. */
  make(path: string, folder: boolean): Node | null {
    const plain = MemoryFiles.plain(path), above = this.nodes.get(plain.slice(0, Math.max(plain.lastIndexOf("/"), 0)));
    if (!above?.folder) return null;
    const node = new Node(folder, ++this.made);
    node.changed = Date.now() * 1e6;
    this.nodes.set(plain, node);
    return node;
  }

  makeFolders(path: string): void {
    const parts = MemoryFiles.plain(path).split("/");
    for (let i = 1; i <= parts.length; i++) {
      const part = parts.slice(0, i).join("/");
      if (part && !this.find(part)) this.make(part, true);
    }
  }

  read(path: string): Uint8Array | null {
    const node = this.find(path);
    return node && !node.folder ? node.data.slice(0, node.size) : null;
  }

  /** Writes a whole file, with the folders around it. */
  write(path: string, content: Uint8Array | string): void {
    const plain = MemoryFiles.plain(path);
    this.makeFolders(plain.slice(0, Math.max(plain.lastIndexOf("/"), 0)));
    const node = this.find(plain) ?? this.make(plain, false);
    if (!node || node.folder) throw new Error(`${path} is a folder`);
    node.size = 0;
    node.write(0, typeof content === "string" ? encoder.encode(content) : content);
  }

  remove(path: string): void {
    this.nodes.delete(MemoryFiles.plain(path));
  }

  /** With all that is below it. */
  move(from: string, to: string): void {
    const old = MemoryFiles.plain(from), now = MemoryFiles.plain(to);
    for (const [path, node] of [...this.nodes]) {
      if (path !== old && !path.startsWith(old + "/")) continue;
      this.nodes.delete(path);
      this.nodes.set(now + path.slice(old.length), node);
    }
  }
}

interface Open {
  node: Node;
  path: string;
  at: number;
  flags: number;
}

/** The program has ended: C called exit, abort or assert. */
export class Ended extends Error {
  constructor(readonly status: number) {
    super(`the program ended with status ${status}`);
  }
}

export interface Surroundings {
  files: MemoryFiles;
  environment?: Record<string, string>;
  /** A line that C printed, to standard output (1) or standard error (2). */
  line?: (stream: number, text: string) => void;
}

/** The imports of a module; `memory` is set when it is instantiated. */
export class Wasi {
  memory!: WebAssembly.Memory;
  private open = new Map<number, Open>();
  private printed = ["", "", ""];
  private readonly environment: Uint8Array[];

  constructor(private readonly around: Surroundings) {
    this.open.set(ROOT_FD, { node: around.files.find("")!, path: "", at: 0, flags: 0 });
    this.environment = Object.entries(around.environment ?? {}).map(([name, value]) => encoder.encode(`${name}=${value}\0`));
  }

  /** What a module imports, each by its name; what is not here answers that it is not. */
  imports(module: WebAssembly.Module): Record<string, (...args: any[]) => any> {
    const own = this as unknown as Record<string, (...args: any[]) => any>;
    const found: Record<string, (...args: any[]) => any> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
      if (from === "wasi_snapshot_preview1") found[name] = own[name] ? own[name].bind(this) : () => NOSYS;
    return found;
  }

  private view = (): DataView => new DataView(this.memory.buffer);
  private bytes = (at: number, n: number): Uint8Array => new Uint8Array(this.memory.buffer, at, n);
  private text = (at: number, n: number): string => decoder.decode(this.bytes(at, n));
  private put32 = (at: number, x: number): void => this.view().setUint32(at, x, true);
  private put64 = (at: number, x: number | bigint): void => this.view().setBigUint64(at, BigInt(Math.trunc(Number(x))), true);

  // -- the process ------------------------------------------------------------------------------------------------------------------
  args_sizes_get = (count: number, size: number) => (this.put32(count, 0), this.put32(size, 0), 0);
  args_get = () => 0;

  environ_sizes_get(count: number, size: number) {
    this.put32(count, this.environment.length);
    this.put32(size, this.environment.reduce((n, e) => n + e.length, 0));
    return 0;
  }

  environ_get(pointers: number, at: number) {
    this.environment.forEach((e, i) => {
      this.put32(pointers + 4 * i, at);
      this.bytes(at, e.length).set(e);
      at += e.length;
    });
    return 0;
  }

  clock_time_get(clock: number, _precision: bigint, to: number) {
    const now = clock === 0 ? Date.now() * 1e6 : performance.now() * 1e6;
    return this.put64(to, now), 0;
  }

  clock_res_get = (_clock: number, to: number) => (this.put64(to, 1000), 0);

  random_get(at: number, n: number) {
    for (let i = 0; i < n; i += 65536) this.bytes(at + i, Math.min(65536, n - i)).set(crypto.getRandomValues(new Uint8Array(Math.min(65536, n - i))));
    return 0;
  }

  sched_yield = () => 0;
  proc_exit = (status: number) => { throw new Ended(status); };

  // -- what is open -----------------------------------------------------------------------------------------------------------------
  fd_prestat_get(fd: number, to: number) {
    if (fd !== ROOT_FD) return BADF;
    return this.put32(to, 0), this.put32(to + 4, 1), 0;
  }

  fd_prestat_dir_name(fd: number, at: number) {
    if (fd !== ROOT_FD) return BADF;
    return this.bytes(at, 1).set(encoder.encode("/")), 0;
  }

  fd_close(fd: number) {
    return fd !== ROOT_FD && this.open.delete(fd) ? 0 : BADF;
  }

  fd_fdstat_get(fd: number, to: number) {
    const o = this.open.get(fd);
    if (!o && fd > 2) return BADF;
    this.bytes(to, 24).fill(0);
    this.view().setUint8(to, !o ? CHARACTERS : o.node.folder ? FOLDER : FILE);
    this.view().setUint16(to + 2, o?.flags ?? 0, true);
    this.view().setBigUint64(to + 8, 0xffff_ffff_ffffn, true); // every right
    this.view().setBigUint64(to + 16, 0xffff_ffff_ffffn, true);
    return 0;
  }

  fd_fdstat_set_flags(fd: number, flags: number) {
    const o = this.open.get(fd);
    if (o) o.flags = flags;
    return o ? 0 : BADF;
  }

  private putStat(node: Node, to: number) {
    this.bytes(to, 64).fill(0);
    this.put64(to + 8, node.id);
    this.view().setUint8(to + 16, node.folder ? FOLDER : FILE);
    this.put64(to + 24, 1);
    this.put64(to + 32, node.size);
    for (const at of [40, 48, 56]) this.put64(to + at, node.changed);
    return 0;
  }

  fd_filestat_get(fd: number, to: number) {
    const o = this.open.get(fd);
    return o ? this.putStat(o.node, to) : BADF;
  }

  fd_filestat_set_size(fd: number, size: bigint) {
    const o = this.open.get(fd);
    return o ? (o.node.cut(Number(size)), 0) : BADF;
  }

  fd_sync = () => 0;
  fd_datasync = () => 0;
  fd_advise = () => 0;
  fd_filestat_set_times = () => 0;

  fd_seek(fd: number, offset: bigint, from: number, to: number) {
    const o = this.open.get(fd);
    if (!o) return fd < 3 ? SPIPE : BADF;
    const at = Number(offset) + (from === 1 ? o.at : from === 2 ? o.node.size : 0);
    if (at < 0) return INVAL;
    o.at = at;
    return this.put64(to, at), 0;
  }

  /** Each part of a list of places and lengths. */
  private *parts(list: number, n: number): Generator<Uint8Array> {
    for (let i = 0; i < n; i++) yield this.bytes(this.view().getUint32(list + 8 * i, true), this.view().getUint32(list + 8 * i + 4, true));
  }

  private readAt(node: Node, at: number, list: number, n: number): number {
    const start = at;
    for (const part of this.parts(list, n)) {
      const piece = node.data.subarray(Math.min(at, node.size), Math.min(at + part.length, node.size));
      part.set(piece);
      at += piece.length;
      if (piece.length < part.length) break;
    }
    return at - start;
  }

  private writeAt(node: Node, at: number, list: number, n: number): number {
    const start = at;
    for (const part of this.parts(list, n)) {
      if (part.length) node.write(at, part);
      at += part.length;
    }
    return at - start;
  }

  fd_read(fd: number, list: number, n: number, to: number) {
    const o = this.open.get(fd);
    if (!o) return fd === 0 ? (this.put32(to, 0), 0) : BADF;
    if (o.node.folder) return ISDIR;
    const got = this.readAt(o.node, o.at, list, n);
    o.at += got;
    return this.put32(to, got), 0;
  }

  fd_pread(fd: number, list: number, n: number, at: bigint, to: number) {
    const o = this.open.get(fd);
    return o ? (this.put32(to, this.readAt(o.node, Number(at), list, n)), 0) : BADF;
  }

  fd_write(fd: number, list: number, n: number, to: number) {
    const o = this.open.get(fd);
    if (!o && (fd < 1 || fd > 2)) return BADF;
    if (!o) return this.print(fd, list, n, to);
    if (o.flags & APPEND) o.at = o.node.size;
    const put = this.writeAt(o.node, o.at, list, n);
    o.at += put;
    return this.put32(to, put), 0;
  }

  fd_pwrite(fd: number, list: number, n: number, at: bigint, to: number) {
    const o = this.open.get(fd);
    return o ? (this.put32(to, this.writeAt(o.node, Number(at), list, n)), 0) : BADF;
  }

  private print(fd: number, list: number, n: number, to: number) {
    let count = 0;
    for (const part of this.parts(list, n)) {
      this.printed[fd] += decoder.decode(part.slice());
      count += part.length;
    }
    const lines = this.printed[fd].split("\n");
    this.printed[fd] = lines.pop()!;
    for (const line of lines) this.around.line?.(fd, line);
    return this.put32(to, count), 0;
  }

  /** Entries from number `cookie` on: 24 bytes and a name each; the last one may be cut. */
  fd_readdir(fd: number, at: number, room: number, cookie: bigint, to: number) {
    const o = this.open.get(fd);
    if (!o) return BADF;
    if (!o.node.folder) return NOTDIR;
    const out = this.bytes(at, room);
    let used = 0;
    this.around.files.names(o.path).slice(Number(cookie)).every((name, i) => {
      const node = this.around.files.find(`${o.path}/${name}`)!, text = encoder.encode(name), entry = new Uint8Array(24 + text.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, cookie + BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(node.id), true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, node.folder ? FOLDER : FILE);
      entry.set(text, 24);
      out.set(entry.subarray(0, Math.min(entry.length, room - used)), used);
      used = Math.min(used + entry.length, room);
      return used < room;
    });
    return this.put32(to, used), 0;
  }

  // -- paths ------------------------------------------------------------------------------------------------------------------------
  private path(fd: number, at: number, n: number): string {
    return MemoryFiles.plain(`${this.open.get(fd)?.path ?? ""}/${this.text(at, n)}`);
  }

  path_open(fd: number, _look: number, at: number, n: number, how: number, _rights: bigint, _inherited: bigint, flags: number, to: number) {
    const path = this.path(fd, at, n);
    let node = this.around.files.find(path);
    if (node && how & CREATE && how & EXCLUSIVE) return EXIST;
    if (!node && !(how & CREATE)) return NOENT;
    if (node && how & DIRECTORY && !node.folder) return NOTDIR;
    node ??= this.around.files.make(path, false) ?? undefined;
    if (!node) return NOENT;
    if (how & TRUNCATE) node.cut(0);
    let fresh = ROOT_FD + 1;
    while (this.open.has(fresh)) fresh++;
    this.open.set(fresh, { node, path, at: 0, flags });
    return this.put32(to, fresh), 0;
  }

  path_filestat_get(fd: number, _look: number, at: number, n: number, to: number) {
    const node = this.around.files.find(this.path(fd, at, n));
    return node ? this.putStat(node, to) : NOENT;
  }

  path_filestat_set_times = () => 0;

  path_create_directory(fd: number, at: number, n: number) {
    const path = this.path(fd, at, n);
    if (this.around.files.find(path)) return EXIST;
    return this.around.files.make(path, true) ? 0 : NOENT;
  }

  path_unlink_file(fd: number, at: number, n: number) {
    const path = this.path(fd, at, n), node = this.around.files.find(path);
    if (!node) return NOENT;
    if (node.folder) return ISDIR;
    return this.around.files.remove(path), 0;
  }

  path_remove_directory(fd: number, at: number, n: number) {
    const path = this.path(fd, at, n), node = this.around.files.find(path);
    if (!node) return NOENT;
    if (!node.folder) return NOTDIR;
    if (this.around.files.names(path).length) return NOTEMPTY;
    return this.around.files.remove(path), 0;
  }

  path_rename(fd: number, at: number, n: number, toFd: number, toAt: number, toN: number) {
    const from = this.path(fd, at, n), to = this.path(toFd, toAt, toN), node = this.around.files.find(from), there = this.around.files.find(to);
    if (!node) return NOENT;
    if (there?.folder && this.around.files.names(to).length) return NOTEMPTY;
    if (from !== to) this.around.files.move(from, to);
    return 0;
  }

  path_readlink = (fd: number, at: number, n: number) => (this.around.files.find(this.path(fd, at, n)) ? INVAL : NOENT); // no links
}
