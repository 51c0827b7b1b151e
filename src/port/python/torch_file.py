# The text of an exported file for PyTorch, in sections: a line `#: name`, then the text. $0, $1 … are replaced. A helper is
# written if the text before its definition occurs: its section has that as name.
#: head
"""$0, from $1: PyTorch.

    model = $2
$3    $4 = model(x)

Samples stand in front of every input. Weights are called as in the program, with points for
slashes.$5
"""
#: goals
"""$0 as PyTorch: its goals, and how it trains.

    model = Goals()                          # or load(Goals(), "weights.safetensors")
    train(model, {"name": array, …})       # what is given, samples in front
    save(model, "trained.safetensors")     # limn reads it: --weights

or python FILE.py DATA.npz --out trained.safetensors. For a loop of your own, `Training(model)`
makes a step at a time. Weights are called as in the program, with points for slashes.$1
"""
#: imports
import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
#: load


def load(model, path):
    """Takes the weights of a safetensors file of limn."""
    def plain(name):
        return ".".join(word.strip("_") for word in name.split("."))

    state = model.state_dict()
    keys = {plain(key): key for key in state}
    missing = {name for name, _ in model.named_parameters()}
    for name, array in read_safetensors(path).items():
$0        key = keys.get(plain(name.replace(".", "_").replace("/", ".")))
        if key:
            state[key] = torch.from_numpy(array.copy()).to(state[key].dtype)
            missing.discard(key)
    if missing:
        raise KeyError("%s has no %s" % (path, ", ".join(sorted(missing))))
    model.load_state_dict(state)
    return model
#: glorot(
def glorot(shape, fan_in, fan_out):
    limit = (6 / (fan_in + fan_out)) ** 0.5
    return torch.empty(shape).uniform_(-limit, limit)
#: he(
def he(shape, fan_in):
    return torch.randn(shape) * (2 / fan_in) ** 0.5
#: orthogonal(
def orthogonal(shape):
    """All axes but the last are one."""
    return nn.init.orthogonal_(torch.empty(shape).reshape(-1, shape[-1])).reshape(shape)
#: root(
def root(x):
    """The square root; its slope at 0 is 0."""
    return torch.where(x == 0, x.detach(), torch.sqrt(torch.where(x == 0, 1.0, x)))
#: modulo(
def modulo(x, n):
    """What is left of x, divided by n and rounded down; Python has another answer where n is infinite."""
    return x - n * torch.floor(x / n)
#: power(
def power(x, n):
    """x to the n; no slope by x at 0 where n < 1, nor by n where x is not positive."""
    still = (x <= 0) & n.isfinite()
    base = torch.where((x == 0) & (n < 1), x.detach(), x)
    return torch.pow(base, torch.where(still, n.detach(), n))
#: through(
def through(value, slope):
    """The value of one, the slope of the other."""
    return value.detach() + (slope - slope.detach())
#: with_slope(
def with_slope(value, slope):
    """A function with a derivative of its own: of what went in, and the slopes of what came out."""
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *x):
            ctx.save_for_backward(*x)
            return value(*x)

        @staticmethod
        def backward(ctx, *d):
            return slope(*ctx.saved_tensors, *d)

    return Own.apply
