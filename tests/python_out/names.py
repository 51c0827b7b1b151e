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


def program(names):
    """Each name is a box; and once more, with `_`, a goal, which is `name_` as Python's own words are."""
    lines = ["given given_x from normal[2]"] + [f"box {n}(given_y : R[2]) = given_y + {i}" for i, n in enumerate(names)]
    lines += [f"learn given_l{i} : R[2] -> R[2] = dense[2] ; {n}" for i, n in enumerate(names)]
    lines += [f"goal {n}_ : given_l{i}(given_x) ~ given_x by l2" for i, n in enumerate(names)] + ["train 2 steps, batch 4, gd(0.1)"]
    path = os.path.join(WORK, "names.limn")
    with open(path, "w") as f: f.write("\n".join(lines) + "\n")
    return path


def allowed(name): return subprocess.run([LIMN, "check", program([name])], capture_output=True).returncode == 0


def main():
    tree, said = export("goals.limn")
    if not tree: sys.exit(f"not ok goals.limn as {KIND}: {said}")
    names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | set(bound(tree)))
    names = sorted({n for n in names + [n.lower() for n in names] if n.isidentifier()})
    names = [n for n in names if allowed(n)]
    tree, said = export(program(names))
    if not tree: sys.exit(f"not ok {len(names)} names as {KIND}: {said}")
    top = list(bound(tree))
    twice = sorted({n for n in top if top.count(n) > 1})
    hidden = sorted(set(top) & set(dir(builtins)))
    if len(names) < 60 or twice or hidden: print(f"not ok {len(names)} names as {KIND}: twice {twice}, Python's {hidden}")
    else: print(f"ok {len(names)} names that the file has itself, as {KIND}")


main()
