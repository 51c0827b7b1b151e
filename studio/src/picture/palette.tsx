// Boxes beside the picture. One is put on a wire by dragging it there, by choosing wire and box, or from the keyboard; and new
// things are declared here, so that a blank sheet becomes a program.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../client";
import type { PaletteBox } from "../protocol";
import { drawn, paletteOpen, say } from "../state";
import { IconButton } from "../ui/icons";
import { type Field, fill } from "../ui/prompt";
import { editor, formGesture, gesture } from "../workbench";
import type { Mark } from "./marks";
import { pictureView } from "./pane";
import { chosen, sought, wanted } from "./view";

const boxes = signal<PaletteBox[]>([]);

/** Names of boxes that are known to go onto the chosen mark: limn was asked for the edit, which it gives and does not make. */
const fitting = signal<Set<string>>(new Set());
let asked = 0;
const PAUSE_MS = 150;

const editOf = (mark: Mark, box: string) => ({ kind: mark.kind === "box" ? "replace" : "insert", at: mark.at, box });

/** Whether limn would take an edit of the text as it is. */
export const isTaken = (edit: Record<string, unknown>): Promise<boolean> =>
  ask("limn/edit", { edit }).then(
    () => true,
    () => false,
  );

/** Tries them one by one, so that whoever types meanwhile waits for one alone, and none after the next choice. The list changes once, at the
 * end: it is not to move under a hand that reaches for it. */
async function tryBoxes(mark: Mark, all: PaletteBox[], mine: number): Promise<void> {
  const { box } = mark.element.dataset;
  if (mark.kind === "box" && !box) return; // what is given, for example, is no box that another could stand for
  const found = new Set<string>();
  for (const b of all) {
    // Of a box the types that it takes are not those of a wire, so that only trying tells.
    if ((mark.kind !== "box" && !b.fits) || b.wants?.length || b.name === box) continue;
    if (await isTaken(editOf(mark, b.name))) found.add(b.name);
    if (mine !== asked) return;
  }
  fitting.value = found;
}

async function load(): Promise<void> {
  const mine = ++asked;
  const mark = chosen.peek();
  fitting.value = new Set();
  const answer = await ask<PaletteBox[]>("limn/palette", mark?.at ? { at: mark.at } : {}).catch(() => null);
  if (mine !== asked || !Array.isArray(answer)) return;
  boxes.value = answer;
  await new Promise((done) => setTimeout(done, PAUSE_MS)); // while somebody types, nothing is tried
  if (mark?.at && mine === asked) await tryBoxes(mark, answer, mine);
}

/** Puts a box there. Options that it must be told are asked for: `dense[...o]` is written `dense[16]`. */
async function putAt(mark: Mark, box: string): Promise<void> {
  const edit = (text: string) => editOf(mark, text);
  const header = boxes.value.find((b) => b.name === box)?.header ?? "";
  const options = new RegExp(`\\b${box}\\[([^\\]]*)\\]`).exec(header)?.[1].split(",").map((o) => o.trim()) ?? [];
  const open = options.filter((o) => o && !o.includes(":"));
  if (!open.length) return void (await gesture(edit(box)));
  const fields = open.map((o) => ({ name: o, label: o.replace(/^\.\.\./, ""), value: o.startsWith("...") ? "16" : "" }));
  await form(header.replace(/^box /, ""), fields, "Put it there", (a) => edit(`${box}[${open.map((o) => a[o]).join(", ")}]`));
}

/** Puts a box at the chosen mark: onto a wire, in the place of a box; or asks which wire. */
export async function put(box: string): Promise<void> {
  const mark = chosen.value;
  if (mark?.at) {
    await putAt(mark, box);
    return;
  }
  wanted.value = { words: `Choose the wire for ${box}.`, kind: "wire", take: (m) => void putAt(m, box) };
}

