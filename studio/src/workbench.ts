// The page's hands: the editor, what is open, and what follows a change. Components call these; they hold no state of their own.

import { signal } from "@preact/signals";
import { ask, connection, host, pathOf, uriOf } from "./client";
import { Away, Refusal } from "./connection";
import { countVersions, redraw, redrawFor } from "./drawing";
import { Editor } from "./editor/editor";
import { colour, learnLegend } from "./editor/language";
import { applyEdits, goToDefinition, jumpTo, showMessages } from "./editor/lsp";
import { type Span, spanOf } from "./places";
import type { About, Diagnostic, EditAnswer, Looked, Range, TextEdit } from "./protocol";
import { plainText } from "./lineends";
import { type Draft, beginDraft, draftsOf, dropDraft, lookForDrafts, putDraft, takeDraft } from "./drafts";
import { Saver, conflict } from "./save";
import * as state from "./state";

export let editor: Editor;
export let saver: Saver;
/** The place of the text that the pointer or the cursor is at: the picture lights up there. */
export const pointed = signal<number | null>(null);
export const renaming = signal(false);
/** A text that is no file of the folder, as limn's library, over the one that is written. */
export const reading = signal<{ name: string; text: string; range: Range } | null>(null);

async function read(uri: string, range: Range): Promise<void> {
  try {
    const text = await connection().request<string | null>("limn/document", { uri });
    if (text === null) throw new Error(`limn has no ${uri} to read.`);
    reading.value = { name: uri.replace(/^limn:/, ""), text, range };
  } catch (e) {
    state.sayFault(e);
  }
}
export function endReading(): void {
  reading.value = null;
  editor.view.focus();
}

let looked: Looked | null = null; // what limn has last said of this text
let colourTimer = 0;
const COLOUR_MS = 160;

/** The statements that make a program one to train, or to run. */
function readStatements(): void {
  const text = editor.text;
  const has = (word: string) => new RegExp(`^[ \\t]*${word}\\b`, "m").test(text);
  const [train, run] = [has("train"), has("run")];
  if (train !== state.does.value.train || run !== state.does.value.run) state.does.value = { train, run };
}

function changed(): void {
  redraw();
  readStatements();
  saver.changed();
  clearTimeout(colourTimer);
  colourTimer = window.setTimeout(() => void colour(editor.view).catch(() => {}), COLOUR_MS);
}

const openPlace = (p: string, range: Range): void => void (p.startsWith("limn:") ? read(p, range) : openPath(p, range));

/** Where the name at this place of the text, or at the cursor, is declared. */
export function openDeclaration(at = editor.view.state.selection.main.head): void {
  if (state.isNarrow()) state.pane.value = "text";
  void goToDefinition(editor.view, at, openPlace);
}

export function makeEditor(home: HTMLElement): void {
  editor = new Editor(home, {
    changed,
    pointed: (offset) => (pointed.value = offset),
    moved: (offset) => (pointed.value = offset),
    rename: () => (renaming.value = true),
    open: openPlace,
  });
  saver = new Saver(
    () => editor.text,
    () => (showAddress(state.path.value!), void refreshFiles()),
  );
  countVersions(() => editor.sync.version);
}

/** Each new session begins so: who we are, and the text that is open. */
export async function introduce(): Promise<void> {
  const answer = await connection().request("initialize", { processId: null, rootUri: "file:///", capabilities: {}, initializationOptions: { limnDocuments: true } });
  learnLegend(answer?.capabilities?.semanticTokensProvider?.legend?.tokenTypes ?? []);
  connection().notify("initialized");
  state.about.value = await host<About>("about");
  if (!state.path.value) return;
  editor.sync.tell();
  redraw();
  void refreshRuns();
  if (state.saved.value === "away") {
    state.saved.value = "unsaved";
    void saver.write();
  }
}

const LOOK_MS = 3000;

