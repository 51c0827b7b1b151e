// A sheet that is dragged, zoomed and fitted. While it is held it is a layer of its own of which only the transform changes, so that a
// large picture moves as a small one does; at rest it is none, so that lines are sharp at every size.

import { isStill } from "../state";

const LEAST = 0.1;
const MOST = 8;
const FIT_MOST = 1.5;
const MARGIN = 28;
const CLICK_SLACK = 4; // pixels that a hand moves without meaning to drag

interface Size {
  width: number;
  height: number;
}

export class Viewport {
  private x = 0;
  private y = 0;
  private scale = 1;
  private size: Size = { width: 0, height: 0 };
  private pointers = new Map<number, { x: number; y: number }>();
  private moved = 0;
  private settleTimer = 0;
  /** The whole is in view, and stays so when the picture or the pane changes. */
  private fitted = true;
  onZoom: (scale: number) => void = () => {};

  /** Lies over the sheet while it is dragged: nobody has to find out which of thousands of marks is under the hand. */
  private shield = document.createElement("div");

  constructor(
    private frame: HTMLElement,
    private sheet: HTMLElement,
  ) {
    this.shield.className = "shield";
    this.shield.hidden = true;
    frame.append(this.shield);
    frame.addEventListener("pointerdown", this.down);
    frame.addEventListener("pointermove", this.move);
    frame.addEventListener("pointerup", this.up);
    frame.addEventListener("pointercancel", this.up);
    frame.addEventListener("wheel", this.wheel, { passive: false });
    // A drag is not a click.
    frame.addEventListener("click", (e) => this.moved > CLICK_SLACK && (e.stopPropagation(), e.preventDefault()), true);
    new ResizeObserver(() => this.fitted && this.fit(false)).observe(frame);
  }

  /** A new picture of this size; it is fitted unless somebody looks at a place of the old one. */
  show(size: Size, anew: boolean): void {
    this.size = size;
    if (anew || this.fitted) this.fit(false);
  }

  fit(smoothly = true): void {
    const { clientWidth: w, clientHeight: h } = this.frame;
    if (!w || !h || !this.size.width) return;
    const k = Math.min((w - 2 * MARGIN) / this.size.width, (h - 2 * MARGIN) / this.size.height, FIT_MOST);
    this.scale = Math.max(LEAST, k);
    this.x = (w - this.size.width * this.scale) / 2;
    this.y = (h - this.size.height * this.scale) / 2;
    this.fitted = true;
    this.paint(smoothly);
  }

  zoom(factor: number, at?: { x: number; y: number }): void {
    const box = this.frame.getBoundingClientRect();
    const px = at ? at.x - box.left : box.width / 2;
    const py = at ? at.y - box.top : box.height / 2;
    const k = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    this.x = px - ((px - this.x) * k) / this.scale;
    this.y = py - ((py - this.y) * k) / this.scale;
    this.scale = k;
    this.fitted = false;
    this.paint(!at);
  }

  pan(dx: number, dy: number, smoothly = false): void {
    this.x += dx;
    this.y += dy;
    this.fitted = false;
    this.paint(smoothly);
  }

  /** Brings a mark into view, if it is not. */
  reveal(e: Element): void {
    const box = this.frame.getBoundingClientRect();
    const r = e.getBoundingClientRect();
    const dx = r.left < box.left + 20 ? box.left + 40 - r.left : r.right > box.right - 20 ? box.right - 40 - r.right : 0;
    const dy = r.top < box.top + 20 ? box.top + 40 - r.top : r.bottom > box.bottom - 20 ? box.bottom - 40 - r.bottom : 0;
    if (dx || dy) this.pan(dx, dy, true);
  }

  private paint(smoothly: boolean): void {
    const s = this.sheet.style;
    s.transition = smoothly && !isStill() ? "transform 220ms cubic-bezier(.2,.7,.2,1)" : "none";
    s.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.onZoom(this.scale);
  }

  /** From the first touch until all has been still for a moment, the sheet is a layer. */
  private lift(): void {
    this.sheet.style.willChange = "transform";
    clearTimeout(this.settleTimer);
    this.settleTimer = window.setTimeout(() => {
      if (this.pointers.size) this.lift();
      else this.sheet.style.willChange = "auto";
    }, 400);
  }

  private down = (e: PointerEvent) => {
    if (e.button !== 0 && e.pointerType === "mouse") return;
    this.moved = 0;
    this.lift();
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  };

  private move = (e: PointerEvent) => {
    const last = this.pointers.get(e.pointerId);
    if (!last) return;
    const dx = e.clientX - last.x;
    const dy = e.clientY - last.y;
    if (this.pointers.size === 2) this.pinch(e);
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.moved > CLICK_SLACK) {
      if (!this.frame.hasPointerCapture(e.pointerId)) this.frame.setPointerCapture(e.pointerId);
      this.shield.hidden = false;
      this.pan(dx / this.pointers.size, dy / this.pointers.size);
    }
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  };

  private pinch(e: PointerEvent): void {
    const [a, b] = [...this.pointers.values()];
    const before = Math.hypot(a.x - b.x, a.y - b.y);
    const other = [...this.pointers.entries()].find(([id]) => id !== e.pointerId)?.[1];
    if (!other || !before) return;
    const after = Math.hypot(e.clientX - other.x, e.clientY - other.y);
    this.zoom(after / before, { x: (e.clientX + other.x) / 2, y: (e.clientY + other.y) / 2 });
  }

  private up = (e: PointerEvent) => {
    this.pointers.delete(e.pointerId);
    if (!this.pointers.size) this.shield.hidden = true;
  };

  private wheel = (e: WheelEvent) => {
    e.preventDefault();
    this.lift();
    const unit = e.deltaMode === 1 ? 16 : 1;
    if (e.shiftKey) this.pan(-(e.deltaY || e.deltaX) * unit, 0);
    else this.zoom(Math.exp(-e.deltaY * unit * (e.ctrlKey ? 0.01 : 0.0018)), { x: e.clientX, y: e.clientY });
  };
}
