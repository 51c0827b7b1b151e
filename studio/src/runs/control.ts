// Runs: started, paused and stopped by the home, which outlives this page; their numbers are fetched as they grow.

import { signal } from "@preact/signals";
import { connection, host } from "../client";
import type { Metrics, Run, Shown } from "../protocol";
import { about, does, drawer, files, isNarrow, pane, path, pictures, runs, say, sayFault } from "../state";
import { newProgram, openPath, refreshRuns, saver, showErrors } from "../workbench";

/** Runs whose curves are shown, the last chosen first. */
export const selected = signal<string[]>([]);
/** Two programs whose difference is asked for instead. */
export const compared = signal<string[] | null>(null);
export const metrics = signal<Record<string, Metrics>>({});
export const shown = signal<Record<string, Shown[]>>({});

export const trainable = (): boolean => !!path.value && (about.value?.can ?? []).includes("train");

const MACHINES = ["machine", "wiring"];

/** A program that says `run` and not `train` is run, where its numbers can be dragged; where it says neither, what it declares decides. */
export const isOfMachines = (): boolean => !does.value.train && (does.value.run || (pictures.value.some((p) => MACHINES.includes(p.kind)) && pictures.value.every((p) => MACHINES.includes(p.kind) || p.kind === "box")));

export const nameOf = (run: string) => run.replace(/^runs\//, "");
const fileOf = (name: string) => name.replace(/^.*\//, "");

const number = (r: Run) => Number(/\.(\d+)$/.exec(r.run)?.[1] ?? 1); // `runs/iris`, `runs/iris.2` … as they were begun

/** Whether a run is of the program that is open. One that was made elsewhere knows it by another path, and so by its name alone. */
const isOwn = (r: Run): boolean => !!r.program && !!path.value && (r.program === path.value || (fileOf(r.program) === fileOf(path.value) && !files.value.some((f) => f.path === r.program)));

/** Runs of the program that is open, the newest first. */
export const ownRuns = (): Run[] => runs.value.filter(isOwn).sort((a, b) => number(b) - number(a));

/** The list is opened, or another program: what was chosen stays, unless another program is open by now and all of it is known to be of others. */
export function chooseRuns(): void {
  const own = ownRuns();
  const foreign = (run: string) => runs.value.some((r) => r.run === run && r.program && !own.includes(r));
  if (!selected.value.length || (chosenAt !== path.value && selected.value.every(foreign))) selected.value = own.slice(0, 1).map((r) => r.run);
  for (const r of selected.value) void fetchRun(r);
}

let chosenAt: string | null = null; // the program that was open when one was last chosen

export function selectRun(run: string, alone = true): void {
  chosenAt = path.value;
  compared.value = null;
  const rest = selected.value.filter((r) => r !== run);
  selected.value = alone ? [run] : rest.length < selected.value.length ? rest : [run, ...rest].slice(0, 8);
  for (const r of selected.value) void fetchRun(r);
}

const fetching = new Set<string>();

/** The rows that are new, and what the run shows by now. */
export async function fetchRun(run: string): Promise<void> {
  if (fetching.has(run)) return;
  fetching.add(run);
  try {
    const old = metrics.value[run];
    const more = await host<Metrics>("metrics", { run, since: old?.next ?? 0 });
    const same = old && more.names.join() === old.names.join() && more.next >= old.next;
    if (!old || more.rows.length) metrics.value = { ...metrics.value, [run]: same ? { ...more, rows: old.rows.concat(more.rows) } : more };
    const pictures = await host<Shown[]>("shown", { run }).catch(() => []);
    shown.value = { ...shown.value, [run]: pictures };
  } catch {
    // a run that is just beginning has no numbers yet: the next event asks again
  } finally {
    fetching.delete(run);
  }
}

const begun = new Set<string>(); // by this page, and not known to have ended

/** A run that was begun here and has failed says why, wherever one looks. */
function sayFailures(): void {
  for (const r of runs.value)
    if (begun.has(r.run) && !isGoing(r)) {
      begun.delete(r.run);
      if (r.state === "failed") say(`${r.run} failed: ${r.message ?? "nobody knows why"}`, "fault");
    }
}

export async function startTraining(options: Record<string, unknown> = {}): Promise<void> {
  if (!path.value) return;
  if (isOfMachines()) {
    drawer.value = "play";
    if (isNarrow()) pane.value = "drawer";
    return;
  }
  if (!trainable()) {
    say("Training is not possible here.", "fault");
    return;
  }
  if (saver.pending && !(await saver.write())) {
    say("The text could not be saved, so nothing was trained.", "fault");
    return;
  }
  if (await showErrors("Nothing was trained: the program has errors.")) return;
  try {
    const { run } = await host<{ run: string }>("train", { path: path.value, options });
    begun.add(run);
    selectRun(run); // before the list is seen, which chooses where nothing is chosen
    drawer.value = "runs";
    if (isNarrow()) pane.value = "drawer";
    await refreshRuns();
  } catch (e) {
    sayFault(e);
  }
}

/** The program that is open, beside another one. */
export async function compareWith(other: string): Promise<void> {
  if (saver.pending) await saver.write();
  compared.value = [path.value!, other];
  drawer.value = "runs";
  if (isNarrow()) pane.value = "drawer";
}

export async function control(what: "pause" | "resume" | "stop", run: string): Promise<void> {
  try {
    await host(what, { run });
  } catch (e) {
    sayFault(e);
  }
  await refreshRuns();
}

/** The text that a run was trained with: the file that has it, or else a copy beside the others, so that nobody writes into the run. */
export async function openProgramOf(r: Run): Promise<void> {
  try {
    const { text } = await host<{ text: string }>("read", { path: `${r.run}/program.limn` });
    const name = r.program ? fileOf(r.program) : `${nameOf(r.run)}.limn`;
    const there = files.value.find((f) => f.path === r.program || f.path === name)?.path;
    if (there === path.value) await saver.write();
    if (there && (await host<{ text: string }>("read", { path: there })).text === text) return void (await openPath(there));
    await newProgram(name, text);
    if (there) say(`${there} has another text by now: this is a copy of what ${r.run} was trained with.`);
  } catch (e) {
    sayFault(e);
  }
}

/** Nothing is known of it any more, so that a new run of this name begins anew. */
function forget(run: string): void {
  const without = <T>(all: Record<string, T>) => Object.fromEntries(Object.entries(all).filter(([r]) => r !== run));
  metrics.value = without(metrics.value);
  shown.value = without(shown.value);
  selected.value = selected.value.filter((r) => r !== run);
  runs.value = runs.value.filter((r) => r.run !== run);
}

export async function deleteRun(run: string): Promise<void> {
  try {
    await host("delete", { run, sure: true });
    forget(run);
  } catch (e) {
    sayFault(e);
  }
  await refreshRuns();
}

export async function change(run: Run, what: string, text: string): Promise<void> {
  const value = Number(text);
  try {
    if (!text.trim() || !Number.isFinite(value)) throw new Error(`A number is wanted; “${text}” is none, and ${what} is as it was.`);
    await host("change", { run: run.run, what, value });
    say(isGoing(run) ? `${what} is ${value} from one of the next steps on; the run writes down which.` : `${what} is ${value} when the run goes on.`);
  } catch (e) {
    sayFault(e);
  }
}

export const isGoing = (r: Run) => r.state === "running" || r.state === "starting";

/** Events say that something has happened; the numbers are asked for, and no more often than they can be drawn. */
export function startRuns(): void {
  let pending = false;
  const soon = () => {
    if (pending) return;
    pending = true;
    setTimeout(async () => {
      pending = false;
      await refreshRuns();
      sayFailures();
      await Promise.all(selected.value.map(fetchRun));
    }, 250);
  };
  connection().on("host/run", (p: { run: string; state: string }) => {
    if (p.state === "deleted") forget(p.run);
    else if (!runs.value.some((r) => r.run === p.run) || selected.value.includes(p.run)) soon();
    else runs.value = runs.value.map((r) => (r.run === p.run ? { ...r, ...p } : r));
  });
  // Events may be lost while a page sleeps.
  setInterval(() => runs.value.some(isGoing) && document.visibilityState === "visible" && soon(), 1500);
}