/** Whether the text as it is now has errors; they are shown then, with a word. Where limn takes too long to say so, what it said last counts. */
export async function showErrors(words: string): Promise<boolean> {
  const isLate = () => !looked || looked.uri !== uriOf(state.path.value ?? "") || looked.version < editor.sync.version;
  for (const end = Date.now() + LOOK_MS; isLate() && Date.now() < end; ) await new Promise((done) => setTimeout(done, 30));
  if (!looked?.errors) return false;
  state.messagesOpen.value = words;
  if (state.isNarrow()) state.pane.value = "text";
  return true;
}

export function listen(): void {
  const line = connection();
  line.on("textDocument/publishDiagnostics", (p: { uri: string; diagnostics: Diagnostic[]; version?: number }) => {
    if (p.uri !== uriOf(state.path.value ?? "") || (p.version !== undefined && p.version < editor.sync.version)) return;
    state.messages.value = p.diagnostics;
    void showMessages(editor.view, p.diagnostics);
  });
  line.on("limn/looked", (p: Looked) => {
    if (p.uri !== uriOf(state.path.value ?? "")) return;
    looked = p;
    if (JSON.stringify(p.pictures) !== JSON.stringify(state.pictures.value)) state.pictures.value = p.pictures;
    else redrawFor(p.version);
  });
  line.on("host/changed", (p: { path: string; stamp: unknown }) => void changedOutside(p.path, p.stamp));
}

async function changedOutside(p: string, stamp: unknown): Promise<void> {
  if (p !== state.path.value) {
    void refreshFiles();
    return;
  }
  if (saver.knows(stamp)) return;
  const read = await host<{ text: string; stamp: unknown }>("read", { path: p }).catch((e) => e as Error);
  if (p !== state.path.value) return;
  if (read instanceof Error) {
    if (stamp === null) saver.gone(p);
    else if (!(read instanceof Away)) state.sayFault(read);
    return;
  }
  const { text, stamp: now } = read;
  if (saver.knows(now)) return;
  if (saver.pending) {
    saver.clash(p, text, now);
    return;
  }
  saver.opened(text, now);
  editor.replace(plainText(text));
  state.say(`${p} was changed by another program; this is the new text.`);
}

/** The same list is not another one: nothing is drawn again for it. */
function put<T>(to: { value: T }, now: T): void {
  if (JSON.stringify(now) !== JSON.stringify(to.value)) to.value = now;
}
export async function refreshFiles(): Promise<void> {
  put(state.files, await host("files").catch(() => state.files.value));
}
export async function refreshRuns(): Promise<void> {
  put(state.runs, await host("runs").catch(() => state.runs.value));
}

/** The text of a draft in the place of this one; undo brings this one back. */
export function bringBack(d: Draft): void {
  if (d.path !== state.path.value) return void openPath(d.path);
  takeDraft(d);
  editor.replace(d.text);
  if (state.saved.value === "saved") void saver.write(); // it is what the file has
}

/** Leaves a draft for good, and says how to have it back after all. */
export function leaveDraft(d: Draft): void {
  dropDraft(d.key);
  state.say("The text that was never saved is gone.", "note", { label: "Keep it", run: () => (putDraft(d), lookForDrafts()) });
}

/** Opens a file; false where that is refused, which is said. */
export async function openPath(p: string, at?: Range): Promise<boolean> {
  if (p !== state.path.value && !(await openOther(p))) return false;
  if (at) jumpTo(editor.view, at);
  return true;
}

async function openOther(p: string): Promise<boolean> {
  const left = state.path.value;
  while (left && saver.pending && (await saver.write()));
  const lost = left && state.saved.value === "gone"; // its text is a draft alone
  try {
    const { text, stamp } = await host("read", { path: p });
    show(p, text, stamp);
    if (lost) state.say(`${left} was removed by another program, and not written again.`, "fault", { label: "Go back to it", run: () => void openPath(left) });
  } catch (e) {
    const draft = e instanceof Away ? null : draftsOf(p)[0];
    if (!draft) {
      state.sayFault(e);
      return false;
    }
    show(p, draft.text, null);
    takeDraft(draft);
    saver.gone(p);
  }
  return true;
}

