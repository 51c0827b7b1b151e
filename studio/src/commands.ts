// Everything that can be done, as a list: the command palette shows it, and so nothing can be done by mouse alone.

import { redo, undo } from "@codemirror/commands";
import { drafts, timeOf } from "./drafts";
import { format, quickFix } from "./editor/lsp";
import { viewsHere } from "./drawing";
import { examples } from "./learn/gallery";
import { openTour } from "./learn/learn";
import { exportMenu, pictureView } from "./picture/pane";
import { newGoal, newTraining } from "./picture/palette";
import { compareWith, startTraining } from "./runs/control";
import { about, commandsOpen, drawer, files, gestured, isNarrow, look, paletteOpen, pane, path, pictures, say, sideOpen, type Drawer } from "./state";
import { otherTheme } from "./theme";
import { fill } from "./ui/prompt";
import { bringBack, editor, newProgram, openDeclaration, openPath, renaming, saver } from "./workbench";

export interface Command {
  label: string;
  hint?: string;
  run: () => void;
}

export function openDrawer(d: Drawer): void {
  const open = drawer.value === d && (!isNarrow() || pane.value === "drawer");
  drawer.value = open ? null : d;
  if (isNarrow()) pane.value = open ? "picture" : "drawer";
}

export async function askNewProgram(): Promise<void> {
  const a = await fill("A new program", [{ name: "name", label: "Name", value: "sheet.limn" }], "Make it");
  if (a?.name) await newProgram(a.name);
}

let sought = "";
async function find(): Promise<void> {
  const a = await fill("Find in the text", [{ name: "words", label: "Words", value: sought, hint: "Ctrl+G finds the next one" }], "Find");
  if (a?.words) findNext((sought = a.words));
}
function findNext(words: string): void {
  if (words && !editor.find(words)) say(`There is no “${words}” in this text.`);
}

function focusPicture(): void {
  if (isNarrow()) pane.value = "picture";
  const first = pictureView()?.marks?.inOrder()[0];
  first?.element.focus();
}

function still(): Command[] {
  return [
    { label: "Train this program", hint: "Ctrl+Enter", run: () => void startTraining() },
    { label: "New program", run: () => void askNewProgram() },
    { label: "Files", hint: "Ctrl+B", run: () => toggleSide() },
    { label: "Go to the text", hint: "Alt+1", run: () => focusText() },
    { label: "Go to the picture", hint: "Alt+2", run: focusPicture },
    { label: "Runs", hint: "Alt+3", run: () => openDrawer("runs") },
    { label: "Play: games, machines, lenses", hint: "Alt+4", run: () => openDrawer("play") },
    { label: "Learn: tour, examples, manual", hint: "Alt+5", run: () => openDrawer("learn") },
    { label: "Boxes", run: () => (paletteOpen.value = !paletteOpen.value) },
    { label: "Undo", hint: "Ctrl+Z", run: () => void undo(editor.view) },
    { label: "Redo", hint: "Ctrl+Y", run: () => void redo(editor.view) },
    { label: "Find in the text", hint: "Ctrl+F", run: () => void find() },
    { label: "Lay out the text", hint: "Shift+Alt+F", run: () => void format(editor.view) },
    { label: "What helps in this line", hint: "Ctrl+.", run: () => void quickFix(editor.view) },
    { label: "Where it is declared", hint: "F12", run: () => openDeclaration() },
    { label: "Rename what is under the cursor", hint: "F2", run: () => (renaming.value = true) },
    { label: "Fit the picture", hint: "0", run: () => pictureView()?.viewport.fit() },
    { label: "Save the picture as …", run: () => exportMenu({ x: innerWidth / 2 - 90, y: innerHeight / 3 }) },
    { label: "Light or dark", run: otherTheme },
    { label: "Add a goal", run: () => void newGoal() },
    { label: "Say how it trains", run: () => void newTraining() },
    { label: "Begin the tour", run: () => openTour(0) },
    ...viewsHere().map((view) => ({ label: `View: ${{ plain: "diagram", lens: "lenses", grad: "gradient", who: "who moves whom", unfold: "unfold" }[view]}`, run: () => (look.value = { ...look.value, view }) })),
    ...(["learner", "model", "layer"] as const).map((level) => ({ label: `Level: ${level}`, run: () => (look.value = { ...look.value, level }) })),
  ];
}

export function allCommands(): Command[] {
  return [
    ...still(),
    ...drafts.value.map((d) => ({ label: `Bring back text that was never saved: ${d.path}, ${timeOf(d)}`, run: () => bringBack(d) })),
    ...pictures.value.filter((p) => p.kind !== "goals").map((p) => ({ label: `Draw ${p.name}`, hint: p.kind, run: () => (look.value = { ...look.value, name: p.name, view: "plain" as const, open: [] }) })),
    ...files.value.filter((f) => f.kind === "program").map((f) => ({ label: `Open ${f.path}`, run: () => void openPath(f.path) })),
    ...files.value.filter((f) => f.kind === "program" && f.path !== path.value).map((f) => ({ label: `Compare with ${f.path}`, run: () => void compareWith(f.path) })),
    ...examples(about.value).map((e) => ({ label: `Example: ${e.name}`, run: () => void e.open() })),
  ];
}

export function toggleSide(): void {
  if (isNarrow()) pane.value = pane.value === "files" ? "text" : "files";
  else sideOpen.value = !sideOpen.value;
}

function focusText(): void {
  if (isNarrow()) pane.value = "text";
  editor.view.focus();
  requestAnimationFrame(() => editor.view.focus()); // a pane that was not seen takes no focus before
}

/** Undo of the program from everywhere, but where a field that is being written in has an undo of its own. */
function undoKey(e: KeyboardEvent): boolean {
  const key = e.key.toLowerCase();
  const target = e.composedPath()[0];
  if (!(e.ctrlKey || e.metaKey) || e.altKey || (key !== "z" && key !== "y") || !(target instanceof Element)) return false;
  const writes = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !["checkbox", "range", "radio", "button"].includes(target.type));
  if (editor.view.dom.contains(target) || target.closest("dialog") || (writes && !gestured.value)) return false;
  (key === "y" || e.shiftKey ? redo : undo)(editor.view);
  return true;
}

export function globalKeys(e: KeyboardEvent): void {
  const command = e.ctrlKey || e.metaKey;
  const alt = e.altKey && !command;
  if (command && e.key === "k") commandsOpen.value = true;
  else if (command && e.key === "f") void find();
  else if (command && e.key === "g") findNext(sought);
  else if (command && e.key === "b") toggleSide();
  else if (command && e.key === "Enter") void startTraining();
  else if (command && e.key === "s") void saver.write(true);
  else if (undoKey(e)) void 0;
  else if (alt && e.code === "Digit1") focusText();
  else if (alt && e.code === "Digit2") focusPicture();
  else if (alt && e.code === "Digit3") openDrawer("runs");
  else if (alt && e.code === "Digit4") openDrawer("play");
  else if (alt && e.code === "Digit5") openDrawer("learn");
  else return;
  e.preventDefault();
  e.stopPropagation();
}
