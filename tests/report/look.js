// Opens a page in a browser without a window and looks at it, in both themes, on a phone and on a desk.
//   node look.js CHROMIUM PAGE.html [PICTURES]       PICTURES: a folder for screenshots
// Prints a line "ok NAME" or "not ok NAME" for each promise. Speaks the browser's own protocol through pipes: no packages.
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [chromium, page, pictures] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "limn-look-"));
const browser = spawn(chromium, ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

let next = 1, rest = "", bad = 0;
const waiting = new Map(), heard = new Set();
browser.stdio[4].on("data", (bytes) => {
  const messages = (rest + bytes).split("\0");
  rest = messages.pop();
  for (const text of messages) {
    const m = JSON.parse(text), wait = waiting.get(m.id);
    if (wait) waiting.delete(m.id), m.error ? wait.reject(new Error(m.error.message)) : wait.resolve(m.result);
    else for (const listen of heard) listen(m);
  }
});
const ask = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
  waiting.set(next, { resolve, reject });
  browser.stdio[3].write(JSON.stringify({ id: next++, method, params, sessionId }) + "\0");
});
const event = (name) => new Promise((resolve) => {
  const listen = (m) => { if (m.method === name) heard.delete(listen), resolve(m.params); };
  heard.add(listen);
});
const some = (list) => list.slice(0, 5).join("; ") + (list.length > 5 ? ` and ${list.length - 5} more` : "");
const promise = (name, good, why) => {
  console.log(`${good ? "ok" : "not ok"} ${name}${good ? "" : `: ${why}`}`);
  bad += !good;
};

// Runs in the page. Letters are groups with a label; two that cover each other, or one that leaves its picture, is a fault.
const survey = () => {
  const found = { overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, covered: [], outside: [], texts: 0, blank: [], pale: [] };
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const all = [...svg.querySelectorAll("g[aria-label]")].filter((g) => getComputedStyle(g).visibility !== "hidden").map((g) => [g.getAttribute("aria-label"), g.getBoundingClientRect()]);
    found.texts += all.length;
    all.forEach(([name, a], i) => {
      if (!a.width || !a.height) found.blank.push(name);
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) found.outside.push(name);
      for (const [other, b] of all.slice(i + 1))
        if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5) found.covered.push(`${name} / ${other}`);
    });
  }
  const light = (c) => { // relative luminance
    const [r, g, b] = c.match(/[\d.]+/g).map((x) => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } };
  for (const e of document.querySelectorAll("h1, h2, p, th, td, dt, dd, figcaption, pre, pre b, pre i, pre u, pre q, footer, small")) {
    if (!e.textContent.trim()) continue;
    const a = light(getComputedStyle(e).color), b = light(ground(e)), contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.pale.push(`${e.tagName} ${contrast.toFixed(1)}`);
  }
  found.background = getComputedStyle(document.body).backgroundColor;
  const paper = document.querySelector("svg rect.ink-paper");
  found.paper = paper && getComputedStyle(paper).fill;
  return found;
};

// Runs in the page: what each picture of a slider shows now.
const moments = () => [...document.querySelectorAll("section")].filter((s) => s.querySelector(".scrub input")).map((s) => ({
  at: s.querySelector(".scrub output").textContent,
  shown: [...s.querySelectorAll("[data-scrub]")].map((f) => {
    const c = f.querySelector(".cursor"), live = f.querySelector("svg.live"), moving = f.getAnimations({ subtree: true });
    const place = c && c.getBoundingClientRect(), frame = f.querySelector("svg").getBoundingClientRect();
    const inside = !c || (place.left >= frame.left - 8 && place.right <= frame.right + 8 && place.top >= frame.top - 8 && place.bottom <= frame.bottom + 8);
    return { inside, what: c ? `${place.left} ${place.top} ${(f.querySelector(".now") || {}).textContent}` : live ? [...live.children].map((r) => r.style.fillOpacity).join()
      : moving.length && moving.every((a) => a.playState === "paused") ? `${moving[0].currentTime}` : "" };
  }),
}));

