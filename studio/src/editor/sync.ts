// The text as the other side knows it. Each change is told at once and has a version; answers speak of a version, and `bring` says
// where their places are by now.

import { type ChangeDesc, type ChangeSet, Text } from "@codemirror/state";
import { connection, uriOf } from "../client";
import { type Span, rangeOf } from "../places";
import type { Range } from "../protocol";

const REMEMBERED = 400; // versions: a picture is never that far behind

interface Past {
  version: number;
  doc: Text;
  changes: ChangeDesc | null; // to the next version
}

export class Sync {
  private past: Past[] = [];
  private uri = "";
  private count = 0;

  get version(): number {
    return this.count;
  }

  /** Another text: the one before is closed. */
  open(path: string, doc: Text): void {
    if (this.uri) connection().notify("textDocument/didClose", { textDocument: { uri: this.uri } });
    this.uri = uriOf(path);
    this.count += 1;
    this.past = [{ version: this.count, doc, changes: null }];
    this.tell();
  }

  /** The same text, told to a new session. */
  tell(): void {
    const last = this.past.at(-1);
    if (!last) return;
    const textDocument = { uri: this.uri, languageId: "limn", version: last.version, text: last.doc.toString() };
    connection().notify("textDocument/didOpen", { textDocument });
  }

  change(changes: ChangeSet, before: Text, after: Text): void {
    const contentChanges: { range: Range; text: string }[] = [];
    // From the end to the beginning, so that places before a change are still those of the old text.
    changes.iterChanges((from, to, _a, _b, inserted) => {
      contentChanges.unshift({ range: rangeOf(before, { from, to }), text: inserted.toString() });
    });
    const last = this.past.at(-1);
    if (last) last.changes = changes.desc;
    this.count += 1;
    this.past.push({ version: this.count, doc: after, changes: null });
    if (this.past.length > REMEMBERED) this.past.shift();
    connection().notify("textDocument/didChange", { textDocument: { uri: this.uri, version: this.count }, contentChanges });
  }

  /** The text of a version, where it is still known. */
  docOf(version: number): Text | null {
    return this.past.find((p) => p.version === version)?.doc ?? null;
  }

  /** Where a piece of an older version is in the present text; null where it is gone. */
  bring(version: number, span: Span): Span | null {
    const first = this.past.findIndex((p) => p.version === version);
    if (first < 0) return null;
    let { from, to } = span;
    for (const { changes } of this.past.slice(first)) {
      if (!changes) break;
      from = changes.mapPos(from, 1);
      to = changes.mapPos(to, -1);
      if (to <= from) return null;
    }
    return { from, to };
  }
}
