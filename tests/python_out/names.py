"""Boxes and goals called as whatever an exported program itself defines or uses: names.py LIMN WORK torch|jax.

The names are those of the exported file of goals.limn. A program has a box of each that limn allows; exported again, no
name may be bound twice at the top of the file, and none that Python has may be bound at all."""
import ast
import builtins
import os
import subprocess
import sys

LIMN, WORK, KIND = sys.argv[1:]


def export(program):
    out = os.path.join(WORK, "names.py")
    done = subprocess.run([LIMN, "export", program, "--as", KIND, "-o", out], capture_output=True, text=True)
    if done.returncode: return None, done.stderr
    with open(out) as f: return ast.parse(f.read()), ""


def bound(tree):
    for s in tree.body:
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)): yield s.name
        elif isinstance(s, ast.Assign): yield from (n.id for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(s, (ast.Import, ast.ImportFrom)): yield from ((x.asname or x.name).split(".")[0] for x in s.names)


def program(names, learners):
    """Each name is a box, or a learner; and once more, with `_`, a goal, which is `name_` as Python's own words are."""
    lines = ["given given_x from normal[2]"]
    for i, n in enumerate(names):
        box, learner = (f"given_b{i}", n) if learners else (n, f"given_l{i}")
        lines += [f"box {box}(given_y : R[2]) = given_y + {i}", f"learn {learner} : R[2] -> R[2] = dense[2] ; {box}",
                  f"goal {n}_ : {learner}(given_x) ~ given_x by l2"]
    path = os.path.join(WORK, "names.limn")
    with open(path, "w") as f: f.write("\n".join(lines + ["train 2 steps, batch 4, gd(0.1)"]) + "\n")
    return path


def allowed(name): return subprocess.run([LIMN, "check", program([name], False)], capture_output=True).returncode == 0


def torch_has():
    try: import torch
    except ImportError: return []
    return dir(torch.nn.Module())


def runs(path):
    """A file for PyTorch, where there is one: made, trained, saved; each weight under its name."""
    if KIND != "torch" or not torch_has(): return ""
    out, space = os.path.join(WORK, "names.safetensors"), {"__name__": "names"}
    try:
        with open(path) as f: exec(compile(f.read(), path, "exec"), space)
        model = space["train"](space["Goals"](), {}, say=None)
        model.eval(), model.train(), model.zero_grad(), model.cpu(), repr(model)
        space["save"](model, out)
        saved = space["read_safetensors"](out)
        again = space["arrays"](space["load"](space["Goals"](), out))
        same = sorted(x.tobytes() for x in saved.values()) == sorted(x.tobytes() for x in again.values())
        return "" if same else ", what was saved and read again is something else"
    except Exception as e: return f", {e!r}"


def look(names, learners):
    tree, said = export(program(names, learners))
    what = f"{len(names)} names of {'learners' if learners else 'boxes'} that the file has itself, as {KIND}"
    if not tree: return print(f"not ok {what}: {said}")
    top = list(bound(tree))
    twice, hidden = sorted({n for n in top if top.count(n) > 1}), sorted(set(top) & set(dir(builtins)))
    wrong = runs(os.path.join(WORK, "names.py"))
    print(f"not ok {what}: twice {twice}, Python's {hidden}{wrong}" if len(names) < 60 or twice or hidden or wrong else f"ok {what}")


def main():
    tree, said = export("goals.limn")
    if not tree: sys.exit(f"not ok goals.limn as {KIND}: {said}")
    names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | set(bound(tree)))
    names = sorted({n for n in names + [n.lower() for n in names] + ["_", "__", "_1", "_2d", "Box", "__x"] + torch_has() if n.isidentifier()})
    plain = {n.strip("_"): n for n in names if allowed(n)}  # no two may have one name in Python
    names = list(plain.values())
    for learners in (False, True): look(names, learners)


main()
