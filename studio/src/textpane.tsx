// The text pane: the editor, and below it the messages. The line that counts them is always there, so nothing jumps when one comes.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { readingView } from "./editor/editor";
import { jumpTo, rename } from "./editor/lsp";
import { drafts, timeOf } from "./drafts";
import { messages, messagesOpen, path } from "./state";
import { looked } from "./ui/conflict";
import { Icon } from "./ui/icons";
import { fill } from "./ui/prompt";
import { bringBack, editor, endReading, leaveDraft, openPath, reading, renaming, saver } from "./workbench";

const plural = (n: number, one: string, many: string) => (n === 1 ? `1 ${one}` : `${n} ${many}`);

function Messages() {
  const open = messagesOpen.value;
  const all = messages.value;
  const errors = all.filter((m) => m.severity === 1).length;
  const others = all.length - errors;
  const words = !all.length ? "No messages" : [errors && plural(errors, "error", "errors"), others && plural(others, "warning", "warnings")].filter(Boolean).join(", ");
  return (
    <div class="messages">
      {open && all.length > 0 && (
        <ul aria-label="Messages">
          {typeof open === "string" && (
            <li class="fault-line" role="alert">
              {open}
            </li>
          )}
          {all.map((m) => (
            <li key={`${m.range.start.line}:${m.range.start.character} ${m.message}`}>
              <button onClick={() => jumpTo(editor.view, m.range)}>
                <span class={m.severity === 1 ? "dot error" : "dot"} aria-hidden="true" />
                <span class="line">{m.range.start.line + 1}</span>
                <span>{m.message}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <button class={errors ? "count-line error" : "count-line"} aria-expanded={!!open} disabled={!all.length} onClick={() => (messagesOpen.value = !open)}>
        <span class={errors ? "dot error" : all.length ? "dot" : "dot good"} aria-hidden="true" />
        <span role="status">{words}</span>
        {all.length > 0 && <span class="first">{all[0].message.split("\n")[0]}</span>}
        {all.length > 0 && <Icon name="down" />}
      </button>
    </div>
  );
}

/** What was never saved is offered until somebody answers, first of this file, and otherwise of others. */
function Offers() {
  const own = drafts.value.filter((d) => d.path === path.value);
  return (
    <div class="offers" role="status">
      {(own.length ? own : drafts.value).slice(0, 5).map((d) => (
        <div class="offer row" key={d.key}>
          <span>
            {own.length ? "Text" : `Text of ${d.path}`} of {timeOf(d)} was never saved.
          </span>
          {own.length > 0 && <button onClick={() => bringBack(d)}>Bring it back</button>}
          {own.length > 0 && <button onClick={() => (looked.value = d)}>Compare</button>}
          {!own.length && <button onClick={() => void openPath(d.path)}>Open it</button>}
          <button onClick={() => leaveDraft(d)}>Leave it</button>
        </div>
      ))}
    </div>
  );
}

/** What F12 leads to outside of the folder. It lies over the text, which waits below it as it was. */
function Reading() {
  const home = useRef<HTMLDivElement>(null);
  const r = reading.value;
  useEffect(() => {
    if (!r) return;
    const view = readingView(home.current!, r.text, r.range);
    return () => view.destroy();
  }, [r]);
  if (!r) return null;
  return (
    <section class="reading" aria-label={`${r.name}, to read`} onKeyDown={(e) => e.key === "Escape" && endReading()}>
      <div class="offer row">
        <span>
          <b>{r.name}</b> is part of limn: to read only.
        </span>
        <button onClick={endReading}>Back to {path.value}</button>
      </div>
      <div class="editor" ref={home} />
    </section>
  );
}

export function TextPane({ home }: { home: RefObject<HTMLDivElement | null> }) {
  useEffect(
    () =>
      effect(() => {
        if (!renaming.value) return;
        renaming.value = false;
        const word = editor.view.state.wordAt(editor.view.state.selection.main.head);
        const old = word ? editor.view.state.sliceDoc(word.from, word.to) : "";
        void fill("Rename", [{ name: "name", label: "New name", value: old }], "Rename").then((a) => {
          if (a?.name && a.name !== old) void rename(editor.view, a.name, () => saver.write());
        });
      }),
    [],
  );
  return (
    <section class="pane text-pane" aria-label="Text">
      <Offers />
      <div class="editor" ref={home} />
      <Reading />
      <Messages />
    </section>
  );
}
