// Runs and play: trained, paused, resumed; a game on its simplex; a machine's slider; the tour.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { LETTERS, WORDS, dragStart, drop, dropModel, onnxOf, openGame, openLetters, openMachine, openPlay, overlayRuns, slide, train, trained } from "./acts.mjs";
import { caretToEnd, folder, limn, must, textOf, toPicture, until } from "./help.mjs";
import { faint, touching } from "./looks.mjs";
import { PROGRAM, using } from "./write.mjs";

export const LONG = PROGRAM.replace("3 epochs", "200000 epochs");

const running = async (page) => /running/.test(await page.locator(".run-list").innerText());
/** A run of a program that takes hours is begun, paused and goes on. */
export async function trainPauseGoOn(page) {
  await train(page);
  await until("it runs", () => running(page), 20000);
  await until("a curve", () => page.locator(".curve canvas").count());
  await until("steps", async () => /[1-9]\d* of \d+ steps/.test(await page.locator(".run-list").innerText()));
  await page.getByRole("button", { name: /^Pause/ }).click();
  await until("paused", () => page.getByRole("button", { name: /^Resume/ }).count(), 20000);
  await page.getByRole("button", { name: /^Resume/ }).click();
  await until("it goes on", () => page.getByRole("button", { name: /^Pause/ }).count(), 20000);
}
export async function stopped(page) {
  await page.getByRole("button", { name: /^Stop/ }).click();
  await until("stopped", async () => !(await running(page)), 20000);
}

async function training(browser) {
  await using(browser, { "a.limn": LONG }, async (page) => {
    await trainPauseGoOn(page);
    // A run survives the page.
    await page.reload();
    await page.waitForFunction(() => document.querySelector(".sheet svg"));
    await page.getByRole("button", { name: /^Runs/ }).first().click();
    await until("still there", () => running(page));
    await stopped(page);
  });
}

/** A rate is changed while a run goes on: the run takes it, and writes down from which step on. What is no number is refused in words. */
async function changed(browser) {
  await using(browser, { "a.limn": LONG }, async (page, f) => {
    await train(page);
    await until("it runs", () => running(page), 20000);
    const form = page.getByRole("form", { name: "Change while it runs" });
    const change = async (value) => {
      await form.getByLabel("What is changed").selectOption("rate");
      await form.getByLabel("New value").fill(value);
      await form.getByRole("button").click();
    };
    await change("fast");
    await until("the sentence", async () => /“fast” is none, and rate is as it was/.test(await page.locator(".toasts").innerText()));
    await change("0.002");
    const said = page.getByRole("list", { name: "Changed while it ran" });
    await until("it is written down", async () => (await said.count()) && /from step \d+ on: rate = 0.002$/.test(await said.innerText()), 20000);
    await until("and known as what it is by now", async () => (await form.getByLabel("New value").getAttribute("placeholder")) === "0.002");
    const step = Number(/step (\d+)/.exec(await said.innerText())[1]);
    await stopped(page);
    must(f.read("runs/a/changes.csv").split("\n").includes(`${step - 1},rate,0.002`), f.read("runs/a/changes.csv"));
  });
}

/** The weight of a goal is changed while a run goes on: it is taken between two steps, the other goal stays, and what the run shows follows. */
async function goalReweighed(browser) {
  const program = LONG.replace("train ", "goal calm : guess(x) ~ 0   by l2   times 0.1\n\ntrain ");
  await using(browser, { "a.limn": program }, async (page, f) => {
    await train(page);
    await until("it runs", () => running(page), 20000);
    const form = page.getByRole("form", { name: "Change while it runs" });
    await form.getByLabel("What is changed").selectOption("calm.weight");
    must((await form.getByLabel("New value").getAttribute("placeholder")) === "0.1", "what it weighs is told");
    const size = async () => Number((await page.locator(".curve", { hasText: "calm" }).first().locator("figcaption span").first().innerText()).split(" ")[0]);
    const before = await size();
    await form.getByLabel("New value").fill("100");
    await form.getByRole("button").click();
    const said = page.getByRole("list", { name: "Changed while it ran" });
    await until("it is written down", async () => (await said.count()) && /from step \d+ on: calm\.weight = 100$/.test(await said.innerText()), 20000);
    await until("and known as what it is by now", async () => (await form.getByLabel("New value").getAttribute("placeholder")) === "100");
    await until("scores are pressed to 0", async () => (await size()) < before / 10, async () => `${before} and ${await size()}`);
    const step = Number(/step (\d+)/.exec(await said.innerText())[1]);
    await stopped(page);
    must(f.read("runs/a/changes.csv").split("\n").includes(`${step - 1},calm.weight,100`), f.read("runs/a/changes.csv"));
    const note = JSON.parse(f.read("runs/a/run.json")).settings;
    must(note["calm.weight"] === 100 && note["fit.weight"] === 1, JSON.stringify(note));
  });
}

