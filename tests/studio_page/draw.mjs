// The picture by hand: boxes opened, put on wires and taken away, and a program drawn from nothing.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { autoencoder, fillIn, train, trained, trainedBy } from "./acts.mjs";
import { limn, must, saved, textOf, toPicture, until } from "./help.mjs";
import { PROGRAM, using } from "./write.mjs";

const marks = (page) => page.locator(".sheet g[data-id]").count();

/** A choice of few: a button, or on a narrow pane one of a list. */
async function choosing(page, label, name) {
  const button = page.getByRole("group", { name: label }).getByRole("button", { name, exact: true });
  if (await button.isVisible()) {
    await button.click();
    await button.and(page.locator('[aria-pressed="true"]')).waitFor();
  } else await page.locator(".chooser.instead", { has: page.locator(`span:text-is("${label}")`) }).locator("select").selectOption({ label: name });
}

async function opening(browser) {
  const program = "box bend(x: R[3]) -> R[3] = tanh(2 * x + 1)\n\nbox twice(x: R[3]) -> R[3] = bend(bend(x))\n";
  await using(browser, { "a.limn": program }, async (page) => {
    await toPicture(page);
    await page.locator(".chooser select").first().selectOption("twice");
    await until("the picture", () => page.locator('.sheet svg[aria-label="Picture of twice"]').count());
    const before = await marks(page);
    await page.locator(".sheet [data-open]").first().click();
    await until("the box opens", async () => (await marks(page)) > before);
    await page.getByRole("button", { name: "Close all" }).click();
    await until("and closes", async () => (await marks(page)) === before);
    for (const view of ["Gradient", "Diagram"]) await choosing(page, "View", view);
    await choosing(page, "Level", "Layers");
    await until("everything opened", async () => (await marks(page)) > before);
  });
}

/** What the picture's buttons tell: the cost as `limn cost` has it, and which goal moves which learner. */
async function costAndWho(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, { dir }) => {
    await toPicture(page);
    const cost = page.getByRole("button", { name: "Cost", exact: true });
    await cost.click();
    await until("that one is to be chosen", async () => /choose it above/.test(await page.locator("p.cost").innerText()));
    await page.locator(".chooser select").first().selectOption("guess");
    await until("the table", () => page.locator("table.cost").count());
    const told = JSON.parse(execFileSync(limn, ["cost", "a.limn", "guess", "--json"], { cwd: dir }));
    for (const [row, number] of Object.entries(told.cost.forward)) {
      const cells = await page.locator("table.cost tr", { has: page.locator(`th:text-is("${row}")`) }).locator("td").allInnerTexts();
      must(cells[0] === String(number).replace(/\*/g, "·"), `${row} is ${cells[0]}, not ${number}`);
    }
    await cost.click();
    await until("the table goes again", async () => !(await page.locator(".cost").count()));
    await page.locator(".chooser select").first().selectOption({ label: "Goals" });
    await choosing(page, "View", "Who");
    await until("in words and in the picture", async () => /guess[^]*fit +●/.test(await page.locator("#picture-words").innerText()) && (await page.locator('.sheet [aria-label="guess"]').count()) > 0, () => page.locator("#picture-words").innerText());
  });
}

/** Lens and Unfold: each draws what the command draws, and says it in words. What limn has no view of is not offered; where it has none all the
 * same, it says so on an empty sheet. */
