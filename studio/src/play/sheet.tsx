// Numbers with two axes as a picture: shown, or painted on.

import { useEffect, useRef } from "preact/hooks";

const clip = (v: number) => Math.max(0, Math.min(255, Math.round(v)));

/** Between the least and the most of it from dark to light; of numbers between 0 and 1 these are 0 and 1. */
function paint(c: HTMLCanvasElement, data: number[], [h, w]: number[]): void {
  c.width = w;
  c.height = h;
  const g = c.getContext("2d")!;
  const image = g.createImageData(w, h);
  let [least, most] = [0, 1];
  for (const v of data) {
    if (v < least) least = v;
    if (v > most) most = v;
  }
  data.slice(0, w * h).forEach((v, i) => {
    const grey = clip((255 * (v - least)) / (most - least || 1));
    image.data.set([grey, grey, grey, 255], 4 * i);
  });
  g.putImageData(image, 0, 0);
}

export function Sheet({ label, data, shape, change }: { label: string; data: number[]; shape: number[]; change?: (data: number[]) => void }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => paint(ref.current!, data, shape), [data]);
  const [h, w] = shape;
  const brush = (e: PointerEvent) => {
    if (!change || e.buttons !== 1) return;
    const box = ref.current!.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * w;
    const y = ((e.clientY - box.top) / box.height) * h;
    const next = data.slice();
    const r = Math.max(1, w / 18);
    for (let j = 0; j < h; j++)
      for (let i = 0; i < w; i++) {
        const d = Math.hypot(i + 0.5 - x, j + 0.5 - y);
        if (d < 2 * r) next[j * w + i] = Math.min(1, next[j * w + i] + Math.max(0, 1 - d / (2 * r)));
      }
    change(next);
  };
  return (
    <canvas
      class="numbers-picture"
      ref={ref}
      role="img"
      aria-label={label}
      title={change ? "Paint here" : undefined}
      onPointerDown={(e) => (brush(e as unknown as PointerEvent), change && (e.currentTarget as Element).setPointerCapture(e.pointerId))}
      onPointerMove={(e) => brush(e as unknown as PointerEvent)}
    />
  );
}

/** A picture file in the sizes of a sheet, between 0 and 1. */
export async function sheetOfFile(file: File, [h, w]: number[]): Promise<number[]> {
  const bitmap = await createImageBitmap(file);
  const c = document.createElement("canvas");
  c.width = w;
  c.height = h;
  const g = c.getContext("2d")!;
  g.drawImage(bitmap, 0, 0, w, h);
  const pixels = g.getImageData(0, 0, w, h).data;
  return Array.from({ length: w * h }, (_, i) => (0.299 * pixels[4 * i] + 0.587 * pixels[4 * i + 1] + 0.114 * pixels[4 * i + 2]) / 255);
}
