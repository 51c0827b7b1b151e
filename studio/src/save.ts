// Saving with each pause, so that no character is lost: to the file through the home, and until that has happened to the browser's
// own store. A file that another program has changed is never written over; both texts are shown.

import { signal } from "@preact/signals";
import { host } from "./client";
import { Away, Refusal } from "./connection";
import { about, path, saved } from "./state";

const PAUSE_MS = 400;

export interface Conflict {
  path: string;
  mine: string;
  theirs: string;
  stamp: unknown;
}
export const conflict = signal<Conflict | null>(null);

export interface Draft {
  text: string;
  time: number;
}

const draftKey = (p: string) => `limn:draft:${about.value?.folder ?? ""}:${p}`;

export function draftOf(p: string): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(draftKey(p)) ?? "null");
  } catch {
    return null;
  }
}
export function forgetDraft(p: string): void {
  try {
    localStorage.removeItem(draftKey(p));
  } catch {
    // a browser without a store: the file is all there is
  }
}
function keepDraft(p: string, text: string): void {
  try {
    localStorage.setItem(draftKey(p), JSON.stringify({ text, time: Date.now() }));
  } catch {
    // full or forbidden; the file is saved in a moment anyway
  }
}

export class Saver {
  private stamp: unknown = null;
  private timer = 0;
  private writing = false;
  private written = ""; // what the file has

  constructor(private read: () => string) {}

  opened(text: string, stamp: unknown): void {
    clearTimeout(this.timer);
    this.stamp = stamp;
    this.written = text;
    saved.value = "saved";
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
    if (saved.value !== "conflict") saved.value = "unsaved";
    keepDraft(p, this.read());
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.write(), PAUSE_MS);
  }

  /** Writes what is not written yet; true when the file then is what the page shows. */
  async write(): Promise<boolean> {
    const p = path.value;
    clearTimeout(this.timer);
    if (!p || saved.value === "conflict") return false;
    if (this.writing) {
      this.timer = window.setTimeout(() => void this.write(), PAUSE_MS);
      return false;
    }
    const text = this.read();
    if (text === this.written) {
      saved.value = "saved";
      forgetDraft(p);
      return true;
    }
    this.writing = true;
    saved.value = "saving";
    try {
      const answer = await host<{ stamp: unknown }>("write", { path: p, text, stamp: this.stamp });
      if (path.value !== p) return false;
      this.stamp = answer.stamp;
      this.written = text;
      saved.value = this.read() === text ? "saved" : "unsaved";
      if (saved.value === "saved") forgetDraft(p);
      return true;
    } catch (e) {
      this.failed(p, e);
      return false;
    } finally {
      this.writing = false;
    }
  }

  private failed(p: string, e: unknown): void {
    if (e instanceof Refusal && typeof e.data?.text === "string") {
      this.clash(p, e.data.text, e.data.stamp);
      return;
    }
    saved.value = "away";
    if (!(e instanceof Away)) this.timer = window.setTimeout(() => void this.write(), 5000);
  }

  /** The file is not the one that was read. */
  clash(p: string, theirs: string, stamp: unknown): void {
    if (theirs === this.read()) {
      this.opened(theirs, stamp);
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
