// What is dropped on the page: an ONNX file becomes a program beside it, a program is opened, a table lies in the folder. A folder
// that a run has left is taken file by file.

import { host } from "./client";
import { openProgramOf, selectRun } from "./runs/control";
import { drawer, runs, say, sayFault } from "./state";
import { openPath, refreshFiles, refreshRuns } from "./workbench";

const MOST = 64 * 1024 * 1024;

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

async function upload(file: File, name: string): Promise<string | null> {
  if (file.size > MOST) {
    say(`${name} has more than 64 MB; put it into the folder yourself.`, "fault");
    return null;
  }
  const { path } = await host<{ path: string }>("upload", { name, data: await base64(file) });
  return path;
}

interface Dropped {
  file: File;
  name: string;
}

/** A folder with a run.json is a run: it goes where runs are, under a name that is free. Its lock stays behind. */
function placeRuns(list: Dropped[]): { list: Dropped[]; run: string | null } {
  const folder = list.map((d) => /^(?:.*\/)?([^/]+)\/run\.json$/.exec(d.name)?.[1]).find(Boolean);
  if (!folder) return { list, run: null };
  let run = `runs/${folder}`;
  for (let i = 2; runs.value.some((r) => r.run === run); i++) run = `runs/${folder}.${i}`;
  const inside = new RegExp(`^(?:.*/)?${folder.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}/`);
  const placed = list.filter((d) => !/(^|\/)lock$/.test(d.name)).map((d) => ({ file: d.file, name: d.name.replace(inside, `${run}/`) }));
  return { list: placed, run };
}

export async function takeFiles(dropped: Dropped[]): Promise<void> {
  const { list, run } = placeRuns(dropped);
  let program: string | null = null;
  const paths: string[] = [];
  try {
    for (const { file, name } of list) {
      const path = await upload(file, name);
      if (path) paths.push(path);
      if (path?.endsWith(".limn") && !(program && name.includes("/"))) program = path;
    }
    await Promise.all([refreshFiles(), refreshRuns()]);
    if (run) {
      const made = runs.value.find((r) => r.run === run);
      if (made) await openProgramOf(made);
      selectRun(run);
      drawer.value = "runs";
    } else if (program) await openPath(program);
    else if (paths.length === 1) say(paths[0].endsWith(list[0].name) ? `${paths[0]} is in the folder now.` : `There is another ${list[0].name}: this one is in the folder as ${paths[0]}.`);
    else if (paths.length) say(`In the folder now: ${paths.join(", ")}.`);
  } catch (e) {
    sayFault(e);
  }
}

/** The files below what was dropped, with their paths. */
async function walk(entry: any, before = ""): Promise<{ file: File; name: string }[]> {
  if (entry.isFile) return [{ file: await new Promise<File>((done, no) => entry.file(done, no)), name: before + entry.name }];
  const reader = entry.createReader();
  const all: { file: File; name: string }[] = [];
  for (;;) {
    const some: any[] = await new Promise((done, no) => reader.readEntries(done, no));
    if (!some.length) return all;
    for (const e of some) all.push(...(await walk(e, `${before}${entry.name}/`)));
  }
}

export function chooseUpload(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.onchange = () => void takeFiles([...(input.files ?? [])].map((file) => ({ file, name: file.name })));
  input.click();
}

export function startDrop(): void {
  const page = document.documentElement;
  const isFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (e) => {
    if (!isFiles(e)) return;
    e.preventDefault();
    page.classList.add("dropping");
  });
  addEventListener("dragleave", (e) => e.relatedTarget === null && page.classList.remove("dropping"));
  addEventListener("drop", (e) => {
    page.classList.remove("dropping");
    if (!isFiles(e)) return;
    e.preventDefault();
    const entries = [...e.dataTransfer!.items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...e.dataTransfer!.files].map((file) => ({ file, name: file.name }));
    void (entries.length ? Promise.all(entries.map((x) => walk(x))).then((l) => l.flat()) : Promise.resolve(plain)).then(takeFiles);
  });
}
