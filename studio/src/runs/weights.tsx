// The numbers that a learner has by now, as a histogram.

import { useState } from "preact/hooks";
import { ask, host } from "../client";
import { readPicture } from "../picture/sanitize";
import type { Run } from "../protocol";
import { sayFault } from "../state";

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

export function Weights({ run }: { run: Run }) {
  const [names, setNames] = useState<string[]>([]);
  const [name, setName] = useState("");
  const [found, setFound] = useState<WeightsOf | null>(null);
  const open = async () => {
    const answer = await host("weights", { run: run.run }).catch(() => ask("limn/summary").catch(() => null));
    const list: unknown = answer?.names ?? answer?.weights;
    if (Array.isArray(list)) setNames(list.map((x) => (typeof x === "string" ? x : x.name)));
  };
  const look = (n: string) => {
    setName(n);
    if (n) host<WeightsOf>("weights", { run: run.run, name: n }).then(setFound, sayFault);
  };
  const put = (e: HTMLDivElement | null) => {
    const svg = e && found?.picture ? readPicture(found.picture) : null;
    if (svg) e!.replaceChildren(svg);
  };
  return (
    <details class="weights" onToggle={(e) => (e.currentTarget as HTMLDetailsElement).open && void open()}>
      <summary>Weights</summary>
      <div class="row">
        <input list="weight-names" value={name} placeholder="a learner's weight" aria-label="Weight" onChange={(e) => look((e.currentTarget as HTMLInputElement).value)} />
        <datalist id="weight-names">
          {names.map((n) => (
            <option key={n} value={n} />
          ))}
        </datalist>
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
