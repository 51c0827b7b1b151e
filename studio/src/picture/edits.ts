// What can be done to a mark, as a menu: each is one edit of the text.

import { type MenuItem, openMenu } from "../ui/menu";
import { fill } from "../ui/prompt";
import { watchWire } from "../runs/weights";
import { about, look, paletteOpen, picturedKind, pictures, say } from "../state";
import type { Span } from "../places";
import { editor, gesture, openDeclaration, renaming } from "../workbench";
import type { Mark } from "./marks";
import { isTaken } from "./palette";
import { type PictureView, chosen, sought, wanted } from "./view";

const DISTANCES = ["l2", "l1", "mse", "bce", "cross_entropy", "huber"];

function choose(words: string, kind: "wire" | "any", take: (mark: Mark) => void): void {
  wanted.value = { words, kind, take };
}

/** Opens the palette for this wire or box, with the letters that were typed so far. */
export function pickBox(mark: Mark, letters = ""): void {
  chosen.value = mark;
  sought.value = letters;
  paletteOpen.value = true;
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>("#palette-search")?.focus());
}

async function nameWire(mark: Mark): Promise<void> {
  const { wire, box } = mark.element.dataset;
  const answer = await fill(`Name this ${mark.kind}`, [{ name: "name", label: "Name", value: wire ?? box ?? "" }], "Name it");
  if (answer?.name) await gesture({ kind: "name", at: mark.at, name: answer.name, wire: wire ?? box });
}

async function makeGoal(mark: Mark, other: Mark): Promise<void> {
  const answer = await fill("Make these two equal", [{ name: "by", label: "Distance", value: "l2", offers: DISTANCES }], "Make it a goal");
  if (answer) await gesture({ kind: "goal", from: mark.at, to: other.at, by: answer.by });
}

function wireItems(mark: Mark): MenuItem[] {
  const { wire } = mark.element.dataset;
  return [
    ...(wire && about.value?.can.includes("weights") ? [{ label: "Its numbers in the run", run: () => watchWire(wire) }] : []),
    { label: "Put a box here…", run: () => pickBox(mark) },
    { label: "Name it…", run: () => void nameWire(mark) },
    { label: "Copy to…", run: () => choose("Choose the input that reads this wire, too.", "any", (m) => void gesture({ kind: "connect", from: mark.at, to: m.at, ...(m.kind === "box" && { port: null }) })) },
    { label: "Use once more", run: () => void gesture({ kind: "copy", at: mark.at }) },
    { label: "Swap with…", run: () => choose("Choose the input that this one changes places with.", "any", (m) => void gesture({ kind: "swap", at: mark.at, with: m.at })) },
    { label: "Make equal to…", run: () => choose("Choose the wire that this one should be equal to.", "any", (m) => void makeGoal(mark, m)) },
  ];
}

/** Where a name stands in a piece of the text, -1 where it does not. */
const nameIn = (span: Span, name: string) => editor.text.slice(span.from, span.to).search(new RegExp(`\\b${name}\\b`));

/** What a box is called in the program: another name for it, wherever it stands. */
function renameBox(view: PictureView, mark: Mark, box: string): void {
  const span = view.marks?.spanNow(mark);
  const at = span ? nameIn(span, box) : -1;
  if (!span || at < 0) return say(`${box} does not stand in the text by its name.`);
  editor.view.dispatch({ selection: { anchor: span.from + at } });
  renaming.value = true;
}

/** What limn would not do is not offered. What is given, for example, calls no box: nothing can stand for it. */
async function boxItems(view: PictureView, mark: Mark): Promise<MenuItem[]> {
  const { open, box } = mark.element.dataset;
  const away = await isTaken({ kind: "remove", at: mark.at });
  const own = box && pictures.value.some((p) => p.name === box);
  const items: MenuItem[] = [];
  if (open) items.push({ label: look.value.open.includes(open) ? "Close" : "Open in place", run: () => view.open(mark) });
  if (open ?? own) items.push({ label: `Draw ${open ?? box} alone`, run: () => (look.value = { ...look.value, name: open ?? box!, open: [] }) });
  if (picturedKind() === "diagram") items.push({ label: "Name it…", run: () => void nameWire(mark) });
  else if (own) items.push({ label: "Rename…", hint: "F2", run: () => renameBox(view, mark, box) });
  const span = view.marks?.spanNow(mark);
  if (span && box) items.push({ label: "Where it is declared", hint: "F12", run: () => openDeclaration(span.from + Math.max(0, nameIn(span, box))) });
  if (box) items.push({ label: "Put another box here…", run: () => pickBox(mark) });
  if (away) items.push({ label: "Take it away", run: () => void gesture({ kind: "remove", at: mark.at }) });
  items.push({ label: "Make equal to…", run: () => choose("Choose what this should be equal to.", "any", (m) => void makeGoal(mark, m)) });
  return items;
}

export async function openBoxMenu(view: PictureView, mark: Mark, at: { x: number; y: number }): Promise<void> {
  const ours = mark.at && !mark.element.dataset.in; // what is inside of a box of the library can only be looked at
  const items = ours ? (mark.kind === "wire" ? wireItems(mark) : await boxItems(view, mark)) : [];
  const picks = items.some((i) => /box here/.test(i.label));
  if (mark.at) items.push({ label: "Show in the text", run: () => view.goToText(mark) });
  if (!items.length) say("This is drawn of something that the text does not say by itself.");
  else openMenu(items, at, mark.name, picks ? (letter) => pickBox(mark, letter) : undefined);
}
