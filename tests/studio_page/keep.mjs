// What is kept: every byte that was not edited, the text of a file that is gone or of a limn that is away; and the run that was begun
// is the one that is seen.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { caretToEnd, folder, must, open, saved, studio, textOf, until } from "./help.mjs";
import { PROGRAM, using } from "./write.mjs";

const BOX = "box f(x: R[]) -> R[] = x + 1";
const ENDS = {
  "crlf.limn": `# a\r\n${BOX}\r\nbox g(x: R[]) -> R[] = f(x)\r\n`,
  "mixed.limn": `# a\r\n${BOX}\nbox g(x: R[]) -> R[] = f(x)\r\n\n# b\n`,
  "mostly.limn": `# a\r\n# b\n# b\r\n${BOX}\r\n`,
  "cr.limn": `# a\rb\n${BOX}\n`,
  "none.limn": BOX,
};

async function everyByte(browser) {
  await using(browser, ENDS, async (page, f) => {
    const bytes = (name) => readFileSync(join(f.dir, name), "utf8");
    await page.keyboard.press("Control+b");
    for (const [name, text] of Object.entries(ENDS)) {
      await page.getByRole("button", { name, exact: true }).click();
      await until(`${name} is open`, async () => (await page.locator(".where .file").innerText()) === name && (await textOf(page)).includes("box f"));
      await caretToEnd(page);
      await page.keyboard.type("# c");
      await until(`${name} with a word at its end`, () => bytes(name) === `${text}# c`, () => JSON.stringify(bytes(name)));
      await page.keyboard.press("Control+z");
      await until(`${name} as it was`, () => bytes(name) === text);
      // A line taken away and brought back has the end that it had; the others never lose theirs.
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("Shift+ArrowDown");
      await page.keyboard.press("Delete");
      const rest = text.replace(/^.*\n|^.*$/, "");
      await until(`${name} without its first line`, () => bytes(name) === rest, () => JSON.stringify(bytes(name)));
      await page.keyboard.press("Control+z");
      await until(`${name} with it again`, () => bytes(name) === text);
      // A line that is edited keeps its end, whichever most lines have.
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("End");
      await page.keyboard.type(" ");
      const edited = text.split(/(?<=\n)/).map((l, i, all) => (i === Math.min(1, all.length - 1) ? l.replace(/\r?\n$|$/, (end) => ` ${end}`) : l)).join("");
      await until(`${name} with a space in its second line`, () => bytes(name) === edited, () => JSON.stringify(bytes(name)));
      await page.keyboard.press("Control+z");
      await until(`${name} once more as it was`, () => bytes(name) === text);
    }
  });
}

const allow = /ERR_|Failed to load|net::|403/;

/** Without a port, a folder has the same one each time; a page that was left open says that a new address is needed. */
async function restarted(browser) {
  const f = folder({ "a.limn": PROGRAM });
  let s = await studio(f.dir);
  const page = await open(browser, s.url);
  try {
    const { port } = new URL(s.url);
    await s.end("SIGKILL");
    await caretToEnd(page);
    await page.keyboard.type("# written while limn was dead\n");
    await until("how to go on", async () => (await page.locator(".toasts").innerText()).includes(`limn studio --port ${port}`));
    s = await studio(f.dir);
    must(new URL(s.url).port === port, `the port is another: ${s.url} and ${port}`);
    await until("a new address is needed", async () => /open the address that it printed/.test(await page.locator(".where").innerText()));
    const second = await page.context().newPage();
    await second.goto(s.url);
    await second.getByRole("button", { name: "Bring it back" }).click();
    await until("the file", () => f.read("a.limn").includes("written while limn was dead"));
    await until("the page that was left open goes on", async () => (await page.locator(".saved").innerText()) === "saved");
    must(page.complaints.every((c) => allow.test(c)), page.complaints.join("; "));
    await page.context().close();
  } finally {
    await s.end();
    f.drop();
  }
}

