// The marks of a picture that stand for something in the text: which place of the text each has, which is next to which, and what
// a screen reader is told of them.

import type { Sync } from "../editor/sync";
import { type Span, rangeOfAt, spanOf } from "../places";

export interface Mark {
  element: SVGGElement;
  kind: "box" | "wire" | "other";
  at: string | null; // as in the picture: edits speak of it. Of what another text says it is the place there, and limn refuses it in words
  span: Span | null; // in the text that was drawn
  name: string;
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

const kindOf = (e: Element): Mark["kind"] => (e.classList.contains("wire") ? "wire" : e.classList.contains("glyph") || (e as SVGElement).dataset.box ? "box" : "other");

function nameOf(e: SVGGElement, kind: Mark["kind"]): string {
  const title = e.querySelector(":scope > title")?.textContent ?? "";
  const name = e.dataset.box ?? e.dataset.wire ?? title;
  const type = e.dataset.type ? ` : ${e.dataset.type}` : "";
  if (kind === "wire") return `wire ${name}${type}`;
  return `${kind === "box" ? "box " : ""}${name}${e.dataset.open ? ", Enter opens it" : ""}`;
}

export class Marks {
  readonly all: Mark[] = [];
  private rects = new Map<Mark, DOMRect>();
  private of = new Map<Element, Mark>();

  constructor(
    readonly svg: SVGSVGElement,
    private version: number,
    private sync: Sync,
  ) {
    const doc = sync.docOf(version);
    for (const element of svg.querySelectorAll<SVGGElement>("g.glyph, g.wire, g[data-at], g[data-open]")) {
      const kind = kindOf(element);
      const range = element.dataset.at ? rangeOfAt(element.dataset.at) : null;
      const mark: Mark = { element, kind, at: element.dataset.in ?? element.dataset.at ?? null, span: range && doc ? spanOf(doc, range) : null, name: nameOf(element, kind) };
      this.all.push(mark);
      this.of.set(element, mark);
      element.setAttribute("role", kind === "wire" && !mark.at ? "img" : "button");
      element.setAttribute("aria-label", mark.name);
      element.setAttribute("tabindex", "-1");
      if (kind === "wire") this.widen(element);
    }
    this.fillBoxes();
    this.all[0]?.element.setAttribute("tabindex", "0");
  }

  /** A wire is a thin thing to point at: an unseen wider one lies over it. */
  private widen(wire: SVGGElement): void {
    for (const path of wire.querySelectorAll<SVGPathElement>(":scope > path[stroke]")) {
      const wide = path.cloneNode() as SVGPathElement;
      wide.setAttribute("class", "reach");
      for (const name of ["stroke", "stroke-dasharray", "stroke-width", "id"]) wide.removeAttribute(name);
      wire.append(wide);
    }
  }

  /** The gaps of a box belong to it, too: an unseen sheet lies behind what it shows. All are measured before the first is changed. */
  private fillBoxes(): void {
    const boxes = this.all.filter((m) => m.kind === "box").map((m) => [m.element, m.element.getBBox()] as const);
    for (const [box, { x, y, width, height }] of boxes) {
      const sheet = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [name, value] of Object.entries({ x, y, width, height })) sheet.setAttribute(name, String(value));
      sheet.setAttribute("class", "reach");
      box.prepend(sheet);
    }
  }

  /** The innermost mark that an element belongs to. */
  find(e: EventTarget | null): Mark | null {
    for (let x = e as Element | null; x && x !== this.svg; x = x.parentElement) {
      const mark = this.of.get(x);
      if (mark) return mark;
    }
    return null;
  }

  /** Where a mark is said in the text as it is by now. */
  spanNow(mark: Mark): Span | null {
    return mark.span && this.sync.bring(this.version, mark.span);
  }

  /** The marks that say the smallest piece of text around a place. */
  around(offset: number): Mark[] {
    let best: Mark[] = [];
    let least = Infinity;
    for (const mark of this.all) {
      const span = this.spanNow(mark);
      if (!span || offset < span.from || offset > span.to) continue;
      const size = span.to - span.from;
      if (size < least) best = [];
      if (size <= least) best.push(mark);
      least = Math.min(least, size);
    }
    return best;
  }

  private rect(mark: Mark): DOMRect {
    let r = this.rects.get(mark);
    if (!r) this.rects.set(mark, (r = mark.element.getBBox()));
    return r;
  }

  /** Marks from left to right, those at one place from top to bottom: the order of Home, End and the keys without a direction. */
  inOrder(): Mark[] {
    return [...this.all].sort((a, b) => {
      const p = this.rect(a);
      const q = this.rect(b);
      return Math.abs(p.x - q.x) > 1 ? p.x - q.x : p.y - q.y;
    });
  }

  /** Along a wire: the mark that begins where this one ends, or what is nearest that way. */
  next(mark: Mark, way: Direction): Mark | null {
    const r = this.rect(mark);
    const level = way === "ArrowLeft" || way === "ArrowRight";
    const sign = way === "ArrowRight" || way === "ArrowDown" ? 1 : -1;
    const edge = (q: DOMRect, side: number) => (level ? (side > 0 ? q.x + q.width : q.x) : side > 0 ? q.y + q.height : q.y);
    const middle = (q: DOMRect) => (level ? q.y + q.height / 2 : q.x + q.width / 2);
    const half = (q: DOMRect) => (level ? q.height : q.width) / 2;
    let best: Mark | null = null;
    let least = Infinity;
    for (const other of this.all) {
      if (other === mark) continue;
      const q = this.rect(other);
      const ahead = (edge(q, -sign) - edge(r, sign)) * sign;
      const centre = (edge(q, sign) + edge(q, -sign) - edge(r, sign) - edge(r, -sign)) * sign;
      if (centre <= 0.5) continue;
      const aside = Math.max(0, Math.abs(middle(q) - middle(r)) - half(q) - half(r));
      const cost = Math.abs(ahead) + 3 * aside + (other.kind === mark.kind ? 4 : 0);
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }
}
