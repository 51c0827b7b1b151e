// A player's shares as a point: on a line between two choices, in a triangle between three, in a polygon between more. The first
// point can be dragged, or moved by the arrow keys; the path is what play has made of it.

import { useRef } from "preact/hooks";

const SIZE = 240;
const RADIUS = 104;
const MIDDLE = { x: SIZE / 2, y: SIZE / 2 + 14 };

interface Point {
  x: number;
  y: number;
}

export function corners(n: number): Point[] {
  if (n === 2) return [{ x: 24, y: MIDDLE.y }, { x: SIZE - 24, y: MIDDLE.y }];
  return Array.from({ length: n }, (_, i) => {
    const angle = (2 * Math.PI * i) / n - Math.PI / 2;
    return { x: MIDDLE.x + RADIUS * Math.cos(angle), y: MIDDLE.y + RADIUS * Math.sin(angle) };
  });
}

export function place(shares: number[]): Point {
  const at = corners(shares.length);
  return shares.reduce((p, s, i) => ({ x: p.x + s * at[i].x, y: p.y + s * at[i].y }), { x: 0, y: 0 });
}

/** Shares that are above a least and add up to 1: what a player may begin with. */
export function tidy(shares: number[]): number[] {
  const kept = shares.map((s) => Math.max(0.001, Number.isFinite(s) ? s : 0));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((s) => s / sum);
}

/** The shares whose point is nearest: for three corners there is one answer, for more one of many. */
export function sharesAt(p: Point, n: number): number[] {
  const at = corners(n);
  if (n === 2) {
    const t = (p.x - at[0].x) / (at[1].x - at[0].x);
    return tidy([1 - t, t]);
  }
  if (n === 3) {
    const [a, b, c] = at;
    const d = (b.y - c.y) * (a.x - c.x) + (c.x - b.x) * (a.y - c.y);
    const s = ((b.y - c.y) * (p.x - c.x) + (c.x - b.x) * (p.y - c.y)) / d;
    const t = ((c.y - a.y) * (p.x - c.x) + (a.x - c.x) * (p.y - c.y)) / d;
    return tidy([s, t, 1 - s - t]);
  }
  return tidy(at.map((c) => 1 / (8 + Math.hypot(c.x - p.x, c.y - p.y)) ** 3));
}

const line = (path: number[][]): string => path.map((s, i) => `${i ? "L" : "M"}${place(s).x.toFixed(1)} ${place(s).y.toFixed(1)}`).join("");

export function Simplex(p: { name: string; start: number[]; path: number[][]; colour: string; move: (shares: number[]) => void }) {
  const ref = useRef<SVGSVGElement>(null);
  const n = p.start.length;
  const at = corners(n);
  const now = p.path.at(-1);
  const first = place(p.start);
  const drag = (e: PointerEvent) => {
    const svg = ref.current!;
    const box = svg.getBoundingClientRect();
    const k = SIZE / box.width;
    p.move(sharesAt({ x: (e.clientX - box.left) * k, y: (e.clientY - box.top) * k }, n));
  };
  const down = (e: PointerEvent) => {
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
    drag(e);
    e.preventDefault();
  };
  const key = (e: KeyboardEvent) => {
    const step = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] }[e.key];
    if (!step) return;
    e.preventDefault();
    p.move(sharesAt({ x: first.x + step[0], y: first.y + step[1] }, n));
  };
  const words = (s: number[]) => s.map((v) => v.toFixed(2)).join(", ");
  return (
    <figure class={`simplex ${p.colour}`}>
      <svg viewBox={`0 0 ${SIZE} ${SIZE - (n === 2 ? 60 : 0)}`} ref={ref} role="group" aria-label={`Shares of ${p.name}`} onPointerDown={(e) => e.target !== ref.current || down(e as unknown as PointerEvent)}>
        <path class="edge" d={at.map((c, i) => `${i ? "L" : "M"}${c.x} ${c.y}`).join("") + "Z"} />
        {at.map((c, i) => (
          <text key={i} x={c.x} y={c.y + (c.y < MIDDLE.y ? -8 : 16)} text-anchor="middle">
            {i + 1}
          </text>
        ))}
        {p.path.length > 1 && <path class="way" d={line(p.path)} />}
        {now && <circle class="now" cx={place(now).x} cy={place(now).y} r="5" />}
        <circle
          class="start"
          cx={first.x}
          cy={first.y}
          r="9"
          tabIndex={0}
          role="slider"
          aria-label={`Start of ${p.name}`}
          aria-valuetext={words(p.start)}
          aria-valuenow={p.start[0]}
          onPointerDown={(e) => down(e as unknown as PointerEvent)}
          onPointerMove={(e) => e.buttons === 1 && drag(e as unknown as PointerEvent)}
          onKeyDown={key}
        />
      </svg>
      <figcaption>
        <b>{p.name}</b> <span>{now ? words(now) : words(p.start)}</span>
      </figcaption>
    </figure>
  );
}
