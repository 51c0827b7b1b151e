// The drawer of runs: what goes on, its curves, what the program shows, and how two runs differ.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connection, host } from "../client";
import { readPicture } from "../picture/sanitize";
import type { Run, Shown } from "../protocol";
import { about, path, runs, sayFault } from "../state";
import { Icon, IconButton } from "../ui/icons";
import { openMenu } from "../ui/menu";
import { fill } from "../ui/prompt";
import { editor, refreshRuns } from "../workbench";
import { change, chooseRuns, compared, control, deleteRun, isGoing, isOfMachines, metrics, nameOf, openProgramOf, selectRun, selected, shown, startTraining, trainable } from "./control";
import { Curve } from "./curves";
import { Weights } from "./weights";

const NOT_CURVES = new Set(["step", "epoch", "time", "seconds"]);

function time(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")} min` : `${(s / 3600).toFixed(1)} h`;
}

function progress(r: Run): string {
  const parts = [r.state];
  if (r.steps) parts.push(`${r.step} of ${r.steps} steps`);
  if (isGoing(r) && r.seconds && r.step) {
    parts.push(`${Math.round(r.step / r.seconds)} a second`);
    if (r.steps > r.step) parts.push(`${time(((r.steps - r.step) * r.seconds) / r.step)} left`);
  } else if (r.seconds) parts.push(time(r.seconds));
  return parts.join(" · ");
}

/** What else can be done with a run. */
function more(r: Run, button: Element): void {
  const { left, bottom } = button.getBoundingClientRect();
  const items = [{ label: "Open its program", run: () => void openProgramOf(r) }];
  if (!isGoing(r) && about.value?.can.includes("delete")) items.push({ label: "Delete…", run: () => void askDelete(r) });
  openMenu(items, { x: left, y: bottom }, nameOf(r.run));
}

async function askDelete(r: Run): Promise<void> {
  const sure = await fill(`Delete ${nameOf(r.run)}, with its curves and its weights, for good?`, [], "Delete it");
  if (sure) await deleteRun(r.run);
}

function RunRow({ r, at }: { r: Run; at: number }) {
  const name = nameOf(r.run);
  return (
    <li class={at >= 0 ? "run on" : "run"}>
      <label class={at >= 0 ? `series${(at % 8) + 1}` : ""}>
        <input type="checkbox" checked={at >= 0} aria-label={`Show ${name}`} onChange={() => selectRun(r.run, false)} />
        <button class="name" onClick={() => selectRun(r.run)}>
          {name}
        </button>
      </label>
      <span class="buttons">
        {isGoing(r) && <IconButton name="pause" label={`Pause ${name}`} onClick={() => void control("pause", r.run)} />}
        {(r.state === "paused" || r.state === "stopped" || r.state === "interrupted" || r.state === "killed") && <IconButton name="play" label={`Resume ${name}`} onClick={() => void control("resume", r.run)} />}
        {(isGoing(r) || r.state === "paused") && <IconButton name="stop" label={`Stop ${name}`} onClick={() => void control("stop", r.run)} />}
        <button class="icon-button" aria-label={`More of ${name}`} title={`More of ${name}`} onClick={(e) => more(r, e.currentTarget as Element)}>
          <Icon name="more" />
        </button>
      </span>
      <progress max={r.steps || 1} value={r.step} aria-label={`${name}: ${progress(r)}`} />
      <small class="soft">{progress(r)}</small>
      {r.state === "failed" && <small class="fault-line">{r.message ?? "It failed, and nobody knows why."}</small>}
    </li>
  );
}

/** `of`: the run, where several are seen, in its colour. */
function ShownPicture({ s, stamp, of }: { s: Shown; stamp: number; of: ComponentChildren }) {
  const put = (e: HTMLDivElement | null) => {
    if (!e || !s.svg) return;
    const svg = readPicture(s.svg);
    if (svg) e.replaceChildren(svg);
  };
  return (
    <figure class="shown">
      {s.svg ? <div class="drawing" ref={put} /> : s.file && <img src={`${connection().fileAddress(s.file)}&step=${stamp}`} alt={s.caption ?? s.name} />}
      <figcaption>
        {of} {s.caption ?? s.name}
      </figcaption>
    </figure>
  );
}

/** What a run goes by, which can be changed between two of its steps; and what was. */
function Change({ run }: { run: Run }) {
  const all = run.settings ?? {};
  const [what, setWhat] = useState("rate");
  const name = what in all ? what : (Object.keys(all)[0] ?? "");
  const send = (e: Event) => {
    e.preventDefault();
    const text = String(new FormData(e.currentTarget as HTMLFormElement).get("value"));
    void change(run, name, text).then(refreshRuns);
  };
  return (
    <form class="row change" onSubmit={send} aria-label="Change while it runs">
      <select name="what" aria-label="What is changed" value={name} onChange={(e) => setWhat((e.currentTarget as HTMLSelectElement).value)}>
        {Object.keys(all).map((n) => (
          <option key={n} value={n}>
            {n}
          </option>
        ))}
      </select>
      <input key={name} name="value" inputMode="decimal" placeholder={all[name] === null ? "a schedule" : String(all[name])} aria-label="New value" size={8} />
      <button>From now on</button>
    </form>
  );
}

