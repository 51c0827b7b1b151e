"""Every learner of the programs named: written as JSON, read back, and equal on the same inputs and weights; what is read back, written
and read again is the same program, letter by letter.

usage: round.py LIMN [--boxes] PROGRAM...      prints a line `ok …`, `not ok …` or `skipped …` for each learner
--boxes: every box as well, of a folder of the library too; those with options are none yet, and those that stand alone nowhere are counted; one that `limn read` refuses is told
"""
import json, os, re, subprocess, sys, tempfile
import numpy as np


def limn(*args):
    done = subprocess.run([LIMN, *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def first_line(text):
    return next((l for l in text.splitlines() if "error" in l), text[:100])


def size_of(size):
    """A variable is 3 long."""
    return size if isinstance(size, int) else int(eval(re.sub(r"[A-Za-z_][\w.']*", "3", size)))


def inputs_of(diagram, folder, random):
    args = []
    for i, wire in enumerate(diagram["inputs"]):
        shape = [size_of(a["size"]) for a in wire["type"]["axes"]]
        base = wire["type"]["base"]
        if base == "R":
            x = random.standard_normal(shape)
        else:
            x = random.integers(0, 2 if base == "B" else size_of(wire["type"]["count"]), shape).astype(float)
        path = os.path.join(folder, f"in{i}.npy")
        np.save(path, x)
        args += ["--in", path]
    return args


def is_noisy(text):
    return any(box["op"] == "random" for d in text["diagrams"] for box in d["boxes"])


def again(at, name):
    """What is wrong with d.limn, written and read and written again; or None."""
    for source, made in (("d.limn", "2"), ("d2.limn", "3")):
        status, _, err = limn("export", at(source), name, "--as", "json", "-o", at(f"d{made}.json"))
        if status:
            return first_line(err)
        status, _, err = limn("read", at(f"d{made}.json"), "-o", at(f"d{made}.limn"))
        if status:
            return first_line(err)
    same = open(at("d2.limn")).read() == open(at("d3.limn")).read()
    return None if same else "it is another program each time"


def one(program, name, box=False):
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        status, _, err = limn("export", program, name, "--as", "json", "-o", at("d.json"))
        if status and box:
            return None
        if status:
            return f"not ok json: {program} {name} is not written: {first_line(err)}"
        status, _, err = limn("export", program, name, "--as", "safetensors", "-o", at("w.safetensors"), "--precision", "64")
        weights = not status
        if status and not box:
            return f"skipped: {program} {name} has no weights yet: {first_line(err)}"
        status, _, err = limn("read", at("d.json"), "-o", at("d.limn"), *(["--weights", at("w.safetensors")] if weights else []))
        if status:
            return f"{'# refused' if box else 'not ok json'}: {program} {name} is not read back: {re.sub('.*(error: )', '', first_line(err))}"
        text = json.load(open(at("d.json")))
        main = next(d for d in text["diagrams"] if d["name"] == text["main"])
        word = re.findall(r"^(?:box|learn) (\w+)", open(at("d.limn")).read(), re.M)[-1]
        wrong = again(at, word)
        if wrong and box and "error" in wrong:
            return f"# refused: {program} {name}, the second time: {re.sub('.*(error: )', '', wrong)}"
        if wrong:
            return f"not ok json: {program} {name} is not the same again: {wrong}"
        if is_noisy(text):
            return f"ok json: {program} {name} is read back (noise: not compared)"
        args = inputs_of(main, folder, np.random.default_rng(1))
        if main["params"] and not weights:
            return f"ok json: {program} {name} is read back (weights that start otherwise: not compared)"
        if not args:
            return f"ok json: {program} {name} is read back (no inputs: not compared)"
        of = lambda file: ["--weights", at(file)] if weights else []
        a = limn("eval", program, name, *args, *of("w.safetensors"), "-o", at("a.npy"))
        b = limn("eval", at("d.limn"), word, *args, *of("d.safetensors"), "-o", at("b.npy"))
        if box and a[0]:
            return f"ok json: {program} {name} is read back ({first_line(a[2])[-80:]})"
        if box and "has no weight" in b[2]:
            return f"# refused: {program} {name}, with its weights: {re.sub('.*safetensors', '', first_line(b[2]))}"
        if not os.path.exists(at("a.npy")) and os.path.exists(at("a.0.npy")):
            for x in "ab":
                if os.path.exists(at(x + ".0.npy")):
                    os.rename(at(x + ".0.npy"), at(x + ".npy"))
        if a[0] or b[0]:
            return f"not ok json: {program} {name}: {first_line(a[2])} {first_line(b[2])}"
        x, y = np.load(at("a.npy")), np.load(at("b.npy"))
        if x.shape == y.shape and np.array_equal(np.isfinite(x), np.isfinite(y)):
            x, y = np.nan_to_num(x), np.nan_to_num(y)  # where one has no number, the other has none
        far = np.max(np.abs(x - y)) / max(1, np.max(np.abs(x))) if x.shape == y.shape and x.size else np.inf
        return f"{'ok' if far < 1e-12 else 'not ok'} json: {program} {name} is the same again, to {far:.1g}"


LIMN, boxes = sys.argv[1], "--boxes" in sys.argv
for program in [p for p in sys.argv[2:] if p != "--boxes"]:
    names = re.findall(r"^learn (\w+)\s*(?:,|:|\()", open(program).read(), re.M)
    for name in dict.fromkeys(names):
        print(one(program, name), flush=True)
    alone, empty = 0, tempfile.NamedTemporaryFile(suffix=".limn")
    for name in dict.fromkeys(re.findall(r"^box (\w+)\s*[^\w\s\[]", open(program).read(), re.M)) if boxes else ():
        said = one(empty.name if "/lib/" in program else program, name, box=True)
        alone += said is None
        if said:
            print(said.replace(empty.name, program), flush=True)
    if alone:
        print(f"# {alone} boxes of {program} stand alone nowhere", flush=True)
