"""Every learner of the programs named: written as JSON, read back, and equal on the same inputs and weights.

usage: round.py LIMN PROGRAM...      prints a line `ok …`, `not ok …` or `skipped …` for each learner
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


def one(program, name):
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        status, _, err = limn("export", program, name, "--as", "json", "-o", at("d.json"))
        if status:
            return f"not ok json: {program} {name} is not written: {first_line(err)}"
        status, _, err = limn("export", program, name, "--as", "safetensors", "-o", at("w.safetensors"), "--precision", "64")
        if status:
            return f"skipped: {program} {name} has no weights yet: {first_line(err)}"
        status, _, err = limn("read", at("d.json"), "-o", at("d.limn"), "--weights", at("w.safetensors"))
        if status:
            return f"not ok json: {program} {name} is not read back: {first_line(err)}"
        text = json.load(open(at("d.json")))
        main = next(d for d in text["diagrams"] if d["name"] == text["main"])
        if is_noisy(text):
            return f"ok json: {program} {name} is read back (noise: not compared)"
        args = inputs_of(main, folder, np.random.default_rng(1))
        if not args:
            return f"ok json: {program} {name} is read back (no inputs: not compared)"
        word = re.findall(r"^(?:box|learn) (\w+)", open(at("d.limn")).read(), re.M)[-1]
        a = limn("eval", program, name, *args, "--weights", at("w.safetensors"), "-o", at("a.npy"))
        b = limn("eval", at("d.limn"), word, *args, "--weights", at("d.safetensors"), "-o", at("b.npy"))
        if a[0] or b[0]:
            return f"not ok json: {program} {name}: {first_line(a[2])} {first_line(b[2])}"
        x, y = np.load(at("a.npy")), np.load(at("b.npy"))
        far = np.max(np.abs(x - y)) / max(1, np.max(np.abs(x))) if x.shape == y.shape and x.size else np.inf
        return f"{'ok' if far < 1e-12 else 'not ok'} json: {program} {name} is the same again, to {far:.1g}"


LIMN = sys.argv[1]
for program in sys.argv[2:]:
    names = re.findall(r"^learn (\w+)\s*(?:,|:|\()", open(program).read(), re.M)
    for name in dict.fromkeys(names):
        print(one(program, name), flush=True)