/** Looked at while it trains: a weight, a wire inside, and the gradients of both, which are others a moment later. */
async function gradients(browser) {
  const program = LONG.replace("dense[16] ; tanh ; dense[3]", "bend ; dense[3]") + "box bend(x: R[4]) -> R[16] {\n  h = tanh(dense[16](x))\n  return h\n}\n";
  await using(browser, { "a.limn": program }, async (page) => {
    await train(page);
    await until("it runs", () => running(page), 20000);
    await until("something is saved", async () => /[1-9]\d{3}\d* of/.test(await page.locator(".run-list").innerText()), 20000);
    await page.getByText(/^Weights and gradients/).click();
    const names = page.locator("#weight-names option");
    await until("names of weights and wires", async () => (await names.evaluateAll((all) => all.map((o) => o.value))).includes("h.1"), () => names.evaluateAll((all) => all.map((o) => o.value).join()));
    const at = page.getByLabel("Weight or wire", { exact: true });
    const range = () => page.locator(".weights p").innerText();
    const bars = () => page.locator(".weights .histogram rect").evaluateAll((all) => all.map((r) => r.getAttribute("height")).join());
    const look = async (name, of, shape) => {
      await at.fill(name);
      await at.press("Tab");
      await page.getByLabel("Of it").selectOption(of);
      await until(`${of} of ${name}`, async () => (await range()).startsWith(shape), range);
      must((await page.locator(".weights .drawing svg rect").count()) > 15, "and as a picture");
    };
    await look("h.1", "value", "16 × 16");
    const values = await range();
    must(/from -?[01]\.?\d* to 1|from -[01].* to [01]/.test(values), `tanh is between -1 and 1: ${values}`);
    await look("h.1", "gradient", "16 × 16");
    await until("which is another one", async () => (await range()) !== values);
    const then = [await range(), await bars()];
    await until("and another one as it goes on", async () => (await range()) !== then[0] && (await bars()) !== then[1], 30000);
    const weight = (await names.evaluateAll((all) => all.map((o) => o.value))).find((n) => /dense.*W$/.test(n) && !/2/.test(n));
    await look(weight, "value", "4 × 16");
    await stopped(page);
    // A wire of the picture is looked at there, by its menu.
    await toPicture(page);
    await page.locator(".chooser select").first().selectOption("bend");
    const wire = page.locator('.sheet g.wire[data-wire="h"]').first();
    await wire.waitFor({ state: "attached" });
    await wire.focus();
    await page.keyboard.press("ContextMenu");
    await page.getByRole("menuitem", { name: "Its numbers in the run" }).click();
    await until("the wire", async () => (await at.inputValue()) === "h.1" && (await range()).startsWith("16 × 16"), range);
  });
}

async function overlay(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await train(page);
    await trained(page);
    await page.getByLabel("Seed", { exact: true }).fill("7");
    await page.locator(".options button").click();
    await trained(page, 2);
    await overlayRuns(page);
    const ends = await page.locator(".curve figcaption").first().locator("span").allInnerTexts();
    const least = ends.map(parseFloat).indexOf(Math.min(...ends.map(parseFloat)));
    must(ends.every((e, i) => / best$/.test(e) === (i === least)), `the better one is marked: ${ends}`);
    await page.getByRole("button", { name: /What differs/ }).click();
    await until("the difference", () => page.locator(".difference svg, .difference pre").count());
  });
}

