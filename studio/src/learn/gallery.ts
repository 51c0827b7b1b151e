// Programs to begin from: those that the home has beside it, opened as a copy of one's own.

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

export function examples(about: About | null): GalleryEntry[] {
  return (about?.examples ?? []).map((e) => {
    const path = typeof e === "string" ? e : (e.path ?? e.name ?? "");
    const name = (typeof e === "string" ? e : (e.name ?? path)).replace(/.*\/|\.limn$/g, "");
    const known = typeof e === "string" ? undefined : e.text;
    return {
      name,
      doc: (typeof e === "string" ? "" : e.doc) || (known ? firstWords(known) : ""),
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
