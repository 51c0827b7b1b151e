// The film strip of docs/studio.md: node film.mjs FOLDER [SCENE…]. Each scene uses the page as people do, by mouse and key, and takes pictures on
// the way; ImageMagick makes them small, with few colours.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillIn } from "./draw.mjs";
import { caretToEnd, folder, launch, limn, must, root, saved, textOf, until } from "./help.mjs";
import { LETTERS, drop } from "./play.mjs";
import { PROGRAM, using } from "./write.mjs";

const [out, ...asked] = process.argv.slice(2);
const raw = mkdtempSync(join(tmpdir(), "limn-film-"));
const LARGEST = 60000; // bytes

async function shot(page, name) {
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${raw}/${name}.png` });
  const to = join(out, `film-${name}.png`);
  for (const colours of [64, 32, 16]) {
    execFileSync("convert", [`${raw}/${name}.png`, "-resize", "900x", "+dither", "-colors", String(colours), "-strip", `png8:${to}`]);
    if (statSync(to).size < LARGEST) break;
  }
  must(statSync(to).size < LARGEST, `${to} is too large: ${statSync(to).size} bytes`);
  console.log(`${to}: ${statSync(to).size} bytes`);
}

const size = { width: 1200, height: 700 };
const play = (page) => page.getByRole("button", { name: "Play", exact: true }).first().click();
const train = (page) => page.locator(".top").getByRole("button", { name: "Train" }).click();
const finished = (page, n) => until("it is trained", async () => ((await page.locator(".run-list").innerText()).match(/finished/g) ?? []).length >= n, 120000);

const scenes = {
  async blank(browser) {
    await using(
      browser,
      { "sheet.limn": "" },
      async (page) => {
        await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
        await shot(page, "blank-1");
        await fillIn(page, "Data", { name: "x", from: "iris.x" });
        await fillIn(page, "Learner", { name: "enc", type: "R[4] -> R[2]" });
        await fillIn(page, "Learner", { name: "dec", type: "R[2] -> R[4]" });
        await fillIn(page, "Goal", { from: "dec(enc(x))", to: "x", by: "l2" });
        await until("a goal", async () => /goal .*dec\(enc\(x\)\) ~ x/.test(await textOf(page)));
        await shot(page, "blank-2");
        await fillIn(page, "Training", { epochs: "60", batch: "16", optimiser: "adam(0.01)" });
        await until("training", async () => /train 60 epochs/.test(await textOf(page)));
        await saved(page);
        await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
        await train(page);
        await finished(page, 1);
        await until("its curve", () => page.locator(".curve canvas").count());
        await shot(page, "blank-3");
      },
      { path: "sheet.limn", ...size },
    );
  },
  async gan(browser) {
    const text = readFileSync(join(root, "studio/src/tour/12-gan.limn"), "utf8");
    await using(
      browser,
      { "gan.limn": "" },
      async (page) => {
        await caretToEnd(page);
        await page.keyboard.insertText(text);
        await until("its picture", () => page.locator(".sheet g.glyph").count(), 20000);
        await shot(page, "gan");
      },
      { path: "gan.limn", ...size },
    );
  },
  async nash(browser) {
    await using(
      browser,
      { "nash.limn": null },
      async (page) => {
        await play(page);
        await until("two simplices", async () => (await page.locator(".simplex").count()) === 2, 20000);
        await page.locator(".game").getByRole("button", { name: "Play" }).click();
        const box = await page.getByRole("slider", { name: "Start of p" }).boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.down();
        await page.mouse.move(box.x + 40, box.y + 24, { steps: 4 });
        await page.mouse.up();
        await page.waitForTimeout(3000);
        await shot(page, "nash");
      },
      size,
    );
  },
  async machine(browser) {
    await using(
      browser,
      { "lorenz.limn": null },
      async (page) => {
        await play(page);
        await until("a phase portrait", () => page.locator("canvas.phase").count(), 20000);
        await shot(page, "machine-1");
        await page.getByRole("slider", { name: "rho" }).focus();
        for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowLeft");
        await page.waitForTimeout(2000);
        await shot(page, "machine-2");
      },
      { width: 1200, height: 960 },
    );
  },
  async face(browser) {
    await using(
      browser,
      { "lens.limn": null },
      async (page, f) => {
        execFileSync(limn, ["train", "lens.limn", "--plain", "--quiet", "--epochs", "3", "--out", "runs/lens"], { cwd: f.dir });
        await page.reload();
        await page.waitForFunction(() => document.querySelector(".sheet svg"));
        await play(page);
        await page.getByLabel("Which box").selectOption("put");
        await page.getByLabel("Weights of").selectOption("runs/lens");
        await page.evaluate(() => (Math.random = () => 0.500000)); // the first sample, which does not smile
        await page.getByRole("button", { name: "A sample" }).click();
        await page.waitForTimeout(3000);
        await until("a face", async () => (await page.locator(".numbers-picture").count()) === 2, 20000);
        await page.locator(".sliders .slider input").first().fill("0");
        await shot(page, "face-1");
        await page.locator(".sliders .slider input").first().fill("1");
        await page.waitForTimeout(3000);
        await shot(page, "face-2");
      },
      { width: 1200, height: 900 },
    );
  },
  async runs(browser) {
    await using(
      browser,
      { "a.limn": PROGRAM.replace("3 epochs", "40 epochs") },
      async (page) => {
        await train(page);
        await finished(page, 1);
        await page.getByLabel("Seed").fill("7");
        await page.locator(".runs .primary").click();
        await finished(page, 2);
        await page.locator(".run input[type=checkbox]:not(:checked)").first().click();
        await until("both in one plot", async () => (await page.locator(".curve figcaption").first().locator("span").count()) === 2);
        await shot(page, "runs");
      },
      size,
    );
  },
  async onnx(browser) {
    const f = folder({ "a.limn": PROGRAM });
    execFileSync(limn, ["export", `${f.dir}/a.limn`, "guess", "--as", "onnx", "-o", `${f.dir}/guess.onnx`], { stdio: "ignore" });
    const model = readFileSync(`${f.dir}/guess.onnx`).toString("base64");
    f.drop();
    await using(
      browser,
      { "a.limn": PROGRAM },
      async (page) => {
        await drop(page, [{ name: "net.onnx", base64: model }]);
        await until("a program of it", async () => /net.*\.limn/.test(await page.locator(".where .file").innerText()), 20000);
        await until("its picture", () => page.locator(".sheet g.glyph").count());
        await shot(page, "onnx");
      },
      size,
    );
  },
  async letters(browser) {
    const words = "to be or not to be, that is the question\n".repeat(9);
    await using(
      browser,
      { "letters.limn": LETTERS, "ab.txt": words },
      async (page, f) => {
        execFileSync(limn, ["train", "letters.limn", "--plain", "--quiet"], { cwd: f.dir });
        await page.reload();
        await page.waitForFunction(() => document.querySelector(".sheet svg"));
        await play(page);
        await until("letters", () => page.locator(".letter").count(), 20000);
        await page.getByLabel("Text that it reads").fill("not to be");
        await until("all of them", async () => (await page.locator(".letter").count()) === 9);
        await page.locator(".letter").nth(7).hover();
        await shot(page, "letters");
      },
      size,
    );
  },
};

const browser = await launch();
for (const [name, scene] of Object.entries(scenes)) if (!asked.length || asked.includes(name)) await scene(browser).catch((e) => (console.error(`not ok ${name}: ${e.stack}`), (process.exitCode = 1)));
await browser.close();
rmSync(raw, { recursive: true, force: true });
