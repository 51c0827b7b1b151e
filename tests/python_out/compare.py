"""Boxes and learners as Python, against `limn eval`: values, and for PyTorch gradients by weights.

    python3 compare.py torch|jax LIMN WORK [--long] FILE NAME…

A line for each pair. With --long also what is refused is a line, not a fault."""
import importlib.util
import json
import os
import re
import subprocess
import sys

import numpy as np

kind, limn, work, *rest = sys.argv[1:]
long = rest[:1] == ["--long"]
rest = rest[1:] if long else rest
N = 5
rng = np.random.default_rng(1)
if kind == "jax":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim"))
else:
    import torch


def run(*args):
    try:
        done = subprocess.run([limn, *args], capture_output=True, text=True, timeout=120 if long else None)
    except subprocess.TimeoutExpired:
        raise RuntimeError("limn %s takes more than two minutes" % args[0])
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or "status %d" % done.returncode).split("\n")[0])
    return done.stdout


def inputs(file, name):
    """A random array for each input, from the header of the diagram, the last one that is printed."""
    head = [l for l in run("print", file, name).split("\n") if l.startswith("diagram ")][-1]
    inside, arrays = head[head.index("(") + 1:head.rindex(")")], []
    types = re.findall(r": ((?:R|B|\{[^}]*\})(?:\[[^\]]*\])?)", inside)
    samples = "~1" in inside
    for t in types:
        base, _, axes = t.partition("[")
        shape = []
        for axis in axes.rstrip("]").split():
            size = axis.split("~")[0].split(":")[-1]
            shape.append(N if "~1" in axis else int(size) if size.isdigit() else 6)
        if not samples:
            shape = [N] + shape
        if base == "R":
            arrays.append(rng.normal(size=shape))
        elif base == "B":
            arrays.append(rng.integers(0, 2, shape) > 0)
        else:
            count = base.strip("{}")
            arrays.append(rng.integers(0, int(count) if count.isdigit() else 6, shape))
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


def open_module(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def away(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return float("inf")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0, np.abs(a - b) / (1 + np.abs(b))), initial=0))


def by_torch(module, weights, arrays, dy):
    made = re.search(r"model = (\w+)", module.__doc__).group(1)
    model = getattr(module, made)
    if isinstance(model, type):
        model = module.load(model(), weights)
    result = model(*[torch.from_numpy(x) for x in arrays])
    result = result if isinstance(result, tuple) else (result,)
    slopes = {}
    if dy is not None and hasattr(model, "parameters") and result[0].requires_grad:
        (result[0] * torch.from_numpy(dy)).sum().backward()
        slopes = {k: p.grad for k, p in model.named_parameters() if p.grad is not None}
    return [y.detach().numpy() for y in result], slopes


def by_jax(module, weights, arrays):
    import jax
    import jax.numpy as jnp
    made = getattr(module, re.search(r"jax.jit\((\w+)\)", module.__doc__).group(1))
    p = [module.load(weights)] if hasattr(module, "load") else []
    result = jax.jit(made)(*p, *[jnp.array(x) for x in arrays])
    return list(result) if isinstance(result, tuple) else [result]


def one(file, name):
    weights, text = os.path.join(work, "w.safetensors"), os.path.join(work, "m.py")
    run("export", file, name, "--as", "safetensors", "-o", weights, "--precision", "64")
    move_weights(weights)
    run("export", file, name, "--as", kind, "-o", text, "--precision", "64")
    arrays, args = inputs(file, name), []
    for i, x in enumerate(arrays):
        path = os.path.join(work, "x%d.npy" % i)
        np.save(path, x.astype(float))
        args += ["--in", path]
    for old in os.listdir(work):
        if old.startswith("y."):
            os.remove(os.path.join(work, old))
    out, grads = os.path.join(work, "y.npy"), os.path.join(work, "g.safetensors")
    run("eval", file, name, *args, "--weights", weights, "-o", out)
    several = os.path.exists(os.path.join(work, "y.0.npy"))
    want, i = [], 0
    while several and os.path.exists(os.path.join(work, "y.%d.npy" % i)):
        want.append(np.load(os.path.join(work, "y.%d.npy" % i)))
        i += 1
    want = want or [np.load(out)]
    dy, slopes = None, {}
    if kind == "torch" and want[0].dtype.kind == "f":
        dy = rng.normal(size=want[0].shape)
        np.save(os.path.join(work, "dy.npy"), dy)
        try:
            run("eval", file, name, *args, "--weights", weights, "--dy", os.path.join(work, "dy.npy"), "--grads", grads, "-o", out)
            slopes = read(grads)
        except RuntimeError:
            dy = None
    module = open_module(text)
    got, mine = by_torch(module, weights, arrays, dy) if kind == "torch" else (by_jax(module, weights, arrays), {})
    far = max([away(a, b) for a, b in zip(got, want)] + [0 if len(got) == len(want) else float("inf")])
    front, slope, count = name + "/", 0, 0
    mine = {".".join(word.rstrip("_") for word in key.split(".")): g for key, g in mine.items()}
    if dy is not None and mine:
        for path, g in slopes.items():
            for key in (path, path[len(front):] if path.startswith(front) else path):
                key = key.replace(".", "_").replace("/", ".")
                if key in mine:
                    slope, count = max(slope, away(mine[key], g)), count + 1
                    break
        if count < len(mine):
            return "%s: only %d of %d gradients have the name of one of limn's" % (name, count, len(mine)), False
    if "Noise is drawn" in module.__doc__:
        return "%s %s: it draws noise, so numbers are not compared" % (os.path.basename(file), name), got[0].shape == want[0].shape
    fine = far < 1e-9 and slope < 1e-9
    return "%s %s: values %.0e, %d gradients %.0e" % (os.path.basename(file), name, far, count, slope), fine


for file, name in zip(rest[::2], rest[1::2]):
    try:
        text, fine = one(file, name)
        print("ok" if fine else "not ok", kind, text, flush=True)
    except RuntimeError as e:
        print("refused" if long else "not ok", kind, os.path.basename(file), name, e, flush=True)
    except Exception as e:  # a file that Python does not take
        print("not ok", kind, os.path.basename(file), name, type(e).__name__, str(e).split("\n")[0], flush=True)
