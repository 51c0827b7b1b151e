// What the browser tests share: a studio of their own on a folder of their own, a browser, and verdicts.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname ?? ".", "../..");
export const limn = process.env.LIMN ?? join(root, "build/limn");

export function findChromium() {
  for (const dir of (process.env.PATH ?? "").split(delimiter))
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) if (existsSync(join(dir, name))) return join(dir, name);
  return null;
}

/** A folder with these programs; names of examples are copied. */
export function folder(files) {
  const dir = mkdtempSync(join(tmpdir(), "limn-page-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, ".."), { recursive: true });
    if (text === null) cpSync(join(root, "examples", name), join(dir, name));
    else writeFileSync(join(dir, name), text);
  }
  return { dir, read: (name) => readFileSync(join(dir, name), "utf8"), has: (name) => existsSync(join(dir, name)), write: (name, text) => writeFileSync(join(dir, name), text), drop: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}

/** `limn studio` on a folder or file; the address it prints, and how to end it. */
export function studio(path, port = 0) {
  const child = spawn(limn, ["studio", path, "--no-browser", ...(port ? ["--port", String(port)] : [])], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, fail) => {
    let said = "";
    child.stdout.on("data", (bytes) => {
      said += bytes;
      const m = /http:\/\/\S+/.exec(said);
      if (m) done({ url: m[0], child, end: (signal = "SIGTERM") => new Promise((ended) => (child.exitCode !== null || child.signalCode ? ended() : (child.once("exit", ended), child.kill(signal)))) });
    });
    child.once("exit", () => fail(new Error(`limn studio ended: ${said}`)));
  });
}

export async function launch() {
  const { chromium } = await import(join(root, "studio/node_modules/playwright-core/index.mjs"));
  return chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/** What pages are opened at, where a test does not say it. */
export const screen = { width: 1400, height: 860, theme: "light" };
/** On a narrow screen one pane is seen at a time. */
export const toPicture = (page) => page.keyboard.press("Alt+2");

/** A page at an address; what it complains of is collected. */
export async function open(browser, url, { width = screen.width, height = screen.height, theme = screen.theme, motion = "reduce" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: motion, acceptDownloads: true });
  const page = await context.newPage();
  page.complaints = [];
  page.foreign = [];
  page.on("pageerror", (e) => page.complaints.push(e.message));
  page.on("console", (m) => m.type() === "error" && page.complaints.push(m.text()));
  page.on("request", (r) => !r.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(r.url()) && page.foreign.push(r.url()));
  page.setDefaultTimeout(8000);
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector(".where .file").textContent);
  await page.waitForFunction(() => document.querySelector(".sheet svg") || document.querySelector(".fault") || document.querySelector(".empty .primary"), null, { timeout: 60000 });
  return page;
}

/** The text as it stands in the editor, without messages. */
export const textOf = (page) =>
  page.evaluate(() => {
    const lines = document.querySelector(".editor").shadowRoot.querySelectorAll(".cm-line");
    return [...lines]
      .map((l) => {
        const copy = l.cloneNode(true);
        for (const e of copy.querySelectorAll(".cm-inline-message")) e.remove();
        return copy.textContent;
      })
      .join("\n");
  });
export const caretToEnd = async (page) => {
  await page.keyboard.press("Alt+1");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
};
export const saved = (page) => page.waitForFunction(() => document.querySelector(".saved")?.textContent === "saved");

let failed = 0;
export async function check(name, run) {
  const begun = Date.now();
  try {
    await run();
    console.log(`ok studio_page ${name}, ${Date.now() - begun} ms`);
  } catch (e) {
    failed++;
    console.log(String(e.stack ?? e).split("\n").slice(0, 12).join("\n"));
    console.log(`not ok studio_page ${name}`);
  }
}
export const failures = () => failed;

export function must(what, words) {
  if (!what) throw new Error(words);
}
/** Waits until a question is answered by yes; `how`: for so many milliseconds, or what is there instead. */
export async function until(words, question, how = 8000) {
  const end = Date.now() + (typeof how === "number" ? how : 8000);
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`never came: ${words}${typeof how === "function" ? `; but ${await how()}` : ""}`);
    await new Promise((done) => setTimeout(done, 40));
  }
}
