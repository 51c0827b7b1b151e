#!/usr/bin/env python3
"""Operators with attributes that few models have: each is imported, evaluated and compared with a few lines of numpy.

  LIMN=build/limn tests/onnx/operators.py [name…]     prints ok or not ok for each"""
import os, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make import attr, model, node, num, raw, tensor, text, value
try: import numpy as np
except ImportError:
    print("skipped: no numpy")
    sys.exit(0)

LIMN = os.environ.get("LIMN", "build/limn")
CASES = {}

def case(f):
    CASES[f.__name__] = f
    return f

def as_given(x): return 7 if x.dtype == np.int64 else 9 if x.dtype == np.bool_ else 1

def fixed(name, x): return raw(5, tensor(name, x.shape, x.reshape(-1).tolist(), as_given(x)))

def run(op, inputs, outputs, consts={}, opset=20, **attributes):
    """The results of one node: inputs and consts by name, in the order of the node; outputs are shapes."""
    order, outs = [*inputs, *consts], attributes.pop("outs", [f"y{i}" for i in range(len(outputs))])
    g = [value(11, k, v.shape, as_given(v)) for k, v in inputs.items()] + [fixed(k, v) for k, v in consts.items()]
    g += [value(12, f"y{i}", s) for i, s in enumerate(outputs)]
    g += [node(op, order, outs, **attributes)]
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/m.onnx", "wb") as f: f.write(model(*g, opset=opset))
        words = []
        for k, v in inputs.items():
            np.save(f"{d}/{k}.npy", v.astype(np.float64))
            words += ["--in", f"{d}/{k}.npy"]
        for command in (["import", d + "/m.onnx", "-o", d + "/m.limn"], ["eval", d + "/m.limn", "model", "--out", d + "/y.npy", *words]):
            r = subprocess.run([LIMN, *command], capture_output=True, text=True)
            if r.returncode: raise ValueError(r.stderr)
        return [np.load(d + ("/y.npy" if len(outputs) == 1 else f"/y.{i}.npy")) for i in range(len(outputs))]

def refused(words, *arguments, **attributes):
    """The node is refused with these words."""
    try: run(*arguments, **attributes)
    except ValueError as e:
        if words in str(e): return [], []
        raise
    raise ValueError(f"not refused: {words}")

RANDOM = np.random.RandomState(1)
def some(*shape): return RANDOM.uniform(-1, 1, shape).astype(np.float32)
def sigmoid(x): return 1 / (1 + np.exp(-x))

# -- RoiAlign ----------------------------------------------------------------------------------------
def around(v, size):
    """The two places around v with their weights."""
    if v < -1 or v > size: return [(0, 0.0), (0, 0.0)]
    v = min(max(v, 0), size - 1)
    low = int(v)
    return [(low, 1 - (v - low)), (min(low + 1, size - 1), v - low)]

def roi_align(x, rois, of, bins, points, most=False, half=True, scale=1.0):
    y = np.zeros((len(rois), x.shape[1], bins, bins))
    for r, (left, top, right, bottom) in enumerate(rois.astype(float) * scale):
        high, wide = bottom - top, right - left
        if half: left, top = left - 0.5, top - 0.5
        else: high, wide = max(high, 1), max(wide, 1)
        rows, columns = points or int(np.ceil(high / bins)), points or int(np.ceil(wide / bins))
        for k, l in np.ndindex(bins, bins):
            found = []
            for i, j in np.ndindex(rows, columns):
                a = around(top + high / bins * (k + (i + 0.5) / rows), x.shape[2])
                b = around(left + wide / bins * (l + (j + 0.5) / columns), x.shape[3])
                four = [x[of[r], :, p, q] * u * v for p, u in a for q, v in b]
                found.append(np.max(four, 0) if most else np.sum(four, 0))
            y[r, :, k, l] = np.max(found, 0) if most else np.mean(found, 0)
    return y

X, ROIS, OF = some(2, 2, 6, 7), np.array([[0, 0, 5, 6], [-3, 1, 2, 9], [1, 1, 1.5, 1.25]], np.float32), np.array([0, 1, 1])

