"""Names that mean something to the language of a file: hostile.py LIMN FOLDER [COUNT [FIRST]].

Each program has such a name in every place that takes any text: its own file, the table it reads, a column, the words of labels, its run; and letters
that few languages take in the names of its boxes. All that limn writes of it must be read by its language (Python's ast, gcc, XML, HTML, JSON, CSV,
protobuf), and nothing of the name may stand there as code: PWNED is a word of each name, and is only ever found in text. What cannot be written may be
refused."""
import ast
import csv
import html.parser
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "onnx"))

from fields import parse

LIMN, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
COUNT, FIRST = (int(x) for x in (sys.argv[3:] + ["4", "1"][len(sys.argv) - 3:]))
KNOWN = ['q""";PWNED();"""', "q';PWNED();'", "*/ int PWNED; /*", '"\nint PWNED;\n//', "a\\\nint PWNED;", "<script>PWNED()</script>", "--></text><PWNED/>", "]]><PWNED/>", "$(PWNED)`PWNED`",
         "%}\\PWNED{", "%s%n%PWNED", "\u202ePWNED", "\xffPWNED\x1b[31m", "a,\"PWNED\"\r\nb;PWNED\t", "\\x22PWNED\\", "??/PWNED", "{PWNED}", "&lt;PWNED&amp;", "\u2028PWNED"]
PIECES = ['"', "'", '"""', "\\", "\n", "\r", "*/", "/*", "//", "#", "<PWNED>", "</script>", "-->", "]]>", "&", "$(", ")", "`", "%", "{", "}", "??/", "\u202e", "\u2066", "\xff", "\x1b", "\x01",
          ",", ";", " ", "PWNED()", "int PWNED;", "\\PWNED", "\t", "\u00a0", "\u2029", "\x7f", "\xc2"]
LETTERS = ["é", "e\u0301", "ﬁ", "θ", "µ", "ﷺ", "😀", "·", "€", "𝐱", "²", "ß", "ש", "新", "\u00a0", "ſ", "\u200d", "ŉ", "ª"]


def said(name):
    """The bytes of a name: what is below 256 and no ASCII stands for that byte alone."""
    return b"".join(c.encode("latin-1") if 0x80 <= ord(c) < 0x100 else c.encode() for c in name)


def run(*words, cwd):
    done = subprocess.run([LIMN.encode(), *[w if isinstance(w, bytes) else w.encode() for w in words]], cwd=cwd, capture_output=True, timeout=120)
    if done.returncode not in (0, 1, 2): raise AssertionError(f"status {done.returncode} of {words}: {done.stderr[-300:]}")
    return done.returncode == 0, done.stdout


def text_of(data): return data.decode("utf-8")


def no_code(where, words):
    if any("PWNED" in w for w in words): raise AssertionError(f"{where} has the name as code")


def look_py(data):
    tree = ast.parse(data)
    no_code("Python", [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)] + [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)])
    if any(ord(c) < 32 and c != "\n" for c in text_of(data)): raise AssertionError("a control character")


def look_c(path):
    warn = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    done = subprocess.run([b"gcc", *[w.encode() for w in warn], b"-fsyntax-only", b"-xc", path], capture_output=True)
    if done.returncode: raise AssertionError(done.stderr.decode(errors="replace")[:400])
    made = subprocess.run([b"gcc", b"-std=c99", b"-E", b"-P", b"-xc", path], capture_output=True).stdout.decode(errors="replace")
    words = re.sub(r'"(\\.|[^"\\])*"', '""', made)
    no_code("C", [w for w in re.findall(r"\w*PWNED\w*", words) if w == "PWNED"])


def look_xml(data):
    tree = xml.etree.ElementTree.fromstring(data)
    no_code("XML", [k for e in tree.iter() for k in [str(e.tag), *e.attrib]])


class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        no_code("HTML", [tag.upper()] + [k.upper() for k, _ in attributes])
        self.within = tag

    def handle_data(self, data):
        if self.lasttag == "script" and "PWNED" in data: raise AssertionError("a script of the page has the name")


def look_html(data): Page().feed(text_of(data))
def look_json(data): json.loads(text_of(data), parse_constant=lambda x: 1 / 0)


def look_csv(data):
    rows = list(csv.reader(io.StringIO(text_of(data), newline="")))
    if len({len(r) for r in rows}) > 1: raise AssertionError("rows of several lengths")


def look_safetensors(data): json.loads(text_of(data[8:8 + int.from_bytes(data[:8], "little")]))


def look_onnx(data):
    def walk(b, depth):
        for number, kind, value in parse(b):
            if kind == 2 and depth < 2 and number in (7, 1): walk(value, depth + 1)
            elif kind == 2 and depth == 0: text_of(bytes(value))
    walk(data, 0)


