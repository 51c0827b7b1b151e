"""sweep.py LIBRARY FILE…: laws of what editors are told, over whole programs.

A name leads to a place where the same name stands, and is among the references of that place. Renamed to a name that is new,
a program has the same errors and its goals cost the same; or the rename is refused with a reason. What is typed at the end of
a line leaves everything else known. Looked at for two words alone, a program has the same answer for who renames a box, or a wire
of one, or none; and to a name that is taken, none."""
import ctypes
import json
import re
import sys


class Ask(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("line", ctypes.c_uint32), ("character", ctypes.c_uint32), ("end_line", ctypes.c_uint32),
                ("end_character", ctypes.c_uint32), ("text", ctypes.c_char_p), ("library", ctypes.c_char_p), ("utf8", ctypes.c_bool),
                ("no_declaration", ctypes.c_bool)]


L = ctypes.CDLL(sys.argv[1])
L.limn_new.restype = ctypes.c_void_p
for f in ("limn_edit_ask", "limn_messages", "limn_cost", "limn_names"):
    getattr(L, f).restype = ctypes.c_char_p


class Program:
    def __init__(self, path, text, words=None):
        self.handle, self.text = ctypes.c_void_p(L.limn_new()), text
        if words:
            L.limn_edit_load_words(self.handle, path.encode(), text, ctypes.c_size_t(len(text)), (ctypes.c_char_p * 3)(*words, None))
        else:
            L.limn_edit_load(self.handle, path.encode(), text, ctypes.c_size_t(len(text)), None)
        self.errors = L.limn_errors(self.handle)

    def ask(self, question, line=0, character=0, text=None):
        ask = Ask(ctypes.sizeof(Ask), line, character, line, character, text, None, True, False)
        answer = L.limn_edit_ask(self.handle, question.encode(), ctypes.byref(ask))
        return None if answer is None else json.loads(answer)

    def names(self):  # (line, character, length, is it the declaration)
        data, line, character = self.ask("tokens")["data"], 0, 0
        for i in range(0, len(data), 5):
            character = data[i + 1] + (0 if data[i] else character)
            line += data[i]
            yield line, character, data[i + 2], bool(data[i + 4] & 1)

    def costs(self):
        names = L.limn_names(self.handle)
        goals = [g for g in json.loads(names)["goals"]] if names else []
        costs = (L.limn_cost(self.handle, g.encode(), True) or b"" for g in goals if g)
        return sorted(re.sub(rb'"memory, peak": [^,}]*', b"", c) for c in costs)  # weights are ordered by their names

    def close(self):
        L.limn_free(self.handle)


def place(text, location):
    start, end = location["range"]["start"], location["range"]["end"]
    return text.split(b"\n")[start["line"]][start["character"]:end["character"]]


def applied(text, edits):
    lines = [bytearray(line) for line in text.split(b"\n")]
    for e in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        start, end = e["range"]["start"], e["range"]["end"]
        lines[start["line"]][start["character"]:end["character"]] = e["newText"].encode()
    return b"\n".join(lines)


def by_words(p, path, line, character, old, new):
    """What a look at two words makes of a rename: 1 if it has an answer, which is that of the whole then."""
    few = Program(path, p.text, (old, new))
    asked = few.ask("prepareRename", line, character, new)
    found = few.ask("rename", line, character, new) if asked and asked["plain"] and asked["here"] else None
    assert found is None or found == p.ask("rename", line, character, new), (path, line, character, old, new, found)
    few.close()
    return found is not None


def main():
    names = renamed = refused = known = 0
    taken = b""
    for path in sys.argv[2:]:
        text = open(path, "rb").read()
        p = Program(path, text)
        lines, costs = text.split(b"\n"), None
        for k, (line, character, n, first) in enumerate(p.names()):
            name = lines[line][character:character + n]
            names += 1
            found = p.ask("definition", line, character)
            if found and found["uri"].endswith(path.rsplit("/", 1)[-1]):
                assert place(text, found) == name, (path, line, character, name, found)
            if names % 5 == 0:
                uses = p.ask("references", line, character)
                assert any(u["range"]["start"] == {"line": line, "character": character} for u in uses), (path, line, character)
            if names % 7 == 0 and name.decode().isidentifier():
                known += by_words(p, path, line, character, name, b"a_new_name")
                by_words(p, path, line, character, name, taken or name)
                taken = name
            if not first or names % 9:
                continue
            changes = p.ask("rename", line, character, b"a_new_name")
            if changes is None:
                assert b"error: " in L.limn_messages(p.handle, False)
                refused += 1
                continue
            renamed += 1
            costs = costs if costs is not None else p.costs()
            q = Program(path, applied(text, list(changes["changes"].values())[0]))
            assert q.errors == p.errors and q.costs() == costs, (path, line, character, name)
            q.close()
        p.close()
    print(f"{names} names, {renamed} renamed, {refused} refused, {known} known by two words")
    assert names > 1000 and renamed > 20 and known > 100


main()
