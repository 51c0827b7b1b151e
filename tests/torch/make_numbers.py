#!/usr/bin/python3
"""Makes tests/torch/data: inputs, weights, values and gradients by PyTorch in double precision.

    apt-get install python3-torch && /usr/bin/python3 tests/torch/make_numbers.py [--optimisers]

Run by hand when a program beside this file changes; the tests only read what it wrote. With --optimisers it prints
tests/optimiser_numbers.h instead. Weights have limn's names and limn's order of axes; the functions here turn
them into PyTorch's. One file for each program; in it, for each case: CASE:in:NAME, CASE:w:PATH, CASE:y, CASE:dy, CASE:g:NAME.
"""
import json
import math
import os
import struct
import sys

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
DTYPE = {torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}
files = {}


def write(path, arrays):
    header, blob = {}, b""
    for name, a in arrays.items():
        raw = a.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPE[a.dtype], "shape": list(a.shape), "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + blob)


class Weights:
    """w("dense/linear/W", 5, 7) is the weight of that path, made when first asked for."""

    def __init__(self, owner):
        self.owner, self.all, self.buffers = owner, {}, {}

    def __call__(self, path, *shape):
        path = self.owner + "/" + path
        if path not in self.all:
            fan = max(1, math.prod(shape[:-1]))
            self.all[path] = (torch.randn(shape) / math.sqrt(fan)).requires_grad_()
        return self.all[path]

    def buffer(self, path, start):
        return self.buffers.setdefault(self.owner + "/" + path, start)

    def under(self, path):
        w = Weights(self.owner + "/" + path)
        w.all, w.buffers = self.all, self.buffers
        return w


def case(program, name, f, **inputs):
    """f(w, inputs …) gives the result; NAME.training is run with --training. Inputs without a name are called in_1, in_2 …"""
    torch.manual_seed(sum(ord(c) * 31**i for i, c in enumerate(name)) % 2**31)
    w = Weights(name.split(".")[0])
    inputs = {k.replace("in_", "in."): (v() if callable(v) else v) for k, v in inputs.items()}
    for v in inputs.values():
        if v.dtype == torch.float64:
            v.requires_grad_()
    y = f(w, *inputs.values())
    dy = torch.randn(y.shape)
    moved = {k: v for k, v in list(inputs.items()) + list(w.all.items()) if v.requires_grad}
    grads = torch.autograd.grad(y, list(moved.values()), dy, allow_unused=True)
    data = files.setdefault(program, {})
    for k, v in inputs.items():
        data[f"{name}:in:{k}"] = v
    for k, v in {**w.all, **w.buffers}.items():
        data[f"{name}:w:{k}"] = v
    data[f"{name}:y"], data[f"{name}:dy"] = y, dy
    for (k, v), g in zip(moved.items(), grads):
        data[f"{name}:g:{k}"] = torch.zeros_like(v) if g is None else g
    for k, v in inputs.items():
        if v.dtype == torch.bool:  # bits have slopes too, but a number does not flow into one
            data[f"{name}:g:{k}"] = torch.zeros(v.shape)


def random(*shape):
    return lambda: torch.randn(shape)


def whole(n, *shape):
    return lambda: torch.randint(0, n, shape)


# -- pieces, with limn's weights ---------------------------------------------------------------------
def dense(w, x, o, path="dense"):
    return F.linear(x, w(path + "/linear/W", x.shape[-1], o).T, w(path + "/b", o))


def channels_first(x):
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


