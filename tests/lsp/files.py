"""Names of one file in another: whatever place of a name is asked about, in the file that declares it or in one that uses
it, the same places are written anew, and the programs that come out of it are good; or it is refused, with a reason.

    tests/lsp/files.py build/limn
"""
import os
import re
import subprocess
import sys
import tempfile

import server

FILES = {
    "nets/parts.limn": """# Parts of nets; `half` is one.
const scale = 0.5
axis wide = 6
space Row = R[4]
box half(x: R[n]) -> R[n] = x * scale
box twice_half(x: R[n]) -> R[n] = half(half(x))
learn enc : Row -> R[2]
given seen : R[4] from iris.x
""",
    "user.limn": """use "nets/parts.limn"
# half of it: half(x)
box own(x: Row) -> R[2] {
  half_of = half(x)
  return enc(half_of) * scale
}
box wider(x: R[wide]) -> R[wide] = x
goal small : own(seen) ~ enc(twice_half(seen)) by l2
train 1 steps, batch 4, adam(0.01)
""",
    "nets/beside.limn": """use   "./parts.limn"
box again(x: R[n]) -> R[n] {
  scale_by = 2
  return twice_half(x) * scale_by
}
""",
    "else.limn": "box half(x: R[n]) -> R[n] = x / 2\nbox two(x: R[n]) -> R[n] = half(x) + half(x)\n",
}
NAME = re.compile(r"[A-Za-z_]\w*")


class Server(server.Server):
    def __init__(self, limn, root):
        self.root = root
        super().__init__(limn)

    def uri(self, name):
        return f"file://{self.root}/{name}"

    def open(self, name, text):
        self.send(method="textDocument/didOpen", params={"textDocument": {"uri": self.uri(name), "languageId": "limn", "version": 1, "text": text}})

    def rename(self, name, line, character, new):
        m = self.ask("textDocument/rename", {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}, "newName": new})
        return m.get("result", {}).get("changes") if "result" in m else m["error"]["message"]

    def end(self):
        self.ask("shutdown", None)
        self.send(method="exit", params=None)
        self.p.wait(20)


def places(changes, root):
    return sorted((uri.removeprefix(f"file://{root}/"), e["range"]["start"]["line"], e["range"]["start"]["character"]) for uri, edits in changes.items() for e in edits)


def applied(found, old, new):
    out = {}
    for name, text in FILES.items():
        lines = text.split("\n")
        for _, line, at in sorted((p for p in found if p[0] == name), reverse=True):
            assert lines[line][at:at + len(old)] == old, (name, line, at, old)
            lines[line] = lines[line][:at] + new + lines[line][at + len(old):]
        out[name] = "\n".join(lines)
    return out


def write(root, files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(f"{root}/{name}") or root, exist_ok=True)
        open(f"{root}/{name}", "w").write(text)


def good(limn, files):
    with tempfile.TemporaryDirectory() as root:
        write(root, files)
        for name in files:
            p = subprocess.run([limn, "check", name], cwd=root, capture_output=True, text=True)
            if p.returncode:
                return p.stdout + p.stderr
    return ""


def sweep(limn, root):
    s = Server(limn, root)
    for name, text in FILES.items():
        s.open(name, text)
    sets = {}
    for name, text in FILES.items():
        for line, row in enumerate(text.split("\n")):
            for m in NAME.finditer(row.split("#")[0]):
                changes = s.rename(name, line, m.start(), "another")
                if isinstance(changes, str):
                    sets[name, line, m.start()] = changes
                    continue
                found = places(changes, root)
                assert (name, line, m.start()) in found, (name, line, m.group(), found)
                for place in found:
                    before = sets.setdefault(place, found)
                    assert before == found, f"{m.group()}: {found} asked in {name}:{line + 1}, {before} before"
                if (name, line, m.start()) == found[0]:
                    said = good(limn, applied(found, m.group(), "another"))
                    assert not said, f"{m.group()} in {name}:{line + 1}:\n{said}"
    s.end()
    return sets


def at(name, word):
    for line, row in enumerate(FILES[name].split("\n")):
        m = re.search(rf"\b{word}\b", row.split("#")[0])
        if m:
            return name, line, m.start()
    raise KeyError(word)


