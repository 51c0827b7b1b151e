// Places: between the protocol's lines and characters, the editor's offsets, and a picture's `data-at`.

import type { Text } from "@codemirror/state";
import type { Position, Range } from "./protocol";

/** A piece of the text by offsets, end exclusive. */
export interface Span {
  from: number;
  to: number;
}

export function offsetAt(doc: Text, p: Position): number {
  if (p.line >= doc.lines) return doc.length;
  const line = doc.line(Math.max(0, p.line) + 1);
  return Math.min(line.from + Math.max(0, p.character), line.to);
}

export function positionAt(doc: Text, offset: number): Position {
  const line = doc.lineAt(Math.min(offset, doc.length));
  return { line: line.number - 1, character: offset - line.from };
}

export function spanOf(doc: Text, range: Range): Span {
  const from = offsetAt(doc, range.start);
  return { from, to: Math.max(from, offsetAt(doc, range.end)) };
}

export function rangeOf(doc: Text, span: Span): Range {
  return { start: positionAt(doc, span.from), end: positionAt(doc, span.to) };
}

/** "L:C-L:C", as pictures have it. */
export function rangeOfAt(at: string): Range | null {
  const m = /^(\d+):(\d+)-(\d+):(\d+)$/.exec(at);
  if (!m) return null;
  const [a, b, c, d] = m.slice(1).map(Number);
  return { start: { line: a, character: b }, end: { line: c, character: d } };
}

export function atOfRange(r: Range): string {
  return `${r.start.line}:${r.start.character}-${r.end.line}:${r.end.character}`;
}
