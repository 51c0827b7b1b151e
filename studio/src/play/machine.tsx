// A machine in one's hands: its numbers as sliders, the run redrawn while one drags, the phase portrait, and a scrubber through time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../client";
import { atOfRange } from "../places";
import type { NumberEntry } from "../protocol";
import { Plot } from "../plot";
import { drawn } from "../state";
import { ink, theme } from "../theme";
import { editor, gesture } from "../workbench";
import { Choice } from "./choices";

interface MachineRun {
  name: string;
  names: string[];
  held: boolean[]; // a column that changes at moments only
  rows: number[][];
}
interface MachineAnswer {
  series: MachineRun[];
  run: { runs: { name: string }[]; checks: { of?: string; text: string; figure: string; holds: boolean }[] };
}

/** Two columns of a run to draw over each other: those that a `show` names, one as a phase portrait first; else the first two. */
export function phaseOf(text: string, names: string[]): [number, number] {
  const shows = [...text.matchAll(/^[ \t]*show\s+([^#\n]*?)(?:\s+as\s+([^#\n]*))?$/gm)].map((m) => ({ of: m[1].split(/\s+every\s/)[0].split(",").map((n) => n.trim()), phase: /\bphase\b/.test(m[2] ?? "") }));
  for (const { of } of [...shows.filter((s) => s.phase), ...shows]) {
    const found = of.map((n) => names.indexOf(n)).filter((i) => i > 0);
    if (found.length >= 2) return [found[0], found[1]];
  }
  return [1, Math.min(2, names.length - 1)];
}

export const sliderRange = (e: NumberEntry): [number, number] => {
  const v = e.value as number;
  const wide = Math.abs(v) * 2 || 1;
  return [e.least ?? -wide, e.most ?? wide];
};

function Phase({ run, x, y, at }: { run: MachineRun; x: number; y: number; at: number }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = ref.current!;
    const dpr = devicePixelRatio || 1;
    const w = (c.width = c.clientWidth * dpr);
    const h = (c.height = c.clientHeight * dpr);
    const g = c.getContext("2d")!;
    const span = (k: number): [number, number] => {
      let [low, high] = [Infinity, -Infinity];
      for (const r of run.rows) {
        if (r[k] < low) low = r[k];
        if (r[k] > high) high = r[k];
      }
      const pad = (high - low || 1) * 0.06;
      return [low - pad, high + pad];
    };
    const [x0, x1] = span(x);
    const [y0, y1] = span(y);
    const px = (v: number) => ((v - x0) / (x1 - x0)) * w;
    const py = (v: number) => h - ((v - y0) / (y1 - y0)) * h;
    g.clearRect(0, 0, w, h);
    g.lineWidth = 1.3 * dpr;
    g.lineJoin = "round";
    const draw = (to: number, colour: string) => {
      g.strokeStyle = colour;
      g.beginPath();
      run.rows.slice(0, to).forEach((r, i) => (i ? g.lineTo(px(r[x]), py(r[y])) : g.moveTo(px(r[x]), py(r[y]))));
      g.stroke();
    };
    draw(run.rows.length, ink("--edge-strong"));
    draw(at + 1, ink("--accent"));
    const now = run.rows[Math.min(at, run.rows.length - 1)];
    g.fillStyle = ink("--accent");
    g.beginPath();
    g.arc(px(now[x]), py(now[y]), 5 * dpr, 0, 7);
    g.fill();
  }, [run, x, y, at, theme()]);
  return <canvas class="phase" ref={ref} role="img" aria-label={`Phase portrait: ${run.names[y]} over ${run.names[x]}`} />;
}

function Curves({ run, at }: { run: MachineRun; at: number }) {
  const series = useMemo(() => {
    const x = run.rows.map((r) => r[0]);
    return run.names.slice(1).map((label, k) => ({ x, y: run.rows.map((r) => r[k + 1]), label, held: run.held[k + 1] }));
  }, [run]);
  return (
    <figure class="curve">
      <figcaption>
        {run.names.slice(1).map((n, i) => (
          <span key={n} class={`series${(i % 8) + 1}`}>
            {n}
          </span>
        ))}
      </figcaption>
      <Plot label={`Curves of ${run.names.slice(1).join(", ")}`} series={series} height={170} cursor={run.rows[Math.min(at, run.rows.length - 1)]?.[0]} />
    </figure>
  );
}

function Slider({ entry, value, set, keep }: { entry: NumberEntry; value: number; set: (v: number) => void; keep: () => void }) {
  const [least, most] = sliderRange(entry);
  return (
    <label class="slider">
      <span>{entry.name}</span>
      <output>{Number(value.toPrecision(4))}</output>
      <input type="range" min={least} max={most} step={(most - least) / 400} value={value} aria-label={entry.name} onInput={(e) => set(Number((e.currentTarget as HTMLInputElement).value))} onChange={keep} />
    </label>
  );
}

export function Machines({ numbers }: { numbers: NumberEntry[] }) {
  const sliders = numbers.filter((n) => typeof n.value === "number" && n.kind !== "option" && n.kind !== "axis").slice(0, 12);
  const [set, setSet] = useState<Record<string, number>>({});
  const [answer, setAnswer] = useState<MachineAnswer | null>(null);
  const [fault, setFault] = useState("");
  const [which, setWhich] = useState(0);
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState<{ of: string; axes: [number, number] } | null>(null);
  const [checking, setChecking] = useState(false);
  const work = useRef({ busy: false, again: false, set: {} as Record<string, number>, which: 0 });
  work.current.set = set;
  work.current.which = which;

  /** One run alone, and no check: a run of hours beside it would be followed with every step of the hand. */
  const run = async () => {
    const w = work.current;
    if (w.busy) {
      w.again = true;
      return;
    }
    w.busy = true;
    try {
      setAnswer(await ask<MachineAnswer>("limn/machine", { set: w.set, run: w.which }));
      setFault("");
    } catch (e) {
      setFault((e as Error).message);
    }
    w.busy = false;
    if (w.again) {
      w.again = false;
      void run();
    }
  };
  useEffect(() => void run(), [JSON.stringify(set), which, drawn.value?.version]);

  /** All runs and all checks, as `limn run` does: it may take as long. */
  const check = async () => {
    setChecking(true);
    try {
      setChecks((await ask<MachineAnswer>("limn/machine", { set })).run.checks);
    } catch (e) {
      setFault((e as Error).message);
    }
    setChecking(false);
  };
  const [checks, setChecks] = useState<MachineAnswer["run"]["checks"]>([]);

  const all = answer?.run.runs ?? [];
  const now = answer?.series[0];
  const columns = now?.names.join() ?? "";
  const phase = chosen?.of === columns ? chosen.axes : phaseOf(editor.text, now?.names ?? []);
  const setPhase = (axes: [number, number]) => setChosen({ of: columns, axes });
  const row = now?.rows[Math.min(at, now.rows.length - 1)];
  const changed = Object.keys(set);
  const write = async () => {
    // One after the other: each place is found anew in the text that the one before has left.
    for (const name of changed) {
      const fresh = (await ask<NumberEntry[]>("limn/numbers")).find((n) => n.name === name);
      if (!fresh || !(await gesture({ kind: "number", at: atOfRange(fresh.range), value: Number(set[name].toPrecision(6)) }))) return;
    }
    setSet({});
  };
  return (
    <div class="machines">
      {now && (
        <div class="held">
          <Curves run={now} at={at} />
        </div>
      )}
      {sliders.map((n) => (
        <Slider key={n.name} entry={n} value={set[n.name] ?? (n.value as number)} set={(v) => setSet({ ...set, [n.name]: v })} keep={() => {}} />
      ))}
      <div class="row">
        <button disabled={!changed.length} onClick={() => void write()}>
          Write into the program
        </button>
        <button disabled={!changed.length} onClick={() => setSet({})}>
          As it says
        </button>
      </div>
      {fault && (
        <p class="fault-line" role="alert">
          {fault}
        </p>
      )}
      {all.length > 1 && (
        <label class="field">
          <span>Run</span>
          <Choice label="Run" value={String(which)} set={(v) => setWhich(Number(v))} options={all.map((r, i) => [String(i), r.name])} />
        </label>
      )}
      {now && (
        <>
          <label class="slider">
            <span>{now.names[0] || "time"}</span>
            <output>{row ? Number(row[0].toPrecision(4)) : ""}</output>
            <input type="range" min="0" max={now.rows.length - 1} value={Math.min(at, now.rows.length - 1)} aria-label="Time" onInput={(e) => setAt(Number((e.currentTarget as HTMLInputElement).value))} />
          </label>
          <div class="now-values">
            {now.names.slice(1).map((n, i) => (
              <span key={n}>
                <b class={`series${(i % 8) + 1}`}>{n}</b> {row && Number(Number(row[i + 1]).toPrecision(4))}
              </span>
            ))}
          </div>
          {now.names.length > 2 && (
            <>
              <Phase run={now} x={Math.min(phase[0], now.names.length - 1)} y={Math.min(phase[1], now.names.length - 1)} at={Math.min(at, now.rows.length - 1)} />
              <div class="row">
                {([0, 1] as const).map((k) => (
                  <select key={k} aria-label={k ? "Upwards" : "To the right"} value={phase[k]} onChange={(e) => setPhase(k ? [phase[0], Number((e.currentTarget as HTMLSelectElement).value)] : [Number((e.currentTarget as HTMLSelectElement).value), phase[1]])}>
                    {now.names.map((n, i) => (
                      <option key={n} value={i}>
                        {n}
                      </option>
                    ))}
                  </select>
                ))}
              </div>
            </>
          )}
        </>
      )}
      {/^check\b/m.test(editor.text) && (
        <button disabled={checking} onClick={() => void check()}>
          {checking ? "…" : "All checks"}
        </button>
      )}
      {checks.length > 0 && (
        <ul class="checks" aria-label="Checks">
          {checks.map((c) => (
            <li key={(c.of ?? "") + c.text} class={c.holds ? "" : "bad"}>
              {c.holds ? "✓" : "✗"} <code>{c.text}</code> <span class="soft">{c.figure}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