/** Of two runs each thing says whose it is, in the same colours; a run's program is opened, and a run deleted when somebody is sure. */
async function whose(browser) {
  await using(browser, { "a.limn": `${PROGRAM}show confusion(guess(x), kind) on iris.test\n` }, async (page, f) => {
    const figures = page.locator("figure.shown figcaption");
    await train(page);
    await trained(page);
    await until("what it shows", () => figures.count(), 30000);
    await caretToEnd(page);
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("box extra(x: R[4]) -> R[3] = guess(x)\n");
    await page.keyboard.press("Alt+3");
    if (!(await page.locator(".options button").isVisible())) await page.keyboard.press("Alt+3");
    await page.locator(".options button").click();
    await trained(page, 2);
    await overlayRuns(page);
    await until("two pictures, each with its run", async () => String((await figures.locator("b").allInnerTexts()).sort()) === "a,a.2", () => figures.allInnerTexts(), 30000);
    const inkOf = (name) => figures.locator("b", { hasText: new RegExp(`^${name}$`) }).first().getAttribute("class");
    await page.getByRole("button", { name: /What differs/ }).click();
    const legend = page.locator('.difference [role="img"][aria-label*="only"]');
    await until("the difference", () => legend.count());
    for (const part of await legend.all()) {
      const run = /only (?:runs\/)?(\S+)/.exec(await part.getAttribute("aria-label"))[1];
      must((await part.getAttribute("class")).endsWith(await inkOf(run)), `${run} has one colour: ${await part.getAttribute("class")} and ${await inkOf(run)}`);
    }
    must(/gradients of a(\.2)?$/.test(await page.locator(".weights summary").innerText()), "weights say whose they are");
    // The program as it was: the file, where that still has the text, and otherwise a copy.
    const choose = async (run, item) => {
      if (!(await page.locator(".run-list").isVisible())) await page.keyboard.press("Alt+3");
      await page.getByRole("button", { name: `More of ${run}`, exact: true }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await choose("a.2", "Open its program");
    await page.waitForTimeout(300);
    must((await page.locator(".where .file").innerText()) === "a.limn", "the file has its text");
    await choose("a", "Open its program");
    await until("a copy", async () => (await page.locator(".where .file").innerText()) === "a-2.limn" && !(await textOf(page)).includes("extra"));
    await choose("a", "Delete");
    await page.locator("dialog.prompt").getByRole("button", { name: "Cancel" }).click();
    must(f.has("runs/a/run.json"), "nothing is deleted by chance");
    await choose("a", "Delete");
    await page.locator("dialog.prompt").getByRole("button", { name: "Delete it" }).click();
    await until("it is gone", async () => !f.has("runs/a") && (await page.locator(".run").count()) === 1);
    must(f.has("runs/a.2/run.json"), "and the other is not");
  });
}

/** A run that was shorter has no value where it has ended. */
async function shorter(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await train(page);
    await trained(page);
    await page.getByLabel("Epochs", { exact: true }).fill("6");
    await page.locator(".options button").click();
    await trained(page, 2);
    await overlayRuns(page);
    const plot = await page.locator(".curve canvas").first().boundingBox();
    const said = async (part) => {
      await page.mouse.move(plot.x + 46 + part * (plot.width - 54), plot.y + 60);
      return (await page.locator(".plot-said span").allInnerTexts()).slice(1).map((t) => t === "–");
    };
    must(String((await said(0.25)).sort()) === "false,false", "both have a value in the first half");
    must(String((await said(0.9)).sort()) === "false,true", "and one of them in the second");
  });
}

/** A game is opened, and the start of its first player dragged. */
export async function startMoved(page) {
  await openGame(page);
  const start = page.getByRole("slider", { name: "Start of p" });
  const before = await start.getAttribute("aria-valuetext");
  await dragStart(page);
  await until("it moves", async () => (await start.getAttribute("aria-valuetext")) !== before);
  return start;
}

