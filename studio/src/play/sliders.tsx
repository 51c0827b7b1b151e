// A box or a learner in one's hands: every input a slider or a sheet, the results drawn while one drags. A generator's inputs are
// its latent space; a lens has one slider for what it changes.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../client";
import type { Tensor } from "../protocol";
import { drawn, pictures, sayFault } from "../state";
import { editor } from "../workbench";
import { byName, Choice, fromRun, WeightsOf } from "./choices";
import { Sheet, sheetOfFile } from "./sheet";
import { type Input, inputsOf } from "./types";

const count = (shape: number[]) => shape.reduce((a, b) => a * b, 1);
const isSheet = (shape: number[]) => shape.length >= 2 && shape.at(-1)! >= 8 && shape.at(-2)! >= 8 && count(shape) === shape.at(-1)! * shape.at(-2)!;
const SLIDERS = 8;

/** Normal numbers by Box and Muller: a point of a generator's latent space. */
const noise = (n: number) => Array.from({ length: n }, () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random()));

async function headerOf(name: string): Promise<string | null> {
  const at = new RegExp(`^[ \\t]*(?:box|learn|refine)\\s+(?:[^#\\n=]*,\\s*)?(${name})\\b`, "m").exec(editor.text);
  if (!at) return null;
  const line = editor.text.slice(at.index).split("\n")[0].replace(/#.*$/, "").trim();
  return line.replace(/^learn\s+.*?\b(\w+)\s*:/, (whole, last) => (last === name || whole.includes(name) ? `learn ${name} :` : whole));
}

/** Another sample of a set that the program is given from, in an input of that shape. */
function Sample({ shape, change }: { shape: number[]; change: (d: number[]) => void }) {
  const sets = [...new Set([...editor.text.matchAll(/^\s*given\b[^#\n]*?\bfrom\s+(\w+)/gm)].map((m) => m[1]))];
  const look = async () => {
    for (const set of sets) {
      const { fields } = await ask<{ fields: Tensor[] }>("limn/sample", { set, at: Math.floor(1e6 * Math.random()) });
      const fits = fields.find((f) => String(f.shape) === String(shape));
      if (fits) return change(fits.data);
    }
    sayFault(new Error("No set of this program has samples of this shape."));
  };
  return sets.length ? <button onClick={() => void look().catch(sayFault)}>A sample</button> : null;
}

const WALK = 90; // frames from one point to the next

/** A walk through a latent space: along great arcs, from one point to another and on, so that each point on the way is as far out as its ends. */
function Walk({ data, change }: { data: number[]; change: (d: number[]) => void }) {
  const [on, setOn] = useState(false);
  const way = useRef({ from: data, to: data, at: WALK });
  const put = useRef(change);
  put.current = change;
  useEffect(() => {
    if (!on) return;
    way.current = { from: data, to: noise(data.length), at: 0 };
    let frame = requestAnimationFrame(function go() {
      const w = way.current;
      if (w.at >= WALK) way.current = { from: w.to, to: noise(data.length), at: 0 };
      const { from, to, at } = way.current;
      const a = ((at / WALK) * Math.PI) / 2;
      put.current(from.map((x, i) => x * Math.cos(a) + to[i] * Math.sin(a)));
      way.current.at++;
      frame = requestAnimationFrame(go);
    });
    return () => cancelAnimationFrame(frame);
  }, [on, data.length]);
  return (
    <button aria-pressed={on} onClick={() => setOn(!on)}>
      {on ? "Stand still" : "Walk"}
    </button>
  );
}

function Values({ label, input, data, change }: { label: string; input: Input; data: number[]; change: (d: number[]) => void }) {
  if (isSheet(input.shape))
    return (
      <div>
        <p class="small soft">{label}: paint, or choose a picture</p>
        <Sheet label={label} data={data} shape={input.shape.slice(-2)} change={change} />
        <div class="row">
          <input
            type="file"
            accept="image/*"
            aria-label={`A picture for ${label}`}
            onChange={(e) => {
              const f = (e.currentTarget as HTMLInputElement).files?.[0];
              if (f) void sheetOfFile(f, input.shape.slice(-2)).then(change);
            }}
          />
          <Sample shape={input.shape} change={change} />
          <button onClick={() => change(data.map(() => 0))}>Empty</button>
        </div>
      </div>
    );
  return (
    <div>
      {data.slice(0, SLIDERS).map((v, i) => (
        <label class="slider" key={i}>
          <span>
            {label}
            {data.length > 1 ? ` ${i}` : ""}
          </span>
          <output>{v.toFixed(2)}</output>
          <input type="range" min="-3" max="3" step="0.01" value={v} aria-label={`${label} ${i}`} onInput={(e) => change(data.map((x, k) => (k === i ? Number((e.currentTarget as HTMLInputElement).value) : x)))} />
        </label>
      ))}
      {data.length > 1 && (
        <div class="row">
          <Walk data={data} change={change} />
          <button onClick={() => change(noise(data.length))}>Another point</button>
          <button onClick={() => change(data.map(() => 0))}>All 0</button>
          {data.length > SLIDERS && <span class="small soft">{data.length - SLIDERS} more numbers</span>}
        </div>
      )}
    </div>
  );
}

function Result({ r }: { r: Tensor }) {
  if (isSheet(r.shape)) return <Sheet label={r.name ?? "result"} data={r.data} shape={r.shape.slice(-2)} />;
  if (r.data.length === 1) return <p>{Number(r.data[0].toPrecision(5))}</p>;
  const most = Math.max(1e-9, ...r.data.map(Math.abs));
  return (
    <ul class="bars" aria-label={r.name ?? "result"}>
      {r.data.slice(0, 40).map((v, i) => (
        <li key={i}>
          <meter min="0" max={most} value={Math.abs(v)} aria-label={`${i}: ${v}`} /> <span>{Number(v.toPrecision(4))}</span>
        </li>
      ))}
    </ul>
  );
}

export function Sliders() {
  const names = pictures.value.filter((p) => p.kind === "learner" || p.kind === "box").map((p) => p.name);
  const [name, setName] = useState(names[0] ?? "");
  const [from, setFrom] = useState("");
  const [inputs, setInputs] = useState<Input[] | null>(null);
  const [data, setData] = useState<Record<string, number[]>>({});
  const [results, setResults] = useState<Tensor[]>([]);
  const [fault, setFault] = useState("");
  const busy = useRef({ on: false, again: false });
  const version = drawn.value?.version;

  useEffect(() => {
    void headerOf(name).then((h) => {
      const found = h ? inputsOf(h, editor.text) : null;
      setInputs(found);
      setResults([]);
      setData((old) => Object.fromEntries((found ?? []).map((i) => [i.name, old[i.name]?.length === count(i.shape) ? old[i.name] : Array(count(i.shape)).fill(0)])));
    });
  }, [name, version]);

  const evaluate = async () => {
    if (busy.current.on) {
      busy.current.again = true;
      return;
    }
    busy.current.on = true;
    try {
      const given = Object.fromEntries((inputs ?? []).map((i) => [i.name, nest(data[i.name], i.shape)]));
      const answer = await ask<{ results: Tensor[] }>("limn/eval", { name, in: given, ...fromRun(from) });
      setResults(answer.results);
      setFault("");
    } catch (e) {
      setResults([]); // those of other weights or inputs are not these
      setFault((e as Error).message);
    }
    busy.current.on = false;
    if (busy.current.again) {
      busy.current.again = false;
      void evaluate();
    }
  };
  useEffect(() => {
    if (inputs?.length) void evaluate();
  }, [data, from, inputs]);

  return (
    <div class="sliders">
      <div class="row">
        <Choice label="Which box" value={name} set={setName} options={byName(names)} />
        <WeightsOf value={from} set={setFrom} />
      </div>
      {!inputs && <p class="soft">The sizes of its inputs are not said in its header, so there is nothing to drag.</p>}
      {inputs?.map((i) => data[i.name] && <Values key={i.name} label={/^\d+$/.test(i.name) ? `input ${Number(i.name) + 1}` : i.name} input={i} data={data[i.name]} change={(d) => setData({ ...data, [i.name]: d })} />)}
      {fault && (
        <p class="fault-line" role="alert">
          {fault}
        </p>
      )}
      <div class="results">
        {results.map((r, i) => (
          <Result key={r.name ?? i} r={r} />
        ))}
      </div>
    </div>
  );
}

/** Numbers in a row as lists of lists, as the protocol writes arrays. */
function nest(data: number[], shape: number[]): unknown {
  if (!shape.length) return data[0];
  if (shape.length === 1) return data;
  const each = count(shape.slice(1));
  return Array.from({ length: shape[0] }, (_, i) => nest(data.slice(i * each, (i + 1) * each), shape.slice(1)));
}
