"""A hundred pages at once, and messages that are none, while others work."""
import concurrent.futures
import json
import os
import random
import sys
import time

from client import LIMN, Page, Studio, check

folder = sys.argv[1]
pages_wanted, messages_wanted = int(os.environ.get("PAGES", "100")), int(os.environ.get("MESSAGES", "1000"))
seed = int(os.environ.get("SEED", random.randrange(10**6)))
random.seed(seed)
iris = open("examples/iris.limn").read()
studio = Studio(folder)


def memory():
    with open(f"/proc/{studio.process.pid}/status") as f:
        return next((int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS")), 0)


def work(k):
    page = Page(studio)
    page.listen()
    name = f"p{k}.limn"
    stamp = page.ask("host/write", {"path": name, "text": iris, "stamp": None})["stamp"]
    page.open(name, iris)
    begin = time.time()
    picture = page.about("limn/picture", name, name=None)["picture"]
    took = time.time() - begin
    page.tell("textDocument/didChange", {"textDocument": {"uri": "file:///" + name, "version": 2}, "contentChanges": [{"text": iris + f"# {k}\n"}]})
    again = page.about("limn/picture", name, name=None)
    page.ask("host/write", {"path": name, "text": iris + f"# {k}\n", "stamp": stamp})
    good = picture.startswith("<svg") and again["version"] == 2 and page.told("limn/looked", lambda p: p["version"] == 2, 60)
    return page, bool(good), took


begin = time.time()
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    done = list(pool.map(work, range(pages_wanted)))
took = time.time() - begin
check(f"{pages_wanted} pages at once, each with a text, pictures and a file", all(g for _, g, _ in done) and all(open(f"{folder}/p{k}.limn").read().endswith(f"# {k}\n") for k in range(pages_wanted)), [g for _, g, _ in done])
if os.environ.get("FIGURES"):
    times = sorted(t for _, _, t in done)
    print(f"# {pages_wanted} pages in {took:.1f} s, a first picture {1000 * times[len(times) // 2]:.0f} ms (median), {memory():.0f} MB")
pages = [p for p, _, _ in done]

# -- messages that are nearly right
METHODS = ["initialize", "shutdown", "exit", "$/cancelRequest", "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/hover", "textDocument/completion", "textDocument/rename", "textDocument/formatting", "limn/picture", "limn/palette", "limn/edit", "limn/numbers", "limn/cost", "limn/who", "limn/summary", "limn/machine", "limn/eval", "limn/play/open", "limn/play/step", "limn/play/set", "limn/play/close", "host/about", "host/files", "host/read", "host/write", "host/new", "host/rename", "host/upload", "host/pause", "host/resume", "host/stop", "host/delete", "limn/sample", "limn/document", "host/change", "host/runs", "host/metrics", "host/shown", "host/weights", "host/diff", "host/nothing"]
KEYS = ["textDocument", "uri", "text", "version", "position", "range", "start", "end", "line", "character", "contentChanges", "name", "view", "as", "open", "close", "width", "in", "from", "set", "play", "steps", "read", "weights", "path", "to", "stamp", "data", "run", "since", "a", "b", "edit", "kind", "at", "box", "id"]
TEXTS = ["", "p1.limn", "file:///p1.limn", "guess", "fit", "x", "../x", "runs/x", "0:0-0:5", "insert", "number", "lens", "svg", "\u0000", "\ud83d\ude00", "a" * 3000, iris]


def value(depth=0):
    kind = random.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return random.choice(TEXTS)
    if kind < 4:
        return random.choice([0, 1, -1, 3, 1e9, 2**53, 1e308, -0.5, 4294967296])
    if kind < 6:
        return random.choice([None, True, False])
    if kind == 6:
        return [value(depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(KEYS): value(depth + 1) for _ in range(random.randrange(5))}


def params():
    p = {"textDocument": {"uri": "file:///p1.limn", "version": 3, "text": iris}, "position": {"line": 5, "character": 7}, **{random.choice(KEYS): value() for _ in range(random.randrange(6))}}
    return random.choice([p, p, p, value()])


def trouble(page, seed):
    chance = random.Random(seed)
    bad = 0
    for k in range(messages_wanted // 8):
        message = {"jsonrpc": "2.0", "method": chance.choice(METHODS), "params": params(), "id": k}
        if chance.random() < 0.1:
            del message[chance.choice(list(message))]
        text = json.dumps(message)
        if chance.random() < 0.2:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(["", "}", "\\", '"', "[" * 50, "\x01"]) + text[at + chance.randrange(3) :]
        if message.get("method") in ("shutdown", "exit"):
            page = Page(studio)  # the session is over: one more
        status = studio.http("POST", "/message?session=" + page.session, text.encode("utf-8", "surrogatepass"), timeout=60)[0]
        bad += status not in (200, 204, 404)
    return bad


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    bad = sum(pool.map(lambda k: trouble(Page(studio), seed + k), range(8)))
check(f"{messages_wanted} random messages (seed {seed}) are answered", bad == 0 and studio.process.poll() is None, (bad, studio.process.poll()))
check("and the pages still are", pages[5].ask("host/about")["home"] == "studio" and pages[5].about("limn/picture", "p5.limn")["picture"].startswith("<svg"))
status, said = studio.end()
check("it ends well", status == 0 and said == "", (status, said[-1000:]))

# -- a large program is kept once, with what a question may change of it; not once more for each text before
if "/san/" not in LIMN:
    boxes = "box f0(x: R[]) -> R[] = x\n" + "".join(f"box f{i}(x: R[]) -> R[] = f{i - 1}(x) + 1\n" for i in range(1, 4000))
    studio = Studio(folder)
    page, kept = studio.page(), []
    page.open("large.limn", boxes)
    none = memory()
    for k in range(3):
        page.about("limn/picture", "large.limn", name="f9")
        kept.append(memory() - none)
        page.tell("textDocument/didChange", {"textDocument": {"uri": "file:///large.limn", "version": 2 + k}, "contentChanges": [{"text": boxes + f"# {k}\n"}]})
    check("a large program is not kept twice", kept[-1] < 1.75 * kept[0], kept)
    studio.end()