// Sliders move by keys, and all pictures of their run with them.
const scrub = async (to, name) => {
  const now = async () => (await to("Runtime.evaluate", { expression: `(${moments})()`, returnByValue: true })).result.value;
  const press = async (key, code) => {
    for (const type of ["keyDown", "keyUp"]) await to("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: code });
  };
  const count = (await now()).length;
  for (let k = 0; k < count; k++) {
    await to("Runtime.evaluate", { expression: `[...document.querySelectorAll(".scrub input")][${k}].focus()` });
    await press("Home", 36);
    const first = (await now())[k];
    for (let i = 0; i < 40; i++) await press("ArrowRight", 39);
    const later = (await now())[k];
    promise(name(`slider ${k + 1} moves by keys`), first.at === "0" && +later.at > 0, `${first.at}, ${later.at}`);
    promise(name(`every picture of slider ${k + 1} moves with it`), later.shown.length && later.shown.every((x, i) => x.what && x.what !== first.shown[i].what),
      JSON.stringify(later.shown.map((x, i) => [x.what, first.shown[i].what])).slice(0, 300));
    promise(name(`cursors of slider ${k + 1} stay in their pictures`), later.shown.every((x) => x.inside), "");
  }
};

const look = async (theme, width) => {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
  const to = (method, params) => ask(method, params, sessionId);
  const faults = [], fetched = [];
  const listen = (m) => {
    if (m.sessionId !== sessionId) return;
    if (m.method === "Runtime.exceptionThrown") faults.push(m.params.exceptionDetails.text);
    if (m.method === "Log.entryAdded") faults.push(m.params.entry.text);
    if (m.method === "Runtime.consoleAPICalled") faults.push(m.params.type);
    if (m.method === "Network.requestWillBeSent" && !/^(file|data):/.test(m.params.request.url)) fetched.push(m.params.request.url);
  };
  heard.add(listen);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await to(`${domain}.enable`);
  await to("Emulation.setDeviceMetricsOverride", { width, height: 844, deviceScaleFactor: 1, mobile: width < 600 });
  await to("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
  const loaded = event("Page.loadEventFired");
  await to("Page.navigate", { url: `file://${path.resolve(page)}` });
  await loaded;
  const { result } = await to("Runtime.evaluate", { expression: `(${survey})()`, returnByValue: true });
  const found = result.value, name = (what) => `${theme}, ${width} px: ${what}`;
  promise(name("nothing is wrong in the console"), !faults.length, some(faults));
  promise(name("nothing is fetched"), !fetched.length, some(fetched));
  promise(name("the page does not scroll sideways"), found.overflow <= 0, `${found.overflow} px too wide`);
  promise(name("texts of pictures are there"), found.texts > 100, `${found.texts}`);
  promise(name("they have letters"), !found.blank.length, some(found.blank));
  promise(name("no text covers another"), !found.covered.length, some(found.covered));
  promise(name("no text leaves its picture"), !found.outside.length, some(found.outside));
  promise(name("pictures stand on the page's own paper"), found.background === found.paper, `${found.paper} on ${found.background}`);
  promise(name("texts stand out from their ground"), !found.pale.length, some(found.pale));
  promise(name("the theme is followed"), (found.background === "rgb(255, 255, 255)") === (theme === "light"), found.background);
  await scrub(to, name);
  if (pictures) {
    const { data } = await to("Page.captureScreenshot", { captureBeyondViewport: true });
    fs.writeFileSync(path.join(pictures, `${theme}-${width}.png`), Buffer.from(data, "base64"));
  }
  heard.delete(listen);
  await ask("Target.closeTarget", { targetId });
};

const end = (status) => {
  browser.once("exit", () => { fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 }); process.exit(status); });
  ask("Browser.close").catch(() => {});
};
browser.on("error", (e) => { console.log(`not ok the browser starts: ${e.message}`); process.exit(1); });
setTimeout(() => { console.log("not ok the browser answers in time"); browser.kill(); process.exit(1); }, 120000).unref();
(async () => {
  for (const theme of ["light", "dark"]) for (const width of [390, 1280]) await look(theme, width);
})().then(() => end(bad ? 1 : 0), (e) => { console.log(`not ok the browser is asked: ${e.message}`); end(1); });
