// Curves on a canvas: axes with round numbers, one colour a curve, and the values under the pointer. Small enough to draw anew with
// every frame of a drag.

import { useEffect, useRef, useState } from "preact/hooks";
import { ink, theme } from "./theme";

export interface Series {
  x: number[];
  y: number[];
  label: string;
  held?: boolean; // a value holds until the next one
}
type Scale = { low: number; high: number; log: boolean };

const LEFT = 46;
const BELOW = 20;
const ABOVE = 8;
const RIGHT = 8;

export const colourOf = (i: number): string => ink(`--series${(i % 8) + 1}`);
export const short = (v: number): string => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1).replace("e+", "e") : String(Number(v.toPrecision(3))));

/** About `n` round numbers between two: steps of 1, 2 or 5 and noughts. */
export function ticks(low: number, high: number, n: number): number[] {
  const raw = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!;
  const all: number[] = [];
  for (let t = Math.ceil(low / step - 1e-9); t * step <= high + step * 1e-9; t++) all.push(Number((t * step).toPrecision(12)));
  return all;
}

function powers(low: number, high: number): number[] {
  const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (b - a < 1) return ticks(low, high, 3).filter((t) => t > 0);
  const each = Math.max(1, Math.ceil((b - a) / 4));
  return Array.from({ length: Math.floor((b - a) / each) + 1 }, (_, i) => 10 ** (a + i * each));
}

function scaleOf(values: number[][], log: boolean): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const list of values)
    for (const v of list) {
      if (!Number.isFinite(v) || (log && v <= 0)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  if (low > high) [low, high] = log ? [0.1, 1] : [0, 1];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  return { low, high, log };
}

const at = (s: Scale, v: number): number => (s.log ? (Math.log(v) - Math.log(s.low)) / (Math.log(s.high) - Math.log(s.low)) : (v - s.low) / (s.high - s.low));

interface Sheet {
  g: CanvasRenderingContext2D;
  w: number;
  h: number;
  px: (v: number) => number;
  py: (v: number) => number;
}

function sheetOf(c: HTMLCanvasElement, x: Scale, y: Scale): Sheet {
  const dots = devicePixelRatio || 1;
  const w = c.clientWidth;
  const h = c.clientHeight;
  if (c.width !== w * dots || c.height !== h * dots) [c.width, c.height] = [w * dots, h * dots];
  const g = c.getContext("2d")!;
  g.setTransform(dots, 0, 0, dots, 0, 0);
  g.clearRect(0, 0, w, h);
  return { g, w, h, px: (v) => LEFT + at(x, v) * (w - LEFT - RIGHT), py: (v) => h - BELOW - at(y, v) * (h - BELOW - ABOVE) };
}

function axes({ g, w, h, px, py }: Sheet, x: Scale, y: Scale): void {
  g.font = "11px system-ui, sans-serif";
  g.fillStyle = ink("--soft");
  g.strokeStyle = ink("--grid");
  g.lineWidth = 1;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const t of y.log ? powers(y.low, y.high) : ticks(y.low, y.high, 4)) {
    const p = Math.round(py(t)) + 0.5;
    g.beginPath();
    g.moveTo(LEFT, p);
    g.lineTo(w - RIGHT, p);
    g.stroke();
    g.fillText(short(t), LEFT - 6, p);
  }
  g.textBaseline = "top";
  for (const t of ticks(x.low, x.high, 4)) {
    g.textAlign = px(t) > w - 30 ? "right" : "center";
    g.fillText(Math.abs(t) >= 10000 ? `${t / 1000}k` : String(t), px(t), h - BELOW + 5);
  }
}

function curve({ g, px, py }: Sheet, s: Series, log: boolean, colour: string): void {
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.lineJoin = "round";
  g.beginPath();
  let pen = false;
  s.x.forEach((x, i) => {
    const v = s.y[i];
    if (!Number.isFinite(v) || (log && v <= 0)) {
      pen = false;
      return;
    }
    if (pen && s.held) g.lineTo(px(x), py(s.y[i - 1]));
    if (pen) g.lineTo(px(x), py(v));
    else g.moveTo(px(x), py(v));
    pen = true;
  });
  if (s.x.length === 1 && pen) g.arc(px(s.x[0]), py(s.y[0]), 2, 0, 7);
  g.stroke();
}

/** The point of a curve that is nearest, -1 beyond its ends: a run that was shorter has nothing there. */
function nearest(x: number[], v: number): number {
  if (!x.length || v < x[0] || v > x[x.length - 1]) return -1;
  let low = 0;
  let high = x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < v) low = middle + 1;
    else high = middle;
  }
  return low > 0 && v - x[low - 1] < x[low] - v ? low - 1 : low;
}

export function Plot(p: { label: string; series: Series[]; height: number; log?: boolean; cursor?: number | null }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<number | null>(null);
  const log = !!p.log && p.series.every((s) => s.y.every((v) => !(v <= 0)));
  const x = scaleOf(p.series.map((s) => s.x), false);
  const y = scaleOf(p.series.map((s) => s.y), log);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(ref.current?.clientWidth ?? 0));
    watch.observe(ref.current!);
    return () => watch.disconnect();
  }, []);
  const mark = pointed ?? p.cursor ?? null;
  useEffect(() => {
    const c = ref.current!;
    if (!c.clientWidth) return;
    const sheet = sheetOf(c, x, y);
    axes(sheet, x, y);
    p.series.forEach((s, i) => curve(sheet, s, log, colourOf(i)));
    if (mark === null) return;
    const { g, px, py, h } = sheet;
    g.strokeStyle = ink("--edge-strong");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(px(mark), ABOVE);
    g.lineTo(px(mark), h - BELOW);
    g.stroke();
    p.series.forEach((s, i) => {
      const k = nearest(s.x, mark);
      if (k < 0) return;
      g.fillStyle = colourOf(i);
      g.beginPath();
      g.arc(px(s.x[k]), py(s.y[k]), 3, 0, 7);
      g.fill();
    });
  }, [p.series, log, width, mark, theme()]);
  const point = (e: PointerEvent) => {
    const box = ref.current!.getBoundingClientRect();
    const t = (e.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    setPointed(t < 0 || t > 1 ? null : x.low + t * (x.high - x.low));
  };
  const said = mark === null ? [] : p.series.map((s): number | undefined => s.y[nearest(s.x, mark)]);
  return (
    <div class="plot">
      <canvas ref={ref} style={{ height: `${p.height}px` }} role="img" aria-label={p.label} onPointerMove={(e) => point(e as unknown as PointerEvent)} onPointerLeave={() => setPointed(null)} />
      {pointed !== null && (
        <div class="plot-said" aria-hidden="true">
          <span>{short(pointed)}</span>
          {said.map((v, i) => (
            <span key={i} class={`series${(i % 8) + 1}`}>
              {v !== undefined && Number.isFinite(v) ? short(v) : "–"}
            </span>
          ))}
        </div>
      )}
    </div>
  );
}