LOOKS = {"py": look_py, "svg": look_xml, "html": look_html, "json": look_json, "csv": look_csv, "safetensors": look_safetensors, "onnx": look_onnx}


def look_at(folder, seen):
    for at, _, files in os.walk(said(folder)):
        for f in files:
            path, end = os.path.join(at, f), f.rsplit(b".", 1)[-1].decode(errors="replace")
            if path in seen or end == "limn" or b"/cache/" in path: continue
            seen.add(path)
            with open(path, "rb") as file: data = file.read()
            try:
                if end == "c": look_c(path)
                elif end in LOOKS: LOOKS[end](data)
            except Exception as e:
                raise AssertionError(f"{path}: {type(e).__name__} {e}")


def quoted(name): return b'"' + said(name).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def program(table, learner, box):
    return b"given a : R[], kind : {2} from " + quoted(table) + f"""
learn {learner} : R[] -> R[2] = dense[2] ; {box}
box {box}(x{box}: R[2]) -> R[2] = x{box} + 1
goal fit : {learner}(a) ~ kind by cross_entropy
measure fit by hits
train 2 steps, batch 4
show confusion({learner}(a), kind)
show a, kind as table
""".encode()


def one(seed):
    rng = random.Random(seed)
    def name(): return KNOWN[seed - 1] if seed <= len(KNOWN) else "PWNED" + "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 6)))
    folder = os.path.join(FOLDER, f"n{seed}")
    os.makedirs(folder)
    file, table, column, label, out = (name() for _ in range(5))
    word = lambda x: b'"' + said(x).replace(b'"', b'""') + b'"'
    rows = b"".join(b"%d,%d,%s\n" % (i, i * i % 7, word(label + str(i % 2))) for i in range(12))
    with open(os.path.join(said(folder), said(table.replace("/", "|")) + b".csv"), "wb") as f: f.write(b"a," + word(column) + b",kind\n" + rows)
    with open(os.path.join(folder, "plain.csv"), "wb") as f: f.write(b"a," + word(column) + b",kind\n" + rows)
    own = b"./" + said(file.replace("/", "|")) + b".limn"
    learner, box = (rng.choice(["f", "f" + rng.choice(LETTERS), rng.choice(LETTERS)]) + end for end in ("", "box"))
    odd = table.replace("/", "|") + ".csv"
    for data, called, inside in ((odd, learner, box), (odd, "f", box), ("plain.csv", "f", box), ("plain.csv", "f", "plain_box")):
        with open(os.path.join(said(folder), own), "wb") as f: f.write(program(data, called, inside))
        if run("check", own, cwd=folder)[0]: break
    else: raise AssertionError("the plain program is refused")
    done, seen = 0, {os.path.join(said(folder), f) for f in os.listdir(said(folder))}
    for words in (["export", own, "--as", "torch"], ["export", own, "--as", "torch", "-o", "t.py"], ["export", own, "--as", "jax", "-o", "j.py"], ["export", own, called, "--as", "torch", "-o", "o.py"], ["export", own, called, "--as", "jax", "-o", "p.py"],
                  ["export", own, "--as", "c", "--train"], ["export", own, "--as", "c", "--train", "-o", "t.c"], ["export", own, called, "--as", "c"],
                  ["export", own, called, "--as", "c", "-o", said(out.replace("/", "|")) + b".c"], ["export", own, called, "--as", "json"], ["export", own, called, "--as", "onnx"],
                  ["export", own, "--as", "safetensors"], ["draw", own, "-o", "all.svg"], ["draw", own, called, "-o", "one.svg"],
                  ["train", own, "--quiet", "--out", said("runs|" + out.replace("/", "|"))], ["report", own, "--from", said("runs|" + out.replace("/", "|"))]):
        done += run(*words, cwd=folder)[0]
        look_at(folder, seen)
    for words in (["check", own, "--json"], ["runs", ".", "--json"], ["data", own, "--json"], ["print", own, called, "--json"], ["draw", own, "--json"]):
        good, text = run(*words, cwd=folder)
        if good: look_json(text)
    if done < 8: raise AssertionError(f"only {done} files could be written")
    shutil.rmtree(said(folder))


os.environ["LIMN_CACHE"] = os.path.join(FOLDER, "cache")
wrong = 0
for seed in range(FIRST, FIRST + COUNT):
    try: one(seed)
    except AssertionError as e:
        wrong += 1
        if wrong <= 5: print(f"not ok hostile name {seed}: {str(e).encode('ascii', 'backslashreplace').decode()[:700]}")
if not wrong: print(f"ok {COUNT} hostile names")