function show(p: string, text: string, stamp: unknown): void {
  conflict.value = null;
  reading.value = null;
  state.messages.value = [];
  state.pictures.value = [];
  state.drawn.value = null;
  state.drawFault.value = null;
  state.path.value = p;
  state.look.value = state.plainLook;
  beginDraft();
  saver.opened(text, stamp);
  editor.open(p, plainText(text));
  readStatements();
  document.title = `${p} – limn`;
  if (stamp !== null) showAddress(p);
  redraw();
  void colour(editor.view).catch(() => {});
}

/** An empty sheet, which becomes a file with the first thing that is done on it. */
export function openBlank(p: string): void {
  show(p, "", null);
}

/** A new program beside the others; its name is made free. */
export async function newProgram(name: string, text = ""): Promise<void> {
  const taken = new Set(state.files.value.map((f) => f.path));
  const base = name.replace(/\.limn$/, "");
  let p = `${base}.limn`;
  for (let i = 2; taken.has(p); i++) p = `${base}-${i}.limn`;
  try {
    if (text) await host("write", { path: p, text, stamp: null });
    else await host("new", { path: p });
    await refreshFiles();
    await openPath(p);
    if (state.isNarrow()) state.pane.value = "text";
    editor.view.focus();
  } catch (e) {
    state.sayFault(e);
  }
}

/** Their text in the place of mine; mine can be had back by undo. */
export function takeTheirs(): void {
  const c = conflict.value;
  if (!c) return;
  conflict.value = null;
  saver.opened(c.theirs, c.stamp);
  editor.replace(plainText(c.theirs));
}

/** An edit by picture: the text changes as a person would have changed it, or the sentence says why not. */
export async function gesture(edit: Record<string, unknown>): Promise<boolean> {
  try {
    await applyGesture(edit);
    return true;
  } catch (e) {
    refused(e);
    return false;
  }
}

/** The same of a form, which says by itself why not. */
export async function formGesture(edit: Record<string, unknown>): Promise<string | null> {
  return applyGesture(edit).then(
    () => null,
    (e) => (e instanceof Error ? e.message : String(e)),
  );
}

async function applyGesture(edit: Record<string, unknown>): Promise<void> {
  const version = editor.sync.version;
  const answer = await ask<EditAnswer>("limn/edit", { edit });
  if (editor.sync.version !== version) throw new Error("The text has changed meanwhile; please do it again.");
  applyEdits(editor.view, answer.edits as TextEdit[], answer.select, "input.gesture");
  state.gestured.value = true;
  if (answer.note) state.say(answer.note);
}

function refused(e: unknown): void {
  const range: Range | undefined = e instanceof Refusal ? e.data?.range : undefined;
  const span: Span | null = range ? spanOf(editor.doc, range) : null;
  if (span) editor.refuse(span, (e as Error).message);
  state.sayFault(e);
}

// The file that is open stands behind the `#` of the address, so that a reload, a link, back and forward lead to it. In the playground
// the worker has the address, with the text in it.
const addressOf = (p: string) => `#${p.split("/").map(encodeURIComponent).join("/")}`;
const hasAddress = () => state.about.value?.home !== "playground";

function showAddress(p: string): void {
  if (!hasAddress() || location.hash === addressOf(p)) return;
  if (location.hash) history.pushState(null, "", addressOf(p));
  else history.replaceState(null, "", addressOf(p));
}

/** Opens what the address says; false where it says nothing that is there. */
export async function openAddress(): Promise<boolean> {
  if (!hasAddress() || location.hash.length < 2) return false;
  let p = "";
  try {
    p = decodeURIComponent(location.hash.slice(1));
  } catch {
    state.say("The file that this address means cannot be read from it.", "fault");
  }
  const opened = !!p && (await openPath(p));
  if (!opened && state.path.value) history.replaceState(null, "", addressOf(state.path.value));
  return opened;
}

export async function openFirst(): Promise<boolean> {
  const open = state.about.value?.open;
  const first = open ? pathOf(open) : state.files.value.find((f) => f.kind === "program")?.path;
  return !!first && openPath(first);
}
