// The first message of a line stands behind the line, so that nobody has to point at it.

import { forEachDiagnostic } from "@codemirror/lint";
import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";

class Inline extends WidgetType {
  constructor(
    readonly text: string,
    readonly severity: string,
  ) {
    super();
  }
  eq(other: Inline) {
    return other.text === this.text && other.severity === this.severity;
  }
  toDOM() {
    const dom = document.createElement("span");
    dom.className = `cm-inline-message ${this.severity}`;
    dom.setAttribute("aria-hidden", "true"); // the list of messages says it
    dom.textContent = this.text;
    return dom;
  }
}

function build(view: EditorView): DecorationSet {
  const first = new Map<number, Inline>();
  forEachDiagnostic(view.state, (d, from) => {
    if (d.severity === "info") return;
    const end = view.state.doc.lineAt(Math.min(from, view.state.doc.length)).to;
    if (!first.has(end)) first.set(end, new Inline(d.message.split("\n")[0], d.severity));
  });
  const marks = new RangeSetBuilder<Decoration>();
  for (const [end, widget] of [...first].sort((a, b) => a[0] - b[0])) marks.add(end, end, Decoration.widget({ widget, side: 1 }));
  return marks.finish();
}

export const inlineMessages: Extension = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = build(view);
    }
    update(u: ViewUpdate) {
      if (u.docChanged || u.transactions.some((t) => t.effects.length)) this.marks = build(u.view);
    }
  },
  { decorations: (p) => p.marks },
);
