// Saving with each pause, so that no character is lost: to the file through the home, and until that has happened to the browser's
// own store. A file that another program has changed is never written over; both texts are shown.

import { signal } from "@preact/signals";
import { host } from "./client";
import { Away, Refusal } from "./connection";
import { keepDraft, savedText } from "./drafts";
import { LineEnds, plainText } from "./lineends";
import { path, saved, say } from "./state";

const PAUSE_MS = 400;

export interface Conflict {
  path: string;
  mine: string;
  theirs: string;
  stamp: unknown;
}
export const conflict = signal<Conflict | null>(null);

export class Saver {
  private stamp: unknown = null;
  private timer = 0;
  private writing: Promise<boolean> | null = null;
  private written: string | null = ""; // what the file has; null: it is gone
  private ends = new Map<string, LineEnds>(); // as each file had them when it was first read

  constructor(
    private text: () => string,
    private made: () => void, // a file that was not there
  ) {}

  /** What the file is to have: the text with the line ends of that file. */
  private read(): string {
    return this.ends.get(path.value ?? "")?.of(this.text()) ?? this.text();
  }

  /** `raw` is what the file has. Line ends that are still known from before stay known, so that undo brings them back. */
  opened(raw: string, stamp: unknown): void {
    const p = path.value ?? "";
    clearTimeout(this.timer);
    this.stamp = stamp;
    this.written = raw;
    if (this.ends.get(p)?.of(plainText(raw)) !== raw) this.ends.set(p, new LineEnds(raw));
    saved.value = "saved";
    if (stamp !== null) savedText(p, plainText(raw), false);
  }

  get pending(): boolean {
    return this.read() !== this.written;
  }
  knows(stamp: unknown): boolean {
    return JSON.stringify(stamp) === JSON.stringify(this.stamp);
  }

  changed(): void {
    const p = path.value;
    if (!p) return;
    keepDraft(p, this.text());
    clearTimeout(this.timer);
    if (saved.value === "gone") return; // not made again by a key alone
    if (saved.value !== "conflict") saved.value = "unsaved";
    this.timer = window.setTimeout(() => void this.write(), PAUSE_MS);
  }

  /** Writes what is not written yet; true when the file then is what the page shows. A file that is gone is made again when that is `asked`. */
  async write(asked = false): Promise<boolean> {
    const p = path.value;
    while (this.writing) await this.writing; // what was typed since then follows
    clearTimeout(this.timer);
    if (!p || p !== path.value || saved.value === "conflict" || (saved.value === "gone" && !asked)) return false;
    const text = this.read();
    if (text === this.written) {
      this.done(p);
      return true;
    }
    this.writing = this.send(p, text);
    const good = await this.writing;
    this.writing = null;
    return good;
  }

  private async send(p: string, text: string): Promise<boolean> {
    if (saved.value !== "refused") saved.value = "saving";
    try {
      const answer = await host<{ stamp: unknown }>("write", { path: p, text, stamp: this.stamp });
      if (path.value !== p) return false;
      if (this.stamp === null) this.made();
      this.stamp = answer.stamp;
      this.written = text;
      if (this.read() === text) this.done(p);
      else saved.value = "unsaved";
      return true;
    } catch (e) {
      this.failed(p, e);
      return false;
    }
  }

  /** The file is what the page shows. */
  private done(p: string): void {
    saved.value = "saved";
    savedText(p, this.text(), true);
  }

  private failed(p: string, e: unknown): void {
    if (path.value !== p) return;
    if (e instanceof Refusal && typeof e.data?.text === "string") this.clash(p, e.data.text, e.data.stamp);
    else if (e instanceof Refusal && e.data?.text === null) this.gone(p);
    else if (e instanceof Away) saved.value = "away";
    else {
      if (saved.value !== "refused") say((e as Error).message, "fault");
      saved.value = "refused";
      this.timer = window.setTimeout(() => void this.write(), 5000);
    }
  }

  /** Another program has removed the file: its text is here alone, until somebody wants it back. */
  gone(p: string): void {
    clearTimeout(this.timer);
    this.stamp = null;
    this.written = null;
    saved.value = "gone";
    keepDraft(p, this.text());
    say(`${p} was removed by another program. Its text is kept here; Ctrl+S writes it again.`, "fault", { label: "Write it again", run: () => void this.write(true) });
  }

  /** The file is not the one that was read. */
  clash(p: string, theirs: string, stamp: unknown): void {
    if (theirs === this.read()) {
      this.opened(theirs, stamp);
      this.done(p);
      return;
    }
    saved.value = "conflict";
    conflict.value = { path: p, mine: this.read(), theirs, stamp };
  }

  /** Mine it is: their version is known, and written over. */
  async keepMine(): Promise<void> {
    const c = conflict.value;
    if (!c) return;
    this.stamp = c.stamp;
    this.written = c.theirs;
    conflict.value = null;
    saved.value = "unsaved";
    await this.write();
  }
}
