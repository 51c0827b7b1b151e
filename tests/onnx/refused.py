"""What operators refuse: a model of one node for each message. `refused.py LIMN DIR` prints a line for each that is not met."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True

from make import RELU, attr, model, node, num, raw, tensor, text, value


def graph(*parts): return ("g", b"".join(parts))


def one(op, ins, outs=("y",), opset=17, domain="", more=b"", **attributes):
    """ins: sizes of a float input; ("i", sizes): of an int64 one, "b" bool, "u" uint64; ("c", "f" or "t", sizes, numbers): a constant of
    int64, float or bool; None: left out."""
    names, parts = [], b""
    for k, i in enumerate(ins):
        names.append("" if i is None else f"x{k}")
        if isinstance(i, list): parts += value(11, f"x{k}", i)
        elif i and i[0] in "ibu": parts += value(11, f"x{k}", i[1], {"i": 7, "b": 9, "u": 13}[i[0]])
        elif i: parts += raw(5, tensor(f"x{k}", i[1], i[2], {"c": 7, "f": 1, "t": 9}[i[0]]))
    return model(parts, value(12, "y", []), node(op, names, outs, domain=domain, **attributes), more, opset=opset)


NONE = graph(value(12, "a", [2]))
BODY = graph(value(11, "i", [], 7), value(11, "go", [], 9), value(11, "s", [2]), node("Relu", ["s"], ["t"]), value(12, "go", [], 9), value(12, "t", [2]))
PICTURE = [1, 2, 5, 5]
DEEP = raw(25, text(1, "F") + text(10, "m") + text(4, "a") + text(5, "b") + raw(7, text(1, "a") + text(2, "b") + text(4, "F") + text(7, "m")) + raw(9, num(2, 17)))
EMPTY = raw(25, text(1, "F") + text(10, "m") + text(4, "a") + text(5, "b") + raw(9, num(2, 17)))


def call(more, ins): return model(value(11, "x", [2]), value(12, "y", [2]), node("F", ins, ["y"], domain="m"), more=more)


CASES = [
    ("its heads do not fit its inputs", one("Attention", [[1, 2, 3]] * 3, q_num_heads=2, kv_num_heads=2, opset=23)),
    ("qk_matmul_output_mode is 0 to 3", one("Attention", [[1, 2, 3, 4]] * 3, qk_matmul_output_mode=7, opset=23)),
    ("its heads have no size", one("RotaryEmbedding", [[1, 2, 3, "d"], [3, 2], [3, 2], ("i", [1, 3])], opset=23)),
    ("it turns 3 of 4 numbers", one("RotaryEmbedding", [[1, 2, 3, 4], [3, 2], [3, 2], ("i", [1, 3])], rotary_embedding_dim=3, opset=23)),
    ("the opposite of a uint64 is not exact", one("BitwiseNot", [("u", [2])], opset=18)),
    ("its graph has 3 inputs, but 2 values are there", one("Loop", [("c", [], [2]), None], body=BODY)),
    ("its graph does not make its output", one("If", [("b", [])], then_branch=NONE, else_branch=NONE)),
    ("it runs more than 1000 times", one("Loop", [("c", [], [5000]), None, [2]], body=BODY)),
    ("operator set 8 does not have it: it is there from 9 on", one("Scan", [[2], [2]], opset=8, body=BODY, num_scan_inputs=1)),
    ("its inputs do not fit its graph", one("Scan", [[2], [2]], body=BODY, num_scan_inputs=5)),
    ("what it goes along has different lengths", one("Scan", [[2], [3]], body=BODY, num_scan_inputs=2)),
    ("its type is not known", one("RandomUniform", [], shape=[2], dtype=99)),
    ("its weights have 3 axes, its input 4", one("Conv", [PICTURE, [2, 2, 3]])),
    ("its weights have 3 axes, its input 4", one("ConvTranspose", [PICTURE, [2, 2, 3]])),
    ("its groups do not fit its channels", one("Conv", [PICTURE, [2, 7, 3, 3]])),
    ("its groups do not fit its channels", one("ConvTranspose", [PICTURE, [7, 2, 3, 3]])),
    ("its groups do not fit its channels", one("DeformConv", [PICTURE, [2, 2, 3, 3], [1, 18, 3, 3]], offset_group=3, opset=19)),
    ("its sizes are too few", one("ConvTranspose", [PICTURE, [2, 2, 3, 3]], output_shape=[9])),
    ("axis 2 of its input has size n, and a number is wanted there", one("MaxPool", [[1, 2, "nn", 5]], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)),
    ("axis 2 of input 1 has size nn, and a number is wanted there", one("ConvTranspose", [[1, 2, "nn", 5], [2, 2, 3, 3]], output_shape=[9, 9])),
    ("its image has other axes than its blocks", one("Col2Im", [[1, 4, 4], ("c", [2], [4, 4]), ("c", [1], [2])], opset=18)),
    ("a step of 0 goes nowhere", one("Slice", [[4], ("c", [1], [0]), ("c", [1], [2]), ("c", [1], [0]), ("c", [1], [0])])),
    ("axis 0 has size n, and a number is wanted there", one("Slice", [["nn"], ("c", [1], [0]), ("c", [1], [9]), ("c", [1], [0]), ("c", [1], [2])])),
    ("it has not as many ends, axes or steps as starts", one("Slice", [[4], ("c", [2], [0, 0]), ("c", [1], [2])])),
    ("nothing is left of axis 0: an axis has at least one place", one("Slice", [[4], ("c", [1], [3]), ("c", [1], [2])])),
    ("its parts have 10 places together, but the axis has 4", one("Split", [[4], ("c", [2], [1, 9])], outs=("y", "z"))),
    ("a part has no places: an axis has at least one", one("Split", [["nn", 4], ("c", [2], [0, 4])], outs=("y", "z"), axis=1)),
    ("part 1 has a negative size", one("Split", [[4], ("c", [2], [-1, 5])], outs=("y", "z"))),
    ("it cuts off more than axis 0 has", one("Pad", [[4], ("c", [2], [-3, -3])])),
    ("axis 0 of what it makes would have 1073741828 places", one("Pad", [[4], ("c", [2], [0, 1 << 30])])),
    ("output `y` is made of sizes that only have a name: --set gives them a number", model(value(11, "x0", ["nn", 4]), value(12, "y", [2], 7), node("Shape", ["x0"], ["y"]))),
    ("-7 is no size of axis 1", one("Reshape", [[4], ("c", [2], [1, -7])])),
    ("axes 0 and 1 are both -1", one("Reshape", [[4], ("c", [2], [-1, -1])])),
    ("3 pads for 1 axes are not two each", one("Pad", [[4], ("c", [3], [1, 1, 1])])),
    ("a pad is too large", one("Pad", [[4], ("c", [2], [1 << 40, 0])])),
    ("1 repeats for 2 axes", one("Tile", [[4, 4], ("c", [1], [2])])),
    ("its value is not one number", one("ConstantOfShape", [("c", [1], [2])], value=tensor("v", [2], [1, 2]))),
    ("a range of more than 2^20 numbers is not made", one("Range", [("c", [], [0]), ("c", [], [1 << 30]), ("c", [], [1])])),
    ("a diagonal wants two axes", one("EyeLike", [[4]])),
    ("a triangle wants two axes", one("Trilu", [[4]])),
    ("it wants four axes and a block size", one("DepthToSpace", [PICTURE], blocksize=0)),
    ("its equation has more indices than axes", one("Einsum", [[4]], equation="ij->i")),
    ("its equation has other indices than axes", one("Einsum", [[4, 4]], equation="i->i")),
    ("an index of its result is in none of its inputs", one("Einsum", [[4]], equation="i->j")),
    ("only square matrices have a determinant", one("Det", [[2, 3]])),
    ("determinants of up to 5 rows are known", one("Det", [[9, 9]])),
    ("an index is outside of its axis", one("Gather", [("c", [2], [1, 2]), ("c", [1], [5])])),
    ("an index is outside of its axis", one("Gather", [[2], ("c", [1], [5])])),
    ("it would have too many axes", one("Gather", [[2] + [1] * 8, ("i", [1] * 9)])),
    ("its kernel has no size", one("Conv", [PICTURE, [2, 2, "kk", 3]])),
    ("its grid does not fit its input", one("GridSample", [PICTURE, [1, 3, 3, 3]])),
    ("it is known for pictures", one("DeformConv", [[1, 2, 5], [2, 2, 3], [1, 3, 3]], opset=19)),
    ("functions call each other too deeply", call(DEEP, ["x"])),
    ("the function has other inputs or outputs", call(DEEP, ["x", "x"])),
    ("the function does not make its output", call(EMPTY, ["x"])),
    ("an input has 2 axes, where 1 are wanted", one("BatchNormalization", [PICTURE, [2, 2], [2], [2], [2]])),
    ("its targets have 2 axes, its input 2", one("NegativeLogLikelihoodLoss", [[2, 3], ("i", [2, 2])])),
    ("a single number is no matrix", one("MatMul", [[], [2]])),
    ("it multiplies over 3 and 4 places", one("MatMul", [[2, 3], [4, 2]])),
    ("it multiplies over 3 and 4 places", one("Gemm", [[2, 3], [4, 2]])),
    ("matrices have two axes", one("Gemm", [[2], [2, 2]])),
    ("what it adds has more than two axes", one("Gemm", [[2, 3], [3, 2], [1, 2, 2]])),
    ("it has 1 inputs, but 2 are wanted", one("Add", [[2]])),
    ("a shape of 17 axes is not one", one("Reshape", [[1], ("c", [17], [1] * 17)])),
    ("input 2 is not one number", one("CumSum", [[4], ("c", [2], [0, 0])])),
    ("axis 0 of input 1 has size n, and a number is wanted there", one("TopK", [["nn"], ("c", [1], [2])], outs=("y", "z"))),
    ("it takes 9 of 4", one("TopK", [[4], ("c", [1], [9])], outs=("y", "z"))),
    ("axis 7 is not one of 1", one("Softmax", [[4]], axis=7)),
    ("it wants samples and channels", one("BatchNormalization", [[2]] * 5)),
    ("it wants samples, channels and at least one axis more", one("InstanceNormalization", [[2, 2], [2], [2]])),
    ("it wants samples, channels and groups", one("GroupNormalization", [[2, 2], [2], [2]], opset=21, num_groups=0)),
    ("it wants channels, and a size", one("LRN", [[2, 2]], size=0)),
    ("its output has other axes than its input", one("MaxUnpool", [PICTURE, ("i", PICTURE), ("c", [3], [1, 2, 3])], kernel_shape=[2, 2])),
    ("its scale does not fit axis 1", one("QuantizeLinear", [[2, 3], ("f", [2], [1, 1])])),
    ("its blocks do not fit its input", one("QuantizeLinear", [[2, 3], [2, 2, 2]], opset=21)),
    ("axis 1 has 3 places, which are not whole blocks of 2", one("QuantizeLinear", [[2, 3], [2, 2]], block_size=2, opset=21)),
    ("activation `Wild` is not known", one("RNN", [[2, 1, 1], [1, 1, 1], [1, 1, 1]], activations=["Wild"])),
    ("its inputs have other axes than it wants", one("RNN", [[2, 1], [1, 1, 1], [1, 1, 1]])),
    ("its weights do not fit its gates", one("GRU", [[2, 1, 1], [1, 1, 1], [1, 1, 1]])),
    ("p is 1 or 2, not 3", one("LpNormalization", [[2, 3]], p=3)),
    ("2 scales or sizes for 1 axes", one("Resize", [[4], None, ("f", [2], [1, 2])])),
    ("its region is not known", one("Resize", [[4], None, ("f", [1], [2])], coordinate_transformation_mode="tf_crop_and_resize")),
    ("axis 0 has size n, and a number is wanted there", one("Resize", [["nn"], None, ("f", [1], [2])])),
    ("its inputs have 2 and 1 axes", one("GatherElements", [[2, 2], ("i", [2])])),
    ("its indices do not fit the axes of its first input", one("GatherND", [[2], ("i", [1, 5])])),
    ("its inputs have 2 and 1 axes", one("Concat", [[2, 2], [2]], axis=0)),
    ("its depth is not a size", one("OneHot", [("i", [2]), ("c", [], [-1]), ("f", [2], [0, 1])])),
    ("it has not one value", one("Constant", [])),
    ("a constant of strings, or a sparse one, has no numbers", one("Constant", [], value_string="a")),
    ("whether the sizes of its result fit cannot be told", one("Reshape", [["nn", "mm"], ("c", [1], [7])])),
    ("4 numbers cannot have a shape of 5", one("Reshape", [[4], ("c", [1], [5])])),
    ("there is no axis 1 to keep", one("Reshape", [[4], ("c", [2], [4, 0])])),
    ("axis 0 has size 4, not 1", one("Squeeze", [[4], ("c", [1], [0])])),
    ("axis 0 is added twice", one("Unsqueeze", [[4], ("c", [2], [0, 0])])),
    ("17 axes are too many", one("Unsqueeze", [[4], ("c", [16], list(range(16)))])),
    ("axis 0 of what it makes is too large: N+144115188075855872",
     model(value(11, "x", ["n"]), value(12, "y", ["n"]), node("Shape", ["x"], ["s"]), node("Squeeze", ["s"], ["e"]), node("Range", ["low", "e", "one"], ["r"]), node("Cast", ["r"], ["f"], to=1),
           node("Mul", ["x", "f"], ["y"]), raw(5, tensor("low", [], [-(1 << 57)], 7)), raw(5, tensor("one", [], [1], 7)))),
    ("perm has 1 axes, not 2", one("Transpose", [[4, 4]], perm=[0])),
    ("perm has axis 0 twice", one("Transpose", [[4, 4]], perm=[0, 0])),
    ("perm has axis 0 twice", one("Transpose", [("f", [2, 2], [1, 2, 3, 4])], perm=[0, 0])),
    ("it wants an axis of places and one of real and imaginary parts", one("DFT", [[4]])),
    ("the inverse of one side is not known", one("DFT", [[1, 4, 2]], onesided=1, inverse=1)),
    ("0 is no length", one("DFT", [[1, 4, 1], ("c", [], [0])])),
    ("its frames do not fit the signal", one("STFT", [[1, 4], ("c", [], [1]), None, ("c", [], [9])])),
    ("0 is not a size of a window", one("HannWindow", [("c", [], [0])])),
    ("its numbers are no floats", one("HannWindow", [("c", [], [5])], output_datatype=7)),
    ("its grid has two or three axes", one("AffineGrid", [[1, 2, 3], ("c", [3], [1, 1, 4])], opset=20)),
    ("strides has 1 numbers, not 2", one("MaxPool", [PICTURE], kernel_shape=[2, 2], strides=[1])),
    ("its window has no size", one("MaxPool", [PICTURE], kernel_shape=[0, 2])),
    ("its window is larger than axis 2", one("MaxPool", [PICTURE], kernel_shape=[9, 2])),
    ("it draws numbers as in training, and no two systems draw the same", one("Dropout", [[2], ("f", [], [0.5]), ("t", [], [1])])),
    ("its branches give other sizes, and which of them is taken is not known before it runs",
     one("If", [("b", [])], then_branch=graph(node("Constant", [], ["a"], value_ints=[1]), value(12, "a", [1], 7)),
         else_branch=graph(node("Constant", [], ["a"], value_ints=[1, 2]), value(12, "a", [2], 7)))),
    ("its branches give other values", one("If", [("b", [])], then_branch=graph(node("Constant", [], ["a"], value_ints=[1]), value(12, "a", [1], 7)), else_branch=graph())),
    ("how often it runs is not known before it does", one("Loop", [None, ("b", []), [2]], body=BODY)),
    ("it wants a last axis whose size is a number", one("ArrayFeatureExtractor", [["nn"], ("c", [1], [0])], domain="ai.onnx.ml")),
    ("an index is outside of its axis", one("ArrayFeatureExtractor", [[2], ("c", [1], [5])], domain="ai.onnx.ml")),
    ("it makes elements of type string, which are no real numbers", one("Cast", [[2]], to=8)),
    ("before version 13 it is known along the last axis only", one("Hardmax", [[2, 3, 4]], axis=1, opset=11)),
]

NAN = float("nan")
ROIS = [("f", [1, 4], [0, 0, 2, 2]), ("c", [1], [0])]
BOXES = [("f", [1, 1, 4], [0, 0, 1, 1]), ("f", [1, 1, 1], [0.5])]
CASES += [
    ("weights of 19998 by 9999 places are too many", one("Resize", [[9999], None, ("f", [1], [2])], mode="cubic")),
    ("its result has no size, or sampling_ratio is not a count", one("RoiAlign", [PICTURE, *ROIS], sampling_ratio=-1)),
    ("it wants pictures, regions of four numbers, and a picture for each region", one("RoiAlign", [[5, 5], *ROIS])),
    ("region 0 is too large", one("RoiAlign", [PICTURE, ("f", [1, 4], [0, 0, 9999, 9]), ROIS[1]])),
    ("a number of its input is none, and equals nothing", one("Unique", [("f", [2], [1, NAN])])),
    ("its input has no places: an axis has at least one", one("Unique", [("f", [0], [])])),
    ("its scores do not fit its boxes", one("NonMaxSuppression", [BOXES[0], ("f", [1, 1, 2], [1, 2])])),
]

GRAMS = dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[3])


def grams(ins=("i", [3]), **other): return one("TfIdfVectorizer", [ins], **{k: v for k, v in {**GRAMS, **other}.items() if v is not None})


CASES += [
    ("only words that are whole numbers are known", grams(pool_int64s=None)),
    ("runs of 1 to 9 words are not known", grams(max_gram_length=9)),
    ("ngram_counts does not fit its pool", grams(ngram_counts=[5])),
    ("ngram_indexes does not fit its pool", grams(ngram_indexes=[0, 1])),
    ("its weights do not fit its runs", grams(mode="IDF", weights=[1.0, 2.0])),
    ("it wants a row of words, or rows", grams(("i", [3, 3, 3]))),
    ("it has too many words, or skips too many", grams(("i", [9999]), max_skip_count=9999)),
    ("its pool has no runs", grams(min_gram_length=2, max_gram_length=2, ngram_counts=[0, 1])),
]


def numbers(*x): return tensor("", [len(x)], x)


TREE = dict(nodes_splits=numbers(0.5), nodes_featureids=[0], nodes_modes=numbers(0), nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[0], nodes_falseleafs=[1],
            tree_roots=[0], leaf_targetids=[0], leaf_weights=numbers(1), n_targets=1)


def tree(x=[2, 2], **other): return one("TreeEnsemble", [x], domain="ai.onnx.ml", **{k: v for k, v in {**TREE, **other}.items() if v is not None})


CASES += [
    ("nodes_splits is not a row of numbers", tree(nodes_splits=tensor("", [1, 1], [0.5]))),
    ("its lists are not of one length", tree(nodes_featureids=[0, 1])),
    ("missing values cannot be imported", tree(nodes_missing_value_tracks_true=[1])),
    ("nodes that look into a set cannot be imported", tree(membership_values=numbers(1))),
    ("a leaf is not there", tree(nodes_truenodeids=[7])),
    ("its nodes are no trees", tree(nodes_trueleafs=[0])),
    ("a feature is not there", tree(nodes_featureids=[2])),
    ("a mode of its nodes is not known", tree(nodes_modes=numbers(6))),
    ("it wants rows of features", tree([2])),
    ("a transform behind its trees is not known", tree(post_transform=1)),
    ("it has no trees", tree(tree_roots=[])),
    ("its trees are too large", tree(**{k: numbers(*[0] * 1500) if k in ("nodes_splits", "nodes_modes") else v * 1500 if k.startswith("nodes") or k == "tree_roots" else v for k, v in TREE.items()})),
]


# What no model may be, whatever its operators mean: damage.py has more of it.
CASES += [
    ("node `y` (Relu): it has 2 inputs, but 1 are wanted", one("Relu", [[2], [2]])),
    ("it has 1 inputs, but 2 to 3 are wanted", one("Conv", [PICTURE])),
    ("it has 0 inputs, but 1 or more are wanted", one("Sum", [])),
    ("it has 1 outputs, but 2 are wanted", one("TopK", [[4], ("c", [1], [2])])),
    ("input 2 is missing", one("LSTM", [[2, 1, 1], None, [1, 4, 1]])),
    ("inputs 1 and 2 are of types float and int64, but one type is wanted", one("Add", [[2], ("i", [2])])),
    ("input 1 is of type bool, which it does not take", one("Exp", [("b", [2])])),
    ("attribute `alpha` is a whole number, but a float is wanted", one("Elu", [[2]], alpha=1)),
    ("it has no attribute `beta`", one("Elu", [[2]], beta=1.0)),
    ("attribute `axis` is missing", one("Concat", [[2], [2]])),
    ("attribute `keepdims` is 2, but 0 or 1 is wanted", one("ReduceSum", [[2]], keepdims=2)),
    ("attribute `mode` is `lanczos`, but one of nearest|linear|cubic is wanted", one("Resize", [[2], None, ("f", [1], [2])], mode="lanczos")),
    ("operator set 17 does not have it: it is there from 20 on", one("Gelu", [[2]])),
    ("operator set 17 does not have it: it is there up to 9", one("Upsample", [[2], ("f", [1], [2])])),
    ("it has 2 outputs, but 3 parts are wanted", one("Split", [[6]], outs=("y", "z"), opset=18, num_outputs=3)),
    ("it has both sizes of its parts and num_outputs", one("Split", [[4], ("c", [2], [1, 3])], outs=("y", "z"), opset=18, num_outputs=2)),
    ("axis 0 is cut twice", one("Slice", [[4], ("c", [2], [0, 0]), ("c", [2], [2, 2]), ("c", [2], [0, -1])])),
    ("17 axes are too many", one("RandomNormal", [], shape=[1] * 17)),
    ("an axis has at least one place", one("RandomNormal", [], shape=[2, 0])),
    ("there is a `z` before it", one("Relu", [[2]], outs=("z",), more=node("Relu", ["x0"], ["z"]))),
    ("there is a `y` before it", one("TopK", [[4], ("c", [1], [2])], outs=("y", "y"))),
    ("attribute `alpha` is there twice", model(value(11, "x", [2]), value(12, "y", [2]),
                                               raw(1, text(1, "x") + text(2, "y") + text(4, "Elu") + attr("alpha", 1.0) + attr("alpha", 2.0)))),
    ("attribute `alpha` is something else, but a float is wanted", model(value(11, "x", [2]), value(12, "y", [2]),
                                                                         raw(1, text(1, "x") + text(2, "y") + text(4, "Elu") + raw(5, text(1, "alpha") + num(3, 1) + num(20, 1))))),
    ("there are two inputs that are called `x`", model(value(11, "x", [2]), value(11, "x", [2]), RELU)),
    ("there are two values that are called `w`", model(value(11, "x", [2]), value(12, "y", [2]), RELU, *[raw(5, tensor("w", [1], [k])) for k in (1, 2)])),
    ("node `act` (Relu): `y` is float[2], but the model says float[3]", model(value(11, "x", [2]), value(12, "y", [3]), RELU)),
    ("node `act` (Relu): `y` is float[2], but the model says double[2]", model(value(11, "x", [2]), value(12, "y", [2], 11), RELU)),
    ("node `act` (Relu): `y` is float[2], but the model says float[? 2]", model(value(11, "x", [2]), value(12, "z", [2]), value(13, "y", ["", 2]), RELU, node("Relu", ["y"], ["z"]))),
    ("`w` is float[1], but the model says float[2]", model(value(11, "w", [2]), value(11, "x", [2]), value(12, "y", [2]), RELU, raw(5, tensor("w", [1], [1])))),
    ("the model is of IR version 99, but 1 to 13 are known", model(value(11, "x", [2]), value(12, "y", [2]), RELU, ir=99)),
    ("the model uses operator set ai.onnx.ml 9, but 1 to 5 are known", num(1, 8) + raw(8, num(2, 17)) + raw(8, text(1, "ai.onnx.ml") + num(2, 9)) + raw(7, value(12, "y", [2]))),
    ("the model uses two versions of operator set `ai.onnx`", model(value(11, "x", [2]), value(12, "y", [2]), RELU, more=raw(8, num(2, 16)))),
    ("the model does not say which version of operator set `ai.onnx` it uses", num(1, 8) + raw(7, value(11, "x", [2]) + value(12, "y", [2]) + RELU)),
    ("there are two functions that are called `F`", model(value(11, "x", [2]), value(12, "y", [2]), RELU, more=EMPTY + EMPTY)),
    ("the model has no inputs, but a loop with weights", model(value(12, "y", [2, 1, 1, 1]), node("LSTM", ["x", "w", "r"], ["y"], hidden_size=1), raw(5, tensor("x", [2, 1, 1], [1, 2])),
                                                               raw(5, tensor("w", [1, 4, 1], [1, 2, 3, 4])), raw(5, tensor("r", [1, 4, 1], [1, 2, 3, 4])))),
    ("it has two graphs", model(value(11, "x", [2]), value(12, "y", [2]), RELU, more=raw(7, b""))),
    ("the numbers of tensor `w` are not where those of float are", model(value(11, "x", [2]), value(12, "y", [2]), RELU, raw(5, num(1, 1) + num(2, 1) + text(8, "w") + num(5, 7)))),
]


def main(limn, folder):
    wrong = 0
    for k, (want, content) in enumerate(CASES):
        path = os.path.join(folder, f"refused.{k}.onnx")
        with open(path, "wb") as f: f.write(content)
        r = subprocess.run([limn, "import", path, "-o", os.path.join(folder, "refused.limn")], capture_output=True, text=True)
        want = want.replace("size n,", "size nn,")
        if r.returncode != 1 or want not in r.stderr:
            wrong += 1
            print(f"{k} {want}: status {r.returncode}: {r.stderr.strip()[:200]}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