async function nash(browser) {
  await using(browser, { "nash.limn": null }, async (page) => {
    const start = await startMoved(page);
    await page.getByRole("slider", { name: "Speed" }).fill("1");
    // Play means play, also while the game of the new start is still being opened; and so does beginning again.
    let slow = true;
    await page.route("**/message*", async (route) => {
      if (slow && /limn\/play\/open/.test(route.request().postData() ?? "")) await new Promise((done) => setTimeout(done, 400));
      await route.continue();
    });
    await page.locator(".game").getByRole("button", { name: "Begin again" }).click();
    await page.locator(".game").getByRole("button", { name: "Play" }).click();
    await page.locator(".game").getByRole("button", { name: "Begin again" }).click();
    await page.waitForTimeout(600);
    slow = false;
    await until("paths of all players", async () => (await page.locator(".simplex .way").count()) === 2);
    await until("some steps", async () => ((await page.locator(".simplex .way").first().getAttribute("d")).match(/L/g) ?? []).length > 5);
    await page.locator(".game").getByRole("button", { name: "Pause" }).click();
    // What is said beside a step is of the shares that are shown.
    const shares = (await page.locator(".simplex figcaption span").allInnerTexts()).map((t) => t.split(",").map(Number));
    const [p, q] = shares;
    const gain = Math.max(q[2] - q[1], q[0] - q[2], q[1] - q[0]) - Math.min(p[1] - p[2], p[2] - p[0], p[0] - p[1]);
    const said = await page.locator(".game [role=status]").innerText();
    must(Math.abs(Number(/exploitability (\S+)/.exec(said)?.[1]) - gain) < 0.05, `${said}, but ${p} and ${q} give ${gain}`);
    // A path begins where the ring is, and one step is a small one.
    const ring = await start.evaluate((e) => [Number(e.getAttribute("cx")), Number(e.getAttribute("cy"))]);
    const way = (await page.locator(".simplex .way").first().getAttribute("d")).slice(1).split("L").map((p) => p.trim().split(" ").map(Number));
    const far = [ring, ...way].map((p, i, all) => (i ? Math.hypot(p[0] - all[i - 1][0], p[1] - all[i - 1][1]) : 0));
    must(Math.max(...far) < 12, `a path jumps by ${Math.max(...far)}`);
    // A payoff is edited in the table, and the program has it.
    const cell = page.getByLabel("U, row 1, column 2");
    await cell.evaluate((e) => (e.dataset.before = "so"));
    await cell.fill("-2");
    await cell.press("Enter");
    await until("the program", async () => /\[\[0, -2, 1\]/.test(await textOf(page)));
    await until("the table has it from there", () => cell.evaluate((e) => !e.dataset.before));
    // What is no number is marked and said, and the program is as it was; a fraction is one.
    await cell.fill("two");
    await cell.press("Enter");
    await until("the sentence", async () => /“two” is none, and the program still has -2/.test(await page.locator(".game .fault-line").innerText()));
    must((await cell.getAttribute("aria-invalid")) === "true" && /\[\[0, -2, 1\]/.test(await textOf(page)), "it is marked, and not taken");
    await cell.fill("-1/4");
    await cell.press("Enter");
    await until("a fraction", async () => /\[\[0, -0.25, 1\]/.test(await textOf(page)));
    must(!(await page.locator(".game .fault-line").count()), "and nothing is marked any more");
  });
}

/** The curves are seen while any slider is dragged, the portrait is of what the program shows, and numbers go below 0. */
async function machineSeen(browser) {
  for (const size of [{ width: 1400, height: 900 }, { width: 390, height: 844 }])
    await using(
      browser,
      { "lotka.limn": null },
      async (page) => {
        await page.locator("button.train").click();
        await until("a phase portrait", () => page.locator("canvas.phase").count(), 20000);
        must(/foxes over .*rabbits/.test(await page.locator("canvas.phase").getAttribute("aria-label")), await page.locator("canvas.phase").getAttribute("aria-label"));
        const all = await page.locator(".machines .slider input").count();
        for (let i = 0; i < all; i++) {
          const slider = page.locator(".machines .slider input").nth(i);
          await slider.scrollIntoViewIfNeeded();
          const [curve, thumb] = [await page.locator(".machines .curve").boundingBox(), await slider.boundingBox()];
          must(curve.y >= 0 && curve.y + curve.height <= size.height && thumb.y >= curve.y + curve.height - 1, `slider ${i} at ${thumb.y}, the curves from ${curve.y} to ${curve.y + curve.height}`);
        }
        must(Number(await page.getByRole("slider", { name: "alpha" }).getAttribute("min")) < 0, "a number may be negative");
      },
      size,
    );
}

/** Weights of another program are refused in words, and nothing is shown for them. */
async function wrongWeights(browser) {
  const other = PROGRAM.replace("dense[16]", "dense[5]").replace("train 3 epochs", "train 1 epochs");
  await using(browser, { "a.limn": PROGRAM, "b.limn": other }, async (page) => {
    await page.keyboard.press("Control+b");
    await page.getByRole("button", { name: "b.limn", exact: true }).click();
    await until("b is open", async () => (await textOf(page)).includes("dense[5]"));
    await page.locator("button.train").click();
    await until("it is trained", async () => /finished/.test(await page.locator(".run-list").innerText()), 30000);
    // A picture with pixels, as limn writes them, which the page's policy lets in.
    const pixels = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><image width="4" height="4" href="data:image/png;base64,iVBORw0KGgo=" preserveAspectRatio="none" style="image-rendering:pixelated"/></svg>';
    await page.route("**/message*", async (route) => {
      if (!/host\/weights.*"name"/.test(route.request().postData() ?? "")) return route.continue();
      const response = await route.fetch();
      const json = await response.json();
      json.result.picture = pixels;
      await route.fulfill({ response, json });
    });
    await page.getByText(/^Weights and gradients/).click();
    const names = page.locator("#weight-names option");
    await until("names of weights", () => names.count());
    const matrix = (await names.evaluateAll((all) => all.map((o) => o.value))).find((n) => /W$/.test(n));
    await page.getByLabel("Weight or wire", { exact: true }).fill(matrix);
    await page.keyboard.press("Tab");
    await until("its picture", () => page.locator(".weights .drawing svg").count());
    must((await page.locator(".weights .drawing image").getAttribute("image-rendering")) === "pixelated", "with its pixels");
    await page.unroute("**/message*");
    const file = page.getByRole("button", { name: "a.limn", exact: true });
    if (!(await file.count())) await page.keyboard.press("Control+b");
    await file.click();
    await openPlay(page);
    await until("results", async () => (await page.locator(".bars li").count()) === 3);
    await page.getByLabel("Weights of").selectOption("runs/b");
    await until("the sentence", () => page.locator(".sliders .fault-line").count());
    must(!(await page.locator(".bars li").count()), "no numbers beside it");
  });
}

/** What holds until the next moment is drawn as stairs: each line of it goes across, or up and down. */
async function stairs(browser) {
  const text = "machine Counts -> (n: R[]) {\n  state n = 0\n  next n = n + 1\n}\nmachine Still -> (x: R[]) {\n  state x = 1\n  x' = 0\n}\nwiring Both -> (n: R[]) {\n  counts : Counts every 0.5\n  still : Still\n  n = counts.n\n}\nrun Both to 2\nshow n\n";
  await using(browser, { "a.limn": text }, async (page) => {
    await page.evaluate(() => {
      const proto = CanvasRenderingContext2D.prototype;
      const [move, line] = [proto.moveTo, proto.lineTo];
      window.slopes = window.rises = 0;
      proto.moveTo = function (x, y) {
        this.pen = [x, y];
        move.call(this, x, y);
      };
      proto.lineTo = function (x, y) {
        const [dx, dy] = [Math.abs(x - this.pen[0]), Math.abs(y - this.pen[1])];
        if (this.canvas.className !== "phase" && dx > 0.01 && dy > 0.01) window.slopes++;
        if (this.canvas.className !== "phase" && dx < 0.01 && dy > 5 && this.lineWidth === 1.5) window.rises++;
        this.pen = [x, y];
        line.call(this, x, y);
      };
    });
    await openPlay(page);
    await until("steps", () => page.evaluate(() => window.rises >= 4), 20000);
    must(!(await page.evaluate(() => window.slopes)), "nothing slopes");
  });
}

async function machine(browser) {
  await using(browser, { "lorenz.limn": null }, async (page) => {
    await openMachine(page);
    const picture = () => page.locator("canvas.phase").evaluate((c) => c.toDataURL());
    const before = await picture();
    const text = await textOf(page);
    await slide(page, "rho", "ArrowLeft", 5);
    await until("it follows", async () => (await picture()) !== before, 20000);
    must((await textOf(page)) === text, "dragging does not change the program");
    const time = page.getByRole("slider", { name: "Time" });
    await time.focus();
    const now = await page.locator(".now-values").innerText();
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    await until("the scrubber moves", async () => (await page.locator(".now-values").innerText()) !== now);
    await page.getByRole("button", { name: "Write into the program" }).click();
    await until("written", async () => !/rho = 28/.test(await textOf(page)));
  });
}

/** Of several runs one is followed: also where its line goes on in the next one, and another one beside it would take hours. */
async function severalRuns(browser) {
  const text = "const rate = 1\nmachine Falls -> (n: R[]) {\n  state n = 1\n  n' = -rate * n\n}\nmachine Grows -> (m: R[]) {\n  state m = 1\n  next m = m + rate / 1000\n}\nrun Falls to 2\nrun again : Falls(\n) to 4\nrun Grows for 100000000 ticks\n";
  await using(browser, { "a.limn": text }, async (page) => {
    await page.locator("button.train").click();
    const plot = (names) => until(`curves of ${names}`, () => page.getByLabel(`Curves of ${names}`).count(), 20000);
    await plot("n");
    const end = () => page.getByLabel("Time", { exact: true }).evaluate((e) => (e.value = e.max, e.dispatchEvent(new Event("input", { bubbles: true }))));
    const time = async () => Number(await page.locator(".slider", { has: page.getByLabel("Time", { exact: true }) }).locator("output").innerText());
    await end();
    await until("the first run ends at 2", async () => (await time()) === 2);
    await page.getByLabel("Run", { exact: true }).selectOption({ label: "again" });
    await until("the second one at 4", async () => (await end(), (await time()) === 4));
    must(!(await page.locator(".machines .fault-line").count()), "nothing is wrong");
  });
}

async function sliders(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await openPlay(page);
    await until("results", async () => (await page.locator(".bars li").count()) === 3);
    const before = await page.locator(".bars").innerText();
    await page.locator(".sliders .slider input").first().focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    await until("they follow", async () => (await page.locator(".bars").innerText()) !== before);
  });
}

/** Inputs are called as the program calls them, go as far as the data go, and take samples of it; a run's weights are taken where there are some. */
async function realInputs(browser) {
  const text = `${PROGRAM}learn gen : R[2] -> R[4] = dense[4]\ngiven z from normal[2]\ngoal gen(z) ~ x by l2\n`;
  const table = 'given height, width, kind from "t.csv"\nlearn weigh : R[], R[] -> R[2] = pair ; dense[2]\nbox pair(a, b: R[]) -> R[2] = [a, b]\ngoal weigh(height, width) ~ kind by cross_entropy\ntrain 1 epochs\n';
  await using(browser, { "a.limn": text, "sub/b.limn": table, "c.limn": PROGRAM.replace("train 3", "train 1"), "sub/t.csv": "height,width,kind\n1,20,a\n3,40,b\n" }, async (page, f) => {
    const labels = () => page.locator(".sliders .slider").evaluateAll((all) => all.map((l) => l.querySelector("span").textContent).join());
    const slider = () => page.locator(".sliders .slider input").first();
    const values = () => page.locator(".sliders .slider output").allInnerTexts();
    const open = async (name) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "What would" }).fill(`open ${name}`);
      await page.keyboard.press("Enter");
      await until(`${name} is open`, async () => (await page.locator(".where .file").innerText()) === name);
    };
    await openPlay(page);
    await until("names of the program", async () => (await labels()) === "x[0],x[1],x[2],x[3]", labels);
    must((await slider().getAttribute("min")) === "0.1" && (await slider().getAttribute("max")) === "7.9", "as far as flowers go");
    const first = await values();
    must(first.every((v) => Number(v) >= 0.1), `a flower to begin with: ${first}`);
    must(!(await page.getByRole("button", { name: "Walk", exact: true }).count()), "nobody walks through flowers");
    await until("another flower", async () => {
      await page.getByRole("button", { name: "A sample" }).click();
      return String(await values()) !== String(first);
    });
    await page.getByLabel("Which box").selectOption("gen");
    await until("noise", async () => (await labels()) === "z[0],z[1]" && (await page.getByRole("button", { name: "Walk", exact: true }).count()) === 1, labels);
    must(!(await page.getByRole("button", { name: "A sample" }).count()), "noise has no samples");
    // A table has its columns' names and ranges.
    await open("sub/b.limn");
    await page.getByLabel("Which box").selectOption("weigh");
    await until("columns", async () => (await labels()) === "height,width", labels);
    must((await slider().getAttribute("min")) === "1" && (await slider().getAttribute("max")) === "3", "heights from 1 to 3");
    // The newest run of the program that has weights is taken; those of others are listed apart.
    const chosen = () => page.getByLabel("Weights of").inputValue();
    must((await chosen()) === "", "nothing has been trained");
    for (const [name, run] of [["c.limn", "runs/c"], ["a.limn", "runs/a"]]) {
      await open(name);
      await train(page);
      await until(`${run} has finished`, async () => (await page.locator(".run", { hasText: "finished" }).locator(".name").allInnerTexts()).includes(run.slice(5)), 60000);
    }
    await openPlay(page);
    await until("its weights", async () => (await chosen()) === "runs/a", chosen);
    must((await page.locator('optgroup[label="Runs of other programs"] option').allInnerTexts()).join() === "runs/c", "others stand apart");
    await until("results", async () => (await page.locator(".bars li").count()) === 3);
    // A program that was changed since does not take them, and says so.
    f.write("a.limn", text.replace("dense[16]", "dense[5]"));
    await until("weights as they begin", async () => (await chosen()) === "" && (await page.locator(".bars li").count()) === 3, chosen);
  });
}