/** Drags a box with the pointer; what it would land on lights up. */
function drag(e: PointerEvent, box: string): void {
  if (e.button !== 0) return;
  const start = { x: e.clientX, y: e.clientY };
  let ghost: HTMLElement | null = null;
  let over: Element | null = null;
  const markUnder = (x: number, y: number) => pictureView()?.marks?.find(document.elementFromPoint(x, y)) ?? null;
  const move = (m: PointerEvent) => {
    if (!ghost) {
      if (Math.hypot(m.clientX - start.x, m.clientY - start.y) < 6) return;
      ghost = document.createElement("div");
      ghost.className = "ghost";
      ghost.textContent = box;
      document.body.append(ghost);
    }
    ghost.style.transform = `translate(${m.clientX + 8}px, ${m.clientY + 8}px)`;
    over?.classList.remove("target");
    over = markUnder(m.clientX, m.clientY)?.element ?? null;
    over?.classList.add("target");
  };
  const up = (m: PointerEvent) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    over?.classList.remove("target");
    if (!ghost) return;
    ghost.remove();
    // What is dropped is not clicked. Where the item is gone by now, no click follows, and the next one is meant.
    const swallow = (c: Event) => (c.stopPropagation(), c.preventDefault());
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 0);
    const mark = markUnder(m.clientX, m.clientY);
    if (!mark?.at) say(`${box} was not dropped on a wire.`);
    else void putAt(mark, box);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
}

/** A type without its arrow: where it is missing, and with what else it was written. */
function arrowHelp(type: string | undefined): string | null {
  if (!type || type.includes("->")) return null;
  const meant = type.replace(/\s*(?:→|=>|>|—|–|-|\bto\b)\s*/, " -> ");
  return `Between what goes in and what comes out stands an arrow, \`->\`: as in \`${meant.includes("->") ? meant : "R[4] -> R[2]"}\`.`;
}

/** A form whose edit is tried while it is open. */
const form = (title: string, fields: Field[], button: string, edit: (a: Record<string, string>) => Record<string, unknown>) => fill(title, fields, button, async (a) => arrowHelp(a.type) ?? formGesture(edit(a)));

