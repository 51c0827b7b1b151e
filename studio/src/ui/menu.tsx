// A menu at a place: arrow keys, Escape, and letters where they mean something; the focus goes back to where it came from.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface MenuItem {
  label: string;
  hint?: string;
  run: () => void;
}
interface OpenMenu {
  items: MenuItem[];
  at: { x: number; y: number };
  label: string;
  back: Element | null;
  typed?: (letter: string) => void;
}
const menu = signal<OpenMenu | null>(null);

export function openMenu(items: MenuItem[], at: { x: number; y: number }, label: string, typed?: (letter: string) => void): void {
  menu.value = { items, at, label, back: document.activeElement, typed };
}

function close(): void {
  const back = menu.value?.back as HTMLElement | null;
  menu.value = null;
  back?.focus?.({ preventScroll: true });
}

export function Menu() {
  const ref = useRef<HTMLDivElement>(null);
  const m = menu.value;
  useEffect(() => {
    const e = ref.current;
    if (!m || !e) return;
    const box = e.getBoundingClientRect();
    e.style.left = `${Math.max(8, Math.min(m.at.x, innerWidth - box.width - 8))}px`;
    e.style.top = `${Math.max(8, Math.min(m.at.y, innerHeight - box.height - 8))}px`;
    e.querySelector("button")?.focus();
  }, [m]);
  if (!m) return null;
  const key = (e: KeyboardEvent) => {
    const all = [...ref.current!.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const go = (i: number) => all[(i + all.length) % all.length].focus();
    if (e.key === "ArrowDown") go(at + 1);
    else if (e.key === "ArrowUp") go(at - 1);
    else if (e.key === "Home") go(0);
    else if (e.key === "End") go(all.length - 1);
    else if (e.key === "Escape" || e.key === "Tab") close();
    else if (m.typed && /^\w$/.test(e.key) && !e.ctrlKey && !e.metaKey && !e.altKey) (close(), m.typed(e.key));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="scrim clear" onPointerDown={(e) => e.target === e.currentTarget && close()}>
      <div class="menu" role="menu" aria-label={m.label} ref={ref} onKeyDown={key}>
        <div class="menu-title">{m.label.replace(/, Enter opens it$/, "")}</div>
        {m.items.map((i) => (
          <button key={i.label} role="menuitem" tabIndex={-1} onClick={() => (close(), i.run())}>
            {i.label}
            {i.hint && <kbd>{i.hint}</kbd>}
          </button>
        ))}
      </div>
    </div>
  );
}
