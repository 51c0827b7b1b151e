// What the page shows, as a few signals. Whoever changes one of these changes the page; nothing else is remembered in two places.

import { signal } from "@preact/signals";
import type { About, Diagnostic, FileEntry, Level, Picture, PictureName, Run, View } from "./protocol";

export type Pane = "text" | "picture" | "drawer" | "files";
export type Drawer = "runs" | "play" | "learn";

export const about = signal<About | null>(null);
export const files = signal<FileEntry[]>([]);
export const runs = signal<Run[]>([]);

/** The program in the editor, by its path below the folder. */
export const path = signal<string | null>(null);
export const messages = signal<Diagnostic[]>([]);
/** The list of them is open, and why, where it was not opened by hand. */
export const messagesOpen = signal<boolean | string>(false);
export const pictures = signal<PictureName[]>([]);

export type Saved = "saved" | "saving" | "unsaved" | "conflict" | "away" | "gone" | "refused";
export const saved = signal<Saved>("saved");
export const reachable = signal(true);
/** Why nobody answers, where that is known. */
export const awayWhy = signal("");

/** What the program says is to be done with it. */
export const does = signal({ train: false, run: false });

/** What is drawn, and how. */
export interface Look {
  name: string | null;
  view: View;
  level: Level;
  open: string[];
  close: string[];
  cost: boolean;
}
export const plainLook: Look = { name: null, view: "plain", level: "model", open: [], close: [], cost: false };
export const look = signal<Look>(plainLook);
/** What kind of thing is in the picture. */
export const picturedKind = () => (look.value.name === null ? pictures.value[0] : pictures.value.find((p) => p.name === look.value.name))?.kind;
export const drawn = signal<Picture | null>(null);
/** Why there is no new picture, in the words of limn; the old one stays. */
export const drawFault = signal<string | null>(null);

/** Which pane is seen where there is room for one alone. */
export const pane = signal<Pane>("text");
export const drawer = signal<Drawer | null>(null);
export const sideOpen = signal(false);
export const paletteOpen = signal(false);
export const commandsOpen = signal(false);

/** The last thing that was done was an edit by picture: undo means that one, wherever the focus is. */
export const gestured = signal(false);

/** A word at the foot of the page, which goes away by itself. */
export interface Toast {
  text: string;
  kind: "note" | "fault";
  action?: { label: string; run: () => void };
}
export const FAULT_MS = 9000;
export const toast = signal<Toast | null>(null);
let toastTimer = 0;
export function say(text: string, kind: Toast["kind"] = "note", action?: Toast["action"]): void {
  clearTimeout(toastTimer);
  toast.value = { text, kind, action };
  toastTimer = window.setTimeout(() => (toast.value = null), kind === "fault" || action ? FAULT_MS : 4000);
}
export function sayFault(e: unknown): void {
  say(e instanceof Error ? e.message : String(e), "fault");
}

export const isNarrow = () => matchMedia("(max-width: 719px)").matches;
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
