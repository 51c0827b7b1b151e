"""Exported Python files with the numbers that limn has for them, as a folder that all.py looks at, anywhere.

    python3 make.py LIMN FOLDER [--long] [--small] FILE NAME…     boxes and learners: values, and gradients by weights
    python3 make.py LIMN FOLDER [--long] [--small] --train FILE…  programs: what ten steps of training make of the weights

With --long what is refused is a line, not a fault; with --small what has many weights is left out. Each case is a line of FOLDER/cases.json."""
import json
import os
import re
import subprocess
import sys

import numpy as np

limn, folder, *rest = sys.argv[1:]
long, small = "--long" in rest, "--small" in rest
training = "--train" in rest
rest = [x for x in rest if not x.startswith("--")]
here = os.path.dirname(os.path.abspath(__file__))
N, STEPS, PLANNED, LARGE = 5, 10, 6, 500_000  # four steps go beyond the plan
rng = np.random.default_rng(1)
os.makedirs(folder, exist_ok=True)


def run(*args):
    try:
        done = subprocess.run([limn, *args], capture_output=True, text=True, timeout=120 if long else None)
    except subprocess.TimeoutExpired:
        raise RuntimeError("limn %s takes more than two minutes" % args[0])
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or "status %d" % done.returncode).split("\n")[0])
    return done.stdout


def array(base, shape):
    if base == "R":
        return rng.normal(size=shape)
    if base == "B":
        return rng.integers(0, 2, shape) > 0
    count = base.strip("{}")
    return rng.integers(0, int(count) if count.isdigit() else 6, shape)


def inputs(file, name):
    """A random array for each input, from the header of the diagram: the last one that is printed, or the one that is said to be."""
    lines = run("print", file, name).split("\n")
    main = "diagram " + ([l[5:] + "(" for l in lines if l.startswith("main ")] or [""])[0]
    head = [l for l in lines if l.startswith(main)][-1]
    inside, arrays = head[head.index("(") + 1:head.rindex(")")], {}
    samples = "~1" in inside
    for i, (own, t) in enumerate(re.findall(r"([^ ,(]+): ((?:R|B|\{[^}]*\})(?:\[[^\]]*\])?)", inside)):
        base, _, axes = t.partition("[")
        shape = []
        for axis in axes.rstrip("]").split():
            size = axis.split("~")[0].split(":")[-1]
            shape.append(N if "~1" in axis else int(size) if size.isdigit() else 6)
        arrays[own if own[0] != "%" else "in.%d" % i] = array(base, shape if samples else [N] + shape)
    return arrays


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    kinds = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "U8": np.uint8}
    return {k: np.frombuffer(data[slice(*e["data_offsets"])], kinds[e["dtype"]]).reshape(e["shape"])
            for k, e in header.items() if k != "__metadata__"}


def move_weights(path):
    """Every number of the file moved a little, so that none is 0 or 1."""
    with open(path, "rb") as file:
        n = int.from_bytes(file.read(8), "little")
        header = file.read(n)
        data = bytearray(file.read())
    for name, e in json.loads(header).items():
        if name != "__metadata__" and e["dtype"] == "F64":
            part = slice(*e["data_offsets"])
            x = np.frombuffer(bytes(data[part]), np.float64)
            data[part] = (x + 0.1 * rng.uniform(size=x.shape)).tobytes()
    with open(path, "wb") as file:
        file.write(n.to_bytes(8, "little") + header + bytes(data))


def export(case, file, name):
    """Both files, or those that there are; why there is none."""
    why = None
    for kind in ("torch", "jax"):
        try:
            to = os.path.join(folder, "%s_%s.py" % (case["id"], kind))
            run("export", file, *name, "--as", kind, "-o", to, "--precision", "64")
            case["files"].append(kind)
        except RuntimeError as e:
            why = e
    if not case["files"]:
        raise why


def one_learner(file, name):
    case = {"id": "%s_%s" % (os.path.basename(file)[:-5], name), "file": os.path.basename(file), "name": name, "files": []}
    at = os.path.join(folder, case["id"])
    weights = at + ".safetensors"
    run("export", file, name, "--as", "safetensors", "-o", weights, "--precision", "64")
    if small and os.path.getsize(weights) > LARGE:
        os.remove(weights)
        return None
    move_weights(weights)
    export(case, file, [name])
    keep, args = {}, []
    for i, x in enumerate(inputs(file, name).values()):
        keep["x%d" % i] = x
        np.save("%s.x%d.npy" % (at, i), x.astype(float))
        args += ["--in", "%s.x%d.npy" % (at, i)]
    run("eval", file, name, *args, "--weights", weights, "-o", at + ".npy")
    want, i = [], 0
    while os.path.exists("%s.%d.npy" % (at, i)):
        want.append("%s.%d.npy" % (at, i))
        i += 1
    for i, path in enumerate(want or [at + ".npy"]):
        keep["y%d" % i] = np.load(path)
    if keep["y0"].dtype.kind == "f":
        keep["dy"] = rng.normal(size=keep["y0"].shape)
        np.save(at + ".dy.npy", keep["dy"])
        try:
            run("eval", file, name, *args, "--weights", weights, "--dy", at + ".dy.npy", "--grads", at + ".grads", "-o", at + ".npy")
            keep.update({"grad " + k: v for k, v in read(at + ".grads").items()})
        except RuntimeError:
            del keep["dy"]
    for path in os.listdir(folder):
        if path.startswith(case["id"] + ".") and not path.endswith(".safetensors"):
            os.remove(os.path.join(folder, path))
    np.savez_compressed(at + ".npz", **keep)
    return case


