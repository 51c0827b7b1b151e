"""What a law of random programs put into folders, as all.py looks at it: their paths come in, one a line, and the status of each goes out.

NAME.numbers: which of torch and jax there are, how many inputs, a line for each array. The status is 1 if one file gives other numbers; FOLDER/said
says which. Each folder is looked at by a process of its own, which need not import anything again."""
import ast
import contextlib
import glob
import importlib.util
import io
import json
import os
import runpy
import signal
import sys
import traceback

here = os.path.dirname(os.path.abspath(__file__))
numpy = importlib.util.find_spec("numpy") is not None
kinds = [kind for kind in ("torch", "jax") if importlib.util.find_spec(kind)] if numpy else []
if numpy:
    import numpy as np
for kind in kinds:
    importlib.import_module(kind)


def array(line):
    head, numbers = line.split(":")
    kind, *shape = head.split()
    x = np.array([float(w) for w in numbers.split()]).reshape([int(w) for w in shape])
    return x.astype(int) if kind == "labels" else x


def look_at(folder):
    """What is wrong."""
    for path in glob.glob(os.path.join(folder, "*.py")):
        with open(path) as file:
            ast.parse(file.read(), path)
    if not numpy:
        return []
    cases = []
    for path in sorted(glob.glob(os.path.join(folder, "*.numbers"))):
        files, n, *lines = open(path).read().splitlines()
        name = os.path.basename(path)[:-8]
        arrays = [array(line) for line in lines]
        keep = {"x%d" % i: x for i, x in enumerate(arrays[:int(n)])}
        keep.update({"y%d" % i: y for i, y in enumerate(arrays[int(n):])})
        np.savez(os.path.join(folder, name + ".npz"), **keep)
        cases.append({"id": name, "file": "chance.limn", "name": name, "files": files.split()})
    with open(os.path.join(folder, "cases.json"), "w") as file:
        json.dump(cases, file)
    said = io.StringIO()
    for kind in kinds + ([] if "jax" in kinds else ["shim"]):
        with contextlib.redirect_stdout(said):
            sys.argv = ["all.py", folder, kind]
            runpy.run_path(os.path.join(here, "all.py"))
    # NumPy in the place of JAX has no x.at[i].add(y).
    return [line for line in said.getvalue().splitlines() if line.startswith("not ok") and not line.endswith("has no attribute 'at'")]


def child(folder):
    signal.alarm(240)
    try:
        bad = look_at(folder)
    except BaseException:
        bad = [traceback.format_exc()]
    with open(os.path.join(folder, "said"), "w") as file:
        file.write("\n".join(bad))
    os._exit(1 if bad else 0)


for line in sys.stdin:
    process = os.fork()
    if process == 0:
        child(line.rstrip("\n"))
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
