// Files and runs of the folder, and what can be dropped here.

import { useEffect } from "preact/hooks";
import { askNewProgram, openDrawer } from "./commands";
import { about, drawer, files, isNarrow, pane, path, runs, sideOpen } from "./state";
import { Icon } from "./ui/icons";
import { openPath, refreshFiles, refreshRuns } from "./workbench";
import { chooseUpload } from "./drop";
import { selectRun } from "./runs/control";

const LOOK_MS = 3000;
const KINDS: [string, string][] = [
  ["program", "Programs"],
  ["model", "Models"],
  ["data", "Data"],
];

function open(p: string): void {
  void openPath(p);
  if (isNarrow()) pane.value = "text";
}

export function Side() {
  const seen = sideOpen.value || pane.value === "files";
  // Others put files into the folder, too: they are looked for as long as somebody looks at the list.
  useEffect(() => {
    if (!seen) return;
    const look = () => document.visibilityState === "visible" && void (refreshFiles(), refreshRuns());
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [seen]);
  const all = files.value;
  return (
    <aside class="pane side" aria-label="Files">
      <div class="side-head">
        <span class="folder" title={about.value?.folder}>
          {(about.value?.folder ?? "").replace(/.*\/(?=.)/, "")}
        </span>
        <button class="quiet" onClick={() => void askNewProgram()}>
          <Icon name="plus" /> New
        </button>
      </div>
      <div class="side-body">
        {KINDS.map(([kind, title]) => {
          const some = all.filter((f) => f.kind === kind);
          if (!some.length) return null;
          return (
            <section key={kind}>
              <h3>{title}</h3>
              <ul>
                {some.map((f) => (
                  <li key={f.path}>
                    <button aria-current={f.path === path.value ? "true" : undefined} disabled={kind !== "program"} onClick={() => open(f.path)}>
                      {f.path}
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
        <section>
          <h3>Runs</h3>
          <ul>
            {runs.value.map((r) => (
              <li key={r.run}>
                <button
                  onClick={() => {
                    selectRun(r.run);
                    if (drawer.value !== "runs") openDrawer("runs");
                  }}
                >
                  {r.run.replace(/^runs\//, "")} <small>{r.state}</small>
                </button>
              </li>
            ))}
            {!runs.value.length && <li class="soft small">None yet.</li>}
          </ul>
        </section>
        <p class="soft small">
          Drop an ONNX file, a table or a program anywhere on this page, or{" "}
          <button class="link" onClick={chooseUpload}>
            choose one
          </button>
          .
        </p>
      </div>
    </aside>
  );
}
