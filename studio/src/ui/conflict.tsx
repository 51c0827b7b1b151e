// Another program has changed the file that is open here: both texts side by side, and a choice.

import { useEffect, useRef } from "preact/hooks";
import { conflict } from "../save";
import { saver, takeTheirs } from "../workbench";

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

export function ConflictDialog() {
  const ref = useRef<HTMLDialogElement>(null);
  const c = conflict.value;
  useEffect(() => {
    if (c && !ref.current!.open) ref.current!.showModal();
  }, [c]);
  if (!c) return null;
  return (
    <dialog class="conflict" ref={ref} onCancel={(e) => e.preventDefault()} aria-label="Two texts">
      <h2>{c.path} was changed elsewhere</h2>
      <p class="soft">Nothing was written over. Marked lines are in one of the two only.</p>
      <div class="both">
        <Text title="Here" mine={c.mine} theirs={c.theirs} />
        <Text title="In the file" mine={c.theirs} theirs={c.mine} />
      </div>
      <div class="row end">
        <button onClick={takeTheirs}>Take the file's</button>
        <button class="primary" onClick={() => void saver.keepMine()}>
          Keep what is here
        </button>
      </div>
    </dialog>
  );
}
