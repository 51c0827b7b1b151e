// The line to `limn studio`: one POST for each message, or for a question and what was told right before it, server-sent events for what comes by itself.

import { Away, type Connection, Line, type Params, Refusal } from "./connection";

const RETRY_MS = 1500;

interface Told {
  method: string;
  params: any;
  left: boolean; // it is on its way
}

export class HttpConnection extends Line implements Connection {
  private session = "";
  private events: EventSource | null = null;
  private opening: Promise<void> | null = null;
  // POSTs may overtake each other on the way; what was told must have arrived before anything later leaves. Changes of a text that
  // wait for their turn are told together, so that whoever types faster than the other side reads is never far ahead of it.
  private told: Promise<unknown> = Promise.resolve();
  private waiting: Told | null = null;

  fileAddress(path: string) {
    return `/file?path=${encodeURIComponent(path)}`;
  }

  /** A new session, tried until there is one. */
  open(): Promise<void> {
    this.opening ??= this.tryToOpen().finally(() => (this.opening = null));
    return this.opening;
  }

  private async tryToOpen() {
    for (;;) {
      try {
        const answer = await fetch("/session", { method: "POST" });
        if (answer.status === 403) throw new Away("limn was started anew: open the address that it printed. Your text is kept, and offered there.");
        if (!answer.ok) throw new Away();
        this.session = (await answer.json()).session;
        break;
      } catch (e) {
        this.reached(false, e instanceof Away ? e.message : "");
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
    this.told = Promise.resolve();
    this.waiting = null;
    this.listen();
    await this.opened();
    this.reached(true);
  }

  private listen() {
    this.events?.close();
    const session = this.session;
    const events = new EventSource(`/events?session=${session}`);
    this.events = events;
    events.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.method) this.listeners.tell(message.method, message.params);
    };
    events.onerror = () => {
      if (this.events === events && events.readyState === EventSource.CLOSED) this.lost(session);
    };
  }

  /** A session is over: what was told to it and has not arrived is not told to the next one, which is told the whole text. */
  private lost(session: string) {
    if (session !== this.session) return;
    this.session = "";
    this.events?.close();
    this.events = null;
    this.reached(false);
    setTimeout(() => this.open().catch(() => {}), RETRY_MS);
  }

  private async post(message: unknown, session: string): Promise<any> {
    if (!session || session !== this.session) throw new Away("limn is away. Your text is kept in this page.");
    let answer: Response;
    try {
      answer = await fetch(`/message?session=${session}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(message),
      });
    } catch {
      this.lost(session);
      throw new Away("limn does not answer. Your text is kept in this page.");
    }
    if (answer.status === 204) return null;
    if (answer.status === 404 || answer.status === 410) {
      this.lost(session); // it has ended while the page slept
      throw new Away("The session has ended; a new one is being opened.");
    }
    if (!answer.ok) throw new Refusal((await answer.text()).slice(0, 400) || `limn answered with ${answer.status}`);
    const text = await answer.text();
    return text ? JSON.parse(text) : null;
  }

  async request<T>(method: string, params: Params = {}): Promise<T> {
    const message = { jsonrpc: "2.0", id: this.next++, method, params };
    const session = this.session;
    const home = method.startsWith("host/"); // which asks nothing about a text, and so waits for none
    const before = home ? null : this.waiting;
    if (!home && !before) await this.told;
    const answer = await (before ? this.postBehind(before, message, session) : this.post(message, session));
    if (answer?.error) throw new Refusal(answer.error.message, answer.error.data ?? null, answer.error.code);
    return answer?.result as T;
  }

  notify(method: string, params: Params = {}): void {
    const session = this.session;
    if (!session || this.joined(method, params)) return;
    const message: Told = { method, params: params as any, left: false };
    this.waiting = message;
    const send = async () => {
      if (!message.left) await this.post(this.leaving(message), session);
    };
    this.told = this.told.then(send).catch(() => {});
  }

  /** A question behind what has not been told yet: both travel together, and whatever comes later waits for both. */
  private postBehind(told: Told, question: unknown, session: string): Promise<any> {
    const both = [this.leaving(told), question];
    const answer = this.told.then(() => this.post(both, session));
    this.told = answer.catch(() => {});
    return answer;
  }

  private leaving(told: Told) {
    if (this.waiting === told) this.waiting = null;
    told.left = true;
    return { jsonrpc: "2.0", method: told.method, params: told.params };
  }

  /** A change of a text behind one of the same text that has not left yet becomes part of it. */
  private joined(method: string, params: any): boolean {
    const last = this.waiting;
    if (method !== "textDocument/didChange" || last?.method !== method || last.params.textDocument.uri !== params.textDocument.uri) return false;
    last.params = { textDocument: params.textDocument, contentChanges: [...last.params.contentChanges, ...params.contentChanges] };
    return true;
  }
}