async function attention(browser) {
  await using(browser, { "letters.limn": LETTERS, "ab.txt": WORDS }, async (page, { dir: root }) => {
    await openLetters(page, root, "--reference", "--steps", "20");
    const looks = async () => (await page.locator(".letter").evaluateAll((all) => all.map((b) => Number(/(\d+) %/.exec(b.getAttribute("aria-label"))[1]))));
    await page.locator(".letter").nth(0).hover();
    await until("the first looks at itself alone", async () => String(await looks()) === "100,0,0,0,0");
    const bad = [...(await page.evaluate(faint)), ...(await page.evaluate(touching))];
    must(!bad.length, `faint, or touching its label: ${bad.join("; ")}`);
    await page.locator(".letter").nth(3).hover();
    await until("the fourth at those before it", async () => (await looks()).slice(0, 4).reduce((a, b) => a + b) >= 98 && (await looks())[4] === 0);
    const asked = execFileSync(limn, ["eval", "letters.limn", "model", "--in", '"to be"', "--watch", "W", "--from", "runs/letters", "--json"], { cwd: root });
    const w = JSON.parse(asked).values;
    const mean = [0, 1, 2, 3, 4].map((i) => Math.round(50 * (w["W.1"][0][3][i] + w["W.1"][1][3][i])));
    must(String(mean) === String(await looks()), `these are the run's: ${mean} and ${await looks()}`);
    must((await page.locator(".attention select").count()) === 3, "two layers, two heads");
  });
}

