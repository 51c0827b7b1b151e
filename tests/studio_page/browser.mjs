// The page in a real browser, as people use it. The quick ones run with `make test`; LONG=1 (make test-studio) runs all.
//   node tests/studio_page/browser.mjs [NAME…]

import * as draw from "./draw.mjs";
import * as keep from "./keep.mjs";
import * as looks from "./looks.mjs";
import * as play from "./play.mjs";
import * as write from "./write.mjs";
import { check, failures, findChromium, launch } from "./help.mjs";

if (!findChromium()) {
  console.log("skipped: chromium is not there");
  process.exit(0);
}
const long = !!process.env.LONG;
const asked = process.argv.slice(2);
const browser = await launch();
for (const group of [write, keep, draw, play, looks])
  for (const [name, { run, quick }] of Object.entries(group.tests)) if (asked.length ? asked.includes(name) : quick || long) await check(name.replace(/_/g, " "), () => run(browser));
await browser.close();
process.exit(failures() ? 1 : 0);
