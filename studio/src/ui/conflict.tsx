// Two texts of one file side by side, and a choice: another program has changed it, or one of them was never saved.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { conflict } from "../save";
import { type Draft, timeOf } from "../drafts";
import { bringBack, editor, leaveDraft, saver, takeTheirs } from "../workbench";

/** The draft that is looked at beside the text. */
export const looked = signal<Draft | null>(null);

/** Lines that the other text does not have; enough to see where two texts part. */
function only(mine: string, theirs: string): { line: string; own: boolean }[] {
  const known = new Map<string, number>();
  for (const l of theirs.split("\n")) known.set(l, (known.get(l) ?? 0) + 1);
  return mine.split("\n").map((line) => {
    const n = known.get(line) ?? 0;
    known.set(line, n - 1);
    return { line, own: n <= 0 };
  });
}

function Text({ title, mine, theirs }: { title: string; mine: string; theirs: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <pre tabIndex={0}>
        {only(mine, theirs).map((l, i) => (
          <div key={i} class={l.own ? "own" : ""}>
            {l.line || "\u200b"}
          </div>
        ))}
      </pre>
    </section>
  );
}

interface Both {
  title: string;
  words: string;
  mine: string;
  theirs: string;
  close?: () => void; // where nothing has to be chosen
  choices: { label: string; run: () => void }[]; // the last one is what is mostly wanted
}

function both(): Both | null {
  const c = conflict.value;
  if (c) {
    const choices = [
      { label: "Take the file's", run: takeTheirs },
      { label: "Keep what is here", run: () => void saver.keepMine() },
    ];
    return { title: `${c.path} was changed elsewhere`, words: "Nothing was written over.", mine: c.mine, theirs: c.theirs, choices };
  }
  const d = looked.value;
  if (!d) return null;
  const close = () => (looked.value = null);
  const choices = [
    { label: "Leave it", run: () => (close(), leaveDraft(d)) },
    { label: "Bring it back", run: () => (close(), bringBack(d)) },
  ];
  return { title: `Text of ${timeOf(d)} was never saved`, words: `It is of ${d.path}.`, mine: d.text, theirs: editor.text, close, choices };
}

export function TwoTexts() {
  const ref = useRef<HTMLDialogElement>(null);
  const b = both();
  useEffect(() => {
    if (b && !ref.current!.open) ref.current!.showModal();
  }, [b]);
  if (!b) return null;
  return (
    <dialog class="conflict" ref={ref} onCancel={(e) => (e.preventDefault(), b.close?.())} aria-label="Two texts">
      <h2>{b.title}</h2>
      <p class="soft">{b.words} Marked lines are in one of the two only.</p>
      <div class="both">
        <Text title={b.close ? "Never saved" : "Here"} mine={b.mine} theirs={b.theirs} />
        <Text title={b.close ? "Here" : "In the file"} mine={b.theirs} theirs={b.mine} />
      </div>
      <div class="row end">
        {b.close && <button onClick={b.close}>Close</button>}
        {b.choices.map((c, i) => (
          <button key={c.label} class={i === 1 ? "primary" : undefined} onClick={c.run}>
            {c.label}
          </button>
        ))}
      </div>
    </dialog>
  );
}
