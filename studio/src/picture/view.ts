// The live picture: puts each new drawing in the place of the old one, and ties it to the text, the pointer and the keyboard.

import { effect, signal } from "@preact/signals";
import { paneWidth } from "../drawing";
import { drawn, isNarrow, look, pane, type Look } from "../state";
import { editor, pointed } from "../workbench";
import { openBoxMenu } from "./edits";
import { type Direction, type Mark, Marks } from "./marks";
import { morph, placesOf } from "./morph";
import { readPicture } from "./sanitize";
import { Viewport } from "./viewport";

/** What is looked for among the boxes. */
export const sought = signal("");
/** The mark that was chosen: what the palette puts a box on, and what a menu is about. */
export const chosen = signal<Mark | null>(null);
/** While a second mark is asked for: what it is for, and what is done with it. */
export interface Wanted {
  words: string;
  kind: "wire" | "any";
  take: (mark: Mark) => void;
}
export const wanted = signal<Wanted | null>(null);
export const zoomed = signal(1);

const OPEN_MS = 340;
const TYPE_MS = 120;

export class PictureView {
  readonly viewport: Viewport;
  marks: Marks | null = null;
  private svg: SVGSVGElement | null = null;
  private shown: { name: string | null; look: Look } | null = null;
  private lit: Element[] = [];
  private held: { x: number; y: number; timer: number } | null = null;

  constructor(
    private frame: HTMLElement,
    private sheet: HTMLElement,
  ) {
    this.viewport = new Viewport(frame, sheet);
    this.viewport.onZoom = (k) => (zoomed.value = k);
    new ResizeObserver(() => frame.clientWidth && paneWidth(frame.clientWidth * 1.2)).observe(frame);
    effect(() => this.show(drawn.value?.picture ?? null));
    effect(() => this.lightAround(pointed.value));
    frame.addEventListener("pointerover", (e) => this.hover(this.marks?.find(e.target) ?? null));
    frame.addEventListener("pointerleave", () => this.hover(null));
    frame.addEventListener("click", (e) => this.click(this.marks?.find(e.target) ?? null));
    frame.addEventListener("dblclick", (e) => this.marks?.find(e.target) || this.viewport.fit());
    frame.addEventListener("contextmenu", (e) => this.menu(e));
    frame.addEventListener("keydown", (e) => this.key(e));
    frame.addEventListener("focusin", (e) => this.focus(this.marks?.find(e.target) ?? null));
    frame.addEventListener("pointerdown", (e) => this.hold(e));
    for (const end of ["pointerup", "pointercancel", "pointermove"] as const) frame.addEventListener(end, (e) => this.unhold(e));
  }

  private show(text: string | null): void {
    if (text === null) {
      this.svg?.remove();
      this.svg = this.shown = this.marks = null;
      chosen.value = null;
      return;
    }
    const svg = readPicture(text);
    if (!svg) return;
    const picture = drawn.peek()!;
    const before = this.shown;
    const places = placesOf(this.svg);
    const focused = this.frame.contains(document.activeElement) && this.marks?.find(document.activeElement)?.element.dataset.id;
    svg.dataset.version = String(picture.version);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", `Picture of ${picture.name ?? "the goals"}`);
    this.sheet.replaceChildren(svg);
    this.svg = svg;
    this.shown = { name: picture.name, look: look.peek() };
    this.lit = [];
    this.marks = new Marks(svg, picture.version, editor.sync);
    const other = !before || before.name !== picture.name || before.look.view !== look.peek().view;
    this.viewport.show({ width: svg.width.baseVal.value, height: svg.height.baseVal.value }, other);
    if (!other) morph(places, svg, before.look === look.peek() ? TYPE_MS : OPEN_MS);
    const again = this.again(chosen.peek()?.element.dataset.id);
    chosen.value = again;
    if (focused) this.again(focused)?.element.focus({ preventScroll: true });
    this.lightAround(pointed.peek());
  }

  /** The mark of the new picture that one of the old picture has become. */
  private again(id: string | undefined): Mark | null {
    return (id && this.marks?.all.find((m) => m.element.dataset.id === id)) || null;
  }

  private unlight(): void {
    for (const e of this.lit) e.classList.remove("lit");
    this.lit = [];
  }

  private lightAround(offset: number | null): void {
    this.unlight();
    if (offset === null || !this.marks) return;
    for (const mark of this.marks.around(offset)) {
      mark.element.classList.add("lit");
      this.lit.push(mark.element);
    }
  }