@case
def roi_half_pixel():
    got = run("RoiAlign", {"x": X, "rois": ROIS, "of": OF}, [(3, 2, 2, 2)], output_height=2, output_width=2, sampling_ratio=3, spatial_scale=0.75)
    return got, [roi_align(X, ROIS, OF, 2, 3, scale=0.75)]

@case
def roi_maximum():
    got = run("RoiAlign", {"x": X, "rois": ROIS, "of": OF}, [(3, 2, 2, 2)], output_height=2, output_width=2, sampling_ratio=2, mode="max")
    return got, [roi_align(X, ROIS, OF, 2, 2, most=True)]

@case
def roi_adaptive():
    got = run("RoiAlign", {"x": X}, [(3, 2, 2, 2)], {"rois": ROIS, "of": OF}, output_height=2, output_width=2, opset=10)
    return got, [roi_align(X, ROIS, OF, 2, 0, half=False)]

@case
def roi_refused():
    return refused("node `y0` (RoiAlign): input 2 decides about sizes", "RoiAlign", {"x": X, "rois": ROIS, "of": OF}, [(3, 2, 1, 1)])

@case
def roi_adaptive_maximum():
    return refused("mode max is only known with a sampling_ratio", "RoiAlign", {"x": X}, [(3, 2, 1, 1)], {"rois": ROIS, "of": OF}, mode="max")

# -- what is chosen ----------------------------------------------------------------------------------
@case
def unique_by_columns():
    x = np.array([[2, 1, 2, 0, 1], [3, 5, 3, 9, 5]], np.float32)
    y, first, back, count = np.unique(x, True, True, True, 1)
    got = run("Unique", {}, [y.shape, first.shape, back.shape, count.shape], {"x": x}, axis=-1)
    return got, [y, first, back, count]

@case
def unique_in_order():
    x = np.array([[2, 1, 1], [3, 4, 3]], np.float32)
    return run("Unique", {}, [(4,), (4,), (6,), (4,)], {"x": x}, sorted=0), [np.array(a) for a in ([2, 1, 3, 4], [0, 1, 3, 4], [0, 1, 1, 2, 3, 2], [1, 2, 2, 1])]

@case
def unique_refused():
    return refused("node `y0` (Unique): input 1 decides about sizes", "Unique", {"x": X}, [(4,)])

BOXES = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [2, 2, 0, 0.5], [5, 5, 6, 6]]], np.float32)
SCORES = np.array([[[0.5, 0.9, 0.7, 0.1], [0.5, 0.25, 0.5, 0.75]]], np.float32)
NMS = {"boxes": BOXES, "scores": SCORES, "most": np.array([2]), "overlap": np.array([0.65], np.float32)}

@case
def boxes_suppressed():
    got = run("NonMaxSuppression", {}, [(4, 3)], NMS)
    return got, [np.array([[0, 0, 1], [0, 0, 3], [0, 1, 3], [0, 1, 0]])]

@case
def boxes_unsettled():
    return refused("a score is the threshold itself", "NonMaxSuppression", {}, [(4, 3)], {**NMS, "least": np.array([0.5], np.float32)})

# -- recurrent ---------------------------------------------------------------------------------------
@case
def gru_without_bias():
    x, w, r, h = some(3, 2, 4), some(1, 15, 4), some(1, 15, 5), np.zeros((2, 5))
    u, t, g = np.split(w[0], 3)
    a, b, c = np.split(r[0], 3)
    for v in x:
        update, reset = sigmoid(v @ u.T + h @ a.T), sigmoid(v @ t.T + h @ b.T)
        h = (1 - update) * np.tanh(v @ g.T + reset * (h @ c.T)) + update * h
    return run("GRU", {"x": x}, [(1, 2, 5)], {"w": w, "r": r}, outs=["", "y0"], hidden_size=5, linear_before_reset=1), [h[None]]

# -- all of them -------------------------------------------------------------------------------------
def main():
    for name in sys.argv[1:] or CASES:
        try:
            got, want = CASES[name]()
            wrong = [f"output {i} is {g}, not {w}" for i, (g, w) in enumerate(zip(got, want))
                     if g.shape != w.shape or not np.allclose(g, w, 1e-4, 1e-6, equal_nan=True)]
        except ValueError as e: wrong = [str(e)]
        print(f"not ok {name}: {' '.join(wrong)}" if wrong else f"ok {name}")

main()
