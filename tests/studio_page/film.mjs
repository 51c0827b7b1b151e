// The pictures of docs/studio.md: node film.mjs FOLDER [SCENE…]. Each scene uses the page as people do, by mouse and key, and takes pictures on
// the way; ImageMagick makes them small, with few colours.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LETTERS, WORDS, autoencoder, dragStart, dropModel, onnxOf, openGame, openLetters, openMachine, openPlay, overlayRuns, slide, train, trained, trainedBy } from "./acts.mjs";
import { caretToEnd, launch, limn, must, root, saved, until } from "./help.mjs";
import { PROGRAM, using } from "./write.mjs";

const [out, ...asked] = process.argv.slice(2);
const raw = mkdtempSync(join(tmpdir(), "limn-film-"));
const LARGEST = 60000; // bytes

async function shot(page, name, width = 900) {
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${raw}/${name}.png` });
  const to = join(out, `${name}.png`);
  for (const colours of [64, 32, 16]) {
    execFileSync("convert", [`${raw}/${name}.png`, "-resize", `${width}x`, "+dither", "-colors", String(colours), "-strip", `png8:${to}`]);
    if (statSync(to).size < LARGEST) break;
  }
  must(statSync(to).size < LARGEST, `${to} is too large: ${statSync(to).size} bytes`);
  console.log(`${to}: ${statSync(to).size} bytes`);
}

const size = { width: 1200, height: 700 };
const large = { width: 1360, height: 800 };
const LARGE = 1100; // pixels that these have in the end

const scenes = {
  async wide(browser) {
    await using(
      browser,
      { "transformer.limn": null, "attention.limn": null },
      async (page) => {
        await page.locator(".chooser select").first().selectOption("model");
        const block = page.locator('.sheet [data-box="block"]').first();
        await block.waitFor();
        await block.hover();
        await shot(page, "wide", LARGE);
      },
      { path: "transformer.limn", ...large },
    );
  },
  async blank(browser) {
    await using(
      browser,
      { "sheet.limn": "" },
      async (page) => {
        await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
        await shot(page, "film-blank-1");
        await autoencoder(page);
        await shot(page, "film-blank-2");
        await trainedBy(page, 60);
        await saved(page);
        await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
        await train(page);
        await trained(page);
        await until("its curve", () => page.locator(".curve canvas").count());
        await shot(page, "film-blank-3");
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
        await shot(page, "film-gan");
      },
      { path: "gan.limn", ...size },
    );
  },
  async nash(browser) {
    for (const [name, how, width] of [["film-nash", size, 900], ["nash", large, LARGE]])
      await using(
        browser,
        { "nash.limn": null },
        async (page) => {
          await openGame(page);
          await page.locator(".game").getByRole("button", { name: "Play" }).click();
          await dragStart(page);
          await page.waitForTimeout(3000);
          await shot(page, name, width);
        },
        how,
      );
  },
  async machine(browser) {
    const how = { width: 1200, height: 960 };
    await using(
      browser,
      { "lorenz.limn": null },
      async (page) => {
        await openMachine(page);
        await shot(page, "film-machine-1");
        await slide(page, "rho", "ArrowLeft", 30);
        await page.waitForTimeout(2000);
        await shot(page, "film-machine-2");
      },
      how,
    );
    await using(
      browser,
      { "lorenz.limn": null },
      async (page) => {
        await openMachine(page);
        await slide(page, "Time", "PageUp", 7);
        await page.locator("canvas.phase").scrollIntoViewIfNeeded();
        await shot(page, "machine", LARGE);
      },
      { ...large, theme: "dark" },
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
        await openPlay(page);
        await page.getByLabel("Which box").selectOption("put");
        await page.getByLabel("Weights of").selectOption("runs/lens");
        await page.evaluate(() => (Math.random = () => 0.500000)); // the first sample, which does not smile
        await page.getByRole("button", { name: "A sample" }).first().click();
        await page.waitForTimeout(3000);
        await until("a face", async () => (await page.locator(".numbers-picture").count()) === 2, 20000);
        await page.locator(".sliders .slider input").first().fill("0");
        await shot(page, "film-face-1");
        await page.locator(".sliders .slider input").first().fill("1");
        await page.waitForTimeout(3000);
        await shot(page, "film-face-2");
      },
      { width: 1200, height: 900 },
    );
  },
  async runs(browser) {
    for (const [name, files, how, width] of [["film-runs", { "a.limn": PROGRAM.replace("3 epochs", "40 epochs") }, size, 900], ["runs", { "iris.limn": null }, large, LARGE]])
      await using(
        browser,
        files,
        async (page) => {
          await train(page);
          await trained(page, 1);
          await page.getByLabel("Seed").fill("7");
          await page.locator(".runs .primary").click();
          await trained(page, 2);
          await overlayRuns(page);
          await shot(page, name, width);
        },
        how,
      );
  },
  async gradients(browser) {
    const text = "# Which pixels say whether a face smiles.\n\ngiven face, smile from faces\n\nlearn guess(x: R[32 32]) -> R[] {\n  seen = 2 * x - 1\n  h = tanh(dense[32](flatten(seen)))\n  return dense[](h)\n}\n\ngoal fit : guess(face) ~ smile   by bce\n\ntrain 4 epochs, batch 32, adam(0.001)\n";
    await using(
      browser,
      { "smiles.limn": text },
      async (page) => {
        await train(page);
        await trained(page);
        await page.getByText(/^Weights and gradients/).click();
        await page.getByLabel("Weight or wire", { exact: true }).fill("seen.1");
        await page.keyboard.press("Tab");
        await page.getByLabel("Of it").selectOption("gradient");
        await until("its picture", () => page.locator(".weights .drawing svg").count(), 60000);
        await page.locator(".weights .drawing").scrollIntoViewIfNeeded();
        await shot(page, "gradients", LARGE);
      },
      { path: "smiles.limn", width: 1200, height: 600 },
    );
  },
  async onnx(browser) {
    const model = onnxOf(PROGRAM, "guess");
    await using(
      browser,
      { "a.limn": PROGRAM },
      async (page) => {
        await dropModel(page, model);
        await shot(page, "film-onnx");
      },
      size,
    );
  },
  async letters(browser) {
    await using(
      browser,
      { "letters.limn": LETTERS, "ab.txt": WORDS },
      async (page, f) => {
        await openLetters(page, f.dir);
        await page.getByLabel("Text that it reads").fill("not to be");
        await until("all of them", async () => (await page.locator(".letter").count()) === 9);
        await page.locator(".letter").nth(7).hover();
        await shot(page, "film-letters");
      },
      size,
    );
  },
};

const browser = await launch();
for (const [name, scene] of Object.entries(scenes)) if (!asked.length || asked.includes(name)) await scene(browser).catch((e) => (console.error(`not ok ${name}: ${e.stack}`), (process.exitCode = 1)));
await browser.close();
rmSync(raw, { recursive: true, force: true });
