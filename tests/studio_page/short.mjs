// The short pass: one page, used from its first letter to a run, as every `make test` can afford. What each part looks at is in full
// where it comes from.

import { dropModel, onnxOf } from "./acts.mjs";
import { check, textOf, until } from "./help.mjs";
import { takenAndUndone } from "./keep.mjs";
import { PHONE, onePane, told } from "./looks.mjs";
import { LONG, startMoved, stopped, trainPauseGoOn } from "./play.mjs";
import { KEEP, PROGRAM, keysReach, pictureFollows, using } from "./write.mjs";

async function opened(page, name, word) {
  await page.getByRole("button", { name, exact: true }).click();
  await until(`${name} is open`, async () => (await textOf(page)).includes(word));
}

const PARTS = {
  "what a screen reader is told": told,
  "written and seen": pictureFollows,
  "drawn and undone": takenAndUndone,
  "reached by keys": keysReach,
  "a dropped model": (page) => dropModel(page, onnxOf(PROGRAM, "guess")),
  "a game": async (page) => {
    await page.keyboard.press("Control+b");
    await opened(page, "nash.limn", "simplex");
    await startMoved(page);
  },
  "trained, paused, gone on": async (page) => {
    await opened(page, "long.limn", "200000 epochs");
    await trainPauseGoOn(page);
    await stopped(page);
  },
  "at 390 pixels": async (page) => {
    await page.setViewportSize(PHONE);
    await onePane(page, "light");
  },
};

export const short = (browser) =>
  using(browser, { "a.limn": PROGRAM, "b.limn": KEEP, "nash.limn": null, "long.limn": LONG }, async (page, f) => {
    for (const [name, part] of Object.entries(PARTS)) await check(`short: ${name}`, () => part(page, f));
  });
