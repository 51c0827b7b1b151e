// From one picture to the next: what both have moves to its new place, what an opened box has inside grows out of the box, and the
// rest appears. Marks are the same where their `data-id` is.

import { isStill } from "../state";

const MANY = 700; // marks: more of them are exchanged at once, since moving them would stutter

export interface Places {
  by: Map<string, DOMRect>;
}

const marksOf = (svg: SVGSVGElement) => svg.querySelectorAll<SVGGElement>("g[data-id]");

/** Where everything is, measured before the picture goes. */
export function placesOf(svg: SVGSVGElement | null): Places {
  const by = new Map<string, DOMRect>();
  if (svg && !isStill()) {
    const all = marksOf(svg);
    if (all.length <= MANY) for (const g of all) by.set(g.dataset.id!, g.getBBox());
  }
  return { by };
}

/** The box that a new mark is inside of: the longest id that its own begins with. */
function parentPlace(id: string, by: Map<string, DOMRect>): DOMRect | null {
  for (let at = id.lastIndexOf("/"); at > 0; at = id.lastIndexOf("/", at - 1)) {
    const box = by.get(id.slice(0, at));
    if (box) return box;
  }
  return null;
}

function from(old: DOMRect, now: DOMRect): string {
  const sx = now.width > 1 && old.width > 1 ? old.width / now.width : 1;
  const sy = now.height > 1 && old.height > 1 ? old.height / now.height : 1;
  return `translate(${old.x - now.x * sx}px, ${old.y - now.y * sy}px) scale(${sx}, ${sy})`;
}

export function morph(old: Places, svg: SVGSVGElement, ms: number): void {
  if (!old.by.size || !ms || isStill()) return;
  const all = marksOf(svg);
  if (all.length > MANY) return;
  const easing = "cubic-bezier(.2,.7,.2,1)";
  const measured = [...all].map((g) => [g, g.getBBox()] as const);
  for (const [g, now] of measured) {
    const id = g.dataset.id!;
    const same = old.by.get(id);
    const before = same ?? parentPlace(id, old.by);
    const frames: Keyframe[] = [{}, {}];
    if (before && (Math.abs(before.x - now.x) + Math.abs(before.y - now.y) > 0.5 || Math.abs(before.width - now.width) + Math.abs(before.height - now.height) > 0.5)) {
      frames[0].transform = from(before, now);
      frames[1].transform = "none";
    }
    if (!same) {
      frames[0].opacity = 0;
      frames[1].opacity = 1;
    }
    if (!same || frames[0].transform) g.animate(frames, { duration: ms, easing });
  }
}