async function smile(browser) {
  await using(browser, { "lens.limn": null }, async (page) => {
    await openPlay(page);
    await page.getByLabel("Which box").selectOption("put");
    await until("a sheet", () => page.getByRole("button", { name: "A sample" }).count(), 20000);
    const pixels = (n) => page.locator(".numbers-picture").nth(n).evaluate((c) => c.toDataURL());
    const empty = await pixels(0);
    await page.getByRole("button", { name: "A sample" }).first().click();
    await until("a face", async () => (await pixels(0)) !== empty);
    await until("what is made of it", async () => (await page.locator(".numbers-picture").count()) === 2);
    await page.waitForTimeout(300);
    const before = await pixels(1);
    const smile = page.locator(".sliders .slider input").first();
    must((await smile.getAttribute("min")) === "0" && (await smile.getAttribute("max")) === "1", "a smile is between 0 and 1");
    await smile.fill((await smile.inputValue()) === "1" ? "0" : "1");
    await until("it follows the slider", async () => (await pixels(1)) !== before);
  });
}

async function walk(browser) {
  await using(browser, { "a.limn": "learn gen : R[4] -> R[8 8] = dense[8 8]\n" }, async (page) => {
    await openPlay(page);
    await page.getByRole("button", { name: "Walk", exact: true }).click();
    const now = () => page.locator(".slider output").first().innerText();
    const first = await now();
    await until("it walks", async () => (await now()) !== first);
    await page.getByRole("button", { name: "Stand still" }).click();
    await page.waitForTimeout(200);
    const there = await now();
    await page.waitForTimeout(200);
    must((await now()) === there, "it stands");
  });
}

