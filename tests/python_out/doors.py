"""What a law of random programs put into a folder, as all.py looks at it: doors.py FOLDER

NAME.numbers: which of torch and jax there are, how many inputs, a line for each array. Its status is 1 if one file gives other numbers."""
import ast
import contextlib
import glob
import importlib.util
import io
import json
import os
import runpy
import sys

here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1]
for path in glob.glob(os.path.join(folder, "*.py")):
    with open(path) as file:
        ast.parse(file.read(), path)
if not importlib.util.find_spec("numpy"):
    sys.exit(0)
import numpy as np


def array(line):
    head, numbers = line.split(":")
    kind, *shape = head.split()
    x = np.array([float(w) for w in numbers.split()]).reshape([int(w) for w in shape])
    return x.astype(int) if kind == "labels" else x


cases = []
for path in sorted(glob.glob(os.path.join(folder, "*.numbers"))):
    kinds, n, *lines = open(path).read().splitlines()
    name = os.path.basename(path)[:-8]
    arrays = [array(line) for line in lines]
    keep = {"x%d" % i: x for i, x in enumerate(arrays[:int(n)])}
    keep.update({"y%d" % i: y for i, y in enumerate(arrays[int(n):])})
    np.savez(os.path.join(folder, name + ".npz"), **keep)
    cases.append({"id": name, "file": "chance.limn", "name": name, "files": kinds.split()})
with open(os.path.join(folder, "cases.json"), "w") as file:
    json.dump(cases, file)
kinds = [kind for kind in ("torch", "jax") if importlib.util.find_spec(kind)]
said = io.StringIO()
for kind in kinds + ([] if "jax" in kinds else ["shim"]):
    with contextlib.redirect_stdout(said):
        sys.argv = ["all.py", folder, kind]
        runpy.run_path(os.path.join(here, "all.py"))
# NumPy in the place of JAX has no x.at[i].add(y).
bad = [line for line in said.getvalue().splitlines() if line.startswith("not ok") and not line.endswith("has no attribute 'at'")]
print("\n".join(bad))
sys.exit(1 if bad else 0)
