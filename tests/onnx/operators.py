#!/usr/bin/env python3
"""Operators with attributes that few models have: each is imported, evaluated and compared with a few lines of numpy.

  LIMN=build/limn tests/onnx/operators.py [name…]     prints ok or not ok for each"""
import math, os, subprocess, sys, tempfile
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

def run(op, inputs, outputs, consts={}, opset=20, use=("eval",), told=(), **attributes):
    """The results of one node: inputs and consts by name, in the order of the node; outputs are shapes. `use` is the command that
    computes them, `told` gets what was said."""
    order, outs = [*inputs, *consts], attributes.pop("outs", [f"y{i}" for i in range(len(outputs))])
    g = [value(11, k, v.shape, as_given(v)) for k, v in inputs.items()] + [fixed(k, v) for k, v in consts.items()]
    g += [value(12, f"y{i}", s, 0) for i, s in enumerate(outputs)]
    g += [node(op, order, outs, **attributes)]
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/m.onnx", "wb") as f: f.write(model(*g, opset=opset))
        words = []
        for k, v in inputs.items():
            np.save(f"{d}/{k}.npy", v.astype(np.float64))
            words += ["--in", f"{d}/{k}.npy"]
        for command in (["import", d + "/m.onnx", "-o", d + "/m.limn"], [use[0], d + "/m.limn", "model", "--out", d + "/y.npy", *words, *use[1:]]):
            r = subprocess.run([LIMN, *command], capture_output=True, text=True)
            if r.returncode: raise ValueError(r.stderr)
            if r.stderr and told != (): told.append(r.stderr)
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

# -- whole numbers -----------------------------------------------------------------------------------
# Numbers at which single precision would lose some, cast to each type of up to 32 bits: by doubles and by floats, as numpy wraps them.
EDGES = np.array([0, 1.7, -1.7, 2.5, 100.25, 127, 128, -128, -129, 255, 256, 300, -300, 32767, 32768, -32768, -32769, 65535, 65536, 2**24 - 1, 1 - 2**24,
                  2**31 - 128, -2**31], np.float32)
WHOLE = {2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32}

@case
def casts_to_whole_numbers():
    got, want = [], []
    for kind, dtype in WHOLE.items():
        for use in (("eval",), ("predict", "--precision", "32")):
            got += run("Cast", {"x": EDGES}, [EDGES.shape], use=use, to=kind)
            want.append(np.trunc(EDGES).astype(np.int64).astype(dtype).astype(float))
    return got, want

@case
def whole_numbers_that_grow():
    x, told = np.array([123457, 2, 3]), []
    got = run("Mul", {"x": x}, [(3,)], {"by": np.array(1000003)}, use=("predict", "--precision", "64"), told=told)
    if "(Mul): whole numbers may be beyond 2^24 here" not in "".join(told): raise ValueError(f"no warning: {told}")
    quiet = []
    run("Add", {"x": x}, [(3,)], {"by": np.array(3)}, told=quiet)
    if quiet: raise ValueError(f"a warning too much: {quiet}")
    run("Add", {"x": x}, [(3,)], {"by": np.array(2**24 + 1)}, told=quiet)
    if "(Add): whole numbers may be beyond 2^24 here" not in "".join(quiet): raise ValueError(f"no warning: {quiet}")
    return got, [x * 1000003.0]

# -- operators of ONNX Runtime's own, as its optimiser writes them -----------------------------------
def gelu(x): return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x.reshape(-1).astype(float)]).reshape(x.shape)

@case
def gelus_of_onnx_runtime():
    x, b = some(3, 4), some(4)
    own = {"opset": 17, "domain": "com.microsoft"}
    got = run("Gelu", {"x": x}, [(3, 4)], **own) + run("BiasGelu", {"x": x}, [(3, 4)], {"b": b}, **own)
    got += run("QuickGelu", {"x": x}, [(3, 4)], **own) + run("QuickGelu", {"x": x}, [(3, 4)], alpha=1.5, **own)
    return got, [gelu(x), gelu(x + b), x * sigmoid(1.702 * x), x * sigmoid(1.5 * x)]

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

@case
def optional_is_there(): return run("OptionalHasElement", {"x": TABLE}, [()]), [np.array(1)]

@case
def optional_is_a_tensor(): return run("OptionalGetElement", {"x": TABLE}, [TABLE.shape]), [TABLE]

