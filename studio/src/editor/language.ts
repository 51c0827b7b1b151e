// Colours while one types: words, comments and numbers at once, by the table of words that the compiler's own source gives; what a
// name means follows from the language server a moment later.

import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { ask } from "../client";

declare const WORDS: { keyword: string[]; declaration: string[] }; // put in by build.mjs
const keywords = new Set([...WORDS.keyword, ...WORDS.declaration]);

const stream = StreamLanguage.define<null>({
  name: "limn",
  startState: () => null,
  token(s) {
    if (s.eatSpace()) return null;
    if (s.match(/^#.*/)) return "comment";
    if (s.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (s.match(/^\d+(?:\.\d+)?(?:e[-+]?\d+)?/)) return "number";
    const word = s.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word) return keywords.has(word[0]) ? "keyword" : "variableName";
    if (s.match(/^(?:->|<-|[~=;:+\-*/^<>&|!]+)/)) return "operator";
    s.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
});

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.operator, color: "var(--code-operator)" },
]);

/** Which names of a legend get which class; all else stays as it is. */
const classes: Record<string, string> = {
  function: "tok-box",
  macro: "tok-data",
  class: "tok-learner",
  struct: "tok-type",
  typeParameter: "tok-axis",
  parameter: "tok-parameter",
  property: "tok-property",
  namespace: "tok-data",
};

const setTokens = StateEffect.define<DecorationSet>();
const tokenField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(tokens, tr) {
    let now = tokens.map(tr.changes);
    for (const e of tr.effects) if (e.is(setTokens)) now = e.value;
    return now;
  },
  provide: (f) => EditorView.decorations.from(f),
});

let legend: string[] = [];
export function learnLegend(types: string[]): void {
  legend = types;
}

/** Asks what each name means and colours it so, unless the text has changed meanwhile. */
export async function colour(view: EditorView): Promise<void> {
  const doc = view.state.doc;
  const answer = await ask<{ data: number[] } | null>("textDocument/semanticTokens/full");
  if (!answer || view.state.doc !== doc) return;
  const marks = new RangeSetBuilder<Decoration>();
  let line = 0;
  let at = 0;
  for (let i = 0; i + 4 < answer.data.length; i += 5) {
    const [lines, characters, length, type] = answer.data.slice(i, i + 4);
    line += lines;
    at = lines ? characters : at + characters;
    const name = classes[legend[type]];
    if (!name || line >= doc.lines) continue;
    const from = doc.line(line + 1).from + at;
    if (from + length <= doc.length) marks.add(from, from + length, Decoration.mark({ class: name }));
  }
  view.dispatch({ effects: setTokens.of(marks.finish()) });
}

export const limnLanguage: Extension = [stream, syntaxHighlighting(style), tokenField];
