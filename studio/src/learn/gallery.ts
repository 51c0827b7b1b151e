// Programs to begin from: those that the home has beside it, opened as a copy of one's own.

import { signal } from "@preact/signals";
import { host } from "../client";
import type { About } from "../protocol";
import { sayFault } from "../state";
import { newProgram } from "../workbench";

export interface GalleryEntry {
  name: string;
  doc: string;
  open: () => Promise<void>;
}

/** The first sentence of the comment that a program begins with. */
export function firstWords(text: string): string {
  const lines: string[] = [];
  for (const l of text.split("\n")) {
    if (!l.startsWith("#")) break;
    lines.push(l.replace(/^#\s?/, ""));
  }
  return lines.join(" ").split(/(?<=[.:])\s/)[0] ?? "";
}

/** First words of examples by their names, asked for once, when somebody looks at the gallery. */
export const wordsOf = signal<Record<string, string>>({});
let asked = false;
export async function askWords(about: About | null): Promise<void> {
  if (asked) return;
  asked = true;
  for (const e of about?.examples ?? []) {
    if (typeof e !== "string") continue;
    const text = await host<{ text: string }>("example", { name: e }).then((a) => a.text, () => "");
    if (text) wordsOf.value = { ...wordsOf.value, [e]: firstWords(text) };
  }
}

export function examples(about: About | null): GalleryEntry[] {
  return (about?.examples ?? []).map((e) => {
    const path = typeof e === "string" ? e : (e.path ?? e.name ?? "");
    const name = (typeof e === "string" ? e : (e.name ?? path)).replace(/.*\/|\.limn$/g, "");
    const known = typeof e === "string" ? undefined : e.text;
    return {
      name,
      doc: typeof e === "string" ? (wordsOf.value[e] ?? "") : e.doc || (known ? firstWords(known) : ""),
      open: async () => {
        try {
          const text = known ?? (await host<{ text: string }>("example", { name: path })).text;
          await newProgram(name, text);
        } catch (fault) {
          sayFault(fault);
        }
      },
    };
  });
}