function Changes({ run }: { run: Run }) {
  if (!run.changes?.length) return null;
  return (
    <ul class="small soft changes" aria-label="Changed while it ran">
      {run.changes.map((c, i) => (
        <li key={i}>
          from step {c.step + 1} on: {c.what} = {c.value}
        </li>
      ))}
    </ul>
  );
}

function Difference({ a, b }: { a: string; b: string }) {
  const [found, setFound] = useState<{ picture?: string; text?: string; same?: boolean } | null>(null);
  // In the picture the first is orange and the second blue, as the second and the first of the curves are.
  const look = () => host("diff", { a: b, b: a }).then(setFound, sayFault);
  useEffect(() => {
    setFound(null);
    if (compared.value) void look();
  }, [a, b]);
  const put = (e: HTMLDivElement | null) => {
    const svg = e && found?.picture ? readPicture(found.picture) : null;
    if (svg) e!.replaceChildren(svg);
  };
  return (
    <section class="difference">
      <button onClick={() => void look()}>
        What differs between {nameOf(b)} and {nameOf(a)}?
      </button>
      {found && (found.picture ? <div class="drawing wide" ref={put} /> : <pre>{found.text ?? JSON.stringify(found, null, 1)}</pre>)}
    </section>
  );
}

function Options() {
  const [epochs, setEpochs] = useState("");
  const [seed, setSeed] = useState("");
  const input = (label: string, value: string, set: (v: string) => void, hint: string) => (
    <label>
      {label}
      <input inputMode="numeric" size={5} value={value} placeholder={hint} onInput={(e) => set((e.currentTarget as HTMLInputElement).value)} />
    </label>
  );
  /** What is no number goes as it was written, and is refused in the words of limn. */
  const numbers = (all: Record<string, string>) => Object.fromEntries(Object.entries(all).flatMap(([k, v]) => (v.trim() ? [[k, Number.isFinite(Number(v)) ? Number(v) : v]] : [])));
  return (
    <form
      class="row options"
      onSubmit={(e) => {
        e.preventDefault();
        void startTraining(numbers({ epochs, seed }));
      }}
    >
      <button class="primary" disabled={!trainable()}>
        <Icon name="play" /> {isOfMachines() ? "Run" : "Train"}
      </button>
      {input("Epochs", epochs, setEpochs, "all")}
      {input("Seed", seed, setSeed, "0")}
    </form>
  );
}

export function Runs() {
  const [log, setLog] = useState(false);
  useEffect(() => {
    void refreshRuns().then(chooseRuns);
  }, [path.value]);
  const on = selected.value.filter((r) => runs.value.some((x) => x.run === r));
  const series = on.filter((r) => metrics.value[r]).map((run) => ({ run, metrics: metrics.value[run] }));
  const names = [...new Set(series.flatMap((s) => s.metrics.names))].filter((n) => !NOT_CURVES.has(n)).slice(0, 12);
  const first = runs.value.find((r) => r.run === on[0]);
  const pair = compared.value ?? (on.length === 2 ? on : null);
  return (
    <div class="runs">
      <Options />
      <ul class="run-list" aria-label="Runs">
        {runs.value.map((r) => (
          <RunRow key={r.run} r={r} at={on.indexOf(r.run)} />
        ))}
        {!runs.value.length && <li class="soft">No run yet. Press Train, and its curves grow here. A run goes on when this page is closed.</li>}
      </ul>
      {about.value?.home === "playground" && runs.value.length > 0 && (
        <p class="soft small">
          Runs are kept in this page alone: they go when it is closed or loaded again.
          {/^\s*show\b/m.test(editor.text) && " What this program shows is not drawn here; `limn studio` draws it."}
        </p>
      )}
      {first && first.state !== "finished" && Object.keys(first.settings ?? {}).length > 0 && (about.value?.can ?? []).includes("change") && <Change run={first} />}
      {first && <Changes run={first} />}
      {names.length > 0 && (
        <label class="small soft check">
          <input type="checkbox" checked={log} onChange={() => setLog(!log)} /> logarithms
        </label>
      )}
      {names.map((n) => (
        <Curve key={n} name={n} runs={series} log={log} loss={n in (first?.losses ?? {})} />
      ))}
      {pair && <Difference a={pair[0]} b={pair[1]} />}
      {on.map((r, i) => (shown.value[r] ?? []).map((s) => <ShownPicture key={r + s.name} s={s} stamp={runs.value.find((x) => x.run === r)?.step ?? 0} of={on.length > 1 && <b class={`series${(i % 8) + 1}`}>{nameOf(r)}</b>} />))}
      {first && <Weights run={first} name={nameOf(first.run)} />}
    </div>
  );
}
