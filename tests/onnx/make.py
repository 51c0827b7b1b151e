"""Small ONNX files for test.sh: `make.py DIR` writes them there. Protocol buffers are written by hand, good ones and bad ones."""
import os
import struct
import sys


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, n): return varint(field << 3) + varint(n)
def raw(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
def text(field, s): return raw(field, s.encode())
def real(field, x): return varint(field << 3 | 5) + struct.pack("<f", x)


def attr(name, value):
    head = text(1, name)
    if isinstance(value, bytes): return raw(5, head + raw(5, value) + num(20, 4))
    if isinstance(value, str): return raw(5, head + text(4, value) + num(20, 3))
    if isinstance(value, float): return raw(5, head + real(2, value) + num(20, 1))
    if isinstance(value, tuple) and value[0] == "g": return raw(5, head + raw(6, value[1]) + num(20, 5))  # a graph
    if isinstance(value, tuple): return raw(5, head + raw(5, tensor("", [len(value)], value)) + num(20, 4))
    if isinstance(value, list) and value and isinstance(value[0], str): return raw(5, head + b"".join(text(9, v) for v in value) + num(20, 8))
    if isinstance(value, list) and value and isinstance(value[0], float): return raw(5, head + b"".join(real(7, v) for v in value) + num(20, 6))
    if isinstance(value, list): return raw(5, head + b"".join(num(8, v) for v in value) + num(20, 7))
    return raw(5, head + num(3, value) + num(20, 2))


def node(op, inputs, outputs, name="", domain="", **attributes):
    return raw(1, b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) + text(3, name) + text(4, op)
               + b"".join(attr(k, v) for k, v in attributes.items()) + (text(7, domain) if domain else b""))


def shape(dims):
    return raw(2, b"".join(raw(1, num(1, d) if isinstance(d, int) else text(2, d)) for d in dims))


def value(field, name, dims, kind=1):
    return raw(field, text(1, name) + raw(2, raw(1, num(1, kind) + (shape(dims) if dims is not None else b""))))


def tensor(name, dims, numbers, kind=1):
    data = struct.pack(f"<{len(numbers)}{ {1: 'f', 9: 'B'}.get(kind, 'q')}", *numbers)
    return b"".join(num(1, d) for d in dims) + num(2, kind) + text(8, name) + raw(9, data)


def x(*dims): return value(11, "x", dims)
def y(*dims): return value(12, "y", dims)
OTHERS = raw(8, text(1, "ai.onnx.ml") + num(2, 5)) + raw(8, text(1, "ai.onnx.preview.training") + num(2, 1)) + raw(8, text(1, "com.microsoft") + num(2, 1))
def model(*graph, opset=17, more=b"", ir=8): return num(1, ir) + raw(8, num(2, opset)) + OTHERS + raw(7, b"".join(graph)) + more


def nested(n):
    g = node("Relu", ["x"], ["y"])
    for _ in range(n): g = raw(1, text(4, "If") + raw(5, text(1, "then_branch") + raw(6, g)))
    return g


RELU = node("Relu", ["x"], ["y"], name="act")
AFFINE = raw(5, tensor("weight", [3, 2], [1, 2, 3, 4, 5, 6])) + raw(5, tensor("bias", [2], [10, 20]))
GEMM = node("Gemm", ["x", "weight", "bias"], ["y"])
DOUBLE = raw(25, text(1, "Double") + text(10, "mine") + text(4, "a") + text(5, "b") + text(6, "k")
             + raw(7, text(1, "a") + text(1, "a") + text(2, "s") + text(4, "Add"))
             + raw(7, text(1, "s") + text(2, "b") + text(4, "LeakyRelu") + raw(5, text(1, "alpha") + text(21, "k") + num(20, 1)))
             + raw(9, num(2, 17)))

