"""Random Attention nodes against their formula: attention.py LIMN DIR [COUNT [FIRST]].

The order is that of ONNX since its clarification (onnx issue 7865): scores, softcap, mask, softmax; the fourth output is one of the four. A masked
place has no share, whatever the cap is."""
import os
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True

from make import model, node, value

LIMN, DIR = sys.argv[1:3]
COUNT, FIRST = (int(x) for x in (sys.argv[3:] + ["8", "1"][len(sys.argv) - 3:]))


def attended(q, k, v, mask, how):
    each = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, each, 1), np.repeat(v, each, 1)
    stage = [np.einsum("bhsd,bhtd->bhst", q, k) * how.get("scale", 1 / np.sqrt(q.shape[3]))]
    cap = how.get("softcap", 0.0)
    stage.append(cap * np.tanh(stage[0] / cap) if cap else stage[0])
    masked = stage[1]
    if mask is not None:
        masked = np.where(mask, masked, -np.inf) if mask.dtype == bool else masked + mask
    if how.get("is_causal"):
        masked = np.where(np.tril(np.ones(masked.shape[2:], bool)), masked, -np.inf)
    stage.append(masked)
    e = np.exp(masked - masked.max(-1, keepdims=True))
    stage.append(e / e.sum(-1, keepdims=True))
    return stage[3] @ v, stage[how["qk_matmul_output_mode"]]


def one(seed):
    rng = np.random.default_rng(seed)
    b, g, s, t, d = (int(rng.integers(1, 4)) for _ in range(5))
    h = g * int(rng.integers(1, 3))
    q, k, v = rng.normal(size=(b, h, s, d)), rng.normal(size=(b, g, t, d)), rng.normal(size=(b, g, t, d))
    mask = [None, rng.random((s, t)) < 0.6, np.where(rng.random((s, t)) < 0.6, rng.normal(size=(s, t)), -1e4)][rng.integers(0, 3)]
    if mask is not None:
        mask[:, 0] = True if mask.dtype == bool else 0.5  # something is to be seen
    how = {"qk_matmul_output_mode": int(rng.integers(0, 4)), "is_causal": int(rng.integers(0, 2))}
    if rng.random() < 0.7: how["softcap"] = float(rng.choice([0.5, 2.0]))
    if rng.random() < 0.5: how["scale"] = 2.0
    names = {"q": q, "k": k, "v": v}
    if mask is not None: names["mask"] = mask
    graph = [value(11, n, list(x.shape), 9 if x.dtype == bool else 1) for n, x in names.items()]
    graph += [value(12, "y", [b, h, s, d]), value(12, "stage", [b, h, s, t]), node("Attention", list(names), ["y", "", "", "stage"], **how)]
    path = os.path.join(DIR, "attention")
    with open(path + ".onnx", "wb") as f: f.write(model(*graph, opset=23))
    given = []
    for n, x in names.items():
        np.save(f"{path}.{n}.npy", x.astype(np.uint8 if x.dtype == bool else np.float32))
        given += ["--in", f"{path}.{n}.npy"]
    for words in (["import", path + ".onnx", "-o", path + ".limn"], ["eval", path + ".limn", "model", *given, "-o", path + ".npy"]):
        done = subprocess.run([LIMN, *words], capture_output=True, text=True)
        if done.returncode: return done.stderr + done.stdout
    for at, want in enumerate(attended(q, k, v, mask, how)):
        got = np.load(f"{path}.{at}.npy").reshape(want.shape)
        with np.errstate(invalid="ignore"):
            if not ((got == want) | (np.abs(got - want) < 1e-4 * (1 + np.abs(want)))).all(): return f"{how}, {'no' if mask is None else mask.dtype} mask: output {at} is {got.tolist()}, wanted {want.tolist()}"
    return ""


wrong = {seed: said for seed in range(FIRST, FIRST + COUNT) if (said := one(seed))}
for seed, said in list(wrong.items())[:3]: print(f"not ok attention {seed}: {said}")
if not wrong: print(f"ok {COUNT} attentions")