# -- recurrent ---------------------------------------------------------------------------------------
def recurrent(kind, x, w, r, b, lens, h0, c0=None, p=None, clip=1e9, apart=False, forget=False, f=sigmoid, g=np.tanh):
    """One direction or two: all states [steps ways samples s], the last ones, and the last cells."""
    ways, s = r.shape[0], r.shape[2]
    y, last, cells = np.zeros((len(x), ways, x.shape[1], s)), np.array(h0, float), np.array(h0 if c0 is None else c0, float)
    def cut(v): return np.clip(v, -clip, clip)
    def step(v, h, c, W, R, B, D, P):
        a = [W[q] @ v + R[q] @ h + B[q] + D[q] for q in range(len(W))]
        if kind == "RNN": return g(cut(a[0])), c
        if kind == "GRU":
            z, k = f(cut(a[0])), f(cut(a[1]))
            n = k * (R[2] @ h + D[2]) if apart else R[2] @ (k * h) + D[2]
            return (1 - z) * g(cut(W[2] @ v + B[2] + n)) + z * h, c
        enter, leave = f(cut(a[0] + P[0] * c)), f(cut(a[2] + P[2] * c))
        c = (1 - enter if forget else leave) * c + enter * g(cut(a[3]))
        return f(cut(a[1] + P[1] * c)) * np.tanh(c), c
    for way, i in np.ndindex(ways, x.shape[1]):
        own = np.split(w[way], len(w[way]) // s), np.split(r[way], len(w[way]) // s), *b[way].reshape(2, -1, s)
        order = range(lens[i])
        for t in reversed(order) if way else order:
            last[way, i], cells[way, i] = step(x[t, i], last[way, i], cells[way, i], *own, np.zeros((3, s)) if p is None else p[way].reshape(3, s))
            y[t, way, i] = last[way, i]
    return y, last, cells

def both_ways(gates): return some(4, 3, 2), some(2, gates * 5, 2), some(2, gates * 5, 5), some(2, 2 * gates * 5), np.array([4, 1, 3]), some(2, 3, 5)

@case
def gru_without_bias():
    x, w, r, b, lens, h = both_ways(3)
    want = recurrent("GRU", x, w[:1], r[:1], 0 * b[:1], [4, 4, 4], 0 * h[:1], apart=True)
    return run("GRU", {"x": x}, [(4, 1, 3, 5), (1, 3, 5)], {"w": w[:1], "r": r[:1]}, hidden_size=5, linear_before_reset=1), want[:2]

@case
def gru_with_all():
    x, w, r, b, lens, h = both_ways(3)
    want = recurrent("GRU", x, w, r, b, lens, h, clip=0.5, apart=True)
    return run("GRU", {"x": x, "w": w, "r": r}, [(4, 2, 3, 5), (2, 3, 5)], {"b": b, "lens": lens, "h": h}, hidden_size=5, linear_before_reset=1,
               clip=0.5, direction="bidirectional"), want[:2]

@case
def rnn_with_functions():
    x, w, r, b, lens, h = both_ways(1)
    want = recurrent("RNN", x, w, r, b, lens, h, g=lambda v: np.where(v > 0, v, 0.25 * v))
    got = run("RNN", {"x": x, "w": w, "r": r, "b": b, "lens": lens, "h": h}, [(4, 2, 3, 5), (2, 3, 5)], hidden_size=5, direction="bidirectional",
              activations=["LeakyRelu", "LeakyRelu"], activation_alpha=[0.25, 0.25])
    return got, want[:2]

@case
def lstm_with_all():
    x, w, r, b, lens, h = both_ways(4)
    c, p = some(2, 3, 5), some(2, 15)
    want = recurrent("LSTM", x, w, r, b, lens, h, c, p, clip=0.75)
    return run("LSTM", {"x": x}, [(4, 2, 3, 5), (2, 3, 5), (2, 3, 5)], {"w": w, "r": r, "b": b, "lens": lens, "h": h, "c": c, "p": p}, hidden_size=5,
               clip=0.75, direction="bidirectional"), want

@case
def lstm_samples_first():
    x, w, r, b, lens, h = both_ways(4)
    c = some(2, 3, 5)
    y, last, cell = recurrent("LSTM", x, w, r, b, lens, h, c, forget=True, g=lambda v: np.clip(0.3 * v + 0.5, 0, 1))
    turn = lambda v: v.transpose(1, 0, 2)
    got = run("LSTM", {"x": turn(x), "w": w, "r": r, "b": b, "lens": lens, "h": turn(h), "c": turn(c)}, [(3, 4, 2, 5), (3, 2, 5), (3, 2, 5)], hidden_size=5,
              layout=1, input_forget=1, direction="bidirectional", activations=["Sigmoid", "HardSigmoid", "Tanh"] * 2, activation_alpha=[0.3, 0.3])
    return got, [y.transpose(2, 0, 1, 3), turn(last), turn(cell)]

@case
def lstm_parameters():
    x, w, r, *_ = both_ways(4)
    return refused("activation_alpha has 1 numbers, but its functions take 2", "LSTM", {"x": x}, [(4, 2, 3, 5)], {"w": w, "r": r}, hidden_size=5,
                   direction="bidirectional", activations=["Sigmoid", "HardSigmoid", "Tanh"] * 2, activation_alpha=[0.3])

# -- pictures ----------------------------------------------------------------------------------------
@case
def deform_groups():
    x, w, offset, mask, b = some(1, 4, 4, 5), some(4, 2, 2, 2), 2 * some(1, 16, 3, 4), some(1, 8, 3, 4), some(4)
    o, k, y = offset.reshape(2, 2, 2, 2, 3, 4), mask.reshape(2, 2, 2, 3, 4), np.zeros((1, 4, 3, 4))
    for c, i, j in np.ndindex(4, 3, 4):
        y[0, c, i, j] = b[c]
        for d, p, q in np.ndindex(2, 2, 2):
            channel = c // 2 * 2 + d
            down, right = i + p + o[channel // 2, p, q, 0, i, j], j + q + o[channel // 2, p, q, 1, i, j]
            near = np.maximum(1 - abs(np.arange(4) - down), 0)[:, None] * np.maximum(1 - abs(np.arange(5) - right), 0)
            y[0, c, i, j] += w[c, d, p, q] * k[channel // 2, p, q, i, j] * (near * x[0, channel]).sum()
    return run("DeformConv", {"x": x, "w": w, "offset": offset.astype(np.float32), "b": b, "mask": mask}, [y.shape], group=2, offset_group=2), [y]

def cubic(t):
    t = abs(t)
    return 1.25 * t**3 - 2.25 * t**2 + 1 if t <= 1 else -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0

@case
def grid_cubic_border():
    x, g = some(1, 2, 4, 5), (1.5 * some(1, 3, 2, 2)).astype(np.float32)
    y = np.zeros((1, 2, 3, 2))
    for i, j in np.ndindex(3, 2):
        right, down = ((g[0, i, j, 0] + 1) * 5 - 1) / 2, ((g[0, i, j, 1] + 1) * 4 - 1) / 2
        for p, q in np.ndindex(4, 4):
            a, b = int(np.floor(down)) + p - 1, int(np.floor(right)) + q - 1
            y[0, :, i, j] += cubic(a - down) * cubic(b - right) * x[0, :, np.clip(a, 0, 3), np.clip(b, 0, 4)]
    return run("GridSample", {"x": x, "g": g}, [y.shape], mode="cubic", padding_mode="border"), [y]

@case
def resize_as_floats():
    """1.4 * 5 is 7 for a float, and 11 / 1.1 is 10, which it is not for a double."""
    x = some(20)
    got = run("Resize", {"x": x[:5]}, [(7,)], {"roi": np.zeros(0, np.float32), "by": np.array([1.4], np.float32)})
    more = run("Resize", {"x": x}, [(22,)], {"roi": np.zeros(0, np.float32), "by": np.array([1.1], np.float32)}, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    at = np.floor(np.arange(22, dtype=np.float32) / np.float32(1.1)).astype(int)
    return got + more, [x[[0, 1, 1, 2, 3, 3, 4]], x[at]]

# -- features ----------------------------------------------------------------------------------------
GRAMS = dict(min_gram_length=1, max_gram_length=3, max_skip_count=1, ngram_counts=[0, 1, 5], ngram_indexes=[0, 1, 2, 3], pool_int64s=[3, 5, 5, 3, 5, 5, 3, 5])
ROW = np.array([[3, 5, 3, 5, 5, 3, 5]])

@case
def grams_counted(): return run("TfIdfVectorizer", {"x": ROW}, [(1, 4)], mode="TF", **GRAMS), [np.array([[3, 3, 4, 2]])]

@case
def grams_weighed():
    return run("TfIdfVectorizer", {"x": ROW}, [(1, 4)], mode="TFIDF", weights=[2.0, 0.5, 1.0, 3.0], **GRAMS), [np.array([[6, 1.5, 4, 6]])]

@case
def grams_once(): return run("TfIdfVectorizer", {"x": ROW[0]}, [(4,)], mode="IDF", weights=[2.0, 0.5, 1.0, 3.0], **GRAMS), [np.array([2, 0.5, 1, 3])]

@case
def grams_elsewhere():
    return refused("with weights, ngram_indexes must be 0, 1, 2 and so on", "TfIdfVectorizer", {"x": ROW}, [(1, 4)], mode="IDF", weights=[2.0, 0.5, 1.0, 3.0],
                   **{**GRAMS, "ngram_indexes": [1, 0, 2, 3]})

def numbers(*x): return tensor("", [len(x)], x)

def forest(**more):
    """Feature 1 below 0.5: leaf 0; otherwise feature 0 at least 0: leaf 1, or leaf 2; and a tree that only asks whether feature 0 is 1."""
    return dict(nodes_splits=numbers(0.5, 0.0, 1.0), nodes_featureids=[1, 0, 0], nodes_modes=numbers(1.0, 2.0, 4.0), nodes_truenodeids=[0, 1, 3], nodes_trueleafs=[1, 1, 1],
                nodes_falsenodeids=[1, 2, 0], nodes_falseleafs=[0, 1, 1], tree_roots=[0, 2], leaf_targetids=[0, 1, 1, 0], leaf_weights=numbers(1.0, 2.0, 4.0, 8.0), n_targets=2,
                domain="ai.onnx.ml", **more)

TABLE = np.array([[1, 0], [1, 1], [-1, 0.5]], np.float32)

@case
def trees_summed(): return run("TreeEnsemble", {"x": TABLE}, [(3, 2)], **forest()), [np.array([[9, 0], [8, 2], [1, 4]])]

@case
def trees_averaged(): return run("TreeEnsemble", {"x": TABLE}, [(3, 2)], **forest(aggregate_function=0)), [np.array([[4.5, 0], [4, 1], [0.5, 2]])]

@case
def tree_of_one():
    got = run("TreeEnsemble", {"x": TABLE}, [(3, 1)], nodes_splits=numbers(0.5,), nodes_featureids=[1], nodes_modes=numbers(0.0,), nodes_truenodeids=[0], nodes_trueleafs=[1],
              nodes_falsenodeids=[1], nodes_falseleafs=[1], tree_roots=[0], leaf_targetids=[0, 0], leaf_weights=numbers(1.0, 2.0), n_targets=1, domain="ai.onnx.ml")
    return got, [np.array([[1], [2], [1]])]

@case
def trees_greatest(): return refused("its trees are neither summed nor averaged", "TreeEnsemble", {"x": TABLE}, [(3, 2)], **forest(aggregate_function=3))

# -- what is written -------------------------------------------------------------------------------
# Two numbers for one place: the last one stays, in the order of rows.
@case
def elements_written_twice():
    x, at, u = some(4, 3, 2), RANDOM.randint(-4, 4, (6, 3, 1)), some(6, 3, 1)
    want = x.copy()
    for i, j, k in np.ndindex(*u.shape): want[at[i, j, k], j, k] = u[i, j, k]
    return run("ScatterElements", {"x": x, "at": at, "u": u}, [x.shape], axis=0), [want]

@case
def rows_written_twice():
    x, at, u = some(4, 3), np.array([[[2], [2]], [[1], [-2]], [[1], [1]]]), some(3, 2, 3)
    want = x.copy()
    for i, j in np.ndindex(3, 2): want[at[i, j, 0]] = u[i, j]
    return run("ScatterND", {"x": x, "at": at, "u": u}, [x.shape]), [want]

@case
def one_number_written():
    x = some(2, 3)
    want = x.copy()
    want[1, 2] = 7
    return run("ScatterND", {"x": x, "at": np.array([1, 2]), "u": np.float32(7).reshape(())}, [x.shape]), [want]

# -- noise -------------------------------------------------------------------------------------------
# A line that reads nothing: how large it is stands in it.
@case
def noise_of_each_kind():
    low, high = np.float32(2), np.float32(3)
    plain = [run(op, {"x": TABLE}, [TABLE.shape], **more)[0] for op, more in (
        ("RandomUniformLike", dict(low=2.0, high=3.0)), ("Bernoulli", {}), ("RandomNormalLike", {}))]
    inside = [np.all((plain[0] >= low) & (plain[0] <= high)), np.all((plain[1] == 0) | (plain[1] == 1)), np.all(np.isfinite(plain[2]))]
    return [np.array(inside)], [np.ones(3)]

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