# h = h / 2 + u in each step, and h + weight is gathered; weight is of the graph around it.
def stepped(**how):
    body = (value(11, "h", [2]) + value(11, "u", [2]) + value(12, "H", [2]) + value(12, "z", [2]) + raw(5, tensor("half", [], [0.5]))
            + node("Mul", ["h", "half"], ["k"]) + node("Add", ["k", "u"], ["H"]) + node("Add", ["H", "weight"], ["z"]))
    return node("Scan", ["start", "x"], ["last", "y"], name="walk", body=("g", body), num_scan_inputs=1, **how)
STEPPED = raw(5, tensor("start", [2], [8, 0])) + raw(5, tensor("weight", [2], [100, 200])) + value(12, "last", [2])

# Three times a layer of the same sizes, each with weights of its own.
def layer(k, x, y):
    scope, weights = f"/layers.{k}/", f"layers.{k}.fc."
    return (raw(5, tensor(weights + "weight", [2, 2], [k + 1, 0, 0, k + 1])) + raw(5, tensor(weights + "bias", [2], [0, 0]))
            + node("Gemm", [x, weights + "weight", weights + "bias"], [scope + "fc/Gemm_output_0"])
            + node("Relu", [scope + "fc/Gemm_output_0"], [scope + "act/Relu_output_0"]) + node("Add", [scope + "act/Relu_output_0", x], [y]))


LAYERS = layer(0, "x", "/layers.0/Add_output_0") + layer(1, "/layers.0/Add_output_0", "/layers.1/Add_output_0") + layer(2, "/layers.1/Add_output_0", "y")

# Attention of rows with themselves, as a model says it; `by` is the root of 4 where it is the library's.
def attends(by=2.0, mask=b"", masked="s"):
    return model(x("n", 3, 4), y("n", 3, 4), node("Transpose", ["x"], ["k"], perm=[0, 2, 1]), node("MatMul", ["x", "k"], ["p"]), node("Div", ["p", "by"], ["s"]), mask,
                 node("Softmax", [masked], ["w"], axis=2), node("MatMul", ["w", "x"], ["y"]), raw(5, tensor("by", [], [by])))


BEHIND = (node("ConstantOfShape", ["sizes"], ["ones"], value=tensor("", [1], [1.0])) + node("Trilu", ["ones", "one"], ["far"], upper=1) + node("Cast", ["far"], ["hide"], to=9)
          + node("Where", ["hide", "never", "s"], ["m"]) + raw(5, tensor("sizes", [2], [3, 3], 7)) + raw(5, tensor("one", [], [1], 7)) + raw(5, tensor("never", [], [float("-inf")])))

# A stage of some width: twice, of other sizes.
def stage(k, i, o, x, y):
    def weights(name, *dims): return raw(5, tensor(f"s{k}.{name}", list(dims), [(-1) ** j * (j + 1) / 4 for j in range(dims[0] * (dims[1] if len(dims) > 1 else 1))]))
    return (weights("a.weight", i, o) + weights("a.bias", o) + weights("b.weight", o, o) + weights("b.bias", o) + node("Gemm", [x, f"s{k}.a.weight", f"s{k}.a.bias"], [f"/s{k}/a"])
            + node("Relu", [f"/s{k}/a"], [f"/s{k}/r"]) + node("Gemm", [f"/s{k}/r", f"s{k}.b.weight", f"s{k}.b.bias"], [f"/s{k}/b"]) + node("Add", [f"/s{k}/b", f"/s{k}/r"], [f"/s{k}/c"]) + node("Relu", [f"/s{k}/c"], [y]))


