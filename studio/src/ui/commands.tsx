// Everything that can be done, by typing (Ctrl+K): commands, files, pictures, examples.

import { useEffect, useRef, useState } from "preact/hooks";
import { commandsOpen } from "../state";
import { refreshFiles } from "../workbench";
import { type Command, allCommands } from "../commands";

/** Letters of the search in order, those at the beginnings of words first. */
function score(search: string, text: string): number {
  if (!search) return 1;
  const t = text.toLowerCase();
  const at = t.indexOf(search);
  if (at >= 0) return 100 - at + (at === 0 || t[at - 1] === " " ? 50 : 0);
  let i = 0;
  for (const c of t) if (c === search[i]) i++;
  return i === search.length ? 10 : 0;
}

export function Commands() {
  const ref = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const open = commandsOpen.value;
  useEffect(() => {
    if (!open) return;
    setSearch("");
    setAt(0);
    ref.current?.showModal();
    void refreshFiles(); // others put files into the folder, too
  }, [open]);
  if (!open) return null;
  const found = allCommands()
    .map((c) => ({ c, s: score(search.toLowerCase(), c.label) }))
    .filter((x) => x.s > 0)
    .sort((a, b) => b.s - a.s)
    .slice(0, 40)
    .map((x) => x.c);
  const close = () => (commandsOpen.value = false);
  const run = (c: Command | undefined) => {
    close();
    if (c) setTimeout(c.run, 0);
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter") run(found[at]);
    else return;
    e.preventDefault();
  };
  return (
    <dialog class="commands" ref={ref} onClose={close} aria-label="Commands" onPointerDown={(e) => e.target === ref.current && close()}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="command-list"
        aria-activedescendant={`command-${at}`}
        placeholder="What would you like to do?"
        aria-label="What would you like to do?"
        value={search}
        onInput={(e) => (setSearch((e.currentTarget as HTMLInputElement).value), setAt(0))}
        onKeyDown={key}
      />
      <ul id="command-list" role="listbox" aria-label="Commands">
        {found.map((c, i) => (
          <li key={c.label} id={`command-${i}`} role="option" aria-selected={i === at} onClick={() => run(c)} ref={(e) => void (i === at && e?.scrollIntoView({ block: "nearest" }))}>
            <span>{c.label}</span>
            {c.hint && <kbd>{c.hint}</kbd>}
          </li>
        ))}
        {!found.length && <li class="soft">Nothing is called so.</li>}
      </ul>
    </dialog>
  );
}