async function lensAndUnfold(browser) {
  await using(browser, { "a.limn": PROGRAM, "unfold.limn": null }, async (page, { dir }) => {
    await toPicture(page);
    const press = (name) => choosing(page, "View", name);
    const words = () => page.locator("#picture-words").innerText();
    const told = (...how) => execFileSync(limn, ["draw", ...how, "-o", "-"], { cwd: dir }).toString();
    const squeezed = (text) => text.replace(/\s+/g, " ").trim();
    const marksOf = () => page.locator(".sheet g[data-at]").count();
    const plain = await words();
    await press("Lens");
    await until("what goes forward and what comes back", async () => squeezed(await words()) === squeezed(told("a.limn", "--lens")) && squeezed(await words()) !== squeezed(plain), words);
    must((await marksOf()) > 3, "its boxes are of the text");
    const offered = await page.locator(".bar select").nth(1).locator("option").allInnerTexts();
    must(String(offered) === "Diagram,Lens,Who", `nothing can be unfolded in goals: ${offered}`);
    await press("Diagram");
    await until("as it was", async () => (await words()) === plain);
    await page.keyboard.press("Control+b");
    await page.getByRole("button", { name: "unfold.limn", exact: true }).click();
    await until("it is open", async () => (await page.locator(".where .file").innerText()) === "unfold.limn");
    if (await page.locator(".side").count()) await page.keyboard.press("Control+b");
    await toPicture(page);
    const wiring = "Unfolded";
    await until("its wirings", () => page.locator(".chooser select").first().locator("option", { hasText: wiring }).count());
    await page.locator(".chooser select").first().selectOption(wiring);
    await page.locator(`.sheet svg[aria-label="Picture of ${wiring}"]`).waitFor();
    const folded = await words();
    await press("Unfold");
    await until("from inside to outside", async () => squeezed(await words()) === squeezed(told("unfold.limn", wiring, "--unfold")) && (await words()) !== folded, words);
    must((await marksOf()) > 3, "it is drawn");
    await page.locator(".chooser select").first().selectOption(wiring);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "What would" }).fill("view: who");
    await page.keyboard.press("Enter");
    await until("why there is nothing", async () => /no goal/.test(await page.locator(".empty").innerText()));
    must(!(await page.locator(".sheet svg").count()), "on an empty sheet");
    await page.locator(".empty").getByRole("button", { name: "Diagram" }).click();
    await until("a picture again", () => page.locator(".sheet svg").count());
  });
}

/** Two learning diagrams are glued by the form, along what is one in both; undo gives the text back. */
async function glued(browser) {
  const part = (name, space, from, by, learner, width) => `diagram ${name} {\n  space N = iris\n  space X = R[4]\n  space ${space} = ${by}\n  box x : N -> X = iris.x\n  box ${from[0]} : N -> ${space} = iris.${from[1]}\n  learn ${learner} : X -> ${space} = dense[${width}]\n  x ; ${learner} <= ${from[0]}\n}\n`;
  const program = part("one", "Y", ["y", "label"], "{3} by cross_entropy", "f", 3) + part("two", "Z", ["z", "x"], "R[4] by l2", "g", 4);
  await using(browser, { "a.limn": program }, async (page, f) => {
    await toPicture(page);
    await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
    await page.getByRole("button", { name: "+ Glue", exact: true }).click();
    const dialog = page.locator("dialog.prompt");
    for (const [name, value] of [["a", "one"], ["b", "three"], ["along", "N, X, x"]]) await dialog.locator(`input[name="${name}"]`).fill(value);
    await dialog.locator("button.primary").click();
    await until("what is not there is refused in the form", async () => /three/.test(await dialog.locator('[role="alert"]').innerText()));
    await dialog.locator('input[name="b"]').fill("two");
    await dialog.locator("button.primary").click();
    await dialog.waitFor({ state: "detached" });
    await until("one diagram of both", () => /diagram both = one \+ two along N, X, x/.test(f.read("a.limn")), () => f.read("a.limn").slice(program.length));
    await until("and its picture among the others", () => page.locator(".chooser select").first().locator("option", { hasText: "both" }).count());
    await page.keyboard.press("Control+z");
    await until("every byte is back", () => f.read("a.limn") === program);
  });
}

