// A line to limn. The page knows this interface alone: over HTTP it is `limn studio` on this machine, in the playground a worker
// with the same code as wasm. Messages are those of docs/protocol.md.

export type Params = Record<string, unknown>;
export type Listener = (params: any) => void;

/** What was refused, in a sentence for the user; `data` may say where, and what else is known. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly data: any = null,
    readonly code = 0,
  ) {
    super(message);
  }
}

/** The other side is away. The text is safe in the page, and what was asked is not known. */
export class Away extends Error {}

export interface Connection {
  /** Asks; refused by `Refusal`, or `Away` where nobody answers. */
  request<T = any>(method: string, params?: Params): Promise<T>;
  /** Tells. What is told first arrives first, also before what is asked later. */
  notify(method: string, params?: Params): void;
  /** Hears what the other side tells by itself. The function given back ends that. */
  on(method: string, listener: Listener): () => void;
  /** Called with each new session, the first one included: the other side knows nothing yet. */
  onOpen(opened: () => Promise<void>): void;
  /** Called as the other side goes and comes; with a sentence, where it is known what helps. */
  onReach(reached: (there: boolean, why?: string) => void): void;
  open(): Promise<void>;
  /** The address of a file of the folder, for pictures that runs make. */
  fileAddress(path: string): string;
}

/** Who listens to what: shared by all kinds of connection. */
export class Listeners {
  private by = new Map<string, Set<Listener>>();

  on(method: string, listener: Listener): () => void {
    const set = this.by.get(method) ?? new Set();
    this.by.set(method, set.add(listener));
    return () => set.delete(listener);
  }

  tell(method: string, params: unknown): void {
    for (const listener of this.by.get(method) ?? []) listener(params);
  }
}

/** What every line has: who listens, and who is told that it is open or away. */
export abstract class Line {
  protected listeners = new Listeners();
  protected opened: () => Promise<void> = async () => {};
  protected reached: (there: boolean, why?: string) => void = () => {};
  protected next = 1;

  on(method: string, listener: Listener) {
    return this.listeners.on(method, listener);
  }
  onOpen(opened: () => Promise<void>) {
    this.opened = opened;
  }
  onReach(reached: (there: boolean, why?: string) => void) {
    this.reached = reached;
  }
}
