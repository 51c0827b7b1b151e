// Learn: the tour, the gallery, the manual.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { markdown } from "../markdown";
import { about, drawer, isNarrow, look, pane, path, plainLook } from "../state";
import { IconButton } from "../ui/icons";
import { editor, newProgram, openPath, refreshFiles } from "../workbench";
import { files } from "../state";
import { askWords, examples } from "./gallery";
import { Manual } from "./manual";
import { steps } from "./steps";

type Tab = "tour" | "gallery" | "manual";
const tab = signal<Tab>("tour");
const at = signal(-1);

function Words({ text }: { text: string }) {
  return <div ref={(e) => e?.replaceChildren(markdown(text))} />;
}

/** Shows a step: its program is a file in the folder, which may be changed and comes back as it was left. */
export async function openTour(i: number): Promise<void> {
  drawer.value = "learn";
  tab.value = "tour";
  at.value = i;
  const step = steps[i];
  const p = `tour-${step.file}.limn`;
  if (!files.value.length) await refreshFiles();
  if (files.value.some((f) => f.path === p)) await openPath(p);
  else await newProgram(p, step.program);
  look.value = { ...plainLook, ...step.look };
  if (isNarrow()) pane.value = "drawer";
}

function Tour() {
  const i = at.value;
  if (i < 0)
    return (
      <div class="tour-step">
        <h2>Twelve steps</h2>
        <p>From a wire to a transformer and a GAN. Each step is a program of a few lines that you can change; the picture follows.</p>
        <button class="primary" onClick={() => void openTour(0)}>
          Begin
        </button>
      </div>
    );
  const step = steps[i];
  const own = path.value === `tour-${step.file}.limn`;
  return (
    <article class="tour-step">
      <p class="small soft">
        Step {i + 1} of {steps.length}
      </p>
      <h2>{step.title}</h2>
      <Words text={step.words} />
      <div class="try">
        <Words text={step.attempt} />
      </div>
      <div class="tour-nav">
        <IconButton name="left" label="The step before" disabled={i === 0} onClick={() => void openTour(i - 1)} />
        <div class="tour-dots">
          {steps.map((s, k) => (
            <button key={s.file} aria-label={`Step ${k + 1}: ${s.title}`} aria-current={k === i ? "step" : undefined} onClick={() => void openTour(k)} />
          ))}
        </div>
        <IconButton name="right" label="The next step" disabled={i === steps.length - 1} onClick={() => void openTour(i + 1)} />
      </div>
      {own && (
        <button class="quiet small" onClick={() => editor.replace(step.program)}>
          As it was at first
        </button>
      )}
    </article>
  );
}

function Gallery() {
  useEffect(() => void askWords(about.value), []);
  const all = examples(about.value);
  return (
    <>
      <p class="soft">A copy is opened, which is yours to change.</p>
      <ul class="gallery">
        {all.map((e) => (
          <li key={e.name}>
            <button onClick={() => void e.open()}>
              <b>{e.name}</b>
              <span>{e.doc || "\u00a0"}</span>
            </button>
          </li>
        ))}
        {!all.length && <li class="soft">There are no examples beside this limn.</li>}
      </ul>
    </>
  );
}

export function Learn() {
  useEffect(() => {
    const m = /^tour-(.*)\.limn$/.exec(path.value ?? "");
    const found = m ? steps.findIndex((s) => s.file === m[1]) : -1;
    if (found >= 0) at.value = found;
  }, []);
  const now = tab.value;
  return (
    <div class="learn">
      <div class="segments learn-tabs" role="group" aria-label="Learn">
        {(["tour", "gallery", "manual"] as const).map((t) => (
          <button key={t} aria-pressed={t === now} onClick={() => (tab.value = t)}>
            {{ tour: "Tour", gallery: "Gallery", manual: "Manual" }[t]}
          </button>
        ))}
      </div>
      {now === "tour" ? <Tour /> : now === "gallery" ? <Gallery /> : <Manual />}
    </div>
  );
}