async function panning(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await toPicture(page);
    const transform = () => page.locator(".sheet").evaluate((e) => e.style.transform);
    const frame = await page.locator(".frame").boundingBox();
    const at = { x: frame.x + frame.width / 2, y: frame.y + 40 };
    const first = await transform();
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 60, at.y + 30, { steps: 4 });
    await page.mouse.up();
    const dragged = await transform();
    must(dragged !== first, "a drag moves the sheet");
    await page.mouse.wheel(0, -240);
    await until("the wheel zooms", async () => (await transform()) !== dragged);
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    await until("it fits again", async () => (await transform()) === first);
  });
}

async function exporting(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await toPicture(page);
    for (const [label, ending] of [["SVG, for pages", "svg"], ["PDF, for print", "pdf"], ["PNG, for everything else", "png"], ["TikZ, for papers", "tex"]]) {
      await page.getByRole("button", { name: "Save the picture" }).click();
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: label }).click()]);
      must(file.suggestedFilename().endsWith(`.${ending}`), file.suggestedFilename());
      must(existsSync(await file.path()), "it is there");
    }
  });
}

/** Where a hand would take hold of a wire. */
const middleOf = async (page, wire) =>
  page.evaluate((e) => {
    const path = e.querySelector("path.reach") ?? e.querySelector("path");
    const p = path.getPointAtLength(path.getTotalLength() / 2);
    const m = path.getScreenCTM();
    return { x: p.x * m.a + p.y * m.c + m.e, y: p.x * m.b + p.y * m.d + m.f };
  }, await wire.elementHandle());

