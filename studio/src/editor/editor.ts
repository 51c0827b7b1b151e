// The text: one CodeMirror for the page, with a state of its own for each file that was opened, so that undo goes on where it was.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { EditorState, type Extension, type Text, Transaction } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { type Span, spanOf } from "../places";
import { FAULT_MS } from "../state";
import { inlineMessages } from "./inline";
import { limnLanguage } from "./language";
import { litExtension, setLit, setRefused } from "./lit";
import { lspExtension } from "./lsp";
import { Sync } from "./sync";
import { editorTheme } from "./theme";

export interface EditorHooks {
  changed: (view: EditorView) => void;
  pointed: (offset: number | null) => void; // the pointer is over this place of the text
  moved: (offset: number) => void; // so is the cursor
  rename: () => void;
  open: (path: string, range: import("../protocol").Range) => void;
}

/** A text to look at, with one place of it lit. */
export function readingView(home: HTMLElement, text: string, range: import("../protocol").Range): EditorView {
  const root = home.shadowRoot ?? home.attachShadow({ mode: "open" });
  const kit = [lineNumbers(), drawSelection(), EditorState.readOnly.of(true), limnLanguage, litExtension, editorTheme, keymap.of(defaultKeymap), EditorView.contentAttributes.of({ "aria-label": "Text to read" })];
  const view = new EditorView({ parent: root as unknown as HTMLElement, root, state: EditorState.create({ doc: text, extensions: kit }) });
  const span = spanOf(view.state.doc, range);
  view.dispatch({ selection: { anchor: span.from }, effects: [setLit.of(span), EditorView.scrollIntoView(span.from, { y: "center" })] });
  view.focus();
  return view;
}

export class Editor {
  readonly sync = new Sync();
  readonly view: EditorView;
  private states = new Map<string, EditorState>();
  private path: string | null = null;
  private extensions: Extension;

  constructor(home: HTMLElement, hooks: EditorHooks) {
    // Style sheets that code makes are refused by the page's policy, except those that a shadow root adopts.
    const root = home.attachShadow({ mode: "open" });
    this.extensions = this.kit(hooks);
    this.view = new EditorView({ parent: root as unknown as HTMLElement, root, state: EditorState.create({ extensions: [editorTheme, EditorView.editable.of(false)] }) }); // nothing is open yet
  }

  private kit(hooks: EditorHooks): Extension {
    return [
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      EditorState.tabSize.of(2),
      EditorState.lineSeparator.of("\n"), // as limn has it; what the file has is the saver's
      EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, "\n")),
      indentUnit.of("  "),
      limnLanguage,
      litExtension,
      inlineMessages,
      lspExtension(hooks),
      editorTheme,
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": "Program", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((u) => {
        if (u.docChanged) {
          for (const tr of u.transactions) if (tr.docChanged) this.sync.change(tr.changes, tr.startState.doc, tr.newDoc);
          hooks.changed(u.view);
        }
        if (u.selectionSet) hooks.moved(u.state.selection.main.head);
      }),
      EditorView.domEventHandlers({
        mousemove: (event, view) => hooks.pointed(view.posAtCoords({ x: event.clientX, y: event.clientY })),
        mouseleave: () => hooks.pointed(null),
      }),
    ];
  }

  private fresh(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: this.extensions });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }
  get doc(): Text {
    return this.view.state.doc;
  }

  /** Shows another file. Its own history comes back where the text is still the one that was left. */
  open(path: string, text: string): void {
    if (this.path) this.states.set(this.path, this.view.state);
    const kept = this.states.get(path);
    this.path = path;
    this.view.setState(kept && kept.doc.toString() === text ? kept : this.fresh(text));
    this.sync.open(path, this.view.state.doc);
  }

  /** Another text in the place of this one, as one change that can be undone. Only what differs is changed. */
  replace(text: string): void {
    const old = this.text;
    let from = 0;
    let back = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from++;
    while (back < old.length - from && back < text.length - from && old[old.length - 1 - back] === text[text.length - 1 - back]) back++;
    this.view.dispatch({
      changes: { from, to: old.length - back, insert: text.slice(from, text.length - back) },
      annotations: Transaction.userEvent.of("input.replace"),
    });
  }

  /** The next place of a text behind the cursor, from the beginning again where there is none. */
  find(words: string): boolean {
    const text = this.text.toLowerCase();
    const after = text.indexOf(words.toLowerCase(), this.view.state.selection.main.to);
    const at = after >= 0 ? after : text.indexOf(words.toLowerCase());
    if (at < 0 || !words) return false;
    this.view.dispatch({ selection: { anchor: at, head: at + words.length }, scrollIntoView: true });
    this.view.focus();
    return true;
  }

  light(span: Span | null): void {
    this.view.dispatch({ effects: setLit.of(span) });
  }

  show(span: Span): void {
    this.view.dispatch({ effects: EditorView.scrollIntoView(span.from, { y: "nearest", yMargin: 60 }) });
  }

  private refusedTimer = 0;

  /** Says at its place why something was not done: until the text or the cursor goes on, and no longer than the word at the foot of the page. */
  refuse(at: Span, sentence: string): void {
    clearTimeout(this.refusedTimer);
    this.refusedTimer = window.setTimeout(() => this.view.dispatch({ effects: setRefused.of(null) }), FAULT_MS);
    this.view.dispatch({ effects: [setRefused.of({ at, sentence }), EditorView.scrollIntoView(at.from, { y: "nearest", yMargin: 80 })] });
  }
}
