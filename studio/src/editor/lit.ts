// What lights up in the text: the place of a mark that is pointed at in the picture, and where an edit by picture was refused, with
// its sentence.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Span } from "../places";

export const setLit = StateEffect.define<Span | null>();
export const setRefused = StateEffect.define<{ at: Span; sentence: string } | null>();

class Sentence extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  eq(other: Sentence) {
    return other.text === this.text;
  }
  toDOM() {
    // What is around it has no margins, which the editor does not measure: lines below would stand beside their numbers.
    const dom = document.createElement("div");
    dom.className = "refused-line";
    const words = dom.appendChild(document.createElement("div"));
    words.className = "refused";
    words.setAttribute("role", "alert");
    words.textContent = this.text;
    return dom;
  }
}

const lit = Decoration.mark({ class: "lit" });
const fault = Decoration.mark({ class: "refused-at" });

function spanField(decorate: (doc: { length: number }, e: StateEffect<any>) => DecorationSet | null, onChange: (d: DecorationSet) => DecorationSet, untilMoved = false) {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(old, tr) {
      let now = tr.docChanged ? onChange(old.map(tr.changes)) : untilMoved && tr.selection ? Decoration.none : old;
      for (const e of tr.effects) now = decorate(tr.state.doc, e) ?? now;
      return now;
    },
    provide: (f) => EditorView.decorations.from(f),
  });
}

const inside = (doc: { length: number }, s: Span) => s.from < s.to && s.to <= doc.length;

const litField = spanField(
  (doc, e) => (!e.is(setLit) ? null : e.value && inside(doc, e.value) ? Decoration.set(lit.range(e.value.from, e.value.to)) : Decoration.none),
  (d) => d,
);

const refusedField = spanField(
  (doc, e) => {
    if (!e.is(setRefused)) return null;
    if (!e.value) return Decoration.none;
    const { at, sentence } = e.value;
    const marks = inside(doc, at) ? [fault.range(at.from, at.to)] : [];
    const line = (doc as any).lineAt(Math.min(at.from, doc.length));
    marks.push(Decoration.widget({ widget: new Sentence(sentence), block: true, side: 1 }).range(line.to));
    return Decoration.set(marks, true);
  },
  () => Decoration.none, // the text has gone on: the sentence is answered
  true,
);

export const litExtension = [litField, refusedField];
