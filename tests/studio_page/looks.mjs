// How it looks and what is told to those who do not see it: two sizes, two themes, contrast, names, no jumps.

import { mkdirSync } from "node:fs";
import { caretToEnd, must, saved, until } from "./help.mjs";
import { PROGRAM, using } from "./write.mjs";

const shots = process.env.SHOTS; // a folder for pictures to look at
async function shot(page, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: `${shots}/${name}.png` });
}

/** Words whose contrast with what is behind them is below 4.5, or 3 where they are large. */
export function faint() {
  const parse = (c) => {
    const m = c.match(/[\d.]+/g).map(Number);
    return { rgb: m.slice(0, 3), a: m[3] ?? 1 };
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parents = (e) => (e ? [e, ...parents(e.parentElement ?? e.getRootNode().host ?? null)] : []);
  /** What lies below an element in the middle of it, also what is beside it in the tree; of one that is out of sight, what it is in. */
  const below = (e) => {
    const box = e.getBoundingClientRect();
    const all = e.getRootNode().elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const at = all.indexOf(e);
    return at < 0 ? parents(e) : [...all.slice(at, -1), ...parents(all.at(-1))];
  };
  const behind = (e) => {
    let [rgb, left] = [[0, 0, 0], 1];
    for (const b of below(e)) {
      const s = getComputedStyle(b);
      const c = parse(s.backgroundColor);
      const seen = left * c.a * Number(s.opacity);
      rgb = rgb.map((v, i) => v + seen * c.rgb[i]);
      left -= seen;
    }
    return rgb.map((v) => v + left * 255);
  };
  const bad = [];
  const look = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (e.shadowRoot) look(e.shadowRoot);
      if (e.closest("svg") || e.disabled || !e.checkVisibility?.()) continue;
      if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
      const s = getComputedStyle(e);
      const [a, b] = [light(parse(s.color).rgb), light(behind(e))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.6 && Number(s.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) bad.push(`${e.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
    }
  };
  look(document);
  return bad;
}

/** Words of labels that touch what they are the label of. */
export function touching() {
  return [...document.querySelectorAll("label")].flatMap((label) =>
    [...label.childNodes].flatMap((n) => {
      const control = n.nodeType === 3 && n.textContent.trim() && label.querySelector(":scope > :is(input, select)");
      if (!control || !control.checkVisibility?.()) return [];
      const words = document.createRange();
      words.selectNodeContents(n);
      const [a, b] = [words.getBoundingClientRect(), control.getBoundingClientRect()];
      const gap = Math.max(b.left - a.right, a.left - b.right, b.top - a.bottom, a.top - b.bottom);
      return gap < 4 ? [`${n.textContent.trim()}: ${gap.toFixed(1)}`] : [];
    }),
  );
}

/** What can be pressed or filled in and has no name. */
function nameless() {
  return [...document.querySelectorAll("button, input, select, [role=button], [role=slider]")]
    .filter((e) => e.checkVisibility?.() && !(e.getAttribute("aria-label") || e.title || e.textContent.trim() || e.labels?.length || e.placeholder))
    .map((e) => e.outerHTML.slice(0, 100));
}

async function themes(browser) {
  for (const theme of ["light", "dark"])
    await using(
      browser,
      { "a.limn": PROGRAM },
      async (page) => {
        await page.getByRole("button", { name: "Files" }).click();
        await page.getByRole("button", { name: "Boxes", exact: true }).first().click();
        for (const drawer of ["Runs", "Play", "Learn"]) {
          await page.locator(".tabs").getByRole("button", { name: drawer }).click();
          await page.waitForTimeout(150);
          const bad = [...(await page.evaluate(faint)), ...(await page.evaluate(touching))];
          must(!bad.length, `${theme}: ${bad.join("; ")}`);
          const none = await page.evaluate(nameless);
          must(!none.length, `no name: ${none.join("; ")}`);
        }
        await shot(page, `wide-${theme}`);
        const colour = await page.locator(".picture-pane").evaluate((e) => getComputedStyle(e).backgroundColor);
        must(colour === (theme === "dark" ? "rgb(30, 30, 30)" : "rgb(255, 255, 255)"), colour);
        await page.getByRole("button", { name: theme === "dark" ? "Light" : "Dark", exact: true }).click();
        must((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme, "the button changes it");
      },
      { theme },
    );
}

const PHONE = { width: 390, height: 780 };
/** On a narrow screen one pane is seen at a time, and fits. */
export async function onePane(page, theme) {
  const panes = page.getByRole("navigation", { name: "Panes" });
  for (const [name, pane] of [["Picture", ".picture-pane"], ["Runs", ".drawer"], ["Play", ".drawer"], ["Learn", ".drawer"], ["Text", ".text-pane"]]) {
    await panes.getByRole("button", { name }).click();
    await page.locator(pane).waitFor({ state: "visible" });
    must((await page.locator(".pane:visible").count()) === 1, `one pane at a time: ${name}`);
    await page.waitForTimeout(150);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    must(wide <= PHONE.width, `${name} is ${wide} wide`);
    const cost = name === "Picture" ? await page.locator(".bar button", { hasText: "Cost" }).boundingBox() : null;
    must(!cost || (cost.x >= 0 && cost.x + cost.width <= PHONE.width), `Cost is seen: ${cost?.x}`);
    await shot(page, `narrow-${theme}-${name}`);
    const bad = await page.evaluate(faint);
    must(!bad.length, `${theme} ${name}: ${bad.join("; ")}`);
  }
}

async function narrow(browser) {
  for (const theme of ["light", "dark"]) await using(browser, { "a.limn": PROGRAM }, (page) => onePane(page, theme), { ...PHONE, theme });
}

/** What a screen reader is told of the page and of its picture of the goals. */
export async function told(page) {
  const words = await page.locator("body").ariaSnapshot();
  for (const wanted of [/banner/, /main/, /textbox "Program"/, /group "Picture of the goals"/, /button "box guess/, /region "Text"/, /region "Picture"/, /button "Train"/]) must(wanted.test(words), `the tree has no ${wanted}:\n${words.slice(0, 3000)}`);
  must((await page.locator("#picture-words").innerText()).length > 20, "the picture in words");
}
const tree = (browser) => using(browser, { "a.limn": PROGRAM }, told);

/** Where everything stands that should not move while one writes. */
const standing = (page) =>
  page.evaluate(() => {
    const rect = (e) => Object.values(e.getBoundingClientRect().toJSON()).map(Math.round).join();
    const fixed = [...document.querySelectorAll(".top, .train, .text-pane, .picture-pane, .bar, .bar button, .frame, .zoom, .count-line")];
    const line = document.querySelector(".editor").shadowRoot.querySelector(".cm-line").getBoundingClientRect();
    return [...fixed.map((e) => `${e.className.split(" ")[0]} ${rect(e)}`), `line ${line.x} ${line.y}`].join("\n");
  });

async function steady(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await caretToEnd(page);
    await saved(page);
    const before = await standing(page);
    await page.keyboard.type("box bad(x: R[5]) -> R[3] = guess(x)\n");
    await until("the message", async () => /1 error/.test(await page.locator(".count-line").innerText()));
    await saved(page);
    const after = await standing(page);
    const moved = before.split("\n").filter((line, i) => line !== after.split("\n")[i]);
    must(!moved.length, `what moved: ${moved.join("; ")}`);
  });
}

/** While limn has not answered yet, nothing is said about the picture that is on its way. */
async function unflashed(browser) {
  await using(browser, { "a.limn": PROGRAM }, async (page) => {
    await page.addInitScript(() => {
      window.flashes = 0;
      new MutationObserver(() => (window.flashes += document.querySelector(".empty") ? 1 : 0)).observe(document, { childList: true, subtree: true });
    });
    await page.route("**/message*", async (route) => {
      if (/limn.picture/.test(route.request().postData() ?? "")) await new Promise((done) => setTimeout(done, 300));
      await route.continue();
    });
    await page.reload();
    await until("the picture", () => page.locator(".sheet svg").count());
    must(!(await page.evaluate(() => window.flashes)), "it said that there was none");
  });
}

export const tests = {
  two_themes: themes,
  at_390_pixels: narrow,
  told_to_a_screen_reader: tree,
  nothing_jumps: steady,
  nothing_is_said_of_a_picture_to_come: unflashed,
};
export { PHONE };
