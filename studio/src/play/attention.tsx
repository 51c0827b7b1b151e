// Who looks where: a text is given to a model of letters, and pointing at a letter shades those that it looks at, in each layer of
// attention. The numbers are those of the wire `W` inside of `attend` and its like, with the weights of a run.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../client";
import type { Tensor } from "../protocol";
import { drawn } from "../state";
import { editor } from "../workbench";
import { byName, Choice, fromRun, useWeights, WeightsOf } from "./choices";

/** Learners that take letters: `learn model : {vocab}[t] -> …`. */
export const readers = (text: string) => [...text.matchAll(/^\s*learn\s+(\w+)\s*:\s*\{[^}]*\}\s*\[[^\],]*\]\s*->/gm)].map((m) => m[1]);

/** A row of weights: how much place `at` of this layer looks at each place, in one head or in the mean of all. */
function row(w: Tensor, head: number, at: number): number[] {
  const [y, x] = w.shape.slice(-2);
  const heads = w.data.length / (y * x);
  const one = (h: number) => w.data.slice((h * y + at) * x, (h * y + at + 1) * x);
  if (head >= 0) return one(head);
  return Array.from({ length: heads }, (_, h) => one(h)).reduce((sum, r) => sum.map((v, i) => v + r[i] / heads), Array(x).fill(0));
}

/** The darkest shade, on which a letter can still be read. */
const SHADE = 0.45;
const shown = (c: string) => (c === "\n" ? "⏎" : c === " " ? "\u00a0" : c);

export function Attention() {
  const names = readers(editor.text);
  const [name, setName] = useState(names[0]);
  const [from, setFrom, refusedRun] = useWeights();
  const [text, setText] = useState("to be");
  const [layers, setLayers] = useState<Tensor[]>([]);
  const [layer, setLayer] = useState(0);
  const [head, setHead] = useState(-1);
  const [at, setAt] = useState(0);
  const [fault, setFault] = useState("");
  const asked = useRef(0);
  const model = names.includes(name) ? name : names[0];

  useEffect(() => {
    const mine = ++asked.current;
    ask<{ results: Tensor[] }>("limn/eval", { name: model, in: { "0": text }, watch: "W", ...fromRun(from) }).then(
      (a) => {
        if (mine !== asked.current) return;
        setLayers(a.results.filter((r) => r.name?.startsWith("W.") && r.shape.length >= 2));
        setFault("");
      },
      (e) => mine === asked.current && !refusedRun() && (setFault((e as Error).message), setLayers([])),
    );
  }, [model, from, text, drawn.value?.version]);

  const w = layers[Math.min(layer, layers.length - 1)];
  const heads = w ? w.data.length / (w.shape.at(-1)! * w.shape.at(-2)!) : 0;
  const letters = [...text].slice(-(w?.shape.at(-1) ?? 200));
  const place = Math.min(at, letters.length - 1);
  const looks = w && place >= 0 && place < w.shape.at(-2)! ? row(w, head < heads ? head : -1, place) : [];
  const most = Math.max(1e-9, ...looks.slice(0, letters.length));
  const said = looks
    .slice(0, letters.length)
    .map((v, i) => ({ v, i }))
    .sort((a, b) => b.v - a.v)
    .slice(0, 3)
    .map(({ v, i }) => `${shown(letters[i])} (${i + 1}) ${Math.round(100 * v)} %`)
    .join(", ");
  const choose = (label: string, value: number, set: (n: number) => void, options: [number, string][]) => (
    <label>
      {label}
      <Choice label={label} value={String(value)} set={(v) => set(Number(v))} options={options.map(([v, t]) => [String(v), t])} />
    </label>
  );
  return (
    <div class="attention">
      <div class="row">
        {names.length > 1 && <Choice label="Which model" value={model} set={setName} options={byName(names)} />}
        <WeightsOf value={from} set={setFrom} />
        <input aria-label="Text that it reads" value={text} onInput={(e) => setText((e.currentTarget as HTMLInputElement).value)} />
      </div>
      {fault && (
        <p class="fault-line" role="alert">
          {fault}
        </p>
      )}
      {w && (
        <>
          <div class="row">
            {layers.length > 1 && choose("Layer", Math.min(layer, layers.length - 1), setLayer, layers.map((_, i) => [i, String(i + 1)]))}
            {heads > 1 && choose("Head", head < heads ? head : -1, setHead, [[-1, "mean of all"], ...Array.from({ length: heads }, (_, i): [number, string] => [i, String(i + 1)])])}
          </div>
          <p class="small soft">Point at a letter: those that it looks at are shaded.</p>
          <div class="letters" role="group" aria-label="Letters">
            {letters.map((c, i) => (
              <button
                key={i}
                class={i === place ? "letter on" : "letter"}
                aria-pressed={i === place}
                aria-label={`${shown(c)}, letter ${i + 1}: ${Math.round(100 * (looks[i] ?? 0))} %`}
                onPointerEnter={() => setAt(i)}
                onFocus={() => setAt(i)}
                onClick={() => setAt(i)}
              >
                <span class="shade" style={{ opacity: String((SHADE * (looks[i] ?? 0)) / most) }} />
                <span class="glyph-letter">{shown(c)}</span>
              </button>
            ))}
          </div>
          <p aria-live="polite">
            <b>{shown(letters[place] ?? "")}</b> ({place + 1}) looks at {said}
          </p>
        </>
      )}
    </div>
  );
}
