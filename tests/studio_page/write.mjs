// Writing: the picture follows, messages stand where they belong, nothing is lost.

import { caretToEnd, folder, must, open, saved, studio, textOf, toPicture, until } from "./help.mjs";

const PROGRAM = `# A first line.
given x, kind from iris

learn guess : R[4] -> R[3] = dense[16] ; tanh ; dense[3]

goal fit : guess(x) ~ kind   by cross_entropy

train 3 epochs, batch 16, adam(0.01)
`;

/** A folder, a studio and a page for one test. */
async function using(browser, files, run, how = {}) {
  const f = folder(files);
  const s = await studio(how.path ? `${f.dir}/${how.path}` : f.dir);
  try {
    const page = await open(browser, s.url, how);
    await run(page, f, s).catch(async (e) => {
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/failed.png` });
      throw e;
    });
    const bad = page.complaints.filter((c) => !(how.allow && how.allow.test(c)));
    must(!bad.length, `the browser complains: ${bad.join("; ")}`);
    must(!page.foreign.length, `the page asks elsewhere: ${page.foreign.join()}`);
    await page.context().close();
  } finally {
    await s.end();
    f.drop();
  }
}

/** What is typed can be drawn, is drawn, and is saved. */
export async function pictureFollows(page, f) {
  await caretToEnd(page);
  await page.keyboard.type("box extra(x: R[4]) -> R[3] = guess(x)\n");
  await until("the new box among the pictures", () => page.locator(".chooser select").first().locator("option", { hasText: "extra" }).count());
  await toPicture(page);
  await page.locator(".chooser select").first().selectOption("extra");
  await until("its picture", () => page.locator('.sheet svg[aria-label="Picture of extra"]').count());
  await saved(page);
  must(f.read("a.limn").endsWith("box extra(x: R[4]) -> R[3] = guess(x)\n"), "the file has what was typed");
}

async function writing(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    await pictureFollows(page, f);
    // A mistake is said in the line, in the list and in the picture; and goes again.
    await caretToEnd(page);
    await page.keyboard.type("box bad(x: R[5]) -> R[3] = guess(x)\n");
    await until("the message", async () => /1 error/.test(await page.locator(".count-line").innerText()));
    must((await page.locator(".cm-inline-message").count()) === 1, "the message stands in its line");
    await page.locator(".count-line").click();
    await page.locator(".messages li button").click();
    await until("a message leads to its line", () => page.locator(".cm-focused").count());
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await until("no message", async () => /No messages/.test(await page.locator(".count-line").innerText()));
  });
}

async function hover(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    const mark = page.locator('.sheet g[data-at][data-box="guess"]').first();
    await mark.hover();
    await until("the text lights up", () => page.locator(".cm-content .lit").count());
    must(/guess/.test(await page.locator(".cm-content .lit").first().innerText()), "the box lights up its call");
    await page.mouse.move(5, 400);
    await page.locator(".cm-line", { hasText: "goal fit" }).locator("span", { hasText: "guess" }).first().hover();
    await until("the picture lights up", () => page.locator(".sheet .lit").count());
    // The picture stays tied to the text while lines come in before it.
    await page.locator(".cm-line").first().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("# one more line\n");
    await mark.hover();
    await until("the moved text lights up", () => page.locator(".cm-content .lit").count());
    must(/guess/.test(await page.locator(".cm-content .lit").first().innerText()), "the place moves with the text");
  });
}

/** A name of another file, asked for in the one that uses it and in the one that declares it; a file keeps the ends of its lines. */
async function renaming(browser) {
  const files = { "parts.limn": "# Parts.\r\nbox half(x: R[n]) -> R[n] = x / 2\r\n", "user.limn": 'use "parts.limn"\nbox twice(x: R[n]) -> R[n] = half(half(x))\n' };
  const rename = async (page, line, from, to) => {
    await page.locator(".cm-line", { hasText: line }).getByText(from, { exact: false }).first().click();
    await page.keyboard.press("Home");
    const at = (await textOf(page)).split("\n").find((l) => l.includes(line)).indexOf(from);
    for (let i = 0; i <= at; i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("F2");
    await page.getByLabel("New name").fill(to);
    await page.keyboard.press("Enter");
  };
  await using(
    browser,
    files,
    async (page, f) => {
      await rename(page, "box twice", "half", "a_half");
      await until("the other file", () => f.read("parts.limn") === files["parts.limn"].replace("half", "a_half"));
      await until("this one", () => f.read("user.limn") === files["user.limn"].replaceAll("half", "a_half"));
      await until("no message", async () => /No messages/.test(await page.locator(".count-line").innerText()));
    },
    { path: "user.limn" },
  );
  await using(
    browser,
    files,
    async (page, f) => {
      await rename(page, "box half", "half", "b_half");
      await until("the file that uses it", () => f.read("user.limn") === files["user.limn"].replaceAll("half", "b_half"));
      await until("this one", () => f.read("parts.limn") === files["parts.limn"].replace("half", "b_half"));
    },
    { path: "parts.limn" },
  );
}

async function completion(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await caretToEnd(page);
    await page.keyboard.type("box b(x: R[4]) -> R[4] = leaky");
    await until("completion", async () => (await page.locator(".cm-tooltip-autocomplete li").allInnerTexts()).join().startsWith("leaky_relu"));
    await page.waitForTimeout(200); // a list that has just come does not take keys
    await page.keyboard.press("Enter");
    await until("the word", async () => (await textOf(page)).includes("leaky_relu"));
    await page.locator(".cm-line", { hasText: "learn guess" }).locator("span", { hasText: "guess" }).first().hover();
    await until("hover", () => page.locator(".cm-tooltip-hover").count());
  });
}

/** A box of the library is read where it is declared, and left again. */
async function library(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    await page.locator(".cm-line", { hasText: "learn guess" }).click();
    await page.keyboard.press("Home");
    for (let i = 0; i < PROGRAM.split("\n")[3].indexOf("dense") + 1; i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("F12");
    const reading = page.locator(".reading");
    await until("the library", async () => /library\.limn/.test(await reading.innerText()), () => page.locator(".toasts").innerText());
    await until("the box is lit", async () => /dense/.test(await reading.locator(".lit").first().innerText()));
    await page.keyboard.type("words");
    must(!/words/.test(await reading.locator(".cm-content").innerText()), "it is to read only");
    await reading.getByRole("button", { name: "Back to a.limn" }).click();
    await until("the program again", async () => !(await reading.count()) && (await page.locator(".cm-focused").count()));
    must(f.read("a.limn") === PROGRAM, "which is as it was");
  });
}

/** What helps is one key away, and mends the line. */
async function helps(browser) {
  await using(browser, { "a.limn": PROGRAM.replace("tanh", "tahn") }, async (page, f) => {
    await until("the message", async () => /1 error/.test(await page.locator(".count-line").innerText()));
    await page.locator(".cm-line", { hasText: "learn guess" }).click({ position: { x: 12, y: 8 } });
    await page.keyboard.press("Control+.");
    await page.locator('[role="menu"]').waitFor();
    await page.getByRole("menuitem", { name: /tanh/ }).click();
    await until("it is mended", () => f.read("a.limn") === PROGRAM, () => f.read("a.limn"));
  });
}

/** Nothing is trained that has errors: they are shown instead, and no folder is made. */
async function errorsFirst(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page, f) => {
    await caretToEnd(page);
    await page.keyboard.type("goal bad : guess(y) ~ kind");
    await page.keyboard.press("Control+Enter");
    await until("the messages", async () => /`y`/.test((await page.locator(".messages ul").allInnerTexts()).join()));
    must(/Nothing was trained/.test(await page.locator(".messages ul").innerText()), "and why");
    must(!f.has("runs"), "nothing was begun");
  });
}

async function kept(browser) {
  const allow = /ERR_|Failed to load|net::/;
  const f = folder({ "a.limn": PROGRAM });
  const port = 20000 + Math.floor(Math.random() * 20000);
  let s = await studio(f.dir, port);
  const page = await open(browser, s.url);
  try {
    await s.end("SIGKILL");
    await caretToEnd(page);
    await page.keyboard.type("# written while limn was dead\n");
    await until("the page says so", async () => /kept/.test(await page.locator(".where").innerText()));
    const drafts = await page.evaluate(() => Object.values({ ...localStorage }).join());
    must(drafts.includes("written while limn was dead"), `the text is in the browser's store: ${drafts}`);
    must(!f.read("a.limn").includes("while limn was dead"), "and not in the file yet");
    // A new server has another token: the page is opened anew and offers the text.
    s = await studio(f.dir, port);
    await page.goto(s.url);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await saved(page);
    await until("the file", () => f.read("a.limn").includes("written while limn was dead"));
    must(page.complaints.every((c) => allow.test(c) || /403/.test(c)), page.complaints.join("; "));
    await page.context().close();
  } finally {
    await s.end();
    f.drop();
  }
}

async function conflict(browser) {
  await using(
    browser,
    { "a.limn": PROGRAM },
    async (page, f) => {
      // Changed by another program, and nothing unsaved here: it is shown.
      f.write("a.limn", PROGRAM + "# from outside\n");
      await until("the new text", async () => (await textOf(page)).includes("# from outside"));
      // Changed at both ends: both are shown, and nothing is written over.
      await page.route("**/message*", async (route) => {
        if (/host\/write/.test(route.request().postData() ?? "")) f.write("a.limn", PROGRAM + "# theirs\n");
        await route.continue();
      });
      await caretToEnd(page);
      await page.keyboard.type("# mine\n");
      const dialog = page.getByRole("dialog", { name: "Two texts" });
      await dialog.waitFor();
      must(/# mine/.test(await dialog.innerText()) && /# theirs/.test(await dialog.innerText()), "both are there");
      must(f.read("a.limn").endsWith("# theirs\n"), "the file is as the other program left it");
      await page.unroute("**/message*");
      await dialog.getByRole("button", { name: "Keep what is here" }).click();
      await saved(page);
      await until("mine in the file", () => f.read("a.limn").endsWith("# mine\n"));
    },
    {},
  );
}

/** What is typed while a write is under way is in the file too, however soon one goes on to another. */
async function underWay(browser) {
  await using(
    browser,
    { "a.limn": PROGRAM, "b.limn": KEEP },
    async (page, f) => {
      let held = 0;
      await page.route("**/message*", async (route) => {
        if (/host\/write/.test(route.request().postData() ?? "") && !held++) await new Promise((done) => setTimeout(done, 1500));
        await route.continue();
      });
      await caretToEnd(page);
      await page.keyboard.type("# one");
      await until("a write is under way", () => held);
      await page.keyboard.type(" two");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "What would" }).fill("open b");
      await page.keyboard.press("Enter");
      await until("the other file", async () => (await textOf(page)).includes("keep"));
      must(f.read("a.limn").endsWith("# one two"), `the newest letters are in the file: ${f.read("a.limn").slice(-20)}`);
    },
    {},
  );
}

const KEEP = "box keep(x: R[3]) -> R[3] = x\n";
/** From file to file, along the wires of the picture and back to the text, by keys. */
export async function keysReach(page) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "What would" }).fill("open b");
  await page.keyboard.press("Enter");
  await until("the other file", async () => (await textOf(page)).includes("keep"));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "What would" }).fill("open a");
  await page.keyboard.press("Enter");
  await until("back again", async () => (await textOf(page)).includes("guess"));
  await until("its picture", () => page.locator(".sheet g.glyph").count());
  await page.keyboard.press("Alt+2");
  const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const first = await label();
  must(first, "the picture has the focus");
  await page.keyboard.press("ArrowRight");
  must((await label()) && (await label()) !== first, `an arrow key goes on along a wire from ${first}`);
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  must((await label()) === first, "Home leads back");
  await page.keyboard.press("Alt+1");
  await until("the text is one key away", () => page.locator(".cm-focused").count());
}
const keyboard = (browser) => using(browser, { "a.limn": PROGRAM, "b.limn": KEEP }, keysReach);

