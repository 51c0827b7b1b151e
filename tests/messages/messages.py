"""Messages of src/, and of the reader of diagrams, that no test and no page has.

  messages.py [--all]      --all lists every message, and where it is pinned

A message is a text in a call of one of CALLS; with `? :` it is two. It is pinned if a line of a .err file ends with it, whatever its %s
became, or if another file of tests/, an expected answer (#=) or a page has four of its words in a row (or all, where a piece between two %s has fewer).
`unpinned` lists those that cannot be provoked, each with a reason after a tab; a line that is not needed fails.
"""
import pathlib
import re
import sys

CALLS = ("diag_error", "diag_refuse", "diag_machine", "diag_warning", "value_refuse", "val_refuse", "drawing_error", "text_error", "file_error", "solver_fail", "train_refuse", "use_wrong", "op_refuse", "node_misfit", "refuse_gesture")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'|\w+|[^\w\s]", re.S)
SPEC = re.compile(r"%(?:\.\*|[-.0-9]*)(?:hh|h|ll|l|z|j)?[a-zA-Z]")
ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = [ROOT / "tests" / f"diagram_{part}.c" for part in ("lex", "read", "scalar")]


def literals(text):
    """(line, text) of each literal in the format of a call of CALLS, adjacent ones joined."""
    tokens = [t for t in TOKEN.finditer(text) if t[0][:2] not in ("//", "/*")]
    depth, inside, joined, line = 0, None, None, 0
    for before, t in zip([None] + tokens, tokens):
        if t[0] == "(":
            depth += 1
            if inside is None and before and before[0] in CALLS:
                inside, found = depth, False
        if inside is not None and t[0][0] == '"':
            if joined is None:
                joined, line = "", text.count("\n", 0, t.start()) + 1
            joined += t[0][1:-1]
            continue
        if joined is not None:
            yield line, re.sub(r"\\(.)", lambda m: " " if m[1] == "n" else m[1], joined)
            joined, found = None, True
        if inside is not None and depth == inside and (t[0] == ")" or t[0] == "," and found):
            inside = None  # behind the format are its arguments
        if t[0] == ")":
            depth -= 1


def is_message(text):
    """Names of files and words that are put into a %s are not."""
    return len(re.findall(r"[a-z]+", SPEC.sub("", text))) >= 2


def messages():
    for file in sorted((ROOT / "src").rglob("*.c")) + READER:
        for line, text in literals(file.read_text()):
            if is_message(text):
                yield f"{file.relative_to(ROOT)}:{line}", text


def read(paths):
    return [(p.relative_to(ROOT), p.read_text(errors="replace")) for p in sorted(paths) if p.is_file()]


def pinned_by(text, golden, others):
    pieces = [p.strip() for p in SPEC.split(text)]
    whole = re.compile(".*".join(re.escape(p) for p in SPEC.split(text)) + "$", re.M)
    longest = max(pieces, key=len)
    runs = [p.split() for p in pieces if len(p.split()) >= min(4, len(longest.split()))]
    some = [" ".join(w[i : i + 4]) for w in runs for i in range(max(1, len(w) - 3))]
    for name, page in golden:
        if longest in page and whole.search(page):
            return name
    for name, page in others:
        if any(piece in page for piece in some):
            return name


def main():
    tests = ROOT / "tests"
    golden = read(tests.rglob("*.err"))
    suffixes = (".c", ".h", ".sh", ".py", ".md", ".txt")
    files = [p for d in (tests, ROOT / "docs") for p in d.rglob("*") if p.suffix in suffixes and p.name != "messages.py" and p not in READER]
    files += sorted((tests / "answers").rglob("*.limn"))  # their lines #= hold what is printed
    # A text may be broken in C, and its quotes are escaped there and in the shell.
    answers = [(n, "\n".join(line for line in t.split("\n") if line.startswith("#="))) for n, t in read((tests / "answers").rglob("*.limn"))]
    others = answers + [(n, re.sub(r"\\([\"`$.\\-])", r"\1", re.sub(r'"\n\s*"', "", t))) for n, t in read(files)]
    excused = {}
    for line in (tests / "messages" / "unpinned").read_text().splitlines():
        if line and not line.startswith("#"):
            text, _, reason = line.partition("\t")
            excused[text] = reason
    bad, used = [], set()
    for place, text in messages():
        where = pinned_by(text, golden, others)
        if "--all" in sys.argv:
            print(place, where or "-", text, sep="\t")
        if where:
            continue
        if excused.get(text):
            used.add(text)
        else:
            bad.append(f"{place}: {text}")
    for line in bad:
        print("# pinned by no test:", line)
    print("not ok" if bad else "ok", "every message is pinned by a test")
    for text in sorted(set(excused) - used):
        print("# needs no excuse:", text)
    print("not ok" if set(excused) - used else "ok", "every excuse is needed")


main()