/** A box dragged from the palette onto a wire. */
async function dragOnto(page, box, wire) {
  await page.locator("#palette-search").fill(box);
  const item = page.locator(".box-item", { has: page.locator(`b:text-is("${box}")`) }).first();
  // What fits is found out a moment after a mark was chosen, and then stands first.
  const place = () => item.boundingBox();
  await until("the list is still", async () => {
    const before = JSON.stringify(await place());
    await page.waitForTimeout(300);
    return before === JSON.stringify(await place());
  });
  const from = await place();
  const to = await middleOf(page, wire);
  await page.mouse.move(from.x + 20, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

async function putting(browser) {
  const program = "# A chain.\nlearn f : R[4] -> R[4] = dense[8] ; dense[4]   # stays\n";
  await using(browser, { "a.limn": program }, async (page, f) => {
    await toPicture(page);
    await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
    await until("the palette", () => page.locator(".box-item").count());
    await page.locator(".chooser select").first().selectOption("f");
    await until("the learner", () => page.locator('.sheet svg[aria-label="Picture of f"]').count());
    const wire = page.locator('.sheet g.wire[data-at][data-type="R[8]"]').first();
    await dragOnto(page, "relu", wire);
    await until("the box in the text", async () => (await textOf(page)).includes("dense[8] ; relu ; dense[4]"));
    await saved(page);
    const made = f.read("a.limn");
    must(made.startsWith("# A chain.\n") && made.includes("# stays"), `comments stay: ${made}`);
    // Undo gives the bytes back.
    await page.keyboard.press("Alt+1");
    await page.keyboard.press("Control+z");
    await until("undone", async () => (await textOf(page)) === program);
    await toPicture(page);
    // By wire and click, then taken away by its menu.
    await until("drawn again", async () => !(await page.locator('.sheet [data-box="relu"]').count()));
    await wire.focus();
    await page.locator("#palette-search").fill("relu");
    await page.keyboard.press("Enter");
    await until("put by keyboard", async () => (await textOf(page)).includes("relu"));
    await until("and drawn", () => page.locator('.sheet [data-box="relu"]').count());
    await page.locator('.sheet [data-box="relu"]').first().focus();
    await page.keyboard.press("ContextMenu");
    await page.getByRole("menuitem", { name: "Take it away" }).click();
    await until("taken away", async () => (await textOf(page)) === program);
    // What does not fit is refused in words, at its place.
    await until("drawn again", async () => !(await page.locator('.sheet [data-box="relu"]').count()));
    await wire.focus();
    await page.locator("#palette-search").fill("attend");
    await page.keyboard.press("Enter");
    await until("the sentence", () => page.locator(".toast.fault").count());
    must((await textOf(page)) === program, "and the text is as it was");
  });
}

const AUTO = "given x from iris.x\nlearn enc : R[4] -> R[2] = dense[2]\nlearn dec : R[2] -> R[4] = dense[4]\nlearn other : R[4] -> R[2] = dense[8] ; dense[2]\ngoal same : dec(enc(x)) ~ x by l2\n";

/** What is said to fit is taken, and nothing stands for what is given; a box is renamed and looked up by its menu. */
async function fits(browser) {
  await using(browser, { "a.limn": AUTO }, async (page, f) => {
    await toPicture(page);
    await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
    const mark = (name) => page.locator(`.sheet g[data-box="${name}"]`).first();
    const menu = async (at) => {
      await at.focus();
      await page.keyboard.press("ContextMenu");
      await page.locator('[role="menu"]').waitFor();
      return page.getByRole("menuitem").allInnerTexts();
    };
    const offered = () => page.getByRole("region", { name: "Fits here" }).locator("b").allInnerTexts();
    await mark("enc").waitFor();
    await menu(mark("enc"));
    await page.getByRole("menuitem", { name: "Put another box here" }).click();
    await until("what fits", async () => (await offered()).includes("other"), offered);
    must(!(await offered()).includes("id"), `the types are others: ${await offered()}`);
    await page.getByRole("region", { name: "Fits here" }).locator(".box-item", { hasText: "other" }).click();
    await until("it was taken", () => f.read("a.limn").includes("dec(other(x))"), () => f.read("a.limn"));
    await page.keyboard.press("Control+z");
    await until("undone", () => f.read("a.limn") === AUTO);
    const given = page.locator('.sheet g.glyph[data-at^="0:"]').first();
    await until("the box of the data", () => given.count(), () => page.locator(".sheet").innerHTML());
    const items = await menu(given);
    must(!items.some((i) => /box here/.test(i)), `nothing stands for data: ${items}`);
    await page.keyboard.press("Escape");
    await page.waitForTimeout(400);
    must(!(await offered()).length, `nothing fits there: ${await offered()}`);
    await menu(mark("dec"));
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("New name").fill("back");
    await page.keyboard.press("Enter");
    await until("it is renamed everywhere", () => f.read("a.limn") === AUTO.replaceAll("dec", "back"), () => f.read("a.limn"));
    await until("and drawn so", () => mark("back").count());
    await menu(mark("back"));
    await page.getByRole("menuitem", { name: "Where it is declared" }).click();
    await until("its line", async () => (await page.locator(".cm-activeLine").innerText()).startsWith("learn back"));
    // An arrow that is none.
    await toPicture(page);
    await page.getByRole("button", { name: "+ Learner", exact: true }).click();
    const dialog = page.locator("dialog.prompt");
    await dialog.locator('input[name="type"]').fill("R[4] - R[2]");
    await dialog.locator("button.primary").click();
    await until("help with the arrow", async () => (await dialog.locator('[role="alert"]').innerText()).includes("`R[4] -> R[2]`"));
    await page.keyboard.press("Escape");
  });
}

/** Why something was refused stands in the text until one goes on, and moves no line away from its number. */
async function refusedInPlace(browser) {
  await using(browser, { "a.limn": "# A chain.\nlearn f : R[4] -> R[4] = dense[8] ; dense[4]\n\n# below\n" }, async (page) => {
    await toPicture(page);
    await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
    await page.locator(".chooser select").first().selectOption("f");
    const wire = page.locator('.sheet g.wire[data-at][data-type="R[8]"]').first();
    await wire.waitFor({ state: "attached" });
    await wire.focus();
    await page.locator("#palette-search").fill("attend");
    await page.keyboard.press("Enter");
    await page.locator(".refused").waitFor({ state: "attached" });
    await page.keyboard.press("Alt+1");
    const tops = () => page.evaluate(() => {
      const root = document.querySelector(".editor").shadowRoot;
      const number = [...root.querySelectorAll(".cm-gutterElement")].find((e) => e.textContent === "4");
      const line = [...root.querySelectorAll(".cm-line")].find((e) => e.textContent === "# below");
      return Math.abs(number.getBoundingClientRect().top - line.getBoundingClientRect().top);
    });
    must((await tops()) < 2, `a line is ${await tops()} pixels away from its number`);
    await page.keyboard.press("ArrowDown");
    await until("it goes as one goes on", async () => !(await page.locator(".refused").count()));
  });
}

/** A pointer on its way over the picture lights the text up and does not move it; a click does. */
async function crossing(browser) {
  const far = `${PROGRAM}${"# a line\n".repeat(120)}`;
  await using(browser, { "a.limn": far }, async (page) => {
    await page.keyboard.press("Alt+1");
    await page.keyboard.press("Control+End");
    const top = () => page.evaluate(() => document.querySelector(".editor").shadowRoot.querySelector(".cm-scroller").scrollTop);
    await until("it has gone down", async () => (await top()) > 500);
    await page.waitForTimeout(200);
    const before = await top();
    const mark = page.locator('.sheet g[data-at][data-box="guess"]').first();
    await mark.hover();
    await page.waitForTimeout(300);
    must((await top()) === before, `the text went from ${before} to ${await top()}`);
    await mark.focus();
    await until("a mark that is chosen is shown in the text", async () => (await top()) < 200);
  });
}

async function blank(browser) {
  await using(
    browser,
    { "sheet.limn": "" },
    async (page, f) => {
      await toPicture(page);
      await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
      await autoencoder(page);
      await trainedBy(page, 3);
      await saved(page);
      await until("no message", async () => /No messages|0 errors/.test(await page.locator(".count-line").innerText()));
      await train(page);
      await trained(page);
      must(f.read("sheet.limn").includes("adam(0.01)"), "the file has it all");
    },
    { path: "sheet.limn" },
  );
}

/** By mouse alone: what the forms offer first is a program that trains. What is refused stays as it was entered, with the sentence. */
async function mouseAlone(browser) {
  await using(browser, {}, async (page, f) => {
    await toPicture(page);
    must(!f.has("sheet.limn"), "an empty sheet is no file before something is done");
    await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
    const dialog = page.locator("dialog.prompt");
    await page.getByRole("button", { name: "+ Data", exact: true }).click();
    await dialog.locator('input[name="from"]').fill("nowhere");
    await dialog.locator("button.primary").click();
    await until("the sentence in the form", async () => /nowhere/.test(await dialog.locator('[role="alert"]').innerText()));
    must((await dialog.locator('input[name="from"]').inputValue()) === "nowhere", "what was entered is still there");
    await dialog.locator('input[name="from"]').fill("iris");
    await dialog.locator("button.primary").click();
    await dialog.waitFor({ state: "detached" });
    for (const button of ["Learner", "Goal", "Training"]) await fillIn(page, button, {});
    await saved(page);
    must(/given x, kind from iris[^]*goal .* : guess\(x\) ~ kind by cross_entropy/.test(f.read("sheet.limn")), f.read("sheet.limn"));
    await train(page);
    await trained(page);
  });
}

/** As docs/studio.md says: arrow keys to the wire, Enter, a few letters, Enter. */
async function byKeys(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    await toPicture(page);
    await page.locator(".chooser select").first().selectOption("guess");
    await page.locator('.sheet g[data-box="tanh"]').first().waitFor();
    await page.keyboard.press("Alt+2");
    const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? "");
    for (let i = 0; i < 6 && !/^wire/.test(await label()); i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.locator('[role="menu"]').waitFor();
    await page.keyboard.type("sigmoid", { delay: 40 });
    await until("the letters", async () => (await page.locator("#palette-search").inputValue()) === "sigmoid", () => page.locator("#palette-search").inputValue());
    await page.keyboard.press("Enter");
    await until("the box", () => /learn guess.*sigmoid/.test(f.read("a.limn")), () => f.read("a.limn"));
  });
}

