// The playground: the page with limn inside of it, from a server of files. What one does first there: train, play, share by a link.

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { dragStart, openGame, openMachine, openPlay, slide } from "./acts.mjs";
import { caretToEnd, must, open, root, saved, textOf, until } from "./help.mjs";

const folder = process.env.PLAYGROUND ?? join(root, "build/playground");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };

/** A server of files that knows nothing of limn. */
async function serve() {
  const server = createServer((ask, answer) => {
    const file = join(folder, new URL(ask.url, "http://a").pathname.replace(/\/$/, "/index.html").replace("manual", "none"));
    if (!existsSync(file)) return void answer.writeHead(404).end();
    answer.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(answer);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, end: () => (server.closeAllConnections(), server.close()) };
}

async function visiting(browser, run, after = "") {
  const s = await serve();
  try {
    const page = await open(browser, s.url + after);
    await run(page, s);
    must(!page.complaints.length, `the browser complains: ${page.complaints.join("; ")}`);
    must(!page.foreign.length, `the page asks elsewhere: ${page.foreign.join()}`);
    await page.context().close();
  } finally {
    s.end();
  }
}

async function example(page, name, word) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "What would" }).fill(`example: ${name}`);
  await page.getByRole("option", { name: `Example: ${name}`, exact: true }).click();
  await until(name, async () => (await textOf(page)).includes(word));
}

/** A run to its end, and what the list of runs says then. */
async function trainedHere(page, epochs) {
  await page.keyboard.press("Alt+3");
  await page.getByLabel("Epochs", { exact: true }).fill(String(epochs));
  await page.locator(".options button").click();
  await until("it is trained", async () => /finished/.test(await page.locator(".run-list").innerText()), 120000);
  await until("its curve", () => page.locator(".curve canvas").count());
}

async function iris(browser) {
  await visiting(browser, async (page) => {
    must((await page.locator(".where .file").innerText()) === "iris.limn", "iris is what one sees first");
    await trainedHere(page, 10);
    must(/(\d+) of \1 steps/.test(await page.locator(".run-list").innerText()), await page.locator(".run-list").innerText());
    // What the playground has not is said.
    const words = await page.locator(".runs").innerText();
    must(/they go when it is closed or loaded again/.test(words) && /What this program shows is not drawn here/.test(words), words);
    // A program with errors is not trained; its messages are shown.
    await caretToEnd(page);
    await page.keyboard.type("goal bad : guess(y) ~ kind");
    await page.locator("button.train").click();
    await until("the messages", async () => /`y`/.test((await page.locator(".messages ul").allInnerTexts()).join()));
    must((await page.locator(".run").count()) === 1, "and nothing is begun");
  });
}

async function moons(browser) {
  await visiting(browser, async (page) => {
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText("given x, kind from moons\nlearn guess : R[2] -> R[2] = dense[16] ; tanh ; dense[2]\ngoal fit : guess(x) ~ kind by cross_entropy\nmeasure fit by hits on moons.test\ntrain 5 epochs, batch 32, adam(0.01)\n");
    await saved(page);
    await trainedHere(page, 5);
  });
}

/** Faces are drawn, learned from for one epoch, and one of them smiles by a slider. */
async function lens(browser) {
  await visiting(browser, async (page) => {
    await example(page, "lens", "space Smile");
    await openPlay(page);
    await page.getByLabel("Which box").selectOption("put");
    await until("a sheet", () => page.getByRole("button", { name: "A sample" }).count(), 20000);
    const pixels = (n) => page.locator(".numbers-picture").nth(n).evaluate((c) => c.toDataURL());
    const empty = await pixels(0);
    await page.getByRole("button", { name: "A sample" }).first().click();
    await until("a face", async () => (await pixels(0)) !== empty, 20000);
    await until("what is made of it", async () => (await page.locator(".numbers-picture").count()) === 2);
    await page.waitForTimeout(300);
    const before = await pixels(1);
    const smile = page.locator(".sliders .slider input").first();
    await smile.fill(await smile.getAttribute((await smile.inputValue()) === (await smile.getAttribute("max")) ? "min" : "max"));
    await until("it follows the slider", async () => (await pixels(1)) !== before);
    await page.keyboard.press("Alt+3");
    await page.locator(".options button").click();
    const list = page.locator(".run-list");
    await until("steps of training", async () => /[1-9]\d* of \d+ steps/.test(await list.innerText()), 60000);
    await page.getByRole("button", { name: /^Pause/ }).click();
    await until("paused", () => page.getByRole("button", { name: /^Resume/ }).count(), 20000);
    await page.getByRole("button", { name: /^Resume/ }).click();
    await until("it goes on", () => page.getByRole("button", { name: /^Stop/ }).count());
    await page.getByRole("button", { name: /^Stop/ }).click();
    await until("stopped", async () => /stopped/.test(await list.innerText()), 20000);
  });
}

