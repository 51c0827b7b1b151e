// What the language server knows, in the editor: completion, hover, messages with what helps, where a name comes from, renaming,
// the layout of the whole.

import { type Completion, type CompletionContext, type CompletionResult, autocompletion } from "@codemirror/autocomplete";
import { type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { ChangeSet, type Extension, Prec, Text } from "@codemirror/state";
import { type EditorView, hoverTooltip, keymap } from "@codemirror/view";
import { ask, connection, host, pathOf, uriOf } from "../client";
import { LineEnds, plainText } from "../lineends";
import { markdown } from "../markdown";
import { offsetAt, positionAt, rangeOf, spanOf } from "../places";
import type { Diagnostic, Range, TextEdit } from "../protocol";
import { messages, path, say, sayFault } from "../state";
import { openMenu } from "../ui/menu";

const KINDS: Record<number, string> = { 3: "function", 6: "variable", 7: "class", 10: "property", 14: "keyword", 21: "constant", 22: "type", 25: "type" };

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/\w*/);
  const before = context.state.sliceDoc(Math.max(0, (word?.from ?? context.pos) - 1), word?.from ?? context.pos);
  if (!context.explicit && !word?.text && !/[.[(]/.test(before)) return null;
  const answer = await ask("textDocument/completion", { position: positionAt(context.state.doc, context.pos) }).catch(() => null);
  // The word that is being written is known already, as a name of itself.
  const items: any[] = (answer?.items ?? answer ?? []).filter((i: any) => i.label !== word?.text);
  if (!items.length) return null;
  const options = items.map(
    (i): Completion => ({
      label: i.label,
      type: KINDS[i.kind],
      detail: i.detail ? String(i.detail).replace(/^(box|learn)\s+\w+/, "") : undefined,
      info: i.documentation ? () => markdown(i.documentation.value ?? i.documentation) : undefined,
      boost: i.sortText ? 50 - (i.sortText.charCodeAt(0) - 97) * 10 : 0,
    }),
  );
  return { from: word?.from ?? context.pos, options, validFor: answer?.isIncomplete ? undefined : /^\w*$/ };
}

const hover = hoverTooltip(
  async (view, pos) => {
    const answer = await ask("textDocument/hover", { position: positionAt(view.state.doc, pos) }).catch(() => null);
    if (!answer?.contents) return null;
    const at = answer.range ? spanOf(view.state.doc, answer.range) : { from: pos, to: pos };
    return { pos: at.from, end: at.to, above: true, create: () => ({ dom: markdown(answer.contents.value ?? String(answer.contents)) }) };
  },
  { hoverTime: 350 },
);

/** One undoable change of several places. */
export function applyEdits(view: EditorView, edits: TextEdit[], select?: Range | null, userEvent = "input"): void {
  const doc = view.state.doc;
  const changes = view.state.changes(edits.map((e) => ({ ...spanOf(doc, e.range), insert: e.newText })));
  const after = changes.apply(doc);
  const chosen = select ? spanOf(after, select) : null;
  view.dispatch({ changes, selection: chosen ? { anchor: chosen.from, head: chosen.to } : undefined, scrollIntoView: !!chosen, userEvent });
}

export async function format(view: EditorView): Promise<void> {
  try {
    const edits = await ask<TextEdit[] | null>("textDocument/formatting", { options: { tabSize: 2, insertSpaces: true } });
    if (edits?.length) applyEdits(view, edits);
    else say("The layout is the one that all programs have.");
  } catch (e) {
    sayFault(e);
  }
}

/** Another file as these edits make it, not written yet. */
async function edited(p: string, edits: TextEdit[]): Promise<{ path: string; text: string; stamp: unknown }> {
  const { text, stamp } = await host<{ text: string; stamp: unknown }>("read", { path: p });
  const doc = Text.of(plainText(text).split("\n"));
  const changes = ChangeSet.of(
    edits.map((e) => ({ ...spanOf(doc, e.range), insert: e.newText })),
    doc.length,
  );
  return { path: p, text: new LineEnds(text).of(changes.apply(doc).toString()), stamp };
}

/** In this text as one change that can be undone; in other files at once. Those go first: they are read as they are saved. */
export async function rename(view: EditorView, name: string, save: () => Promise<unknown>): Promise<void> {
  try {
    const position = positionAt(view.state.doc, view.state.selection.main.head);
    await save();
    const doc = view.state.doc;
    const changes: Record<string, TextEdit[]> = (await ask("textDocument/rename", { position, newName: name }))?.changes ?? {};
    const files = Object.entries(changes).map(([uri, edits]) => ({ path: pathOf(uri), edits }));
    const own = files.find((f) => f.path === path.value);
    const others = await Promise.all(files.filter((f) => f !== own).map((f) => edited(f.path, f.edits)));
    if (view.state.doc !== doc) throw new Error("The text was changed meanwhile: nothing was renamed.");
    for (const file of others) await host("write", file);
    if (own) applyEdits(view, own.edits);
    if (!others.length) return;
    await save();
    connection().notify("textDocument/didSave", { textDocument: { uri: uriOf(path.value ?? "") } });
    say(`Renamed in ${others.map((o) => o.path).join(", ")} too.`);
  } catch (e) {
    sayFault(e);
  }
}

export async function goToDefinition(view: EditorView, pos: number, open: (path: string, range: Range) => void): Promise<void> {
  const answer = await ask("textDocument/definition", { position: positionAt(view.state.doc, pos) }).catch(() => null);
  const place = Array.isArray(answer) ? answer[0] : answer;
  if (place) open(pathOf(place.uri), place.range);
  else say("There is no name here that is declared anywhere.");
}

/** The actions that the server offers for a message, as buttons of it. */
const actionsFor = (d: Diagnostic) => actionsAt(d.range, [d]);
async function actionsAt(range: Range, diagnostics: Diagnostic[]): Promise<{ title: string; edits: TextEdit[] }[]> {
  const answer = await ask<any[] | null>("textDocument/codeAction", { range, context: { diagnostics } }).catch(() => null);
  return (answer ?? [])
    .map((a) => ({ title: a.title as string, edits: Object.values((a.edit?.changes ?? {}) as Record<string, TextEdit[]>)[0] ?? [] }))
    .filter((a) => a.edits.length);
}

/** What limn offers for the line of the cursor, as a menu: what mends its messages, and what else can be done there. */
export async function quickFix(view: EditorView): Promise<void> {
  const { doc, selection } = view.state;
  const here = positionAt(doc, selection.main.head);
  const at = messages.value.filter((m) => m.range.start.line <= here.line && m.range.end.line >= here.line);
  const offers = (await Promise.all([...at.map(actionsFor), actionsAt({ start: here, end: here }, [])])).flat();
  if (view.state.doc !== doc) return;
  const items = [...new Map(offers.map((o) => [o.title, o])).values()].map((o) => ({ label: o.title, run: () => applyEdits(view, o.edits) }));
  const place = view.coordsAtPos(selection.main.head);
  if (items.length && place) openMenu(items, { x: place.left, y: place.bottom + 4 }, "What helps here");
  else say("limn has nothing to offer for this line.");
}

export async function showMessages(view: EditorView, messages: Diagnostic[]): Promise<void> {
  const doc = view.state.doc;
  const marks = messages.map((m): Mark => {
    const { from, to } = spanOf(doc, m.range);
    return { from, to: Math.max(to, Math.min(from + 1, doc.length)), severity: m.severity === 1 ? "error" : m.severity === 2 ? "warning" : "info", message: m.message };
  });
  view.dispatch(setDiagnostics(view.state, marks));
  // What helps is asked for afterwards, for the first few: the marks do not wait for it.
  const first = messages.slice(0, 8);
  const offers = await Promise.all(first.map(actionsFor));
  if (view.state.doc !== doc || !offers.some((o) => o.length)) return;
  first.forEach((_, i) => {
    marks[i] = { ...marks[i], actions: offers[i].map((o) => ({ name: o.title, apply: (v: EditorView) => applyEdits(v, o.edits) })) };
  });
  view.dispatch(setDiagnostics(view.state, marks));
}

export function jumpTo(view: EditorView, range: Range): void {
  const at = offsetAt(view.state.doc, range.start);
  view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
  view.focus();
}

export const rangeOfWord = (view: EditorView): Range | null => {
  const word = view.state.wordAt(view.state.selection.main.head);
  return word ? rangeOf(view.state.doc, word) : null;
};

export function lspExtension(keys: { rename: () => void; open: (path: string, range: Range) => void }): Extension {
  return [
    autocompletion({ override: [complete], icons: false, maxRenderedOptions: 60 }),
    hover,
    Prec.high(
      keymap.of([
        { key: "F12", run: (v) => (void goToDefinition(v, v.state.selection.main.head, keys.open), true) },
        { key: "Mod-.", run: (v) => (void quickFix(v), true) },
        { key: "F2", run: () => (keys.rename(), true) },
        { key: "Shift-Alt-f", run: (v) => (void format(v), true) },
      ]),
    ),
  ];
}