const choose = async (page, mark, item) => {
  await mark.focus();
  await page.keyboard.press("ContextMenu");
  await page.getByRole("menuitem", { name: item }).click();
};

/** The menu of a wire by the second button of a mouse, and the mark that is asked for by the first. */
async function byMouse(page, wire, item, other) {
  const at = await middleOf(page, wire);
  await page.mouse.click(at.x, at.y, { button: "right" });
  await page.getByRole("menuitem", { name: item }).click();
  if (!other) return;
  await page.locator(".wanted").waitFor();
  const to = await middleOf(page, other);
  await page.mouse.click(to.x, to.y);
}

/** A wire is used once more, gets a name, is led elsewhere, changes places with another, two paths become a goal: by mouse, each one edit that undo takes back; what makes no sense is refused in words. */
async function wiresByMouse(browser) {
  const program = "# Two boxes.\nbox f(x: R[3]) -> R[3] {\n  return softmax(softmax(x))   # stays\n}\n\nbox g(x, z: R[3]) -> R[3] = softmax(x) - z\n\ngiven u from normal[4]\nlearn enc : R[4] -> R[2] = dense[2]\nlearn dec : R[2] -> R[4] = dense[4]\ngoal small : dec(enc(u)) ~ 0 by l2\n";
  await using(browser, { "a.limn": program }, async (page, f) => {
    await toPicture(page);
    const draw = async (name) => {
      await page.locator(".chooser select").first().selectOption(name);
      await page.locator(`.sheet svg[aria-label="Picture of ${name}"]`).waitFor();
    };
    const becomes = (text) => until("the text", () => f.read("a.limn") === text, () => JSON.stringify([text, f.read("a.limn")]));
    const undone = async () => {
      await page.keyboard.press("Control+z");
      await becomes(program);
    };
    const wire = (at) => page.locator(`.sheet g.wire[data-at^="${at}"]`).first();
    await draw("f");
    await byMouse(page, wire("2:17"), "Use once more");
    await becomes(program.replace("  return softmax(softmax(x))", "  y = softmax(x)\n  return softmax(y)"));
    await undone();
    await draw("f");
    await byMouse(page, wire("2:17"), "Name it…");
    await page.locator('dialog.prompt input[name="name"]').fill("mid");
    await page.locator("dialog.prompt button.primary").click();
    await becomes(program.replace("  return softmax(softmax(x))", "  mid = softmax(x)\n  return softmax(mid)"));
    await undone();
    await draw("g");
    await byMouse(page, page.locator('.sheet g.wire[data-wire="x"]').first(), "Copy to…", page.locator('.sheet g.wire[data-wire="z"]').last());
    await becomes(program.replace("softmax(x) - z", "softmax(x) - x"));
    await undone();
    await draw("g");
    await byMouse(page, wire("5:28"), "Swap with…", page.locator('.sheet g.wire[data-wire="z"]').first());
    await becomes(program.replace("softmax(x) - z", "z - softmax(x)"));
    await undone();
    await draw("g");
    await byMouse(page, page.locator('.sheet g.wire[data-wire="x"]').first(), "Swap with…", wire("5:28"));
    await until("one inside of the other cannot change places with it", async () => /one of them is inside of the other/.test(await page.locator(".toasts").innerText()), () => textOf(page));
    await page.locator(".chooser select").first().selectOption({ label: "Goals" });
    await page.locator('.sheet svg[aria-label="Picture of the goals"]').waitFor();
    await byMouse(page, wire("10:13-10:24"), "Make equal to…", page.locator('.sheet g.wire[data-wire="u"]').first());
    await page.locator('dialog.prompt input[name="by"]').fill("l1");
    await page.locator("dialog.prompt button.primary").click();
    await becomes(`${program}goal goal1 : dec(enc(u)) ~ u by l1\n`);
    await undone();
  });
}

