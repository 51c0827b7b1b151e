// The line to limn in this browser: a worker with the wasm, and messages by postMessage.

import { Away, type Connection, Line, type Params, Refusal } from "./connection";
import type { Posted, Start } from "./playground_worker";

export class WorkerConnection extends Line implements Connection {
  private waiting = new Map<number, { done: (x: any) => void; refused: (e: Error) => void }>();
  private worker: Worker | null = null;

  /** `address`: where playground_worker.js is. */
  constructor(
    private readonly address: string,
    private readonly begin: Omit<Start, "address">,
  ) {
    super();
  }

  fileAddress() {
    return ""; // files are in the worker's memory alone
  }

  open(): Promise<void> {
    const worker = new Worker(this.address, { type: "module" });
    this.worker = worker;
    return new Promise((done, refused) => {
      worker.onmessage = ({ data }: MessageEvent<Posted>) => {
        if ("message" in data) this.hear(data.message);
        else if ("address" in data) history.replaceState(null, "", data.address);
        else if ("failed" in data) refused(new Refusal(`limn could not be loaded: ${data.failed}`));
        else this.begun(data.why).then(done, refused);
      };
      worker.onerror = (e) => refused(new Refusal(`limn could not be loaded: ${e.message}`));
      worker.postMessage({ ...this.begin, address: location.hash });
      addEventListener("hashchange", () => location.reload()); // another program's link
    });
  }

  /** A new session: nobody will answer what was asked of the last one. */
  private async begun(why?: string) {
    for (const { refused } of this.waiting.values()) refused(new Away(`limn has begun anew: ${why}`));
    this.waiting.clear();
    await this.opened();
    this.reached(true);
  }

  private hear(message: any) {
    if (message.method) return this.listeners.tell(message.method, message.params);
    const asked = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) asked?.refused(new Refusal(message.error.message, message.error.data ?? null, message.error.code));
    else asked?.done(message.result);
  }

  request<T>(method: string, params: Params = {}): Promise<T> {
    const id = this.next++;
    return new Promise((done, refused) => {
      this.waiting.set(id, { done, refused });
      this.worker?.postMessage({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: Params = {}): void {
    this.worker?.postMessage({ jsonrpc: "2.0", method, params });
  }
}
