"""compare.py split DATA WORK     lays out each case of DATA/*.safetensors as a folder in WORK, with the arguments for `limn eval`
compare.py check DATA WORK     compares what limn left there with PyTorch's numbers: "ok NAME" or "not ok NAME: …" for each case"""
import glob
import json
import os
import struct
import sys

import numpy as np

LIMIT = 1e-8  # |limn - torch| over the largest number of the array; about 1e-15 when all is well
KIND = {"F64": "<f8", "I64": "<i8", "BOOL": "?"}
NAME = {np.dtype(v): k for k, v in KIND.items()}


def read(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    out = {}
    for name, a in json.loads(raw[8:8 + n]).items():
        if name != "__metadata__":
            start, end = a["data_offsets"]
            out[name] = np.frombuffer(raw[8 + n + start:8 + n + end], KIND[a["dtype"]]).reshape(a["shape"])
    return out


def write(path, arrays):
    header, blob = {}, b""
    for name, a in arrays.items():
        header[name] = {"dtype": NAME[a.dtype], "shape": list(a.shape), "data_offsets": [len(blob), len(blob) + a.nbytes]}
        blob += a.tobytes()
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + blob)


def cases(data):
    """(program, case, {"in:x": …, "w:path": …, "y": …, "dy": …, "g:x": …})"""
    for path in sorted(glob.glob(os.path.join(data, "*.safetensors"))):
        found = {}
        for key, a in read(path).items():
            case, part = key.split(":", 1)
            found.setdefault(case, {})[part] = a
        for case, parts in found.items():
            yield os.path.basename(path).rsplit(".", 1)[0], case, parts


def part(parts, kind):
    return {k[len(kind):]: v for k, v in parts.items() if k.startswith(kind)}


def split(data, work):
    for program, case, parts in cases(data):
        to = os.path.join(work, program + "." + case)
        os.makedirs(to)
        args = []
        for name, a in part(parts, "in:").items():
            np.save(os.path.join(to, name + ".npy"), a)
            args += ["--in", (name + "=" if not name.startswith("in.") else "") + name + ".npy"]
        np.save(os.path.join(to, "dy.npy"), parts["dy"])
        weights = part(parts, "w:")
        if weights:
            write(os.path.join(to, "w.safetensors"), weights)
            args += ["--weights", "w.safetensors"]
        if case.endswith(".training"):
            args += ["--training"]
        open(os.path.join(to, "args"), "w").write(" ".join([program + ".limn", case.split(".")[0]] + args))


def error(name, got, want):
    if got is None:
        return name, np.inf
    if got.shape != want.shape:
        return f"{name} is {got.shape}, not {want.shape}", np.inf
    e = np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-3)
    return name, e if np.isfinite(e) else np.inf


def check(data, work):
    bad = 0
    for program, case, parts in cases(data):
        at, name = os.path.join(work, program + "." + case), f"torch {program} {case}"
        if not os.path.exists(os.path.join(at, "y.npy")) or not os.path.exists(os.path.join(at, "g.safetensors")):
            print(f"not ok {name}: {(open(os.path.join(at, 'log')).read().splitlines() or ['it said nothing'])[0]}")
            bad += 1
            continue
        grads, want = read(os.path.join(at, "g.safetensors")), part(parts, "g:")
        errors = [error("y", np.load(os.path.join(at, "y.npy")), parts["y"])]
        errors += [error("d " + k, grads.get(k), want[k]) for k in want]
        errors += [("d " + k + ", which should not be there", np.inf) for k in grads if k not in want]
        worst = max(errors, key=lambda e: e[1])
        good = worst[1] <= LIMIT
        bad += not good
        print(f"{'ok' if good else 'not ok'} {name}: max error {worst[1]:.1e} in {worst[0]}")
    return bad


if __name__ == "__main__":
    sys.exit({"split": split, "check": check}[sys.argv[1]](*sys.argv[2:]) and 1)
