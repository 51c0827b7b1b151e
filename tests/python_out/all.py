"""Exported Python files against the numbers that limn has for them: needs NumPy, and PyTorch or JAX. make.py makes the folder.

    python3 all.py FOLDER [torch|jax|shim]     shim: JAX by NumPy, for values, and slopes by differences

A line for each case."""
import importlib.util
import json
import os
import re
import sys

import numpy as np

folder, *kinds = sys.argv[1:]
if kinds == ["shim"]:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim"))
shim = kinds == ["shim"]
kinds = ["jax"] if shim else kinds or [kind for kind in ("torch", "jax") if importlib.util.find_spec(kind)]
NEAR, NEAR_SHIM = 1e-9, 2e-3  # ten steps of adam by differences


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


def of_path(path):
    """f/dense.1/b, and its name in Python, f.dense_1.b, are the same."""
    return ".".join(word.replace(".", "_").strip("_") for word in path.split("/"))


def of_name(name):
    return ".".join(word.strip("_") for word in name.split("."))


# -- learners --------------------------------------------------------------------------------------
def by_torch(module, weights, arrays, dy):
    import torch
    model = getattr(module, re.search(r"model = (\w+)", module.__doc__).group(1))
    if isinstance(model, type):
        model = module.load(model(), weights) if hasattr(module, "load") else model()
    result = model(*[torch.from_numpy(x) for x in arrays])
    result = result if isinstance(result, tuple) else (result,)
    slopes = {}
    if dy is not None and hasattr(model, "parameters") and result[0].requires_grad:
        (result[0] * torch.from_numpy(dy)).sum().backward()
        slopes = {k: p.grad for k, p in model.named_parameters() if p.grad is not None}
    return [y.detach().numpy() for y in result], slopes


def flat(p, front=""):
    all = {}
    for name, x in p.items():
        all.update(flat(x, front + name + ".") if isinstance(x, dict) else {front + name: x})
    return all


def by_jax(module, weights, arrays, dy):
    import jax
    import jax.numpy as jnp
    call = re.search(r"jax.jit\((\w+)\)\((.*)\)", module.__doc__)
    made = getattr(module, call.group(1))
    p = module.load(weights) if hasattr(module, "load") else module.init(0) if hasattr(module, "init") else {}
    given = [jax.random.PRNGKey(1)] if "key" in call.group(2) else []
    given += [jnp.array(x) for x in arrays]
    first = [p] if p else []
    result = jax.jit(made)(*first, *given)
    result = list(result) if isinstance(result, tuple) else [result]
    slopes = {}
    if dy is not None and p and not shim:
        def total(p):
            y = made(p, *given)
            return ((y[0] if isinstance(y, tuple) else y) * dy).sum()
        real = {k: x for k, x in flat(p).items() if x.dtype.kind == "f"}
        if len(real) == len(flat(p)):
            slopes = flat(jax.grad(total)(p))
    return result, slopes


def learner(kind, case, module, kept):
    at = os.path.join(folder, case["id"])
    arrays = [kept["x%d" % i] for i in range(len([k for k in kept if re.fullmatch(r"x\d+", k)]))]
    want = [kept["y%d" % i] for i in range(len([k for k in kept if re.fullmatch(r"y\d+", k)]))]
    dy = kept["dy"] if "dy" in kept else None
    got, mine = (by_torch if kind == "torch" else by_jax)(module, at + ".safetensors", arrays, dy)
    if "Noise is drawn" in module.__doc__:
        return "draws noise, so numbers are not compared", np.shape(got[0]) == want[0].shape
    far = max([away(a, b) for a, b in zip(got, want)] + [0 if len(got) == len(want) else float("inf")])
    slope, count, front = 0, 0, case["name"] + "/"
    mine = {of_name(k): g for k, g in mine.items()}
    theirs = {k[5:]: kept[k] for k in kept if k.startswith("grad ")}
    for path, g in theirs.items():
        for key in (of_path(path), of_path(path[len(front):]) if path.startswith(front) else ""):
            if key in mine:
                slope, count = max(slope, away(mine[key], g)), count + 1
                break
    if kind == "torch" and dy is not None and count < len(mine):
        return "only %d of %d gradients have the name of one of limn's" % (count, len(mine)), False
    return "values %.0e, %d gradients %.0e" % (far, count, slope), far < NEAR and slope < NEAR