/** A picture is not given up because the next question waits: many at once are all answered, and alike. */
async function atOnce() {
  const f = folder({ "a.limn": PROGRAM });
  const s = await studio(f.dir);
  const at = new URL(s.url);
  const headers = { "X-Limn-Token": at.searchParams.get("token"), "Content-Type": "application/json" };
  const post = async (path, body) => (await fetch(at.origin + path, { method: "POST", headers, body: JSON.stringify(body) })).text();
  try {
    const { session } = JSON.parse(await post("/session", {}));
    const say = (message) => post(`/message?session=${session}`, { jsonrpc: "2.0", ...message });
    await say({ id: 0, method: "initialize", params: { capabilities: {} } });
    await say({ method: "textDocument/didOpen", params: { textDocument: { uri: "file:///a.limn", languageId: "limn", version: 1, text: PROGRAM } } });
    const ask = (id) => say({ id, method: "limn/picture", params: { textDocument: { uri: "file:///a.limn" }, name: null, view: "plain", as: "svg" } });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i + 1)));
    const pictures = new Set(answers.map((a) => JSON.parse(a).result?.picture ?? a));
    must(pictures.size === 1 && [...pictures][0].includes("<svg"), `${pictures.size} different answers: ${[...pictures].map((p) => p.slice(0, 120)).join("; ")}`);
  } finally {
    await s.end();
    f.drop();
  }
}

export const tests = {
  write_and_see: writing,
  hover_both_ways: hover,
  completion_and_hover: completion,
  rename_in_two_files: renaming,
  the_library_is_read: library,
  what_helps_is_one_key_away: helps,
  errors_are_shown_before_training: errorsFirst,
  text_is_kept_when_the_server_dies: kept,
  changed_by_another_program: conflict,
  typed_while_it_is_written: underWay,
  many_questions_at_once: atOnce,
  keyboard_alone: keyboard,
};
export { KEEP, PROGRAM, using };
