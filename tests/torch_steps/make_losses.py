#!/usr/bin/python3
"""Prints tests/torch_steps/losses.h: what PyTorch shows in ten steps of the programs beside this file, in double precision.

    /usr/bin/python3 tests/torch_steps/make_losses.py > tests/torch_steps/losses.h

Run by hand when a program changes. Weights start, and batches are drawn, by a rule that tests/torch_steps_test.c knows too:
numbers in -1..1 from the name and the place. Weights have limn's names and limn's order of axes; they are turned into PyTorch's.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
STEPS = 10


def mixed(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def numbers(name, t, *shape):
    """In 0..1"""
    seed = 0xCBF29CE484222325
    for letter in name.encode():
        seed = (seed ^ letter) * 0x100000001B3 % 2**64
    seed = (seed + 0x632BE59BD9B4E019 * t) % 2**64
    with np.errstate(over="ignore"):
        at = np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
        return torch.tensor((mixed(at) >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def labels(name, t, count, *shape):
    return (numbers(name, t, *shape) * count).long()


class Weights(dict):
    """w(path, shape, fan) is spread by 1 / sqrt(fan); w(path, shape, around=1) lies near 1."""

    def __call__(self, path, shape, fan=0, around=0.0):
        path = "f/" + path
        if path not in self:
            v = 2 * numbers(path, 0, *shape) - 1
            self[path] = (v * math.sqrt(3 / fan) if fan else around + 0.1 * v).requires_grad_()
        return self[path]

    def dense(self, path, x, *out):
        fan = x.shape[-1]
        weight, bias = self(path + "/linear/W", (fan, *out), fan), self(path + "/b", out)
        return F.linear(x, weight.reshape(fan, -1).T, bias.reshape(-1))

    def linear(self, path, x, *out):
        fan = x.shape[-1]
        return F.linear(x, self(path + "/W", (fan, *out), fan).reshape(fan, -1).T)

    def layer_norm(self, path, x):
        width = x.shape[-1]
        return F.layer_norm(x, (width,), self(path + "/g", (width,), around=1.0), self(path + "/b", (width,)))


def mlp(w, t):
    x = numbers("image", t, 64, 784)
    x = F.relu(w.dense("dense.1", x, 256))
    x = F.relu(w.dense("dense.2", x, 128))
    return F.cross_entropy(w.dense("dense.3", x, 10), labels("label", t, 10, 64))


def conv(w, t):
    x = numbers("image", t, 16, 28, 28, 1).permute(0, 3, 1, 2)
    for layer, (c, o) in ((1, (1, 16)), (2, (16, 32))):
        kernel = w(f"layer.{layer}/conv_valid/K", (3, 3, c, o), 9 * c).permute(3, 2, 0, 1)
        x = F.max_pool2d(F.relu(F.conv2d(x, kernel, w(f"layer.{layer}/bias/b", (o,)))), 2)
    return F.cross_entropy(w.dense("dense", x.permute(0, 2, 3, 1).reshape(16, 800), 10), labels("label", t, 10, 16))


def lstm(w, t):
    cell, h, c = "lstm/scan/lstm_cell/", torch.zeros(32, 32), torch.zeros(32, 32)
    for row in numbers("image", t, 32, 8, 8).unbind(1):
        gates = w.dense(cell + "dense.1", row, 4, 32) + w.dense(cell + "dense.2", h, 4, 32)
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return F.cross_entropy(w.dense("dense", h, 10), labels("label", t, 10, 32))


def block(w, path, x):
    n, length, width = x.shape
    y = w.layer_norm(path + "layer_norm.1", x)
    q, k, v = (w.linear(path + f"self_attention/multihead/linear.{i}", y, 4, 16).view(n, length, 4, 16).transpose(1, 2)
               for i in (1, 2, 3))
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    seen = (q @ k.transpose(-2, -1) / 4).masked_fill(later, -math.inf).softmax(-1) @ v
    x = x + w.linear(path + "self_attention/multihead/linear.4", seen.transpose(1, 2).reshape(n, length, width), width)
    y = F.gelu(w.dense(path + "dense.1", w.layer_norm(path + "layer_norm.2", x), 256))
    return x + w.dense(path + "dense.2", y, 64)


def attention(w, t):
    text = labels("text", t, 65, 8, 33)
    x = w("embed/E", (65, 64), 1)[text[:, :-1]] + w("add_positions/P", (32, 64), 1)
    for i in (1, 2):
        x = block(w, f"transformer_block.{i}/", x)
    scores = w.linear("linear", w.layer_norm("layer_norm", x), 65)
    return F.cross_entropy(scores.reshape(-1, 65), text[:, 1:].reshape(-1))


def falling(t):
    return 3e-3 * min(1, (t + 1) / 4) * 0.5 * (1 + math.cos(math.pi * t / STEPS))


def steps(loss, optimiser, clip=None, rate=None):
    w, shown = Weights(), []
    loss(w, 0)
    o = optimiser(list(w.values()))
    for t in range(STEPS):
        for group in o.param_groups:
            group["lr"] = rate(t) if rate else group["lr"]
        o.zero_grad()
        y = loss(w, t)
        y.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(list(w.values()), clip)
        o.step()
        shown.append(y.item())
    return shown


def main():
    print("// Made by make_losses.py: PyTorch's losses in ten steps.")
    for name, shown in (
            ("mlp", steps(mlp, lambda w: torch.optim.Adam(w, 0.001))),
            ("conv", steps(conv, lambda w: torch.optim.SGD(w, 0.02, momentum=0.9))),
            ("lstm", steps(lstm, lambda w: torch.optim.Adam(w, 0.003), clip=0.25)),
            ("attention", steps(attention, lambda w: torch.optim.AdamW(w, weight_decay=0.1), clip=0.9, rate=falling))):
        print(f"static const double {name}_losses[] = {{")
        for row in (shown[:4], shown[4:8], shown[8:]):
            print("    " + ", ".join(map(repr, row)) + ("," if row is not shown[8:] else ""))
        print("};")


main()