FILES = {
    # good ones
    "repeat": model(x("batch", 2), y("batch", 2), LAYERS),
    "grouped": model(x("n", 2, 3), y("n", 2, 3), node("Reshape", ["x", "rows"], ["r"]), node("Softmax", ["r"], ["s"], axis=1), node("Sub", ["r", "s"], ["d"]),
                     node("Reshape", ["d", "back"], ["y"]), raw(5, tensor("rows", [2], [-1, 3], 7)), raw(5, tensor("back", [3], [-1, 2, 3], 7))),
    "mixed": model(x("n", 2), y("n", 2), node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Reshape", ["t", "row"], ["a"]), node("Reshape", ["x", "row"], ["b"]),
                   node("Add", ["a", "b"], ["c"]), node("Reshape", ["c", "back"], ["y"]), raw(5, tensor("row", [1], [-1], 7)), raw(5, tensor("back", [2], [-1, 2], 7))),
    "turned": model(x("n", 2), y(2, "n"), node("Transpose", ["x"], ["y"], perm=[1, 0])),
    "turned_cut": model(x(2, 4), y(2, 2), node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Slice", ["t", "one", "three", "zero"], ["a"]), node("Split", ["t", "twos"], ["b", "c"], axis=0),
                        node("Add", ["a", "c"], ["y"]), *[raw(5, tensor(k, [1], [v], 7)) for k, v in (("zero", 0), ("one", 1), ("three", 3))], raw(5, tensor("twos", [2], [2, 2], 7))),
    "grown": model(x("n", 1, "h", "w"), y("n", 1, "h2", "w2"), node("ConvTranspose", ["x", "k"], ["y"], strides=[2, 2], pads=[0, 1, 1, 0]), raw(5, tensor("k", [1, 1, 2, 2], [1, 2, 3, 4]))),
    "mirrored": model(x("n", 3), y("n", 5), node("Pad", ["x", "pads"], ["y"], mode="reflect"), raw(5, tensor("pads", [4], [0, 1, 0, 1], 7))),
    "skipped": model(x("n", 1, "h"), y("n", 2, "h"), node("MaxPool", ["x"], ["d"], kernel_shape=[2], strides=[2]), node("ConvTranspose", ["d", "k"], ["u"], strides=[2]),
                     node("Concat", ["x", "u"], ["y"], axis=1, name="skip"), raw(5, tensor("k", [1, 1, 2], [1, 1]))),
    "lonely": model(x(2), y(), node("ReduceL2", ["c"], ["n"], keepdims=0), node("ReduceSum", ["x"], ["s"], keepdims=0), node("Add", ["n", "s"], ["y"]), raw(5, tensor("c", [1], [-3]))),
    "stages": model(x("n", 2), y("n", 4), stage(0, 2, 3, "x", "h"), stage(1, 3, 4, "h", "y")),
    "attends": attends(),
    "causal": attends(mask=BEHIND, masked="m"),
    "almost": attends(by=3.0),
    "clipped": model(x("n", 3), y("n", 3), node("Clip", ["x", "low", "high"], ["c"]), node("LeakyRelu", ["c"], ["y"], alpha=0.5), raw(5, tensor("low", [], [-1])), raw(5, tensor("high", [], [6]))),
    "open": model(x("n", 1, "h", "w"), y("n", 1, "h2", "w2"), node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2], strides=[2, 2]),
                  node("AveragePool", ["a"], ["y"], kernel_shape=[3, 1], pads=[1, 0, 1, 0])),
    "steps": model(x("n"), y("n"), node("Shape", ["x"], ["s"]), node("Squeeze", ["s"], ["e"]), node("Range", ["zero", "e", "one"], ["r"]), node("Cast", ["r"], ["f"], to=1),
                   node("Mul", ["x", "f"], ["y"]), raw(5, tensor("zero", [], [0], 7)), raw(5, tensor("one", [], [1], 7))),
    "alone": model(y(1, 2), node("Add", ["w", "w"], ["y"]), raw(5, tensor("w", [1, 2], [3, 4]))),
    "together": model(x("n", 2), value(11, "to", ["n"], 7), y("n"), node("Gather", ["x", "zero"], ["a"], axis=1), node("Reshape", ["a", "to"], ["y"]), raw(5, tensor("zero", [], [0], 7))),
    "misnamed": model(x("n", 2), y("n"), node("ReduceSum", ["x", "axes"], ["y"], keepdims=0, name="sum"), raw(5, tensor("axes", [1], [0], 7))),
    "relu": model(x(2, 3), y(2, 3), RELU),
    "alike": model(x("n", 2), y("n", 2), raw(5, tensor("a.weight", [2], [1, 1])), node("Identity", ["a.weight"], ["b.weight"]), node("Mul", ["x", "a.weight"], ["h"]),
                   node("Exp", ["h"], ["e"]), node("Mul", ["e", "b.weight"], ["y"])),
    "stepped": model(x(3, 2), STEPPED, y(3, 2), stepped()),
    "stepped_open": model(x("t", 2), STEPPED, y("t", 2), stepped()),
    "stepped_long": model(x(5000, 2), STEPPED, y(5000, 2), stepped()),
    "stepped_back": model(x(2, 3), STEPPED, y(2, 3), stepped(scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[-1], scan_output_directions=[1])),
    "gemm": model(x("batch", 3), y("batch", 2), GEMM, AFFINE),
    # which numbers are learned: a mask that is compared, one that is added, a table, a scale; by whom it was written
    **{f"learned{k}": model(x("n", 2), y("n", 2), node("Slice", ["mask", "zero", "two"], ["part"]), node("Equal", ["part", "off"], ["hide"]), node("Where", ["hide", "off", "x"], ["a"]),
                            node("Add", ["a", "never"], ["b"]), node("Mul", ["b", "table"], ["c"]), node("Mul", ["c", "scale"], ["d"]), node("DequantizeLinear", ["q", "steps", "", ], ["w"], axis=0),
                            node("MatMul", ["d", "w"], ["e"]), node("MatMul", ["e", "twin"], ["f"]), node("MatMul", ["f", "turned"], ["g"]), node("Mul", ["g", "half"], ["y"]),
                            raw(5, tensor("mask", [2], [1, 1])), raw(5, tensor("off", [], [0])), raw(5, tensor("never", [2], [0, float("-inf")])), raw(5, tensor("table", [2], [3, 4])),
                            raw(5, tensor("scale", [], [2])), raw(5, num(1, 2) + num(1, 2) + num(2, 3) + text(8, "q") + raw(9, bytes([1, 0, 0, 1]))), raw(5, tensor("steps", [2], [0.5, 2])),
                            raw(5, tensor("twin", [2, 8], range(16))), raw(5, tensor("turned", [8, 2], [j * 8 + i for i in range(8) for j in range(2)])), raw(5, tensor("half", [2], [1, 0.5])),
                            raw(5, tensor("zero", [1], [0], 7)), raw(5, tensor("two", [1], [2], 7)), more=text(2, by)) for k, by in enumerate(["pytorch", "limn", ""])},
    "two": model(x(3), y(3), value(12, "z", [3], 9), node("Sigmoid", ["x"], ["y"]), node("Less", ["x", "y"], ["z"])),
    "function": model(x(3), y(3), node("Double", ["x"], ["y"], domain="mine", k=0.5), more=DOUBLE),
    "plumbing": model(x("n", 2, 3), y("n", 6), node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["d"], axis=0),
                      node("Unsqueeze", ["d", "axes"], ["u"]), node("Concat", ["u", "rest"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"]),
                      raw(5, tensor("zero", [], [0], 7)), raw(5, tensor("axes", [1], [0], 7)), raw(5, tensor("rest", [1], [-1], 7))),
    "parted": model(x("n", 2, 3), y("n", 6), node("Shape", ["x"], ["s"]), node("Split", ["s", "parts"], ["d", "e"]), node("Concat", ["d", "rest"], ["t"], axis=0),
                    node("Reshape", ["x", "t"], ["y"]), raw(5, tensor("parts", [2], [1, 2], 7)), raw(5, tensor("rest", [1], [-1], 7))),
    "cut_to": model(x("t", 2), y("t", 2), node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0), node("Slice", ["all", "zero", "n"], ["part"], name="part"),
                 node("Add", ["x", "part"], ["y"]), raw(5, tensor("zero", [1], [0], 7)), raw(5, tensor("all", [9, 2], [i / 2 for i in range(18)]))),
    "sized": model(x(2, 3), value(11, "to", [1], 7), y(6), node("Reshape", ["x", "to"], ["y"], name="flat")),
    "long": model(value(11, "x", [], 7), value(12, "y", [2000], 7), node("Add", ["x", "c"], ["y"]), raw(5, tensor("c", [2000], list(range(2000)), 7))),
    "table": model(value(11, "x", [4], 7), y(4, 2), node("Gather", ["weight", "x"], ["y"], axis=0), AFFINE),
    "lstm": model(x(2, 1, 1), value(12, "y", [2, 1, 1, 1]), node("LSTM", ["x", "w", "r"], ["y"], hidden_size=1),
                  raw(5, tensor("w", [1, 4, 1], [0, 0, 0, 1])), raw(5, tensor("r", [1, 4, 1], [0, 0, 0, 1]))),
    "long_lstm": model(x("t", 1, 1), value(12, "y", ["t", 1, 1, 1]), node("LSTM", ["x", "w", "r"], ["y"], hidden_size=1),
                       raw(5, tensor("w", [1, 4, 1], [0, 0, 0, 1])), raw(5, tensor("r", [1, 4, 1], [0, 0, 0, 1]))),
    # refused ones
    "fat": model(y(16777216), value(11, "x", [1]), b"".join(node("ConstantOfShape", ["n"], [f"c{i}"]) for i in range(300)), raw(5, tensor("n", [1], [65536], 7))),
    "wide": model(x(3), y(3), node("Sum", ["x"] * 5000, ["y"])),
    "loose": model(value(11, "x", [3], 9), y(3), node("Exp", ["x"], ["y"], name="bits")),
    "unknown": model(x(3), y(3), node("Frobnicate", ["x"], ["y"], name="odd")),
    "nowhere": model(x(3), y(3), node("Relu", ["q"], ["y"])),
    "unmade": model(x(3), y(3)),
    "silent": model(x(3), RELU),
    "old": model(x(3), y(3), RELU, opset=6),
    "sparse": model(x(3), y(3), RELU, raw(15, b"")),
    "sequence": model(raw(11, text(1, "x") + raw(2, raw(4, b""))), y(3), RELU),
    "words": model(value(11, "x", [3], 8), y(3), RELU),
    "shapeless": model(value(11, "x", None), y(3), RELU),
    "empty": model(x(0, 3), y(0, 3), RELU),
    "misfit": model(x(3), value(11, "a", [4]), y(3), node("Add", ["x", "a"], ["y"], name="plus")),
    "far": model(x(3), y(3), GEMM, raw(5, num(1, 2) + num(2, 1) + text(8, "weight") + raw(13, text(1, "location") + text(2, "../secret")) + num(14, 1))),
    "absent": model(x(3), y(3), GEMM, raw(5, num(1, 2) + num(2, 1) + text(8, "weight") + raw(13, text(1, "location") + text(2, "w.bin")) + num(14, 1))),
    "strings": model(x(3), y(3), RELU, raw(5, num(1, 1) + num(2, 8) + text(8, "s") + text(6, "hello"))),
    "short": model(x(3), y(3), RELU, raw(5, num(1, 5) + num(2, 1) + text(8, "w") + raw(9, b"1234"))),
    "negative": model(x(3), y(3), RELU, raw(5, num(1, -5) + num(2, 1) + text(8, "w"))),
    "axes": model(x(3), y(3), RELU, raw(5, b"".join(num(1, 1) for _ in range(17)) + num(2, 1) + text(8, "w"))),
    "large": model(x(3), y(3), RELU, raw(5, num(2, 7) + text(8, "w") + num(7, (1 << 60) + 1))),
    "deep": model(x(3), y(3), nested(60)),
    "deepest": model(x(3), y(3), nested(6000)),
    "many": model(x(3), y(3), b"".join(raw(1, b"") for _ in range(200001))),
    "zero": model(raw(11, raw(1, b"a\0b")), y(3), RELU),
    "graphless": num(1, 8),
    "cut": model(x(3), y(3), RELU)[:-3],
    "noise": bytes(range(256)),
}

if __name__ == "__main__":
    for file, content in FILES.items():
        with open(os.path.join(sys.argv[1], file + ".onnx"), "wb") as f: f.write(content)