def while_typing(limn, root):
    """A long text is not looked at with every key: the places are those of the text as it is by now all the same."""
    pad = "".join(f"# line {i} of many, which say nothing\n" for i in range(600))
    # What `loose` means is known by `uses` alone, which does not name half; an axis may matter where its name does not stand.
    text = pad + "box half(x: R[n]) -> R[n] = x / 2\nbox all(x: R[n]) -> R[n] = half(half(x))\nbox loose(x) = half(x)\nbox uses(x: R[wide]) -> R[wide] = loose(x)\naxis wide = 4\n"
    typed = [(600, 28, "  "), (10, 0, "# more\n"), (602, 27, " # why\n "), (602, 27, "half(")]
    s = Server(limn, root)
    s.open("long.limn", text)
    s.rename("long.limn", 600, 5, "first_look")
    for k, (line, at_, new) in enumerate(typed):
        place = {"line": line, "character": at_}
        s.send(method="textDocument/didChange", params={"textDocument": {"uri": s.uri("long.limn"), "version": k + 2}, "contentChanges": [{"range": {"start": place, "end": place}, "text": new}]})
        rows = text.split("\n")
        rows[line] = rows[line][:at_] + new + rows[line][at_:]
        text = "\n".join(rows)
        line = next(i for i, row in enumerate(text.split("\n")) if row.startswith("box half"))
        fresh = Server(limn, root)
        fresh.open("long.limn", text)
        axis = next(i for i, row in enumerate(text.split("\n")) if row.startswith("axis wide"))
        fresh.rename("long.limn", line, 5, "first_look")
        wanted, found = ([one.rename("long.limn", i, 5, "another") for i in (line, axis)] for one in (fresh, s))
        fresh.end()
        assert wanted == found, (new, wanted, found)
        assert len(places(found[1], root)) == 3, found[1]
        found = found[0]
        assert len(places(found, root)) == text.count("half"), found
    s.end()


def unknown_places(limn, root):
    """A name in a place that nobody could read, or that only looks like the name."""
    good = 'box f(x: R[3]) -> R[3] = x\nbox g(x: R[3]) -> R[3] = f(x) # f is f\nshow "f" as strip\n'
    for text, wanted in [
        (good, 2),
        (good + "box h(x: R[3]) -> R[3] = f(x) \u00a7\n", "`f` is also used in line 4"),
        (good + "f f f\n", "`f` is also used in line 4"),
        ("f\n" + good, "`f` is also used in line 1"),
        (good + "box h(x: R[3]) -> R[3] = (f(x)\nbox k(x: R[3]) -> R[3] = ff(x) + x_f + f_x\n", 3),
        (good + "box other(x: R[3]) -> R[3] = x\n", "`other` is already used in line 4"),
        (good + "# other\n", 2),
    ]:
        s = Server(limn, root)
        s.open("unknown.limn", text)
        line = 1 if text.startswith("f") else 0
        said = s.rename("unknown.limn", line, 4, "other")
        if isinstance(wanted, int):
            assert not isinstance(said, str) and len(places(said, root)) == wanted, (text, said)
        else:
            assert isinstance(said, str) and wanted in said, (text, said)
        s.end()


def main():
    limn = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as root:
        root = os.path.realpath(root)
        write(root, FILES)
        assert not good(limn, FILES), good(limn, FILES)
        sets = sweep(limn, root)
        across = {word: len({p[0] for p in sets[at("nets/parts.limn", word)]}) for word in ("half", "twice_half", "enc", "scale", "Row")}
        assert across == {"half": 2, "twice_half": 3, "enc": 2, "scale": 2, "Row": 2}, across
        while_typing(limn, root)
        unknown_places(limn, root)
        # what is known by more than its name stays in its file
        assert "is also in" in sets[at("nets/parts.limn", "wide")] and "which uses this file" in sets[at("nets/parts.limn", "wide")], sets[at("nets/parts.limn", "wide")]
        assert "is declared in" in sets[at("user.limn", "wide")] and "rename it there" in sets[at("user.limn", "wide")], sets[at("user.limn", "wide")]
        # a wire is seen in its box alone, whatever other files have
        s = Server(limn, root)
        s.open("nets/parts.limn", FILES["nets/parts.limn"])
        assert {p[0] for p in places(s.rename("nets/parts.limn", 4, 9, "own"), root)} == {"nets/parts.limn"}
        s.end()
        # the file that declares it need not be open, nor those that use it
        for alone in ("nets/parts.limn", "user.limn", "nets/beside.limn"):
            s = Server(limn, root)
            s.open(alone, FILES[alone])
            assert places(s.rename(*at(alone, "twice_half"), "another"), root) == sets[at("user.limn", "twice_half")]
            # what would mean something else in another file
            own = {"nets/parts.limn": "own", "user.limn": "half", "nets/beside.limn": "own"}[alone]
            said = s.rename(*at(alone, "twice_half"), own)
            assert isinstance(said, str) and ("already" in said), said
            s.end()
        s = Server(limn, root)
        s.open("user.limn", FILES["user.limn"])
        s.open("nets/parts.limn", "# a line more\n" + FILES["nets/parts.limn"])
        for place in (at("user.limn", "twice_half"), ("nets/parts.limn", 6, 6)):
            said = s.rename(*place, "another")
            assert isinstance(said, str) and "as it is saved: save it first" in said, said
        s.end()


main()