async function tour(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await page.getByRole("button", { name: "Learn", exact: true }).first().click();
    await page.getByRole("button", { name: "Begin", exact: true }).click();
    for (let i = 1; i <= 12; i++) {
      await until(`step ${i}`, async () => (await page.locator(".tour-step").innerText()).includes(`Step ${i} of 12`));
      await until(`picture ${i}`, () => page.locator(".sheet svg").count());
      await page.waitForTimeout(150);
      must(!(await page.locator(".count-line.error").count()), `step ${i} has an error`);
      const fault = await page.locator(".fault").allInnerTexts();
      must(!fault.length, `step ${i} cannot be drawn: ${fault}`);
      if (i < 12) await page.getByRole("button", { name: "The next step" }).click();
    }
    await page.getByRole("button", { name: "Manual", exact: true }).click();
    await until("the manual", async () => (await page.locator(".manual .program").count()) > 50);
    await page.getByRole("button", { name: "Gallery", exact: true }).click();
  });
}

async function dropped(browser) {
  const f = folder({ "a.limn": PROGRAM });
  try {
    await using(browser, { "a.limn": PROGRAM }, async (page) => {
      await dropModel(page, onnxOf(PROGRAM, "guess"));
      must(/dense|linear/.test(await textOf(page)), "the model as a program");
      await drop(page, [{ name: "x.limn", base64: Buffer.from("box keep(x: R[3]) -> R[3] = x\n").toString("base64") }]);
      await until("a program", async () => (await page.locator(".where .file").innerText()) === "x.limn");
      // The name that is said is the one that it got.
      for (const [rows, name] of [["a\n1\n", "t.csv"], ["a\n2\n", "t-2.csv"]]) {
        await drop(page, [{ name: "t.csv", base64: Buffer.from(rows).toString("base64") }]);
        await until(`${name} in words`, async () => (await page.locator(".toasts").innerText()).includes(name), () => page.locator(".toasts").innerText());
      }
      // The folder of a run that was made elsewhere.
      execFileSync(limn, ["train", `${f.dir}/a.limn`, "--quiet", "-o", `${f.dir}/there`], { stdio: "ignore" });
      const parts = ["run.json", "metrics.csv", "program.limn", "model.safetensors"];
      await drop(page, parts.map((name) => ({ name: `there/${name}`, base64: readFileSync(`${f.dir}/there/${name}`).toString("base64") })));
      await until("the run", async () => /there/.test(await page.locator(".run-list").innerText()), 20000);
      await until("its curve", () => page.locator(".curve canvas").count());
      must((await page.locator(".where .file").innerText()) === "a.limn", "its program is the one that is here");
      await until("its model", () => page.locator(".sheet [data-box=guess]").count());
    });
  } finally {
    f.drop();
  }
}