/** What was never saved is offered until it is answered, whichever file is open, and two of one file are two. */
async function neverSaved(browser) {
  const f = folder({ "a.limn": PROGRAM, "b.limn": `${BOX}\n` });
  let s = await studio(f.dir);
  const page = await open(browser, s.url);
  const file = () => page.locator(".where .file").innerText();
  const offers = () => page.locator(".offer").allInnerTexts();
  const store = () => page.evaluate(() => Object.values({ ...localStorage }).join());
  const dies = async (words) => {
    await s.end("SIGKILL");
    await caretToEnd(page);
    await page.keyboard.type(words);
    await until("it is kept", async () => (await store()).includes(words));
    s = await studio(f.dir);
    await page.goto(s.url);
    await until("the first file", async () => (await file()) === "a.limn");
    await page.locator(".offer", { hasText: "b.limn" }).getByRole("button", { name: "Open it" }).first().click();
    await until("the file of the draft", async () => (await file()) === "b.limn");
  };
  try {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "What would" }).fill("open b");
    await page.keyboard.press("Enter");
    await until("b.limn", async () => (await file()) === "b.limn");
    await dies("# one");
    await caretToEnd(page);
    await page.keyboard.type("# between");
    await until("another text is saved", () => f.read("b.limn").endsWith("# between"));
    must((await offers()).length === 1, `the offer stays: ${await offers()}`);
    await dies("# three");
    must((await offers()).length === 2, `both are offered: ${await offers()}`);
    await page.locator(".offer").last().getByRole("button", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog", { name: "Two texts" });
    must(/# one/.test(await dialog.innerText()) && /# between/.test(await dialog.innerText()), "both texts are seen");
    await dialog.getByRole("button", { name: "Bring it back" }).click();
    await until("the first text in the file", () => f.read("b.limn") === `${BOX}\n# one`);
    must((await store()).includes("# three") && (await offers()).length === 1, "the second is kept, and offered");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "What would" }).fill("never saved");
    await page.keyboard.press("Enter");
    await until("the second text in the file", () => f.read("b.limn").endsWith("# three"), () => f.read("b.limn"));
    must((await offers()).length === 0 && !(await store()).includes("# three"), "what is saved is offered no more");
    must(page.complaints.every((c) => allow.test(c)), page.complaints.join("; "));
    await page.context().close();
  } finally {
    await s.end();
    f.drop();
  }
}

/** The file that is open is in the address: a reload, a link, back and forward lead to it. */
async function addressed(browser) {
  await using(browser, { "a.limn": PROGRAM, "sub/b 1.limn": `${BOX}\n`, "c.limn": "# c\n" }, async (page) => {
    const isOpen = (name) => until(`${name} is open`, async () => (await page.locator(".where .file").innerText()) === name);
    const choose = async (name) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "What would" }).fill(`open ${name}`);
      await page.keyboard.press("Enter");
      await isOpen(name);
    };
    await choose("sub/b 1.limn");
    await page.reload();
    await isOpen("sub/b 1.limn");
    await choose("c.limn");
    await page.goBack();
    await isOpen("sub/b 1.limn");
    await page.goBack();
    await isOpen("a.limn");
    await page.goForward();
    await isOpen("sub/b 1.limn");
    const link = page.url();
    const other = await page.context().newPage();
    await other.goto(link);
    await until("the same file by its link", async () => (await other.locator(".where .file").innerText()) === "sub/b 1.limn");
    // A file that is not there is said; what is open stays, and a new page opens another one.
    const said = (where, file) => until(`that there is no such file, and ${file}`, async () => /nothing\.limn/.test(await where.locator(".toasts").innerText()) && (await where.locator(".where .file").innerText()) === file);
    const none = link.replace(/#.*/, "#nothing.limn");
    await other.goto(none);
    await said(other, "sub/b 1.limn");
    const third = await page.context().newPage();
    await third.goto(none);
    await said(third, "a.limn");
  });
}

/** What others put into the folder is found: in the list, also while it is open, and by Ctrl+K. */
async function added(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    const listed = (name) => until(`${name} in the list`, () => page.locator(".side").getByRole("button", { name, exact: true }).count());
    f.write("early.limn", "# early\n");
    await page.keyboard.press("Control+b");
    await listed("early.limn");
    f.write("late.limn", "# late\n");
    await listed("late.limn");
    await page.keyboard.press("Control+b");
    f.write("last.limn", "# last\n");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "What would" }).fill("open last");
    await until("by Ctrl+K", () => page.getByRole("option", { name: "Open last.limn" }).count());
  });
}

