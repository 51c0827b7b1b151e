// Lists to choose one thing from: a box by its name, the run whose weights are taken.

import { runs } from "../state";

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

/** Weights as they begin, or as a run has left them; what a question has as `from` then. */
export const WeightsOf = ({ value, set }: { value: string; set: (v: string) => void }) => <Choice label="Weights of" value={value} set={set} options={[["", "as they begin"], ...byName(runs.value.map((r) => r.run))]} />;
export const fromRun = (run: string) => (run ? { from: run } : {});
