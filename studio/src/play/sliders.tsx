// A box or a learner in one's hands: every input a slider or a sheet, the results drawn while one drags. A generator's inputs are
// its latent space; a lens has one slider for what it changes.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../client";
import type { Tensor } from "../protocol";
import { drawn, pictures, sayFault } from "../state";
import { editor } from "../workbench";
import { byName, Choice, fromRun, useWeights, WeightsOf } from "./choices";
import { type Feed, feedOf, firstOf, sampleOf } from "./feeds";
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

/** Another sample of what feeds this input. */
function Sample({ feed, shape, change }: { feed: Feed; shape: number[]; change: (d: number[]) => void }) {
  const look = async () => {
    const found = await sampleOf(feed);
    if (!found || count(found.shape) !== count(shape)) throw new Error(`${feed.from} has no sample for ${feed.name}.`);
    change(found.data);
  };
  return <button onClick={() => void look().catch(sayFault)}>A sample</button>;
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

/** An input with its name, what feeds it, and between which numbers it is dragged. */
interface Held extends Input {
  label: string;
  feed: Feed | null | undefined;
  low: number;
  high: number;
}

/** What is known of an input's numbers: those of a first sample, and the range of all. */
async function hold(box: string, input: Input, i: number): Promise<{ held: Held; first: number[] }> {
  const feed = feedOf(box, i, editor.text);
  const fed = feed ? await firstOf(feed).catch(() => null) : null;
  const fits = fed && count(fed.shape) === count(input.shape);
  const wide = fits && fed.low !== undefined && fed.high !== undefined && fed.high > fed.low;
  const label = /^\d+$/.test(input.name) ? (feed?.name ?? `input ${i + 1}`) : input.name;
  return { held: { ...input, label, feed, low: wide ? fed.low! : -3, high: wide ? fed.high! : 3 }, first: fits ? fed.data : Array(count(input.shape)).fill(0) };
}

function Values({ input, data, change }: { input: Held; data: number[]; change: (d: number[]) => void }) {
  const { label, low, high, feed } = input;
  const isData = feed && !feed.noise;
  const sample = isData && <Sample feed={feed} shape={input.shape} change={change} />;
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
          {sample}
          <button onClick={() => change(data.map(() => 0))}>Empty</button>
        </div>
      </div>
    );
  const nameAt = (i: number) => (data.length > 1 ? `${label}[${i}]` : label);
  return (
    <div>
      {data.slice(0, SLIDERS).map((v, i) => (
        <label class="slider" key={i}>
          <span>{nameAt(i)}</span>
          <output>{v.toFixed(2)}</output>
          <input type="range" min={low} max={high} step={(high - low) / 600} value={v} aria-label={nameAt(i)} onInput={(e) => change(data.map((x, k) => (k === i ? Number((e.currentTarget as HTMLInputElement).value) : x)))} />
        </label>
      ))}
      <div class="row">
        {sample}
        {data.length > 1 && !isData && feed !== null && <Walk data={data} change={change} />}
        {data.length > 1 && !isData && <button onClick={() => change(noise(data.length))}>Another point</button>}
        {data.length > 1 && low <= 0 && high >= 0 && <button onClick={() => change(data.map(() => 0))}>All 0</button>}
        {data.length > SLIDERS && <span class="small soft">{data.length - SLIDERS} more numbers</span>}
      </div>
    </div>
  );
}

function Result({ r }: { r: Tensor }) {
  if (isSheet(r.shape)) return <Sheet label={r.name ?? "result"} data={r.data} shape={r.shape.slice(-2)} />;
  if (r.data.length === 1) return <p>{Number(r.data[0].toPrecision(5))}</p>;
  const low = Math.min(0, ...r.data), wide = Math.max(1e-9, ...r.data) - low; // bars begin at 0, wherever that is
  return (
    <ul class="bars" aria-label={r.name ?? "result"}>
      {r.data.slice(0, 40).map((v, i) => (
        <li key={i}>
          <span class="from0" role="img" aria-label={`${i}: ${v}`}>
            <i style={{ left: `${(100 * (Math.min(0, v) - low)) / wide}%`, width: `${(100 * Math.abs(v)) / wide}%` }} />
          </span>{" "}
          <span>{Number(v.toPrecision(4))}</span>
        </li>
      ))}
    </ul>
  );
}

export function Sliders() {
  const names = pictures.value.filter((p) => p.kind === "learner" || p.kind === "box").map((p) => p.name);
  const [name, setName] = useState(names[0] ?? "");
  const [from, setFrom, refusedRun] = useWeights();
  const [inputs, setInputs] = useState<Held[] | null>(null);
  const [data, setData] = useState<Record<string, number[]>>({});
  const [results, setResults] = useState<Tensor[]>([]);
  const [fault, setFault] = useState("");
  const busy = useRef({ on: false, again: false });
  const version = drawn.value?.version;

  const asked = useRef(0);
  const take = async () => {
    const mine = ++asked.current;
    const header = await headerOf(name);
    const found = header ? inputsOf(header, editor.text) : null;
    const all = found && (await Promise.all(found.map((i, k) => hold(name, i, k))));
    if (mine !== asked.current) return;
    setInputs(all && all.map((h) => h.held));
    setResults([]);
    // The first sample in what is looked at for the first time; what somebody has dragged stays while the program is changed.
    setData((old) => Object.fromEntries((all ?? []).map(({ held, first }) => [`${name} ${held.name}`, old[`${name} ${held.name}`]?.length === first.length ? old[`${name} ${held.name}`] : first])));
  };
  useEffect(() => void take(), [name, version]);

  const evaluate = async () => {
    if (busy.current.on) {
      busy.current.again = true;
      return;
    }
    busy.current.on = true;
    try {
      const given = Object.fromEntries((inputs ?? []).map((i) => [i.name, nest(data[`${name} ${i.name}`] ?? [], i.shape)]));
      const answer = await ask<{ results: Tensor[] }>("limn/eval", { name, in: given, ...fromRun(from) });
      setResults(answer.results);
      setFault("");
    } catch (e) {
      setResults([]); // those of other weights or inputs are not these
      if (!refusedRun()) setFault((e as Error).message);
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
      {inputs?.map((i) => {
        const key = `${name} ${i.name}`;
        return data[key] && <Values key={key} input={i} data={data[key]} change={(d) => setData({ ...data, [key]: d })} />;
      })}
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