def conv(w, x, o, k=3, path="conv", **how):
    kernel = w(path + "/K", k, k, x.shape[-1], o).permute(3, 2, 0, 1)
    return channels_last(F.conv2d(channels_first(x), kernel, padding=how.pop("padding", how.get("dilation", 1) * (k // 2)), **how))


def conv1(w, x, o, k=3, path="conv1", dilation=1, **how):
    kernel = w(path + "/K", k, x.shape[-1], o).permute(2, 1, 0)
    return channels_last(F.conv1d(channels_first(x), kernel, padding=dilation * (k // 2), dilation=dilation, **how))


def conv_grouped(w, x, o, groups, k=3, **how):
    kernel = w("conv_grouped/K", k, k, groups, x.shape[-1] // groups, o // groups)
    kernel = kernel.permute(2, 4, 3, 0, 1).reshape(o, x.shape[-1] // groups, k, k)
    return channels_last(F.conv2d(channels_first(x), kernel, padding=k // 2, groups=groups, **how))


def conv_depthwise(w, x, k=3, **how):
    c = x.shape[-1]
    kernel = w("conv_depthwise/K", k, k, c).permute(2, 0, 1)[:, None]
    return channels_last(F.conv2d(channels_first(x), kernel, padding=k // 2, groups=c, **how))


def conv_up(w, x, o, k=2, path="conv_up"):
    kernel = w(path + "/K", k, k, x.shape[-1], o).permute(2, 3, 0, 1)
    return channels_last(F.conv_transpose2d(channels_first(x), kernel, stride=2))


def pool(f, k):
    return lambda w, x: channels_last(f(channels_first(x), k))


def layer_norm(w, x, path="layer_norm"):
    m = x.shape[-1]
    return F.layer_norm(x, (m,), w(path + "/g", m), w(path + "/b", m), 1e-5)


def rms_norm(w, x):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w("rms_norm/g", x.shape[-1])


def group_norm(w, x, groups):
    c = x.shape[-1]
    return channels_last(F.group_norm(channels_first(x), groups, w("group_norm/scale", c), w("group_norm/shift", c), 1e-5))


def batch_norm(w, x, training, path="batch_norm"):
    c = x.shape[-1]
    m, v = w.buffer(path + "/m", torch.randn(c)), w.buffer(path + "/v", torch.rand(c) + 0.5)
    y = x if x.dim() == 2 else channels_first(x)
    y = F.batch_norm(y, m.clone(), v.clone(), w(path + "/g", c), w(path + "/b", c), training, 0.1, 1e-5)
    return y if x.dim() == 2 else channels_last(y)


def attend(w, q, k, v, keep=None):
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return torch.softmax(s if keep is None else s.masked_fill(~keep, -math.inf), -1) @ v


def lower(n):
    return torch.ones(n, n).tril().bool()


def multihead(w, y, x, h, k, causal=False, path="multihead"):
    m = y.shape[-1]
    q, k_, v = (w(f"{path}/linear.{i}/W", m, h, k).reshape(m, h * k).T for i in (1, 2, 3))
    r, _ = F.multi_head_attention_forward(
        y.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), m, h, torch.cat([q, k_, v]), None, None, None, False, 0.0,
        w(f"{path}/linear.4/W", h * k, m).T, None, need_weights=False, attn_mask=~lower(x.shape[1]) if causal else None)
    return r.transpose(0, 1)


def self_attention(w, x, h, k, causal=False):
    return multihead(w, x, x, h, k, causal, "self_attention/multihead")


def transformer_block(w, x, h, k, causal=False, path="transformer_block"):
    w = w.under(path)
    y = x + self_attention(w, layer_norm(w, x, "layer_norm.1"), h, k, causal)
    z = F.gelu(dense(w, layer_norm(w, y, "layer_norm.2"), 4 * x.shape[-1], "dense.1"))
    return y + dense(w, z, x.shape[-1], "dense.2")


def recurrent(run, gates, cell, carries):
    """What torch.nn.LSTM and torch.nn.GRU call, with their weights: input, hidden, and a bias of each."""
    def layer(w, x, s, path):
        m = x.shape[-1]
        w = w.under(f"{path}/scan/{cell}")
        weights = [w("dense.1/linear/W", m, gates, s).reshape(m, gates * s).T, w("dense.2/linear/W", s, gates, s).reshape(s, gates * s).T,
                   w("dense.1/b", gates, s).reshape(-1), w("dense.2/b", gates, s).reshape(-1)]
        zero = torch.zeros(1, x.shape[0], s)
        return run(x, (zero, zero) if carries == 2 else zero, weights, True, 1, 0.0, True, False, True)[0]
    return layer


lstm = recurrent(torch._VF.lstm, 4, "lstm_cell", 2)
gru = recurrent(torch._VF.gru, 3, "gru_cell", 1)


# -- cases -------------------------------------------------------------------------------------------------------
def activations():
    def points(*front):  # far out, and a kink
        return lambda: torch.cat([torch.randn(*front, 6) * 2, torch.tensor([[-100, -30, -4, 3.5, 30, 100.0]]), torch.tensor([[0, -1e-9, 1e-9, 0.3, -0.7, 2]])])
    for name, f in {
            "relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
            "elu": lambda x: F.elu(x, 1.3), "selu": F.selu, "mish": F.mish, "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
            "softplus": F.softplus, "softsign": F.softsign, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
            "hard_tanh": F.hardtanh, "hard_sigmoid": lambda x: F.relu6(x + 3) / 6, "softmax": lambda x: F.softmax(x, -1),
            "log_softmax": lambda x: F.log_softmax(x, -1), "logsumexp": lambda x: torch.logsumexp(x, -1),
            "cumulative_sum": lambda x: torch.cumsum(x, -1)}.items():
        case("activations", "a_" + name, lambda w, x: f(x), x=points(3))
    case("activations", "a_softmax_other", lambda w, x: F.softmax(x, 1), x=random(2, 4, 6))


def distances():
    def both(name, f, a=random(4, 5), b=random(4, 5)):
        case("distances", "d_" + name, lambda w, a, b: f(a, b), a=a, b=b)

    def simplex():
        return torch.softmax(torch.randn(4, 5), -1).detach()
    both("l2", lambda a, b: 0.5 * F.mse_loss(a, b, reduction="none").sum(-1))
    both("l1", lambda a, b: F.l1_loss(a, b, reduction="none").sum(-1))
    both("huber", lambda a, b: F.huber_loss(a, b, reduction="none", delta=0.7).sum(-1))
    both("cross_entropy", lambda a, b: F.cross_entropy(a, b, reduction="none"), b=whole(5, 4))
    both("cross_entropy_soft", lambda a, b: F.cross_entropy(a, b, reduction="none"), b=simplex)
    both("soft_cross_entropy", lambda a, b: F.cross_entropy(a / 2.5, F.softmax(b / 2.5, -1), reduction="none"))
    both("bce", lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction="none").sum(-1), b=lambda: torch.rand(4, 5))
    both("kl", lambda a, b: F.kl_div(b.log(), a, reduction="none").sum(-1), a=simplex, b=simplex)
    both("cosine", lambda a, b: 1 - F.cosine_similarity(a, b))
    both("hinge", lambda a, b: F.relu(1 - a * b).sum(-1), b=lambda: torch.randn(4, 5).sign())
    normal = torch.distributions.Normal
    case("distances", "d_gauss_kl", lambda w, m, v, n, u: torch.distributions.kl_divergence(normal(m, (v / 2).exp()), normal(n, (u / 2).exp())).sum(-1),
         m=random(4, 5), v=random(4, 5), n=random(4, 5), u=random(4, 5))


def layers():
    def one(name, f, *shape):
        case("layers", name, f, in_1=random(2, *shape))

    def mlp(w, x):
        return dense(w, F.relu(dense(w, F.relu(dense(w, x, 7, "dense.1")), 6, "dense.2")), 3, "dense.3")
    case("layers", "mlp", mlp, in_1=random(4, 5))
    case("layers", "table", lambda w, x: F.embedding(x, w("embed/E", 9, 4)), in_1=whole(9, 7))
    one("conv_same", lambda w, x: conv(w, x, 4) + w("bias/b", 4), 5, 6, 3)
    one("conv_one", lambda w, x: conv(w, x, 4, 1), 5, 6, 3)
    one("conv_even", lambda w, x: conv(w, x, 4, 4)[:, :5, :6], 5, 6, 3)
    one("conv_stride", lambda w, x: conv(w, x, 4, 5, stride=2), 7, 6, 3)
    one("conv_dilated", lambda w, x: conv(w, x, 3, dilation=2), 7, 6, 2)
    one("conv_inside", lambda w, x: conv(w, x, 3, path="conv_valid", padding=0, stride=2, dilation=2), 9, 8, 2)
    one("conv_line", lambda w, x: conv1(w, x, 4, stride=2), 9, 3)
    one("conv_line_dilated", lambda w, x: conv1(w, x, 4, dilation=3), 9, 3)
    one("grouped", lambda w, x: conv_grouped(w, x, 4, 2), 5, 4, 6)
    one("grouped_stride", lambda w, x: conv_grouped(w, x, 9, 3, stride=2), 5, 4, 6)
    one("depthwise", lambda w, x: conv_depthwise(w, x), 5, 4, 3)
    one("depthwise_stride", lambda w, x: conv_depthwise(w, x, 5, stride=2), 6, 5, 3)
    one("up2", lambda w, x: conv_up(w, x, 2), 3, 4, 3)
    one("up3", lambda w, x: conv_up(w, x, 2, 3), 3, 4, 3)
    for name, f, shape in (("pool_max", pool(F.max_pool2d, 2), (6, 4, 2)), ("pool_max_odd", pool(F.max_pool2d, 3), (7, 8, 2)),
                           ("pool_mean", pool(F.avg_pool2d, 2), (6, 5, 2)), ("pool_max_line", pool(F.max_pool1d, 2), (7, 2)),
                           ("pool_mean_all", lambda w, x: x.mean((1, 2)), (3, 4, 2)), ("pool_max_all", lambda w, x: x.amax((1, 2)), (3, 4, 2))):
        case("layers", name, f, X=random(2, *shape))
    one("normed", layer_norm, 3, 6)
    # without samples, and with two axes of them
    case("layers", "mlp.one", lambda w, x: mlp(w, x), in_1=random(5))
    case("layers", "mlp.many", lambda w, x: mlp(w, x), in_1=random(2, 3, 5))
    case("layers", "conv_same.one", lambda w, x: (conv(w, x[None], 4) + w("bias/b", 4))[0], in_1=random(5, 6, 3))
    case("layers", "conv_same.many", lambda w, x: (conv(w, x[0], 4) + w("bias/b", 4))[None], in_1=random(1, 2, 5, 6, 3))
    one("rms_normed", rms_norm, 3, 6)
    one("group_normed", lambda w, x: group_norm(w, x, 3), 3, 4, 6)
    for training in (False, True):
        end = ".training" if training else ""
        case("layers", "batch_normed" + end, lambda w, x: batch_norm(w, x, training), in_1=random(5, 4))
        case("layers", "batch_normed_image" + end, lambda w, x: batch_norm(w, x, training), in_1=random(2, 3, 2, 4))
        case("layers", "batch_normed_image.one" + end, lambda w, x: batch_norm(w, x[None], training)[0], in_1=random(3, 2, 4))


def attention():
    def block(name, f, *shape):
        case("attention", name, f, in_1=random(2, *shape))
    case("attention", "attention", attend, Q=random(2, 4, 3), K=random(2, 5, 3), V=random(2, 5, 2))
    case("attention", "attention_causal", lambda w, q, k, v: attend(w, q, k, v, lower(4)), Q=random(2, 4, 3), K=random(2, 4, 3), V=random(2, 4, 2))
    case("attention", "attention_heads", attend, Q=random(2, 2, 4, 3), K=random(2, 2, 5, 3), V=random(2, 2, 5, 2))
    case("attention", "attention_masked", attend, Q=random(2, 4, 3), K=random(2, 5, 3), V=random(2, 5, 2),
         keep=lambda: (torch.rand(2, 4, 5) < 0.6) | (torch.arange(5) == 2))
    case("attention", "cross", lambda w, y, x: multihead(w, y, x, 2, 3), Y=random(2, 4, 6), X=random(2, 5, 6))
    case("attention", "self", lambda w, x: self_attention(w, x, 2, 3), X=random(2, 5, 6))
    case("attention", "self.one", lambda w, x: self_attention(w, x[None], 2, 3)[0], X=random(5, 6))
    case("attention", "self.many", lambda w, x: self_attention(w, x.flatten(0, 1), 2, 3).reshape(x.shape), X=random(2, 2, 5, 6))
    block("self_causal", lambda w, x: self_attention(w, x, 3, 2, True), 5, 6)
    block("block", lambda w, x: transformer_block(w, x, 2, 3), 4, 6)
    block("block_causal", lambda w, x: transformer_block(w, x, 2, 3, True), 4, 6)
    block("stack", lambda w, x: layer_norm(w, transformer_block(w, transformer_block(w, x, 2, 2, path="transformer_block.1"), 2, 2, path="transformer_block.2")), 3, 4)

    def language(w, x):
        y = F.embedding(x, w("embed/E", 7, 4)) + w("add_positions/P", 5, 4)
        return dense(w, layer_norm(w, transformer_block(w, y, 2, 2, True)), 7)
    case("attention", "language", language, in_1=whole(7, 3, 5))

    def vit(w, x):
        n = x.shape[0]
        kernel = w("patches/linear/W", 8, 6).reshape(2, 2, 2, 6).permute(3, 2, 0, 1)
        y = F.conv2d(channels_first(x), kernel, stride=2).flatten(2).transpose(1, 2)
        y = torch.cat([w("with_class/cls", 6).expand(n, 1, 6), y], 1) + w("add_positions/P", 7, 6)
        return dense(w, layer_norm(w, transformer_block(w, y, 2, 3))[:, 0], 3)
    block("vit", vit, 4, 6, 2)
    t, m = torch.arange(5.0)[:, None], torch.arange(6.0)
    wave = torch.where(m % 2 == 0, torch.sin(t / 10000 ** (m / 6)), torch.cos(t / 10000 ** ((m - 1) / 6)))
    case("attention", "waves", lambda w, x: x + wave, X=random(2, 5, 6))
    turn = torch.polar(torch.ones(5, 3), t * 10000 ** (-2 * torch.arange(3.0) / 6))
    case("attention", "turned", lambda w, x: torch.view_as_real(torch.view_as_complex(x.reshape(2, 5, 3, 2)) * turn).flatten(2), X=random(2, 5, 6))


def networks():
    case("recurrent", "memory", lambda w, x: lstm(w, x, 4, "lstm"), in_1=random(2, 5, 3))
    case("recurrent", "memory.one", lambda w, x: lstm(w, x[None], 4, "lstm")[0], in_1=random(5, 3))
    case("recurrent", "memory.many", lambda w, x: lstm(w, x.flatten(0, 1), 4, "lstm").reshape(2, 2, 5, 4), in_1=random(2, 2, 5, 3))
    case("recurrent", "gated", lambda w, x: gru(w, x, 4, "gru"), in_1=random(2, 5, 3))
    case("recurrent", "memory_twice", lambda w, x: dense(w, lstm(w, lstm(w, x, 4, "lstm.1"), 3, "lstm.2")[:, -1], 2), in_1=random(2, 4, 3))

    def unit(w, x, o, training, stride=1, path="unit"):
        w, same = w.under(path), x.shape[-1] == o and stride == 1
        a = F.relu(batch_norm(w, x, training, "batch_norm.1"))
        n = 1 if same else 2
        s = x if same else conv(w, a, o, 1, "conv.1", stride=stride)
        b = F.relu(batch_norm(w, conv(w, a, o, 3, f"conv.{n}", stride=stride), training, "batch_norm.2"))
        return s + conv(w, b, o, 3, f"conv.{n + 1}")

    def resnet(w, x, training):
        x = conv(w, x, 3)
        for i in (1, 2):
            x = unit(w, x, 3, training, path=f"unit.1.{i}")
        x = unit(w, x, 4, training, 2, "unit.2")
        return dense(w, F.relu(batch_norm(w, x, training)).mean((1, 2)), 3)
    for training in (False, True):
        end = ".training" if training else ""
        case("networks", "resnet_block" + end, lambda w, x: unit(w, x, 3, training), in_1=random(2, 4, 4, 3))
        case("networks", "resnet_down" + end, lambda w, x: unit(w, x, 4, training, 2), in_1=random(2, 5, 4, 3))
        case("networks", "resnet" + end, lambda w, x: resnet(w, x, training), in_1=random(2, 6, 6, 2))

    def double(w, x, o, path):
        w = w.under("unet/" + path)
        for i in (1, 2):
            x = F.relu(conv(w, x, o, path=f"conv.{i}") + w(f"bias.{i}/b", o))
        return x

    def unet(w, x):
        kept = {}
        for l in (1, 2):
            kept[l] = x = double(w, x, 2 * 2 ** (l - 1), f"double.1.{l}")
            x = channels_last(F.max_pool2d(channels_first(x), 2))
        x = double(w, x, 8, "double.2")
        for l in (2, 1):
            x = conv_up(w, x, 2 * 2 ** (l - 1), path=f"unet/conv_up.{l}")
            x = double(w, torch.cat([kept[l], x], -1), 2 * 2 ** (l - 1), f"double.3.{l}")
        return x @ w("unet/linear/W", 2, 2)
    case("networks", "segment", unet, in_1=random(2, 8, 8, 1))


# -- what changes from step to step: tests/optimiser_numbers.h ----------------------------------------------------
def table(name, rows):
    rows = ["{" + ", ".join(repr(float(v)) for v in row) + "}" for row in rows]
    print(f"static const double {name}[{len(rows)}][4] = {{\n    " + ",\n    ".join(rows) + ",\n};")


def optimisers():
    """Ten steps along given slopes: where they lead."""
    torch.manual_seed(3)
    start, slopes = (torch.randn(4) * 4).round(decimals=3), torch.randn(10, 4).round(decimals=3)
    slopes[:, 3] *= 2.0**-20  # where eps begins to matter
    print("// Made by tests/torch/make_numbers.py --optimisers: do not edit.")
    table("start", [start])
    table("slope", slopes)
    o = torch.optim
    for name, make in {
            "gd": lambda p: o.SGD(p, 0.01), "momentum": lambda p: o.SGD(p, 0.01, momentum=0.9),
            "nesterov": lambda p: o.SGD(p, 0.01, momentum=0.9, nesterov=True), "adagrad": lambda p: o.Adagrad(p, 0.01, eps=1e-8),
            "rmsprop": lambda p: o.RMSprop(p, 0.01, alpha=0.99, eps=1e-8), "adam": lambda p: o.Adam(p, 0.001),
            "adamw": lambda p: o.AdamW(p, 0.001, weight_decay=0.01)}.items():
        p = start.clone().requires_grad_()
        step, rows = make([p]), []
        for g in slopes:
            p.grad = g.clone()
            step.step()
            rows.append(p.detach().clone())
        table("torch_" + name, rows)


def statistics():
    """The running mean and variance of a batch norm after each of three batches of ten samples."""
    torch.manual_seed(4)
    x = torch.randn(30, 4).round(decimals=3)
    m, v, rows = torch.zeros(4), torch.ones(4), []
    for batch in x.split(10):
        F.batch_norm(batch, m, v, None, None, True, 0.1, 1e-5)
        rows += [m.clone(), v.clone()]
    table("samples", x)
    table("torch_statistics", rows)


if __name__ == "__main__":
    if "--optimisers" in sys.argv:
        optimisers()
        statistics()
        sys.exit()
    activations()
    distances()
    layers()
    attention()
    networks()
    os.makedirs(os.path.join(HERE, "data"), exist_ok=True)
    for program, arrays in files.items():
        write(os.path.join(HERE, "data", program + ".safetensors"), arrays)