/** A dropped model as any program: words are found in it, what it costs is told, and it is compared with another one. */
async function lookedInto(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await dropModel(page, onnxOf(PROGRAM, "guess"));
    const first = await page.locator(".where .file").innerText();
    const find = async (words) => {
      await page.keyboard.press("Control+f");
      await page.locator('dialog.prompt input[name="words"]').fill(words);
      await page.locator("dialog.prompt button.primary").click();
    };
    await find("tanh");
    const selection = () => page.evaluate(() => document.querySelector(".editor").shadowRoot.getSelection?.().toString() || getSelection().toString());
    await until("the word is chosen in the text", async () => (await selection()) === "tanh", selection);
    await find("transformer");
    await until("what is not in it", async () => /There is no “transformer” in this text/.test(await page.locator(".toasts").innerText()));
    await toPicture(page);
    await page.getByRole("button", { name: "Cost", exact: true }).click();
    await until("what it costs", async () => /forward/.test(await page.locator("table.cost").innerText()));
    await dropModel(page, onnxOf(PROGRAM.replace("dense[16] ; tanh", "dense[16] ; relu"), "guess"), "other.onnx");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "What would" }).fill(`compare with ${first}`);
    await page.keyboard.press("Enter");
    await until("what differs", () => page.locator(".difference svg").count());
    const words = await page.locator(".difference").innerHTML();
    must(/relu/.test(words) && /tanh/.test(words), "both words are in the picture of the difference");
  });
}

export const tests = {
  a_dropped_model: dropped,
  train_pause_resume: training,
  a_rate_is_changed_while_it_runs: changed,
  a_goal_weighs_more_while_it_runs: goalReweighed,
  gradients_while_it_trains: gradients,
  two_runs: overlay,
  of_two_runs_which_is_which: whose,
  a_shorter_run_has_nothing_behind_its_end: shorter,
  a_dropped_model_is_searched_costed_and_compared: lookedInto,
  nash: nash,
  what_holds_is_stairs: stairs,
  a_machine_by_slider: machine,
  several_runs: severalRuns,
  a_machine_is_seen_while_it_is_dragged: machineSeen,
  weights_of_another_program: wrongWeights,
  a_learner_by_slider: sliders,
  inputs_as_the_data_are: realInputs,
  who_looks_where: attention,
  a_face_by_slider: smile,
  a_walk_through_a_latent_space: walk,
  the_tour: tour,
};
