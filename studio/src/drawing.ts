// The picture follows the text: asked for with each change, one question at a time. While one is answered, further changes wait
// together, so that a slow machine draws less often and never falls behind.

import { effect } from "@preact/signals";
import { ask } from "./client";
import { Away } from "./connection";
import type { Picture, View } from "./protocol";
import { drawFault, drawn, look, path, picturedKind, pictures } from "./state";

let busy = false;
let again = false;
let width = 900;
/** What is in the picture, and how it is looked at. */
let shown = "";
/** What was last asked for: the same is not drawn twice. */
let asked = { version: -1, how: "" };
let versionNow = (): number => 0;
export function countVersions(now: () => number): void {
  versionNow = now;
}

/** What the picture pane can show without being zoomed out; wider pictures are broken into rows. */
export function paneWidth(pixels: number): void {
  const wanted = Math.max(400, Math.round(pixels / 80) * 80);
  if (wanted === width) return;
  width = wanted;
  redraw();
}

/** As the protocol says, the goals have no name; a program without goals has something else to show first. */
function nameToDraw(): string | null {
  const known = pictures.value;
  const { name } = look.value;
  if (name !== null && (!known.length || known.some((p) => p.name === name))) return name;
  const first = known[0];
  return !first || first.kind === "goals" ? null : first.name;
}

/** Which views can be opened further; the others show all there is. */
export const hasLevels = (view: View): boolean => view === "plain" || view === "lens";
export const canOpen = (view: View): boolean => hasLevels(view) || view === "grad";

export const lookParams = () => {
  const l = look.value;
  return {
    name: nameToDraw(),
    view: l.view,
    width,
    ...(hasLevels(l.view) && l.level !== "model" ? { level: l.level } : {}),
    ...(canOpen(l.view) && l.open.length ? { open: l.open } : {}),
    ...(canOpen(l.view) && l.close.length ? { close: l.close } : {}),
    ...(l.cost ? { cost: true } : {}),
  };
};

const subject = ({ name, view }: ReturnType<typeof lookParams>) => `${view} ${name ?? ""}`;

/** The views that limn has of what is in the picture. */
export function viewsHere(): View[] {
  const kind = picturedKind();
  const wired = kind === "machine" || kind === "wiring";
  return ["plain", "lens", ...(kind !== "goals" ? ["grad" as const] : []), "who", ...(wired ? ["unfold" as const] : [])];
}

async function drawOnce(): Promise<void> {
  if (!path.value) return;
  const file = path.value;
  const how = lookParams();
  asked = { version: versionNow(), how: JSON.stringify(how) };
  try {
    const picture = await ask<Picture>("limn/picture", { ...how, theme: "auto", as: "svg" });
    if (file !== path.value) return;
    drawn.value = picture;
    drawFault.value = null;
    shown = subject(how);
  } catch (e) {
    if (file !== path.value || e instanceof Away) return;
    drawFault.value = (e as Error).message;
    if (shown !== subject(how)) drawn.value = null; // a picture of something else is none of this
  }
}

export function redraw(): void {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  void drawOnce().finally(() => {
    busy = false;
    if (!again) return;
    again = false;
    redraw();
  });
}

/** Draws unless this version of the text is drawn already, or on its way, and as it should be. */
export function redrawFor(version: number): void {
  if (asked.version < version || asked.how !== JSON.stringify(lookParams())) redraw();
}

/** The picture follows what it is asked to be, too. */
export function startDrawing(): void {
  let first = true;
  effect(() => {
    void look.value;
    void pictures.value;
    if (!first) redrawFor(versionNow());
    first = false;
  });
}
