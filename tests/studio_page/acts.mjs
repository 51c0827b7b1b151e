// What people do with the page, once for the tests and for the film: each leaves the page where something is to be seen.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { folder, limn, textOf, until } from "./help.mjs";

export const openPlay = (page) => page.getByRole("button", { name: "Play", exact: true }).first().click();
export const train = (page) => page.locator(".top").getByRole("button", { name: "Train" }).click();
export const trained = (page, runs = 1) => until(`${runs} trained`, async () => ((await page.locator(".run-list").innerText()).match(/finished/g) ?? []).length >= runs, 120000);

/** Fills in a form of the palette. */
export async function fillIn(page, button, values) {
  await page.getByRole("button", { name: `+ ${button}`, exact: true }).click();
  const dialog = page.locator("dialog.prompt");
  for (const [name, value] of Object.entries(values)) await dialog.locator(`input[name="${name}"]`).fill(value);
  await dialog.locator("button.primary").click();
  await dialog.waitFor({ state: "detached" });
}

/** An autoencoder, declared by buttons on an empty sheet. */
export async function autoencoder(page) {
  await fillIn(page, "Data", { name: "x", from: "iris.x" });
  await until("data", async () => /given x\s+from iris\.x/.test(await textOf(page)));
  await fillIn(page, "Learner", { name: "enc", type: "R[4] -> R[2]" });
  await until("a learner", async () => /learn enc/.test(await textOf(page)));
  await fillIn(page, "Learner", { name: "dec", type: "R[2] -> R[4]" });
  await until("another", async () => /learn dec/.test(await textOf(page)));
  await fillIn(page, "Goal", { from: "dec(enc(x))", to: "x", by: "l2" });
  await until("a goal", async () => /goal .*dec\(enc\(x\)\) ~ x/.test(await textOf(page)));
}
export async function trainedBy(page, epochs) {
  await fillIn(page, "Training", { epochs: String(epochs), batch: "16", optimiser: "adam(0.01)" });
  await until("training", async () => new RegExp(`train ${epochs} epochs`).test(await textOf(page)));
}

/** Two players of a game, and the start of the first one dragged. */
export async function openGame(page) {
  await openPlay(page);
  await until("two simplices", async () => (await page.locator(".simplex").count()) === 2, 20000);
}
export async function dragStart(page) {
  const box = await page.getByRole("slider", { name: "Start of p" }).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + 24, { steps: 4 });
  await page.mouse.up();
}

export async function openMachine(page) {
  await openPlay(page);
  await until("a phase portrait", () => page.locator("canvas.phase").count(), 20000);
}
export async function slide(page, name, key, times) {
  await page.getByRole("slider", { name }).focus();
  for (let i = 0; i < times; i++) await page.keyboard.press(key);
}

/** The second of two runs over the first. */
export async function overlayRuns(page) {
  await page.locator(".run input[type=checkbox]:not(:checked)").first().click();
  await until("both in one plot", async () => (await page.locator(".curve figcaption").first().locator("span").count()) === 2);
}

export const LETTERS = `axis t = 12, m = 8, v = 15
given text : {v}[t+1] from "ab.txt"
learn model : {v}[t] -> R[t v] = embed[m] ; add_positions ; layer ^ 2 ; linear[v]
box layer(X: R[t m]) -> R[t m] = X + multihead[2, 4, causal](X, X)
goal guess : model(text[0..t-1]) ~ text[1..t]   by cross_entropy
train 200 steps, batch 16, adam(0.01)
`;
export const WORDS = "to be or not to be, that is the question\n".repeat(9);
/** A model of letters with the weights of a run, which is made beside the page. */
export async function openLetters(page, dir, ...options) {
  execFileSync(limn, ["train", "letters.limn", "--plain", "--quiet", ...options], { cwd: dir });
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".sheet svg"));
  await openPlay(page);
  await until("letters", async () => (await page.locator(".letter").count()) === 5, 20000);
}

/** A learner of a program as an ONNX file, in base 64. */
export function onnxOf(program, name) {
  const f = folder({ "a.limn": program });
  try {
    execFileSync(limn, ["export", `${f.dir}/a.limn`, name, "--as", "onnx", "-o", `${f.dir}/m.onnx`], { stdio: "ignore" });
    return readFileSync(`${f.dir}/m.onnx`).toString("base64");
  } finally {
    f.drop();
  }
}
/** Files put onto the page as a hand does. */
export async function drop(page, files) {
  const data = await page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    return transfer;
  }, files);
  for (const type of ["dragover", "drop"]) await page.dispatchEvent("body", type, { dataTransfer: data });
}
export async function dropModel(page, base64, name = "net.onnx") {
  await drop(page, [{ name, base64 }]);
  await until("a program of it", async () => new RegExp(`${name.replace(".onnx", "")}.*\\.limn`).test(await page.locator(".where .file").innerText()), 20000);
  await until("its picture", () => page.locator(".sheet g.glyph").count());
}