/** What the program has so far, by its text: what a form offers first is then mostly what is wanted. */
function soFar() {
  const text = editor.text.replace(/#.*/g, "");
  const given = /^[ \t]*given\s+([\w, ]+?)(?:\s*:[^\n]*?)?\s+from\s+(\w+)/m.exec(text);
  const learner = /^[ \t]*learn\s+(\w+)/m.exec(text);
  const names = given?.[1].split(",").map((n) => n.trim()) ?? [];
  return { names, set: SETS.find((s) => s.name === given?.[2]), learner: learner?.[1] };
}

/** Sets that limn knows, and a learner that fits them. */
const SETS = [
  { name: "iris", type: "R[4] -> R[3]" },
  { name: "moons", type: "R[2] -> R[2]" },
  { name: "spirals", type: "R[2] -> R[2]" },
  { name: "mnist", type: "R[28 28] -> R[10]" },
];

async function newGiven(): Promise<void> {
  const again = soFar().names.length > 0;
  await form("Data", [
    { name: "name", label: "Names", value: again ? "z" : "x, kind", hint: "Several with commas: what goes in, and what is wanted" },
    { name: "from", label: "From", value: again ? "normal[2]" : "iris", offers: SETS.map((s) => s.name), hint: "A set that limn knows, a distribution such as normal[64], or a file" },
  ], "Add it", (a) => ({ kind: "given", name: a.name, from: a.from }));
}
async function newLearner(): Promise<void> {
  const { set = SETS[0] } = soFar();
  await form("A new learner", [
    { name: "name", label: "Name", value: "guess" },
    { name: "type", label: "From and to", value: set.type, hint: "What goes in, an arrow, what comes out" },
    { name: "body", label: "Made of", hint: "Boxes, one behind the other: dense[16] ; relu ; dense[3]. Nothing: limn makes one" },
  ], "Add it", (a) => ({ kind: "learner", name: a.name, type: a.type, ...(a.body ? { body: a.body } : {}) }));
}
async function newBox(): Promise<void> {
  await form("A new box", [
    { name: "name", label: "Name", value: "step" },
    { name: "type", label: "From and to", value: "R[4] -> R[4]" },
  ], "Add it", (a) => ({ kind: "box", name: a.name, type: a.type }));
}
export async function newGoal(): Promise<void> {
  const { names, set, learner } = soFar();
  await form("A goal: two things that should be equal", [
    { name: "from", label: "This", value: `${learner ?? "guess"}(${names[0] ?? "x"})` },
    { name: "to", label: "That", value: names[1] ?? names[0] ?? "kind" },
    { name: "by", label: "Distance", value: set && names.length > 1 ? "cross_entropy" : "l2", offers: ["l2", "l1", "bce", "cross_entropy", "mse", "huber"], hint: "cross_entropy where that is one of several kinds" },
  ], "Add it", (a) => ({ kind: "goal", from: a.from, to: a.to, by: a.by }));
}
export async function newTraining(): Promise<void> {
  const number = (text: string) => (text && Number.isFinite(Number(text)) ? Number(text) : text);
  await form("How it trains", [
    { name: "epochs", label: "Epochs", value: "30" },
    { name: "batch", label: "Batch", value: "16" },
    { name: "optimiser", label: "Optimiser", value: "adam(0.01)", offers: ["adam(0.01)", "gd(0.1)", "adam(fade(0.01))"] },
  ], "Set it", (a) => ({ kind: "train", epochs: number(a.epochs), batch: number(a.batch), optimiser: a.optimiser }));
}
async function glue(): Promise<void> {
  await form("Glue two learning diagrams", [
    { name: "a", label: "One" },
    { name: "b", label: "The other" },
    { name: "along", label: "Along", hint: "What is one and the same in both" },
  ], "Glue", (a) => ({ kind: "glue", a: a.a, b: a.b, along: a.along }));
}

const NEW: [string, () => Promise<void>][] = [
  ["Data", newGiven],
  ["Learner", newLearner],
  ["Goal", newGoal],
  ["Training", newTraining],
  ["Box", newBox],
  ["Glue", glue],
];

function Item({ box }: { box: PaletteBox }) {
  return (
    <button class="box-item" title={box.header} onPointerDown={(e) => drag(e as unknown as PointerEvent, box.name)} onClick={() => void put(box.name)}>
      <b>{box.name}</b>
      <span>{box.doc || box.header}</span>
    </button>
  );
}

export function Palette() {
  const search = sought.value;
  const mark = chosen.value;
  const version = drawn.value?.version;
  useEffect(() => void load(), [mark?.at, version]);
  const words = search.toLowerCase();
  const rank = (b: PaletteBox) => (b.name === words ? 0 : b.name.startsWith(words) ? 1 : b.name.includes(words) ? 2 : 3);
  const found = boxes.value.filter((b) => !words || b.name.includes(words) || b.doc.toLowerCase().includes(words));
  if (words) found.sort((a, b) => rank(a) - rank(b));
  const groups = new Map<string, PaletteBox[]>(mark?.at ? [["Fits here", []]] : []);
  // With a wire chosen, those that fit stand first and once.
  const groupOf = (b: PaletteBox) => (mark?.at && fitting.value.has(b.name) ? "Fits here" : b.group || "Boxes");
  for (const b of found) groups.set(groupOf(b), [...(groups.get(groupOf(b)) ?? []), b]);
  return (
    <aside class="palette" aria-label="Boxes">
      <div class="row">
        <input
          id="palette-search"
          type="search"
          placeholder="Find a box"
          aria-label="Find a box"
          value={search}
          onInput={(e) => (sought.value = (e.currentTarget as HTMLInputElement).value)}
          onKeyDown={(e) => e.key === "Enter" && found[0] && void put(found[0].name)}
        />
        <IconButton name="close" label="Close the palette" onClick={() => (paletteOpen.value = false)} />
      </div>
      <p class="soft small" role="status">
        {mark?.at ? `onto ${mark.name.replace(/, Enter opens it$/, "")}` : "Drag one onto a wire, or choose a wire first."}
      </p>
      <div class="new-things" role="group" aria-label="New">
        {NEW.map(([label, run]) => (
          <button key={label} onClick={() => void run()}>
            + {label}
          </button>
        ))}
      </div>
      <div class="groups">
        {[...groups].filter(([, all]) => all.length).map(([group, all]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            {all.slice(0, words ? 40 : 60).map((b) => (
              <Item key={b.name} box={b} />
            ))}
          </section>
        ))}
        {!found.length && <p class="soft small">There is no box of that name.</p>}
      </div>
    </aside>
  );
}