# -- training --------------------------------------------------------------------------------------
def steps_torch(module, weights, batches, planned):
    model = module.load(module.Goals(), weights)
    training = module.Training(model, 0, planned)
    for batch in batches:
        shown = training.step({k: x.astype("f8") if x.dtype.kind == "f" else x for k, x in batch.items()})  # of numpy, too precise
    return model.state_dict(), model, shown


def steps_jax(module, weights, batches, planned):
    import jax
    p = module.load(weights)
    state = module.begin(p, 0, planned)
    step = jax.jit(module.step, static_argnums=2)
    for batch in batches:
        shown, state = step(state, batch, 0)
    return state["weights"], module.tree(state["weights"]), shown


def used_far(kind, case, module, model, batch):
    """How far goals in use are from limn's: what batch_norm has seen, no dropout."""
    if kind == "torch":
        model.eval()
    far = 0
    for goal, want in case["used"].items():
        f, fields, *_ = module.GOALS[goal]
        given = [np.asarray(batch[k], "f8") if batch[k].dtype.kind == "f" else batch[k] for k in fields]
        if kind == "torch":
            made = f(model, *[module.tensor_of(x) for x in given])
        else:
            f = getattr(module, f.__name__ + "_in_use", f)
            made = f(model, *given)
        made = made[0] if isinstance(made, tuple) else made
        far = max(far, away(np.asarray(float(made)), np.asarray(want)))
    return far


def program(kind, case, module, kept):
    at = os.path.join(folder, case["id"])
    count = case["steps"]
    batches = [{k.split(" ", 1)[1]: kept[k] for k in kept if k.split(" ", 1)[0] == str(i)} for i in range(count)]
    start = {of_path(k): x for k, x in module.read_safetensors(at + ".safetensors").items()}
    if shim and sum(x.size for x in start.values()) > 500:
        return "too many weights for differences", True
    made, model, shown = (steps_torch if kind == "torch" else steps_jax)(module, at + ".safetensors", batches, case["planned"])
    made = {of_name(k): np.asarray(x) for k, x in made.items()}
    if case.get("plan") is not None and module.PHASES[0]["steps"] not in (case["plan"], float("inf")):
        return "%s steps are planned, and limn plans %s" % (module.PHASES[0]["steps"], case["plan"]), False
    if case["noise"]:
        return "draws noise, so numbers are not compared", all(np.isfinite(x).all() for x in made.values())
    far, moved, missing = 0, 0, []
    for k in kept:
        if k.startswith("after "):
            name = of_path(k[6:])
            if name not in made:
                missing.append(name)
                continue
            far = max(far, away(made[name], kept[k]))
            moved = max(moved, away(kept[k], start[name]) if name in start else 0)
    for k in kept:
        if k.startswith("shows "):  # before `times`
            far = max(far, away(np.asarray(float(shown[k[6:]])), kept[k]))
    used = used_far(kind, case, module, model, batches[-1])
    saved = at + "_%s.saved" % kind
    module.save(model, saved)
    again = {of_path(k): x for k, x in module.read_safetensors(saved).items()}
    os.remove(saved)
    same = all(away(x, made[k]) == 0 for k, x in again.items())
    text = "ten steps %.0e, moved %.0e, in use %.0e%s%s" % (far, moved, used, "" if same else ", and saved something else", ", without " + " ".join(missing) if missing else "")
    return text, max(far, used) < (NEAR_SHIM if shim else NEAR) and moved > 1e-6 and same and not missing


for case in json.load(open(os.path.join(folder, "cases.json"))):
    for kind in kinds:
        said = "%s %s %s" % ("shim" if shim else kind, case["file"], case.get("name", "trains"))
        if kind not in case["files"]:
            print("refused", said, flush=True)
            continue
        try:
            at = os.path.join(folder, case["id"])
            text, fine = (learner if "name" in case else program)(kind, case, open_module("%s_%s.py" % (at, kind)), np.load(at + ".npz"))
            print("ok" if fine else "not ok", said + ":", text, flush=True)
        except Exception as e:  # a file that Python does not take
            print("not ok", said, type(e).__name__, str(e).split("\n")[0], flush=True)
