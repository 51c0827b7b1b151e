// How fast the page is: make bench-studio. From a key to the new picture, in programs of 30, 300 and 3000 lines; the first paint;
// frames while a picture of 2 000 marks is dragged; and, with MINUTES=60, what memory a robot leaves that writes and takes back.

import { readFileSync } from "node:fs";
import { folder, launch, open, studio } from "./help.mjs";

const PRELUDE = "given x, kind from iris\n\nlearn guess : R[4] -> R[3] = dense[16] ; tanh ; dense[3]\n\ngoal fit : guess(x) ~ kind   by cross_entropy\n\n";
const program = (lines) => PRELUDE + Array.from({ length: Math.max(1, lines - 7) }, (_, i) => `box f${i}(x: R[4]) -> R[4] = tanh(${i + 1} * x) + relu(x)`).join("\n") + "\n# ";

/** A box in whose picture are about n marks: lines and words. */
const marksProgram = (n) => {
  const lines = Array.from({ length: Math.ceil(n / 13.7) }, (_, i) => `  y${i + 1} = tanh(y${i}) + relu(y${i})`);
  return `box many(y0: R[4]) -> R[4] {\n${lines.join("\n")}\n  return y${lines.length}\n}\n`;
};

/** Seconds that a process has computed; on a busy machine the only thing that is not chance. NaN where there is no /proc. */
function computed(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const ms = (v) => v.toFixed(v < 10 ? 1 : 0).padStart(5);

async function keys(browser, lines) {
  const f = folder({ "a.limn": program(lines) });
  const s = await studio(f.dir);
  const page = await open(browser, s.url);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.waitForTimeout(800);
  await page.evaluate(() => {
    window.times = [];
    addEventListener("keydown", () => (window.pressed = performance.now()), { capture: true });
    new MutationObserver(() => window.pressed && (window.times.push(performance.now() - window.pressed), (window.pressed = 0))).observe(document.querySelector(".sheet"), { childList: true });
  });
  const before = computed(s.child.pid);
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("abcdefghij"[i % 10]);
    await page.waitForFunction((n) => window.times.length > n, i, { timeout: 20000, polling: 20 }).catch(() => {});
  }
  const each = ((computed(s.child.pid) - before) * 1000) / 40;
  const times = await page.evaluate(() => window.times);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-paint")[0]?.startTime ?? 0);
  console.log(`${String(lines).padStart(5)} lines: key to picture ${ms(quantile(times, 0.5))} ms, 95 % ${ms(quantile(times, 0.95))} ms (${times.length} keys, limn computes ${ms(each)} ms for each); first paint ${ms(paint)} ms`);
  await page.context().close();
  await s.end();
  f.drop();
}

async function frames(browser, n) {
  const f = folder({ "a.limn": marksProgram(n) });
  const s = await studio(f.dir);
  const page = await open(browser, s.url);
  await page.waitForSelector(".sheet svg", { timeout: 60000 });
  await page.waitForTimeout(500);
  const marks = await page.locator(".sheet svg > g path:not(.reach), .sheet svg g[aria-label][class^=ink]").count();
  const box = await page.locator(".frame").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.evaluate(() => {
    window.frames = [];
    let last = performance.now();
    const each = (t) => (window.frames.push(t - last), (last = t), requestAnimationFrame(each));
    requestAnimationFrame(each);
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(() => (window.frames.length = 0));
  for (let i = 0; i < 120; i++) {
    await page.mouse.move(x + 120 * Math.sin(i / 9), y + 60 * Math.cos(i / 7));
  }
  const times = await page.evaluate(() => window.frames.slice());
  await page.mouse.up();
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  console.log(`dragging ${marks} marks: ${(1000 / mean).toFixed(0)} frames a second, the longest ${ms(Math.max(...times))} ms, 95 % ${ms(quantile(times, 0.95))} ms (${times.length} frames)`);
  await page.context().close();
  await s.end();
  f.drop();
}

/** Resident memory of a process in MB; NaN where there is no /proc. */
function resident(pid) {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    return NaN;
  }
}

/** A robot that writes and takes back, draws and undoes, and looks at one picture after the other; twelve times it says what memory there is. */
async function robot(browser, minutes) {
  const text = program(300);
  const f = folder({ "a.limn": text });
  const s = await studio(f.dir);
  const page = await open(browser, s.url);
  page.setDefaultTimeout(60000);
  const session = await page.context().newCDPSession(page);
  const memory = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const heap = (await session.send("Runtime.getHeapUsage")).usedSize / 1e6;
    return `${heap.toFixed(1)} MB in the page, ${resident(s.child.pid).toFixed(1)} MB in limn`;
  };
  const rounds = [
    async () => {
      await page.locator(".cm-content").click();
      await page.keyboard.press("Control+End");
      await page.keyboard.type("\nbox more(x: R[4]) -> R[4] = relu(x)", { delay: 8 });
      for (let i = 0; i < 36; i++) await page.keyboard.press("Backspace");
      return 72;
    },
    async () => {
      await page.locator(".chooser select").first().selectOption("guess");
      const tanh = page.locator('.sheet g[data-box="tanh"]').first();
      await tanh.waitFor();
      await tanh.focus();
      await page.keyboard.press("ContextMenu");
      await page.getByRole("menuitem", { name: "Take it away" }).click();
      await page.waitForFunction(() => !document.querySelector('.sheet g[data-box="tanh"]'));
      await page.keyboard.press("Control+z");
      await tanh.waitFor();
      return 2;
    },
    async () => {
      for (const view of ["Lens", "Gradient", "Diagram"]) {
        await page.getByRole("button", { name: view, exact: true }).click();
        await page.getByRole("button", { name: view, exact: true, pressed: true }).waitFor();
        await page.waitForTimeout(200);
      }
      return 3;
    },
  ];
  const [begin, all] = [Date.now(), minutes * 60000];
  let done = 0;
  for (let part = 0; part <= 12; part++) {
    for (let i = 0; Date.now() < begin + (all * part) / 12; i++) done += await rounds[i % rounds.length]();
    console.log(`a robot after ${((minutes * part) / 12).toFixed(0)} minutes, ${done} keys and clicks: ${await memory()}`);
  }
  if (f.read("a.limn") !== text) throw new Error("the robot took everything back, and the file is another one");
  await page.context().close();
  await s.end();
  f.drop();
}

const browser = await launch();
for (const lines of (process.env.LINES ?? "30 300 3000").split(" ").map(Number)) await keys(browser, lines);
for (const n of (process.env.MARKS ?? "200 2000").split(" ").map(Number)) await frames(browser, n);
if (process.env.MINUTES) await robot(browser, Number(process.env.MINUTES));
await browser.close();
