// One small plot for each number that is measured, all runs in it, one colour a run.

import { useMemo } from "preact/hooks";
import { Plot, type Series, short } from "../plot";
import type { Metrics } from "../protocol";

const POINTS = 1500; // more than a plot has pixels

/** Steps and values of one column, thinned by keeping the first of each group; empty cells are left out. */
function column(m: Metrics, name: string, label: string): Series {
  const at = m.names.indexOf(name);
  const step = Math.max(0, m.names.indexOf("step"));
  const rows = at < 0 ? [] : m.rows.filter((r) => typeof r[at] === "number" && Number.isFinite(r[at]));
  const each = Math.max(1, Math.ceil(rows.length / POINTS));
  const kept = rows.filter((_, i) => i % each === 0 || i === rows.length - 1);
  return { x: kept.map((r) => r[step] as number), y: kept.map((r) => r[at] as number), label };
}

/** `loss`: the less, the better; of several runs the best one is marked. Of what is measured nobody knows which way is better. */
export function Curve({ name, runs, log, loss }: { name: string; runs: { run: string; metrics: Metrics }[]; log: boolean; loss: boolean }) {
  const key = runs.map((r) => `${r.run} ${r.metrics.rows.length}`).join();
  const series = useMemo(() => runs.map((r) => column(r.metrics, name, r.run)), [key, name]);
  const last = series.map((s) => s.y.at(-1));
  const best = loss && last.length > 1 ? Math.min(...last.map((v) => v ?? Infinity)) : null;
  return (
    <figure class="curve">
      <figcaption>
        <b>{name}</b>
        {last.map((v, i) => v !== undefined && <span key={i} class={`series${(i % 8) + 1}`}>{short(v) + (v === best ? " best" : "")}</span>)}
      </figcaption>
      <Plot label={`${name}: ${last.map((v) => (v === undefined ? "nothing yet" : `now ${short(v)}`)).join(", ")}`} series={series} height={132} log={log} />
    </figure>
  );
}