  private hover(mark: Mark | null): void {
    this.unlight();
    if (mark) {
      mark.element.classList.add("lit");
      this.lit.push(mark.element);
    }
    editor.light(mark && this.marks!.spanNow(mark));
  }

  private focus(mark: Mark | null): void {
    if (!mark) return;
    for (const m of this.marks!.all) m.element.setAttribute("tabindex", m === mark ? "0" : "-1");
    this.viewport.reveal(mark.element);
    this.hover(mark);
    const span = this.marks!.spanNow(mark);
    if (span && wanted.value === null) editor.show(span); // a pointer on its way over the picture moves no text
    chosen.value = mark;
  }

  private click(mark: Mark | null): void {
    const want = wanted.value;
    if (want && mark && (want.kind === "any" || mark.kind === "wire")) {
      wanted.value = null;
      want.take(mark);
      return;
    }
    chosen.value = mark;
    if (!mark) return;
    mark.element.focus({ preventScroll: true });
    if (mark.element.dataset.open) this.open(mark);
  }

  /** Opens a box in place, or closes it again. */
  open(mark: Mark): void {
    const name = mark.element.dataset.open;
    if (!name) return;
    const l = look.value;
    const isOpen = l.open.includes(name);
    look.value = { ...l, open: isOpen ? l.open.filter((n) => n !== name) : [...l.open, name] };
  }

  goToText(mark: Mark): void {
    const span = this.marks?.spanNow(mark);
    if (!span) return;
    if (isNarrow()) pane.value = "text";
    editor.view.dispatch({ selection: { anchor: span.from, head: span.to }, scrollIntoView: true });
    editor.view.focus();
  }

  private menu(e: MouseEvent): void {
    const mark = this.marks?.find(e.target) ?? null;
    if (!mark) return;
    e.preventDefault();
    chosen.value = mark;
    void openBoxMenu(this, mark, { x: e.clientX, y: e.clientY });
  }

  /** A finger that rests asks for the menu, as the second button of a mouse does. */
  private hold(e: PointerEvent): void {
    if (e.pointerType !== "touch") return;
    const mark = this.marks?.find(e.target) ?? null;
    if (!mark) return;
    const timer = window.setTimeout(() => void openBoxMenu(this, mark, { x: e.clientX, y: e.clientY }), 520);
    this.held = { x: e.clientX, y: e.clientY, timer };
  }
  private unhold(e: PointerEvent): void {
    if (!this.held || (e.type === "pointermove" && Math.hypot(e.clientX - this.held.x, e.clientY - this.held.y) < 8)) return;
    clearTimeout(this.held.timer);
    this.held = null;
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "+" || e.key === "=") this.viewport.zoom(1.25);
    else if (e.key === "-") this.viewport.zoom(0.8);
    else if (e.key === "0") this.viewport.fit();
    else if (e.key.startsWith("Arrow") && e.shiftKey) this.viewport.pan(e.key === "ArrowLeft" ? 60 : e.key === "ArrowRight" ? -60 : 0, e.key === "ArrowUp" ? 60 : e.key === "ArrowDown" ? -60 : 0, true);
    else if (!this.markKey(e)) return;
    e.preventDefault();
  }

  private markKey(e: KeyboardEvent): boolean {
    const marks = this.marks;
    const mark = marks?.find(document.activeElement) ?? null;
    if (!marks?.all.length) return false;
    if (e.key === "Home") marks.inOrder()[0].element.focus();
    else if (e.key === "End") marks.inOrder().at(-1)!.element.focus();
    else if (e.key.startsWith("Arrow")) (mark ? marks.next(mark, e.key as Direction) : marks.inOrder()[0])?.element.focus();
    else if (!mark) return false;
    else if (e.key === "Enter" && wanted.value) this.click(mark);
    else if (e.key === "Enter" && mark.element.dataset.open) this.open(mark);
    else if (e.key === "Enter" || e.key === " " || e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey)) {
      const r = mark.element.getBoundingClientRect();
      void openBoxMenu(this, mark, { x: r.left + r.width / 2, y: r.top + r.height / 2 });
    } else if (e.key === "t") this.goToText(mark);
    else if (e.key === "Escape" && wanted.value) wanted.value = null;
    else return false;
    return true;
  }
}
