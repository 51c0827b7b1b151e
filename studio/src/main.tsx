// The page begins here.

import { render } from "preact";
import { App } from "./app";
import { connect, connection } from "./client";
import { globalKeys } from "./commands";
import { startDrawing } from "./drawing";
import { startDrop } from "./drop";
import { dropSavedDrafts } from "./drafts";
import { HttpConnection } from "./http";
import { WorkerConnection } from "./playground_line";
import { releaseOldDrawings } from "./release";
import { startRuns } from "./runs/control";
import { about, awayWhy, drawer, gestured, reachable, say, sayFault } from "./state";
import "./style/page.css";
import { startTheme } from "./theme";
import { introduce, listen, openAddress, openBlank, openFirst, refreshFiles, refreshRuns, saver } from "./workbench";

/** A browser keeps texts for an address: at the same port they are found again. */
function awayWords(): string {
  const words = "limn does not answer. You can go on writing: your text is kept in this browser";
  return location.port ? `${words}, and offered when \`limn studio --port ${location.port}\` serves ${about.value?.folder || "this folder"} again.` : `${words}.`;
}

async function begin(): Promise<void> {
  const line = connection();
  line.onOpen(introduce);
  line.onReach((there, why = "") => {
    if (!there && why ? why !== awayWhy.value : !there && reachable.value) say(why || awayWords(), "fault");
    awayWhy.value = there ? "" : why;
    reachable.value = there;
  });
  listen();
  await line.open();
  startDrawing();
  startRuns();
  startDrop();
  await Promise.all([refreshFiles(), refreshRuns()]);
  if (!(await openAddress()) && !(await openFirst())) {
    openBlank("sheet.limn");
    drawer.value = "learn";
  }
}

connect(document.documentElement.dataset.home === "playground" ? new WorkerConnection("worker.js", { wasm: "limn.wasm.gz", files: "files.json" }) : new HttpConnection());
startTheme();
addEventListener("keydown", globalKeys, { capture: true });
addEventListener("input", () => (gestured.value = false), { capture: true });
addEventListener("popstate", () => void openAddress());
addEventListener("storage", dropSavedDrafts);
addEventListener("pagehide", () => void (saver?.pending && saver.write()));
releaseOldDrawings();
const home = document.getElementById("page")!;
home.replaceChildren(); // what was painted while this was on its way
render(<App ready={() => void begin().catch(sayFault)} />, home);
