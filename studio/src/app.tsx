// The whole page: a bar above, panes beside each other where there is room and one at a time where there is not.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { openDrawer, toggleSide } from "./commands";
import { Learn } from "./learn/learn";
import { PicturePane } from "./picture/pane";
import { isOfMachines, startTraining, trainable } from "./runs/control";
import { Runs } from "./runs/runs";
import { Side } from "./side";
import { awayWhy, commandsOpen, drawer, pane, path, reachable, runs, saved, sideOpen, toast, type Drawer, type Pane } from "./state";
import { TextPane } from "./textpane";
import { otherTheme, theme } from "./theme";
import { Commands } from "./ui/commands";
import { TwoTexts } from "./ui/conflict";
import { Icon, IconButton } from "./ui/icons";
import { Menu } from "./ui/menu";
import { Prompt } from "./ui/prompt";
import { makeEditor } from "./workbench";

const SAVED: Record<string, string> = { saved: "saved", saving: "saving …", unsaved: "…", conflict: "changed elsewhere", away: "kept in this page", gone: "removed by another program; Ctrl+S writes it again", refused: "not saved; kept in this page" };

const DRAWERS: [Drawer, string, string][] = [
  ["runs", "Runs", "curve"],
  ["play", "Play", "dice"],
  ["learn", "Learn", "learn"],
];

function Top() {
  const going = runs.value.filter((r) => r.state === "running").length;
  return (
    <header class="top">
      <IconButton name="side" label="Files" hint="Ctrl+B" pressed={sideOpen.value} onClick={toggleSide} />
      <span class="mark">limn</span>
      <span class="where">
        <span class="file">{path.value ?? ""}</span>
        <span class={`saved ${saved.value}`} role="status">
          {reachable.value ? SAVED[saved.value] : awayWhy.value || "limn is away; your text is kept here"}
        </span>
      </span>
      <span class="space" />
      <nav class="tabs" aria-label="Drawer">
        {DRAWERS.map(([d, label, icon]) => (
          <button key={d} class="quiet" aria-pressed={drawer.value === d} onClick={() => openDrawer(d)}>
            <Icon name={icon} />
            {label}
            {d === "runs" && going > 0 && <span class="count">{going}</span>}
          </button>
        ))}
      </nav>
      <button class="primary train" disabled={!trainable()} title="Train or run this program (Ctrl+Enter)" onClick={() => void startTraining()}>
        <Icon name="play" />
        {isOfMachines() ? "Run" : "Train"}
      </button>
      <IconButton name="search" label="Commands" hint="Ctrl+K" onClick={() => (commandsOpen.value = true)} />
      <IconButton name={theme() === "dark" ? "sun" : "moon"} label={theme() === "dark" ? "Light" : "Dark"} onClick={otherTheme} />
    </header>
  );
}

function Bottom() {
  const item = (label: string, icon: string, on: boolean, go: () => void) => (
    <button aria-current={on ? "page" : undefined} onClick={go}>
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );
  const to = (p: Pane) => () => (pane.value = p);
  const at = (d: Drawer) => pane.value === "drawer" && drawer.value === d;
  const open = (d: Drawer) => () => {
    drawer.value = d;
    pane.value = "drawer";
  };
  return (
    <nav class="bottom" aria-label="Panes">
      {item("Text", "text", pane.value === "text", to("text"))}
      {item("Picture", "picture", pane.value === "picture", to("picture"))}
      {DRAWERS.map(([d, label, icon]) => item(label, icon, at(d), open(d)))}
    </nav>
  );
}

/** Fetched when it is first opened; while limn is away it is asked for again by closing and opening it. */
function Play() {
  const [inside, setInside] = useState<{ play?: ComponentType; fault?: string }>({});
  useEffect(() => void import("./play/play").then((m) => setInside({ play: m.Play }), () => setInside({ fault: "This part of the page could not be fetched: limn does not answer." })), []);
  return inside.play ? <inside.play /> : <p class="soft">{inside.fault}</p>;
}

function DrawerPane() {
  const d = drawer.value;
  if (!d) return null;
  return (
    <section class="pane drawer" aria-label={DRAWERS.find((x) => x[0] === d)![1]}>
      <div class="drawer-head">
        <h2>{DRAWERS.find((x) => x[0] === d)![1]}</h2>
        <IconButton
          name="close"
          label="Close"
          onClick={() => {
            drawer.value = null;
            if (pane.value === "drawer") pane.value = "picture";
          }}
        />
      </div>
      <div class="drawer-body">{d === "runs" ? <Runs /> : d === "play" ? <Play /> : <Learn />}</div>
    </section>
  );
}

function ToastLine() {
  const t = toast.value;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {t && (
        <div class={`toast ${t.kind}`}>
          <span>{t.text}</span>
          {t.action && (
            <button
              onClick={() => {
                t.action!.run();
                toast.value = null;
              }}
            >
              {t.action.label}
            </button>
          )}
          <IconButton name="close" label="Dismiss" onClick={() => (toast.value = null)} />
        </div>
      )}
    </div>
  );
}

export function App({ ready }: { ready: () => void }) {
  const home = useRef<HTMLDivElement>(null);
  useEffect(() => {
    makeEditor(home.current!);
    ready();
  }, []);
  return (
    <>
      <Top />
      <main class="panes" data-pane={pane.value} data-drawer={drawer.value ?? "none"} data-side={sideOpen.value ? "open" : "closed"}>
        <Side />
        <TextPane home={home} />
        <PicturePane />
        <DrawerPane />
      </main>
      <Bottom />
      <Menu />
      <Prompt />
      <Commands />
      <TwoTexts />
      <ToastLine />
    </>
  );
}
