// The picture pane: the sheet, the buttons that say what is drawn, and the words of the picture for those who cannot see it.

import { useEffect, useRef } from "preact/hooks";
import { ask } from "../client";
import { hasLevels, lookParams, viewsHere } from "../drawing";
import type { Level, View } from "../protocol";
import { drawFault, drawn, look, messages, paletteOpen, path, pictures, plainLook, sayFault } from "../state";
import { Icon, IconButton } from "../ui/icons";
import { openMenu } from "../ui/menu";
import { Palette } from "./palette";
import { PictureView, wanted, zoomed } from "./view";

let view: PictureView | null = null;
export const pictureView = () => view;

const VIEWS: [View, string, string][] = [
  ["plain", "Diagram", "What the program says"],
  ["lens", "Lens", "Values forward, changes back"],
  ["grad", "Gradient", "The reverse derivative"],
  ["who", "Who", "Which goal moves which learner"],
  ["unfold", "Unfold", "A wiring as a network, and from inside to outside"],
];
const LEVELS: [Level, string][] = [
  ["learner", "Learners"],
  ["model", "Model"],
  ["layer", "Layers"],
];

function Names() {
  const names = pictures.value;
  const now = look.value.name ?? names[0]?.name ?? "";
  return (
    <label class="chooser" title="What is drawn">
      <span class="hidden">What is drawn</span>
      <select
        value={now ?? ""}
        onChange={(e) => {
          const chosen = names.find((n) => (n.name ?? "") === (e.currentTarget as HTMLSelectElement).value);
          look.value = { ...look.value, name: !chosen || chosen.kind === "goals" ? null : chosen.name, open: [], view: "plain" };
        }}
      >
        {!names.length && <option value="">picture</option>}
        {names.map((n) => (
          <option key={`${n.kind} ${n.name}`} value={n.name ?? ""}>
            {n.kind === "goals" ? "Goals" : `${n.name} — ${n.kind}`}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </label>
  );
}

/** A choice of few: buttons side by side, or a list where the pane is too narrow for them. */
function Segments<T extends string>(p: { label: string; all: [T, string, string?][]; now: T; set: (v: T) => void }) {
  return (
    <>
      <div class="segments" role="group" aria-label={p.label}>
        {p.all.map(([value, words, hint]) => (
          <button key={value} aria-pressed={p.now === value} title={hint} onClick={() => p.set(value)}>
            {words}
          </button>
        ))}
      </div>
      <label class="chooser instead">
        <span class="hidden">{p.label}</span>
        <select value={p.now} onChange={(e) => p.set((e.currentTarget as HTMLSelectElement).value as T)}>
          {p.all.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </label>
    </>
  );
}

const EXPORTS = [
  ["svg", "image/svg+xml", "SVG, for pages"],
  ["pdf", "application/pdf", "PDF, for print"],
  ["png", "image/png", "PNG, for everything else"],
  ["tex", "text/x-tex", "TikZ, for papers"],
  ["txt", "text/plain", "Text, for terminals"],
] as const;

/** Two dots for a unit, as `limn draw` does; the browser paints it. */
async function paint(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  const g = canvas.getContext("2d")!;
  g.fillStyle = "#fff";
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((b) => (b ? done(b) : fail(new Error("The picture is too large for this browser."))), "image/png"));
}

async function download(as: string, type: string): Promise<void> {
  try {
    const { picture } = await ask("limn/picture", { ...lookParams(), theme: "light", as: as === "png" ? "svg" : as });
    const bytes = as === "pdf" ? Uint8Array.from(atob(picture), (c) => c.charCodeAt(0)) : picture;
    const a = document.createElement("a");
    a.href = URL.createObjectURL(as === "png" ? await paint(picture) : new Blob([bytes], { type }));
    a.download = `${look.value.name ?? (path.value ?? "picture").replace(/.*\/|\.limn$/g, "")}.${as}`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
  } catch (e) {
    sayFault(e);
  }
}

export function exportMenu(at: { x: number; y: number }): void {
  openMenu(
    EXPORTS.map(([as, type, label]) => ({ label, run: () => void download(as, type) })),
    at,
    "Save the picture as",
  );
}

function Bar() {
  const l = look.value;
  return (
    <div class="bar" role="toolbar" aria-label="Picture">
      <button class="quiet" aria-pressed={paletteOpen.value} onClick={() => (paletteOpen.value = !paletteOpen.value)} title="Boxes to put on wires">
        <Icon name="plus" /> Boxes
      </button>
      <Names />
      <Segments label="View" all={VIEWS.filter(([v]) => v === l.view || viewsHere().includes(v))} now={l.view} set={(v) => (look.value = { ...l, view: v })} />
      {hasLevels(l.view) && <Segments label="Level" all={LEVELS} now={l.level} set={(v) => (look.value = { ...l, level: v, open: [], close: [] })} />}
      <button class="quiet" aria-pressed={l.cost} onClick={() => (look.value = { ...l, cost: !l.cost })} title="What each box costs">
        Cost
      </button>
    </div>
  );
}

function Zoom() {
  return (
    <div class="zoom" role="group" aria-label="Size">
      {look.value.open.length > 0 && (
        <button class="quiet" onClick={() => (look.value = { ...look.value, open: [] })}>
          Close all
        </button>
      )}
      <IconButton name="minus" label="Smaller" hint="-" onClick={() => view?.viewport.zoom(0.8)} />
      <button class="percent" title="Fit into the pane (0)" aria-label={`Fit; now ${Math.round(zoomed.value * 100)} %`} onClick={() => view?.viewport.fit()}>
        {Math.round(zoomed.value * 100)}&thinsp;%
      </button>
      <IconButton name="plus" label="Larger" hint="+" onClick={() => view?.viewport.zoom(1.25)} />
      <IconButton name="fit" label="Fit" hint="0" onClick={() => view?.viewport.fit()} />
      <button
        class="icon-button"
        aria-label="Save the picture"
        title="Save the picture as svg, pdf, png, tex"
        onClick={(e) => {
          const r = (e.currentTarget as HTMLElement).getBoundingClientRect();
          exportMenu({ x: r.left, y: r.top - 190 });
        }}
      >
        <Icon name="out" />
      </button>
    </div>
  );
}

export function PicturePane() {
  const frame = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => {
    view = new PictureView(frame.current!, sheet.current!);
  }, []);
  const picture = drawn.value;
  return (
    <section class="pane picture-pane" aria-label="Picture">
      <Bar />
      <div class="picture-body">
        {paletteOpen.value && <Palette />}
        <div class={`frame${drawFault.value ? " stale" : ""}${wanted.value ? " wanting" : ""}`} ref={frame}>
          <div class="sheet" ref={sheet} />
          {!picture && drawFault.value && <Empty />}
        </div>
        <Zoom />
        {picture?.cost && look.value.cost && <Cost of={picture.cost} />}
        {picture && !picture.cost && look.value.cost && <p class="cost none">What it costs is known of one learner or box: choose it above.</p>}
        {wanted.value && (
          <div class="wanted" role="status">
            {wanted.value.words}
            <button onClick={() => (wanted.value = null)}>Cancel</button>
          </div>
        )}
        {drawFault.value && !wanted.value && picture && (
          <div class="fault" role="status">
            {drawFault.value}
          </div>
        )}
      </div>
      <div class="hidden" id="picture-words" aria-live="polite">
        {picture?.text}
      </div>
    </section>
  );
}

/** Operations and numbers kept, as polynomials in the axes whose sizes are open. */
function Cost({ of }: { of: unknown }) {
  const cost = ((of as any).cost ?? of) as Record<string, Record<string, string | number>>;
  const ways = (["forward", "reverse"] as const).filter((w) => cost[w]);
  if (!ways.length) return null;
  return (
    <table class="cost">
      <thead>
        <tr>
          <th />
          {ways.map((w) => (
            <th key={w} scope="col">
              {w}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.keys(cost[ways[0]]).map((row) => (
          <tr key={row}>
            <th scope="row">{row}</th>
            {ways.map((w) => (
              <td key={w}>{String(cost[w][row]).replace(/\*/g, "·")}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where limn has answered that there is nothing to draw: while it has not answered, the sheet is empty, and says nothing. */
function Empty() {
  const other = look.value.view !== "plain" || look.value.name !== null;
  if (pictures.value.length && (other || messages.value.some((m) => m.severity === 1)))
    return (
      <div class="empty">
        <p role="status">{drawFault.value}</p>
        {other && (
          <button class="primary" onClick={() => (look.value = plainLook)}>
            Diagram
          </button>
        )}
      </div>
    );
  return (
    <div class="empty">
      <p>Nothing is drawn yet.</p>
      <p class="soft">Write on the left, or put a first thing on the sheet:</p>
      <button class="primary" onClick={() => (paletteOpen.value = true)}>
        Boxes
      </button>
    </div>
  );
}
