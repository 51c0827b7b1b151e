// The manual, as it is in the repository; every program in it can be opened and changed.

import { useEffect, useRef, useState } from "preact/hooks";
import { anchorOf, markdown } from "../markdown";
import { newProgram } from "../workbench";

let text: string | null = null;

function program(body: string, language: string): HTMLElement | null {
  if (!/^limn\b/.test(language)) return null;
  const home = document.createElement("div");
  home.className = "program";
  const pre = document.createElement("pre");
  pre.textContent = body;
  const open = document.createElement("button");
  open.textContent = "Open";
  open.onclick = () => void newProgram("from-manual", body + "\n");
  home.append(pre, open);
  return home;
}

export function Manual() {
  const [ready, setReady] = useState(text !== null);
  const [search, setSearch] = useState("");
  const home = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (text !== null) return;
    fetch("manual.gz")
      .then((r) => (r.ok && r.body ? new Response(r.body.pipeThrough(new DecompressionStream("gzip"))).text() : Promise.reject(r.status)))
      .then((t) => {
        text = t;
        setReady(true);
      })
      .catch(() => {
        text = "The manual is not here; it is docs/language.md in the sources.";
        setReady(true);
      });
  }, []);
  useEffect(() => {
    if (!ready) return;
    const link = (address: string) => (address.startsWith("#") ? "#manual-" + address.slice(1) : null);
    home.current!.replaceChildren(markdown(text!, { code: program, link }));
  }, [ready]);
  const headings = (text ?? "").match(/^## .*$/gm)?.map((h) => h.slice(3)) ?? [];
  const go = (heading: string) => home.current!.querySelector(`#manual-${CSS.escape(anchorOf(heading))}`)?.scrollIntoView({ block: "start" });
  const find = () => {
    const words = search.toLowerCase();
    const all = [...home.current!.querySelectorAll<HTMLElement>("h2, h3, p, li, td, pre")];
    all.find((e) => (e.textContent ?? "").toLowerCase().includes(words))?.scrollIntoView({ block: "center" });
  };
  return (
    <div class="manual">
      <div class="row">
        <input type="search" placeholder="Find in the manual" aria-label="Find in the manual" value={search} onInput={(e) => setSearch((e.currentTarget as HTMLInputElement).value)} onKeyDown={(e) => e.key === "Enter" && search && find()} />
      </div>
      <nav aria-label="Chapters">
        {headings.map((h) => (
          <a
            key={h}
            href={`#manual-${anchorOf(h)}`}
            onClick={(e) => {
              e.preventDefault();
              go(h);
            }}
          >
            {h.replace(/`/g, "")}
          </a>
        ))}
      </nav>
      {!ready && <p class="soft">…</p>}
      <div ref={home} />
    </div>
  );
}
