// The numbers inside of a run as they are by now: weights, what wires carry, and the gradients of both.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { host } from "../client";
import { readPicture } from "../picture/sanitize";
import type { Run } from "../protocol";
import { drawer, isNarrow, pane, sayFault } from "../state";

/** A wire of the picture that is looked at in the run. */
const watched = signal("");
export function watchWire(name: string): void {
  watched.value = `${name}.1`;
  drawer.value = "runs";
  if (isNarrow()) pane.value = "drawer";
}

interface WeightsOf {
  shape: number[];
  least: number;
  most: number;
  histogram: number[];
  picture?: string;
}

function Histogram({ w }: { w: WeightsOf }) {
  const most = Math.max(1, ...w.histogram);
  const each = 300 / w.histogram.length;
  return (
    <svg class="histogram" viewBox="0 0 300 74" role="img" aria-label={`from ${w.least} to ${w.most}`}>
      {w.histogram.map((n, i) => (
        <rect key={i} x={i * each + 0.5} width={Math.max(0.5, each - 1)} y={60 - (56 * n) / most} height={(56 * n) / most} />
      ))}
      <text x="0" y="72">
        {Number(w.least).toPrecision(3)}
      </text>
      <text x="300" y="72" text-anchor="end">
        {Number(w.most).toPrecision(3)}
      </text>
    </svg>
  );
}

interface Inside {
  names: string[]; // of weights and wires
  goals: string[];
}

/** Which numbers are looked at. */
interface Looked {
  name: string;
  of: string;
  goal: string;
}

export function Weights({ run, name }: { run: Run; name: string }) {
  const [inside, setInside] = useState<Inside>({ names: [], goals: [] });
  const [at, setAt] = useState<Looked>({ name: "", of: "value", goal: "" });
  const [found, setFound] = useState<WeightsOf | null>(null);
  const open = async () => {
    const answer = await host("weights", { run: run.run }).catch(sayFault);
    if (answer) setInside({ names: [...answer.names.map((x: { name: string }) => x.name), ...(answer.wires ?? [])], goals: answer.goals ?? [] });
  };
  const asked = useRef("");
  const details = useRef<HTMLDetailsElement>(null);
  const look = async (next: Looked, fault: (e: unknown) => void) => {
    setAt(next);
    if (!next.name) return;
    const { goal, ...what } = next;
    const question = (asked.current = JSON.stringify([run.run, next]));
    const answer = await host<WeightsOf>("weights", { run: run.run, ...what, ...(goal && { goal }) }).catch((e) => void (question === asked.current && fault(e)));
    if (answer && question === asked.current) setFound(answer);
  };
  useEffect(() => {
    if (!watched.value) return;
    void open();
    void look({ ...at, name: watched.value }, sayFault);
    watched.value = "";
    details.current?.scrollIntoView({ block: "nearest" });
  }, [watched.value]);
  useEffect(() => void look(at, () => {}), [run.run, run.step, run.state]); // as it goes on; between two saves nothing is new
  const put = (e: HTMLDivElement | null) => {
    const svg = e && found?.picture ? readPicture(found.picture) : null;
    if (svg) e!.replaceChildren(svg);
  };
  const choice = (label: string, key: keyof Looked, options: [string, string][]) => (
    <select aria-label={label} value={at[key]} onChange={(e) => void look({ ...at, [key]: (e.currentTarget as HTMLSelectElement).value }, sayFault)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  return (
    <details class="weights" ref={details} open={!!at.name || undefined} onToggle={(e) => (e.currentTarget as HTMLDetailsElement).open && void open()}>
      <summary>Weights and gradients of {name}</summary>
      <div class="row">
        <input list="weight-names" value={at.name} placeholder="a weight, or a wire" aria-label="Weight or wire" onChange={(e) => void look({ ...at, name: (e.currentTarget as HTMLInputElement).value }, sayFault)} />
        <datalist id="weight-names">
          {inside.names.map((n) => (
            <option key={n} value={n} />
          ))}
        </datalist>
        {choice("Of it", "of", [
          ["value", "as it is"],
          ["gradient", "its gradient"],
        ])}
        {inside.goals.length > 1 &&
          at.of === "gradient" &&
          choice("Of which goal", "goal", [["", "all goals"], ...inside.goals.map((g): [string, string] => [g, g])])}
      </div>
      {found && (
        <>
          <p class="small soft">
            {found.shape.join(" × ") || "one number"}, from {Number(found.least).toPrecision(4)} to {Number(found.most).toPrecision(4)}
          </p>
          {found.histogram?.length > 0 && <Histogram w={found} />}
          {found.picture && <div class="drawing" ref={put} />}
        </>
      )}
    </details>
  );
}