async function removed(browser) {
  await using(browser, { "a.limn": PROGRAM, "b.limn": `${BOX}\n` }, async (page, f) => {
    const gone = () => page.locator(".saved", { hasText: "removed by another program" }).waitFor();
    rmSync(join(f.dir, "a.limn"));
    await gone();
    await caretToEnd(page);
    await page.keyboard.type("# more");
    await page.waitForTimeout(700);
    must(!f.has("a.limn"), "it is not made again by a key alone");
    // The text is kept, also while another program is looked at.
    await page.keyboard.press("Control+b");
    await page.getByRole("button", { name: "b.limn", exact: true }).click();
    await page.getByRole("button", { name: "Go back to it" }).click();
    await gone();
    must((await textOf(page)).includes("# more"), "the text is still there");
    await page.keyboard.press("Control+s");
    await saved(page);
    must(f.read("a.limn") === `${PROGRAM}# more`, "it is written again");
  });
}

/** The run that was just begun is ticked and seen, whatever was open; what fails says why; what cannot be is refused before. */
async function newest(browser) {
  await using(browser, { "a.limn": PROGRAM, "lotka.limn": null }, async (page, f) => {
    const ticked = () => page.locator(".run-list input:checked").evaluateAll((all) => all.map((x) => x.getAttribute("aria-label")).join());
    const name = (k) => (k === 1 ? "Show a" : `Show a.${k}`);
    for (let k = 1; k <= 3; k++) {
      await page.keyboard.press(k === 2 ? "Alt+5" : "Alt+4");
      await page.locator("button.train").click();
      await until(`run ${k} alone is ticked`, async () => (await ticked()) === name(k), ticked);
      await page.waitForTimeout(400);
      must((await ticked()) === name(k), `and stays so: ${await ticked()}`);
    }
    for (const [label, value, words] of [["Epochs", "-1", "`epochs` wants a number above 0"], ["Seed", "1.5", "`seed` wants a whole number"], ["Epochs", "many", "`epochs` wants a number above 0, and at most 1000000000000, not many"]]) {
      await page.getByLabel(label, { exact: true }).fill(value);
      await page.locator(".options button").click();
      await until(words, async () => (await page.locator(".toasts").innerText()).includes(words), () => page.locator(".toasts").innerText());
      await page.getByLabel(label, { exact: true }).fill("");
    }
    must(!f.has("runs/a.4"), "nothing was begun");
    f.write("a.limn", PROGRAM.replace(/train.*/, ""));
    await until("the new text", async () => !(await textOf(page)).includes("train 3"));
    await page.locator(".options button").click();
    await until("why it failed", async () => (await page.locator(".run .fault-line").allInnerTexts()).join().includes("there is no `train` in this program"));
    await page.keyboard.press("Control+b");
    await page.getByRole("button", { name: "lotka.limn", exact: true }).click();
    await until("a program of machines is run", async () => (await page.locator("button.train").innerText()).trim() === "Run");
  });
}

/** A box is taken away by its menu, and undo brings it back. */
export async function takenAndUndone(page, f) {
  const text = f.read("a.limn");
  await page.locator(".chooser select").first().selectOption("guess");
  const tanh = page.locator('.sheet g[data-box="tanh"]').first();
  await tanh.waitFor();
  await tanh.click({ button: "right", force: true });
  await page.getByText("Take it away").click();
  await until("it is away", () => f.read("a.limn") === text.replace(" tanh ;", ""), () => f.read("a.limn"));
  await page.keyboard.press("Control+z");
  await until("every byte is back", () => f.read("a.limn") === text, () => f.read("a.limn"));
}

async function undone(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    await takenAndUndone(page, f);
    // From the palette's search, where the focus stays.
    await page.getByRole("button", { name: "Boxes", exact: true }).click();
    await page.locator('.sheet g.wire[data-at]').first().click({ force: true });
    await page.locator("#palette-search").fill("sigmoid");
    await page.waitForTimeout(300);
    await page.keyboard.press("Enter");
    await until("it is there", () => f.read("a.limn").includes("sigmoid"), () => f.read("a.limn"));
    await page.keyboard.press("Control+z");
    await until("every byte is back", () => f.read("a.limn") === PROGRAM);
  });
}

export const tests = {
  every_byte_is_kept: everyByte,
  found_again_after_a_restart: restarted,
  what_was_never_saved_is_offered: neverSaved,
  the_file_is_in_the_address: addressed,
  added_by_another_program: added,
  removed_by_another_program: removed,
  the_run_that_was_begun_is_seen: newest,
  undo_from_everywhere: undone,
};
