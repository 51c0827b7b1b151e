// The page in a real browser, as people use it. `make test` takes the short pass; LONG=1 (make test-studio) takes everything in full.
//   node tests/studio_page/browser.mjs [NAME…]

import * as draw from "./draw.mjs";
import * as keep from "./keep.mjs";
import * as looks from "./looks.mjs";
import * as play from "./play.mjs";
import * as playground from "./playground.mjs";
import { short } from "./short.mjs";
import * as write from "./write.mjs";
import { check, failures, findChromium, launch, screen } from "./help.mjs";

if (!findChromium()) {
  console.log("skipped: chromium is not there");
  process.exit(0);
}
const asked = process.argv.slice(2);
// What is about text and picture side by side, or about one size.
const WIDE = new Set(["hover_both_ways", "crossing_the_picture", "keyboard_alone", "by_keys_as_the_manual_says", "a_machine_is_seen_while_it_is_dragged"]);
const browser = await launch();
const all = Object.assign({}, ...[write, keep, draw, play, looks, playground].map((group) => group.tests));
if (!Object.keys(playground.tests).length && process.env.LONG) console.log("skipped: make playground has not been run");
const chosen = asked.length ? asked : process.env.LONG ? Object.keys(all) : [];
for (const name of chosen) await check(name.replace(/_/g, " "), () => all[name](browser));
if (!chosen.length) await check("the short pass to its end", () => short(browser));
// Once more on a telephone at night: what one writes, draws, trains and plays.
const again = [write, draw, play].flatMap((group) => Object.keys(group.tests)).filter((name) => !WIDE.has(name));
Object.assign(screen, { width: 390, height: 844, theme: "dark" });
for (const name of process.env.LONG && !asked.length ? again : asked.filter((n) => process.env.NARROW && again.includes(n))) await check(`${name.replace(/_/g, " ")}, 390 pixels wide and dark`, () => all[name](browser));
await browser.close();
process.exit(failures() ? 1 : 0);
