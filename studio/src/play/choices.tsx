// Lists to choose one thing from: a box by its name, the run whose weights are taken.

import { useState } from "preact/hooks";
import type { Run } from "../protocol";
import { isGoing, ownRuns } from "../runs/control";
import { runs, say } from "../state";

export function Choice({ label, value, set, options }: { label: string; value: string; set: (v: string) => void; options: readonly (readonly [string, string])[] }) {
  return (
    <select aria-label={label} value={value} onChange={(e) => set((e.currentTarget as HTMLSelectElement).value)}>
      {options.map(([v, words]) => (
        <option key={v} value={v}>
          {words}
        </option>
      ))}
    </select>
  );
}

export const byName = (names: string[]) => names.map((n) => [n, n] as const);

/** Runs that have left weights, those of the program that is open first, the newest first; a run that failed has none to rely on. */
function runsWithWeights(): { own: Run[]; others: Run[] } {
  const all = runs.value.filter((r) => r.step > 0 && r.state !== "failed" && r.state !== "starting");
  const own = ownRuns().filter((r) => all.includes(r));
  return { own, others: all.filter((r) => !own.includes(r)) };
}

/** The run whose weights are taken: as somebody chose, and otherwise the newest of this program. `refused`: one that nobody chose does not
 * fit the program as it is by now, and the weights are as they begin. */
export function useWeights(): [string, (run: string) => void, () => boolean] {
  const [chosen, choose] = useState<string | null>(null);
  const newest = runsWithWeights().own.find((r) => !isGoing(r))?.run ?? "";
  const refused = () => {
    if (chosen !== null || !newest) return false;
    say(`The weights of ${newest} do not fit the program as it is now: they are as they begin.`);
    choose("");
    return true;
  };
  return [chosen ?? newest, choose, refused];
}

/** Weights as they begin, or as a run has left them; what a question has as `from` then. */
export function WeightsOf({ value, set }: { value: string; set: (v: string) => void }) {
  const { own, others } = runsWithWeights();
  const option = (r: Run) => (
    <option key={r.run} value={r.run}>
      {r.run}
    </option>
  );
  return (
    <select aria-label="Weights of" value={value} onChange={(e) => set((e.currentTarget as HTMLSelectElement).value)}>
      {own.map(option)}
      <option value="">as they begin</option>
      {others.length > 0 && <optgroup label="Runs of other programs">{others.map(option)}</optgroup>}
    </select>
  );
}
export const fromRun = (run: string) => (run ? { from: run } : {});