async function game(browser) {
  await visiting(browser, async (page) => {
    await example(page, "nash", "simplex");
    await openGame(page);
    const start = page.getByRole("slider", { name: "Start of p" });
    const before = await start.getAttribute("aria-valuetext");
    await dragStart(page);
    await until("it moves", async () => (await start.getAttribute("aria-valuetext")) !== before);
    await page.locator(".game").getByRole("button", { name: "Play" }).click();
    await until("paths of all players", async () => (await page.locator(".simplex .way").count()) === 2);
    await until("many steps", async () => ((await page.locator(".simplex .way").first().getAttribute("d")).match(/L/g) ?? []).length > 20, 20000);
  });
}

/** A small model of letters is trained on a text that lies beside it, and says which letters one looks at. */
async function letters(browser) {
  await visiting(browser, async (page) => {
    await example(page, "letters", "sonnet.txt");
    await trainedHere(page, 20);
    const row = await page.locator(".run-list").innerText();
    must(/(\d+) of \1 steps/.test(row), row);
    await openPlay(page);
    await until("letters to point at", async () => (await page.locator(".letter").count()) > 2, 30000);
    await page.locator(".letter").nth(0).hover();
    await until("the first looks at itself alone", async () => /100 %/.test(await page.locator(".letter").nth(0).getAttribute("aria-label")));
  });
}

async function machine(browser) {
  await visiting(browser, async (page) => {
    await example(page, "lorenz", "machine");
    await openMachine(page);
    const picture = () => page.locator("canvas.phase").evaluate((c) => c.toDataURL());
    const before = await picture();
    await slide(page, "rho", "ArrowLeft", 3);
    await until("it follows", async () => (await picture()) !== before, 20000);
  });
}

/** A program that was changed is in the address: the link opens it elsewhere, and a broken link says what it is. */
async function link(browser) {
  await visiting(browser, async (page, s) => {
    const mine = "box mine(x: R[3]) -> R[3] = tanh(x) # ä → β\n";
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(mine);
    await saved(page);
    await until("the address has it", () => page.url().startsWith(`${s.url}#iris.limn:`));
    const fresh = page.url();
    await caretToEnd(page);
    await page.keyboard.insertText("box more(x: R[3]) -> R[3] = mine(x)\n");
    await until("and follows it", () => page.url() !== fresh);
    await saved(page);
    await page.waitForTimeout(100);
    const there = await open(browser, page.url());
    must((await textOf(there)) === `${mine}box more(x: R[3]) -> R[3] = mine(x)\n`, await textOf(there));
    must((await there.locator(".where .file").innerText()) === "iris.limn", "by the name that it has");
    await there.reload();
    await until("the same again", async () => (await textOf(there)).includes("box more"));
    must((await there.locator(".where .file").innerText()) === "iris.limn", "by the same name");
    await example(there, "iris", "train 60 epochs"); // the example is as it was
    await there.context().close();
    const broken = await open(browser, page.url().slice(0, -9));
    must(/cannot be read/.test(await textOf(broken)), "a part of it is missing, and it says so");
    await broken.context().close();
  });
}

export const tests = existsSync(join(folder, "index.html"))
  ? { playground_iris: iris, playground_moons: moons, playground_lens_on_faces: lens, playground_nash: game, playground_machine: machine, playground_letters: letters, playground_link: link }
  : {};