/** A wire is led to a box: to its only input. What is inside of a box of the library is refused in words, as first and as second. */
async function ledToABox(browser) {
  const program = "box bend(x: R[3]) -> R[3] = tanh(2 * x)\n\nbox f(x, y: R[3]) -> R[3] = softmax(sin(x)) + bend(y)\n";
  await using(browser, { "a.limn": program }, async (page) => {
    await toPicture(page);
    await page.locator(".chooser select").first().selectOption("f");
    const box = (name) => page.locator(`.sheet [data-box="${name}"]`).first();
    await box("bend").waitFor();
    await choose(page, page.locator('.sheet g.wire[data-wire="x"]').first(), "Copy to…");
    await box("bend").focus();
    await page.keyboard.press("Enter");
    await until("it is read there", async () => (await textOf(page)).includes("softmax(sin(x)) + bend(x)"), () => textOf(page));
    await page.keyboard.press("Control+z");
    await until("undone", async () => (await textOf(page)) === program.trimEnd() || (await textOf(page)) === program);
    await choosing(page, "Level", "Layers");
    const inner = page.locator(".sheet g.glyph[data-in]").first();
    await inner.waitFor();
    await choose(page, page.locator('.sheet g.wire[data-wire="x"]').first(), "Copy to…");
    await inner.focus();
    await page.keyboard.press("Enter");
    await until("the sentence", async () => /inside of a box that library\.limn says/.test(await page.locator(".toasts").innerText()));
    must((await textOf(page)).includes("softmax(sin(x)) + bend(y)"), "and the text is as it was");
  });
}

