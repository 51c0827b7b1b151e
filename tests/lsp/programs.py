"""Programs with words that are wrong, as they are while somebody types: of every program of the repository a few words are lost, doubled, or others
of it, or of another; and before that all of tests/errors as they are. The language server reads each, draws it, and answers what an editor and
the page ask: it never dies, and never takes long.

    tests/lsp/programs.py build/limn SECONDS [SEED]       what went wrong is in wrong-SEED.limn
"""
import glob
import os
import random
import re
import sys
import time

from server import Lost, Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORD = re.compile(r'"[^"\n]*"|[^\W\d]\w*|\d[\d.e]*|->|<=|\.\.|[^\w\s]|\n')
ODD = ["0", "-1", "999999999", "1e308", "0.5", "[]", "()", "{}", "^", "999999999999999999999"]
MOST_SECONDS = 20  # for one program, on a machine that has other work
ASKED = ["limn/picture", "textDocument/semanticTokens/full", "limn/who", "limn/numbers", "limn/summary", "textDocument/documentSymbol", "textDocument/foldingRange"]
ASKED_AT = ["textDocument/hover", "textDocument/completion", "textDocument/references", "textDocument/signatureHelp", "textDocument/definition", "limn/picture"]
URI = "file:///none/p.limn"


def damaged(text, words, dice):
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        found = list(WORD.finditer(text))
        names = [m for m in found if re.match(r"[^\W\d]", m.group())]
        if not names:
            return text
        m, how = dice.choice(found), dice.random()
        if how < 0.4:
            m = dice.choice(names)
            new = dice.choice(["zq", dice.choice(names).group(), dice.choice(names).group()])
        elif how < 0.6:
            new = ""
        elif how < 0.85:
            new = (m.group() + " " if how < 0.7 else "") + dice.choice(words)
        elif how < 0.93:
            lines = text.split("\n")
            i, k = dice.randrange(len(lines)), dice.randrange(len(lines))
            if dice.random() < 0.5:
                lines.insert(k, lines[i])
            else:
                del lines[i]
            text = "\n".join(lines)
            continue
        else:
            new = dice.choice(ODD)
        text = text[: m.start()] + new + text[m.end() :]
    return text


def place(text, dice):
    m = dice.choice(list(re.finditer(r"\w+", text)) or [re.search("", text)])
    line = text.rfind("\n", 0, m.start()) + 1
    return {"line": text.count("\n", 0, m.start()), "character": len(text[line : m.start()].encode("utf-16-le")) // 2}


def look(server, text, version, dice):
    end = time.time() + MOST_SECONDS
    about = {"textDocument": {"uri": URI}}
    server.send(method="textDocument/didOpen", params={"textDocument": {"uri": URI, "languageId": "limn", "version": version, "text": text}})
    server.ask("limn/picture", {**about, "cost": True}, end)
    for method in ASKED[1:]:
        if dice.random() < 0.3:
            server.ask(method, about, end)
    for method in ASKED_AT:
        if dice.random() < 0.2:
            server.ask(method, {**about, "position": place(text, dice)}, end)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
    if dice.random() < 0.2:
        server.ask("textDocument/codeAction", {**about, "range": everything, "context": {"diagnostics": []}}, end)
    server.send(method="textDocument/didClose", params=about)


def programs(*places):
    files = sorted(f for where in places for f in glob.glob(f"{ROOT}/{where}/*.limn") if os.path.getsize(f) < 5000)
    for f in files:
        with open(f, encoding="utf-8", errors="ignore") as source:
            yield re.sub(r"^#[!=%].*\n", "", source.read(), flags=re.M)


def main():
    limn, seconds = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    texts, wrong_ones = list(programs("examples", "tests/*", "tests/*/*")), list(programs("tests/errors"))
    words = [w for text in texts for w in WORD.findall(text)]
    server, count, wrong, end = Server(limn), 0, 0, time.time() + seconds
    while time.time() < end or count < len(wrong_ones):
        dice = random.Random(seed + count)
        text = wrong_ones[count] if count < len(wrong_ones) else damaged(dice.choice(texts), words, dice)
        try:
            look(server, text, count + 1, dice)
        except Lost as e:
            server.p.kill()
            with open(f"wrong-{seed + count}.limn", "w", encoding="utf-8") as f:
                f.write(text)
            print(f"seed {seed + count}: {e}", flush=True)
            server, wrong = Server(limn), wrong + 1
        count += 1
    server.p.kill()
    print(f"{count} programs, {wrong} went wrong")
    return 1 if wrong else 0


sys.exit(main())
