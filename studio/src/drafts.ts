// Texts that were written and are in no file yet, in the browser's own store: one for each time that a file was opened, so that two
// that limn never answered are two. A draft goes when its own text was saved, or when somebody leaves it on purpose.

import { signal } from "@preact/signals";
import { about } from "./state";

export interface Draft {
  key: string;
  path: string;
  text: string;
  time: number;
}

/** When it was written, in words. */
export function timeOf({ time }: Draft): string {
  const at = new Date(time);
  const clock = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? clock : `${at.toLocaleDateString()}, ${clock}`;
}

/** All but the one of the text in the editor, the newest first. */
export const drafts = signal<Draft[]>([]);

const prefix = () => `limn:draft:${about.value?.folder ?? ""}:`;
const newId = () => `${Date.now()}.${Math.random()}`;
let own = newId();
let answered: string[] = []; // drafts that are in the editor: they go when that is saved

/** A browser without a store, or a full one: the file is all there is. */
function store<T>(use: (s: Storage) => T, otherwise: T): T {
  try {
    return use(localStorage);
  } catch {
    return otherwise;
  }
}

const ownKey = (path: string) => `${prefix()}${path}\n${own}`;

function read(s: Storage, key: string): Draft[] {
  try {
    const { text, time } = JSON.parse(s.getItem(key)!);
    return [{ key, path: key.slice(prefix().length).split("\n")[0], text, time }];
  } catch {
    return []; // not by this page
  }
}

function all(): Draft[] {
  const found = store((s) => Object.keys(s).filter((k) => k.startsWith(prefix())).flatMap((k) => read(s, k)), []);
  return found.sort((a, b) => b.time - a.time);
}

/** Another page of this browser may have saved its text. What it is just writing is not offered here: that is saved with its next pause. */
export function dropSavedDrafts(): void {
  drafts.value = drafts.value.filter((d) => store((s) => s.getItem(d.key) !== null, false));
}

export function lookForDrafts(): void {
  drafts.value = all().filter((d) => !d.key.endsWith(`\n${own}`) && !answered.includes(d.key));
}

export const draftsOf = (path: string): Draft[] => all().filter((d) => d.path === path);

export function putDraft(d: Draft): void {
  store((s) => s.setItem(d.key, JSON.stringify({ text: d.text, time: d.time })), undefined);
}
export function dropDraft(key: string): void {
  store((s) => s.removeItem(key), undefined);
  lookForDrafts();
}

export const keepDraft = (path: string, text: string): void => putDraft({ key: ownKey(path), path, text, time: Date.now() });

/** What is written from here on is a draft of its own. */
export function beginDraft(): void {
  own = newId();
  answered = [];
  lookForDrafts();
}

/** The text of a draft goes into the editor. What was there and is in no file stays a draft. */
export function takeDraft(d: Draft): void {
  own = newId();
  answered.push(d.key);
  lookForDrafts();
}

/** The file has this text, and the editor too where it is the editor's: drafts of it are no longer needed. */
export function savedText(path: string, text: string, editors: boolean): void {
  const done = draftsOf(path).filter((d) => d.text === text || (editors && (d.key === ownKey(path) || answered.includes(d.key))));
  for (const d of done) store((s) => s.removeItem(d.key), undefined);
  if (editors) answered = [];
  lookForDrafts();
}
