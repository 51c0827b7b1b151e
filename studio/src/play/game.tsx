// A game: payoffs in a table, starting points that are dragged, and all players moving at once, step by step in memory.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask, connection } from "../client";
import { atOfRange } from "../places";
import type { NumberEntry, Numbers, Tensor } from "../protocol";
import { path, sayFault } from "../state";
import { Icon } from "../ui/icons";
import { editor, gesture } from "../workbench";
import { Simplex, tidy } from "./simplex";

interface StepAnswer {
  step: number;
  done: boolean;
  measured: number; // the step of what is measured
  metrics: Record<string, number>;
  weights: Record<string, Tensor>;
}

/** Players of a program: learners in a simplex, with how many choices each has. */
function playersOf(text: string): string[] {
  const names: string[] = [];
  for (const m of text.matchAll(/^\s*learn\s+([^#\n]*)/gm))
    for (const part of m[1].matchAll(/(\w+(?:\s*,\s*\w+)*)\s*:\s*simplex\s*\[/g)) names.push(...part[1].split(/\s*,\s*/));
  return names;
}

/** What is stored of a learner in a simplex are logarithms; its shares are their softmax. */
export function sharesOf(stored: number[]): number[] {
  const most = Math.max(...stored);
  const e = stored.map((v) => Math.exp(v - most));
  const all = e.reduce((a, b) => a + b, 0);
  return e.map((v) => v / all);
}
const storedOf = (shares: number[]): number[] => shares.map((s) => Math.log(Math.max(s, 1e-30)));

/** A number as one writes it, fractions too; null: it is none. */
export function readNumber(text: string): number | null {
  const parts = text.trim().split("/").map((p) => (p.trim() ? Number(p) : NaN));
  const v = parts.length === 2 ? parts[0] / parts[1] : parts.length === 1 ? parts[0] : NaN;
  return Number.isFinite(v) ? v : null;
}

function Payoffs({ entry }: { entry: NumberEntry }) {
  const rows = entry.value as number[][];
  const [wrong, setWrong] = useState<{ at: string; words: string } | null>(null);
  const set = async (i: number, j: number, text: string) => {
    const v = readNumber(text);
    if (v === null) {
      setWrong({ at: `${i} ${j}`, words: `A payoff is a number or a fraction, as 1.5 or 1/3; “${text}” is none, and the program still has ${rows[i][j]}.` });
      return;
    }
    setWrong(null);
    if (v === rows[i][j]) return;
    const value = rows.map((r, a) => r.map((x, b) => (a === i && b === j ? v : x)));
    if (!(await gesture({ kind: "number", at: atOfRange(entry.range), value }))) setWrong({ at: `${i} ${j}`, words: `This was refused; the program still has ${rows[i][j]}.` });
  };
  return (
    <>
      {wrong && (
        <p class="fault-line" role="alert">
          {wrong.words}
        </p>
      )}
    <table class="payoffs">
      <caption>{entry.name}</caption>
      <tbody>
        {rows.map((r, i) => (
          <tr key={i}>
            {r.map((v, j) => (
              <td key={j}>
                <input aria-label={`${entry.name}, row ${i + 1}, column ${j + 1}`} inputMode="decimal" defaultValue={String(v)} key={String(v)} aria-invalid={wrong?.at === `${i} ${j}` ? "true" : undefined} onChange={(e) => void set(i, j, (e.currentTarget as HTMLInputElement).value)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    </>
  );
}

const isMatrix = (v: Numbers): v is number[][] => Array.isArray(v) && v.length > 0 && v.every((r) => Array.isArray(r) && r.every((x) => typeof x === "number"));

/** One game on its way: opened at the starts, stepped with each frame. */
class Match {
  private id: number | string | null = null;
  private ended = false;
  ready = false; // it can be stepped

  async open(weights: Record<string, number[]>): Promise<{ names: string[] }> {
    const answer = await ask("limn/play/open", { weights });
    this.id = answer.play;
    if (this.ended) this.close();
    return answer;
  }
  step(steps: number, read: string[]): Promise<StepAnswer> {
    return connection().request<StepAnswer>("limn/play/step", { play: this.id, steps, read });
  }
  close(): void {
    this.ended = true;
    if (this.id !== null) connection().request("limn/play/close", { play: this.id }).catch(() => {});
    this.id = null;
  }
}

export function Game({ numbers }: { numbers: NumberEntry[] }) {
  const text = editor.text;
  const players = playersOf(text);
  const [starts, setStarts] = useState<Record<string, number[]>>({});
  const [paths, setPaths] = useState<Record<string, number[][]>>({});
  const [figures, setFigures] = useState<Record<string, number>>({});
  const [at, setAt] = useState({ step: 0, measured: 0 });
  const [going, setGoing] = useState(false);
  const [speed, setSpeed] = useState(10);
  const match = useRef<Match | null>(null);
  const live = useRef({ going: false, speed: 10 });
  live.current = { going, speed };

  const begin = async (from: Record<string, number[]>): Promise<boolean> => {
    match.current?.close();
    const m = new Match();
    match.current = m;
    try {
      await m.open(Object.fromEntries(Object.entries(from).map(([n, shares]) => [n, storedOf(shares)])));
      const first = await m.step(0, players);
      if (match.current !== m) return false;
      const shares = Object.fromEntries(Object.entries(first.weights ?? {}).map(([n, t]) => [n, sharesOf(t.data)]));
      setStarts((s) => ({ ...shares, ...s }));
      setPaths(Object.fromEntries(Object.entries(shares).map(([n, s]) => [n, [s]])));
      setFigures(first.metrics ?? {});
      setAt(first);
      m.ready = true;
      return true;
    } catch (e) {
      if (match.current !== m) return false;
      sayFault(e);
      setGoing(false);
      return false;
    }
  };

  const beginAndGo = async (from: Record<string, number[]>) => {
    if ((await begin(from)) && live.current.going && match.current) void loop(match.current);
  };

  // The program itself has changed: payoffs, players. The game begins anew from the same starts.
  useEffect(() => {
    void beginAndGo(starts);
    return () => match.current?.close();
  }, [text, path.value]);

  const loop = async (m: Match) => {
    while (match.current === m && live.current.going) {
      try {
        const a = await m.step(live.current.speed, players);
        if (match.current !== m) return;
        setAt(a);
        setFigures(a.metrics ?? {});
        setPaths((old) => {
          const next = { ...old };
          for (const [n, t] of Object.entries(a.weights ?? {})) next[n] = [...(old[n] ?? []), sharesOf(t.data)].slice(-4000);
          return next;
        });
        if (a.done) {
          setGoing(false);
          return;
        }
      } catch (e) {
        if (match.current !== m) return; // another game has begun meanwhile, and goes on by itself
        sayFault(e);
        setGoing(false);
        return;
      }
      await new Promise((done) => requestAnimationFrame(done));
    }
  };
  // One that is just being opened goes by itself when it is.
  useEffect(() => {
    if (going && match.current?.ready) void loop(match.current);
  }, [going]);

  const move = (name: string, shares: number[]) => {
    const next = { ...starts, [name]: tidy(shares) };
    setStarts(next);
    setPaths((p) => ({ ...p, [name]: [] }));
    setFigures({}); // they are of the game before
    clearTimeout(restart.current);
    restart.current = window.setTimeout(() => void beginAndGo(next), 120);
  };
  const restart = useRef(0);

  return (
    <div class="game">
      <div class="row">
        <button class="primary" onClick={() => setGoing(!going)}>
          <Icon name={going ? "pause" : "play"} /> {going ? "Pause" : "Play"}
        </button>
        <button onClick={() => void beginAndGo(starts)}>Begin again</button>
        <label class="slider">
          <span>Speed</span>
          <input type="range" min="1" max="100" value={speed} aria-label="Speed" onInput={(e) => setSpeed(Number((e.currentTarget as HTMLInputElement).value))} />
        </label>
      </div>
      <p class="small soft" role="status">
        Step {at.step}
        {Object.entries(figures).map(([n, v]) => (
          <span key={n}>
            {" "}
            · {n} {Number(v).toPrecision(3)}
          </span>
        ))}
        {at.measured < at.step && ` (measured at step ${at.measured})`}
      </p>
      <div class="simplices">
        {players
          .filter((n) => starts[n])
          .map((n, i) => (
            <Simplex key={n} name={n} start={starts[n]} path={paths[n] ?? []} colour={`series${(i % 8) + 1}`} move={(s) => move(n, s)} />
          ))}
      </div>
      <p class="small soft">Drag a ring to another start. Edit a payoff, and the program changes with it.</p>
      {numbers.filter((n) => isMatrix(n.value)).map((n) => (
        <Payoffs key={n.name} entry={n} />
      ))}
    </div>
  );
}