def without_noise(file, to):
    """What the program draws for itself comes from the batch instead."""
    with open(file) as f:
        text = f.read()
    changed = re.sub(r"(given\s+\w+)\s*(?::\s*R\[[^\]]*\])?\s*from\s+(?:normal|uniform)\[([^\]]*)\]", r'\1 : R[\2] from "drawn.npy"', text)
    if changed == text:
        return file
    for shape in set(re.findall(r': R\[([^\]]*)\] from "drawn.npy"', changed)):
        np.save(os.path.join(os.path.dirname(to), "drawn%s.npy" % shape.replace(" ", "_")), np.zeros([64] + [int(x) for x in shape.split()]))
    changed = re.sub(r'(: R\[([^\]]*)\] from ")drawn.npy', lambda m: m.group(1) + "drawn%s.npy" % m.group(2).replace(" ", "_"), changed)
    with open(to, "w") as f:
        f.write(changed)
    return to


def one_program(file):
    sys.path.insert(0, os.path.join(here, "..", "..", "python"))
    os.environ.setdefault("LIMN_LIBRARY", os.path.join(os.path.dirname(os.path.abspath(limn)), "liblimn.so"))
    import limn as module
    case = {"id": os.path.basename(file)[:-5] + "_trains", "file": os.path.basename(file), "steps": STEPS, "planned": PLANNED, "files": []}
    at = os.path.join(folder, case["id"])
    used = without_noise(file, at + ".limn")
    export(case, used, [])
    run("export", used, "--as", "safetensors", "-o", at + ".safetensors", "--precision", "64")
    if small and os.path.getsize(at + ".safetensors") > LARGE:
        for path in os.listdir(folder):
            if path.startswith(case["id"]):
                os.remove(os.path.join(folder, path))
        return None
    with open(os.path.join(folder, "%s_%s.py" % (case["id"], case["files"][0]))) as f:
        text = f.read()
    case["noise"] = "Noise is drawn" in text
    goals = re.findall(r'^    "(.*?)": \(', text[text.index("GOALS = {"):text.index("PHASES = (")], re.M)
    program = module.load(used)
    fields = {}
    for goal in goals:
        fields.update(inputs(used, goal))
    batches = [{k: array("R" if x.dtype.kind == "f" else "B" if x.dtype.kind == "b" else "{%d}" % (x.max() + 1), x.shape)
                for k, x in fields.items()} for _ in range(STEPS)]
    try:
        case["plan"] = program.trainer().metrics.steps  # of its own first phase
    except RuntimeError:  # a set is not here
        case["plan"] = None
    trainer = program.trainer(steps=PLANNED, batch=N, precision=64, threads=1, beyond=True)
    for path, x in read(at + ".safetensors").items():
        trainer._set(path, x)
    for batch in batches:
        told = trainer.step(batch if fields else None)
    keep = {"%d %s" % (i, k): x for i, batch in enumerate(batches) for k, x in batch.items()}
    keep.update({"after " + k: np.array(x) for k, x in trainer.weights.items()})
    case["used"] = {}
    for goal in goals:  # as it is in use, on the last batch: the measure of the same claim
        if "used_" + goal in dir(program):
            case["used"][goal] = float(program["used_" + goal](**{k: batch[k] for k in inputs(used, "used_" + goal)}))
    if '"turns": ()' in text and '"accumulate": 1,' in text:
        keep.update({"shows " + k: np.float64(x) for k, x in told.items() if k in goals})
    np.savez_compressed(at + ".npz", **keep)
    return case


def note(case):
    path = os.path.join(folder, "cases.json")
    cases = json.load(open(path)) if os.path.exists(path) else []
    with open(path, "w") as f:
        json.dump([c for c in cases if c["id"] != case["id"]] + [case], f, indent=1)


for x in rest if training else list(zip(rest[::2], rest[1::2])):
    said = os.path.basename(x) if training else "%s %s" % (os.path.basename(x[0]), x[1])
    try:
        case = one_program(x) if training else one_learner(*x)
        if case:
            note(case)
        else:
            print("left out", said, "is large", flush=True)
    except Exception as e:
        print("refused" if long else "not ok", said, str(e).split("\n")[0], flush=True)