/** A map and a space of a learning diagram get other names, by their menus. */
async function mapsRenamed(browser) {
  const program = "learn big : R[4] -> R[3] = dense[3]\n\ndiagram teach {\n  space N = iris\n  space X = R[4]\n  space Y = {3} by cross_entropy\n  box flower : N -> X = iris.x\n  box label : N -> Y = iris.label\n  box guess : X -> Y = big\n  flower ; guess <= label\n}\n\ntrain teach 1 epochs\nmeasure teach.Y by hits\n";
  await using(browser, { "a.limn": program }, async (page, f) => {
    await toPicture(page);
    await page.locator(".chooser select").first().selectOption("teach");
    await page.locator('.sheet [data-box="guess"]').first().waitFor();
    for (const [from, to] of [["guess", "answer"], ["Y", "Kind"]]) {
      await choose(page, page.locator(`.sheet [data-box="${from}"]`).first(), "Name it…");
      await page.locator('dialog.prompt input[name="name"]').fill(to);
      await page.locator("dialog.prompt button.primary").click();
      await page.locator(`.sheet [data-box="${to}"]`).first().waitFor();
    }
    await saved(page);
    must(f.read("a.limn") === program.replaceAll("guess", "answer").replace(/\bY\b/g, "Kind"), f.read("a.limn"));
  });
}

export const tests = {
  what_fits_is_taken: fits,
  refused_in_its_place: refusedInPlace,
  crossing_the_picture: crossing,
  by_mouse_alone: mouseAlone,
  by_keys_as_the_manual_says: byKeys,
  a_wire_is_led_to_a_box: ledToABox,
  wires_by_mouse: wiresByMouse,
  maps_get_other_names: mapsRenamed,
  open_a_box: opening,
  cost_and_who: costAndWho,
  lens_and_unfold: lensAndUnfold,
  two_diagrams_are_glued: glued,
  pan_and_zoom: panning,
  save_the_picture: exporting,
  boxes_onto_wires: putting,
  a_blank_sheet_becomes_a_program: blank,
};
