"""Random small modules of PyTorch, as its exporter writes them: `random_models.py DIR SEEDS…`, as 3 or 10-20, makes each with sizes that are often 1 and often
equal, with samples in front that are one or two, with a name or without; imports it, checks it and compares its values with PyTorch's; and those
of what it becomes as ONNX and as JSON and back. Prints a line for each that fails, and how many were tried."""
import os
import random
import re
import subprocess
import sys

import numpy as np
import torch
from torch import nn

LIMN = os.environ["LIMN"]


class Of(nn.Module):
    """A function of a value and of modules."""
    def __init__(self, text, f, *parts):
        super().__init__()
        self.text, self.f, self.parts = text, f, nn.ModuleList(parts)

    def forward(self, x): return self.f(x, *self.parts)

    def __repr__(self): return self.text


class Residual(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        y = self.layers(x)
        return x + y if y.shape == x.shape else y


class Positions(nn.Module):
    def __init__(self, shape, buffer):
        super().__init__()
        if buffer: self.register_buffer("pos", torch.randn(shape))
        else: self.pos = nn.Parameter(torch.randn(shape))

    def forward(self, x): return x + self.pos


def divisors(n): return [k for k in range(1, n + 1) if n % k == 0]


def any_rank(r, s):
    """Modules for any value; s: its sizes behind the samples."""
    n = len(s) + 1
    axis = r.randrange(1, n)
    act = r.choice([nn.ReLU, nn.Tanh, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Hardswish, nn.ELU, nn.LeakyReLU, nn.Softplus, nn.Hardsigmoid, nn.Mish])
    yield act()
    yield Of("scaled", lambda x: x * torch.sigmoid(x.mean(axis, keepdim=True)))
    yield Of("softmax", lambda x: x.softmax(axis))
    yield Of("gate", lambda x: torch.where(x > 0, x, x * 0.5) + x.amax(axis, keepdim=True))
    yield Of("centred", lambda x: (x - x.mean(axis, keepdim=True)) / (x.var(axis, unbiased=False, keepdim=True) + 1).sqrt())
    yield Of("half", lambda x: torch.cat([x, -x], axis))
    if s[axis - 1] > 1:
        at = r.randrange(1, s[axis - 1])
        yield Of("rolled", lambda x: torch.cat([x.narrow(axis, at, x.shape[axis] - at), x.narrow(axis, 0, at)], axis))
        yield Of("chunks", lambda x: x.narrow(axis, 0, 1) * x.narrow(axis, at, 1) + x)
    if len(s) > 1:
        a, b = r.sample(range(1, n), 2)
        yield Of("turned", lambda x: x.transpose(a, b).contiguous())
        yield Of("there and back", lambda x: x + x.transpose(a, b).tanh().transpose(a, b))
        yield Of("mean", lambda x: x.mean(axis))
        yield Of("flat", lambda x: x.flatten(1))
    if len(s) < 4:
        yield Of("apart", lambda x: x.unsqueeze(axis))
        k = r.choice(divisors(s[axis - 1]))
        yield Of("split", lambda x: x.reshape(x.shape[:axis] + (k, x.shape[axis] // k) + x.shape[axis + 1:]))
    yield Positions([m if i == len(s) - 1 or r.random() < 0.7 else 1 for i, m in enumerate(s)], r.random() < 0.5)
    yield nn.LayerNorm(s[-1:] if r.random() < 0.7 else s[-2:])
    o = r.choice([s[-1], 1, 2, 3])
    yield nn.Linear(s[-1], o, bias=r.random() < 0.7)


def heads(r, t, m):
    h = r.choice(divisors(m))
    wide = r.random() < 0.5

    def f(x, q, k, v, o):
        cut = lambda y: y.view(x.shape[0], t if wide else x.shape[1], h, m // h).transpose(1, 2)
        s = cut(q(x)) @ cut(k(x)).transpose(-2, -1) / (m // h) ** 0.5
        return o((s.softmax(-1) @ cut(v(x))).transpose(1, 2).reshape(x.shape[0], t, m))
    return Of(f"heads {h}", f, *(nn.Linear(m, m) for _ in range(4)))


def sequences(r, s):
    """Modules for [t m]."""
    t, m = s
    yield heads(r, t, m)
    yield heads(r, t, m)
    h = r.choice(divisors(m))
    yield Of("attention", lambda x, a: a(x, x, x, need_weights=False)[0], nn.MultiheadAttention(m, h, batch_first=True))
    yield nn.TransformerEncoderLayer(m, h, r.choice([1, 2, m]), 0.0, batch_first=True, norm_first=r.random() < 0.5).train()
    kind, both, o = r.choice([nn.GRU, nn.LSTM, nn.RNN]), r.random() < 0.3, r.choice([1, 2, m])
    yield Of(kind.__name__, lambda x, a: a(x)[0], kind(m, o, r.choice([1, 1, 2]), batch_first=True, bidirectional=both))
    yield Of("last", lambda x, a: a(x)[0][:, -1], kind(m, o, batch_first=True))
    yield nn.Conv1d(t, r.choice([1, 2, t]), r.choice([1, m]), bias=r.random() < 0.5)
    yield nn.BatchNorm1d(t)


def pictures(r, s):
    """Modules for [c h w]."""
    c, h, w = s
    o = r.choice([1, 2, 3, 4, c])
    groups = r.choice([g for g in divisors(c) if o % g == 0])
    k, d = r.choice([1, 2, 3]), r.choice([1, 1, 2])
    p = r.choice([0, d * (k - 1) // 2])
    if min(h, w) + 2 * p >= d * (k - 1) + 1:
        for _ in range(3): yield nn.Conv2d(c, o, k, r.choice([1, 2]), p, d, groups, r.random() < 0.7)
    for _ in range(2): yield nn.BatchNorm2d(c)
    yield nn.GroupNorm(r.choice(divisors(c)), c)
    if h * w > 1: yield nn.InstanceNorm2d(c, affine=True)
    yield nn.PReLU(r.choice([1, c]))
    yield nn.ConvTranspose2d(c, o, r.choice([1, 2, 3]), r.choice([1, 2]), groups=groups)
    if min(h, w) > 1:
        yield nn.MaxPool2d(2, r.choice([1, 2]))
        yield nn.AvgPool2d(2, r.choice([1, 2]), r.choice([0, 1]))
    yield nn.AdaptiveAvgPool2d(1)
    yield nn.Upsample(scale_factor=2)
    mid = r.choice([1, 2])
    yield Of("squeeze", lambda x, a, b: x * torch.sigmoid(b(torch.relu(a(x.mean((2, 3), keepdim=True))))), nn.Conv2d(c, mid, 1), nn.Conv2d(mid, c, 1))
    yield Of("patches", lambda x: x.flatten(2).transpose(1, 2))


def layer(r, s):
    pool = list(any_rank(r, s))
    if len(s) == 2: pool += 2 * list(sequences(r, s))
    if len(s) == 3: pool += 2 * list(pictures(r, s))
    return r.choice(pool)


def shape_after(module, s):
    with torch.no_grad(): return list(module(torch.randn(2, *s)).shape[1:])


def model(r):
    """A chain of layers, some around which the value goes; and the sizes of its input."""
    size = r.choice([lambda: r.choice([1, 1, 2, 3, 4]), lambda same=r.choice([1, 2, 3, 4]): same, lambda: r.choice([2, 3, 4, 5])])
    first = s = [size() for _ in range(r.choice([1, 2, 2, 3, 3]))]
    layers = []
    for _ in range(r.choice([1, 2, 3, 4, 5])):
        one = layer(r, s)
        if r.random() < 0.4: one = Residual(nn.Sequential(one, layer(r, shape_after(one.eval(), s))) if r.random() < 0.5 else one)
        after = shape_after(one.eval(), s)
        if np.prod(after) > 400: continue
        layers.append(one)
        s = after
    return nn.Sequential(*layers), first


def settle(m, r):
    for p in m.modules():
        if isinstance(p, (nn.BatchNorm1d, nn.BatchNorm2d)): p.running_mean.normal_(0, 0.3), p.running_var.uniform_(0.5, 1.5)
        if isinstance(p, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)) and r.random() < 0.7:
            p.weight.data.uniform_(0.5, 1.5), p.bias.data.normal_(0, 0.3)
    return m.eval()


def limn(*words):
    done = subprocess.run([LIMN, *words], capture_output=True, text=True)
    if done.returncode: raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()}")


def far(got, want): return float(abs(got - want).max() / (1 + abs(want).max())) if got.shape == want.shape else f"{got.shape} for {want.shape}"


def tried(m, x, open_, path):
    """None, or what is wrong."""
    training = any(isinstance(p, nn.TransformerEncoderLayer) for p in m.modules())  # otherwise it becomes one operator that is no ONNX
    if training: [p.train() for p in m.modules() if isinstance(p, nn.TransformerEncoderLayer)]
    try:
        with torch.no_grad(): want = m(x).numpy()
        torch.onnx.export(m, (x,), path + ".onnx", opset_version=14, input_names=["x"], output_names=["y"], do_constant_folding=not training,
                          training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={"x": {0: "N"}, "y": {0: "N"}} if open_ else None)
    except Exception: return None  # what PyTorch does not take, or not write
    np.save(path + ".npy", x.numpy()), np.save(path + ".one.npy", x.numpy()[None])

    def values(program, *more):
        if not open_ and "(x: R[N " in open(program).read():  # of samples, which were written in front and not left out again
            limn("eval", program, "model", "--in", path + ".one.npy", "--out", path + ".got.npy", *more)
            return far(np.load(path + ".got.npy")[0], want)
        limn("eval", program, "model", "--in", path + ".npy", "--out", path + ".got.npy", *more)
        return far(np.load(path + ".got.npy"), want)
    try:
        limn("import", path + ".onnx", "-o", path + ".limn")
        limn("check", path + ".limn")
        all_ = {"import": values(path + ".limn")}
        limn("export", path + ".limn", "model", "--as", "onnx", "-o", path + "_e.onnx")
        limn("import", path + "_e.onnx", "-o", path + "_o.limn")
        all_["onnx"] = values(path + "_o.limn")
        limn("export", path + ".limn", "model", "--as", "json", "-o", path + "_e.json")
        weights = ["--weights", path + ".safetensors"] if os.path.exists(path + ".safetensors") else []
        limn("read", path + "_e.json", "-o", path + "_j.limn", *weights)
        all_["json"] = values(path + "_j.limn", *(["--from", path + "_j.safetensors"] if weights else []))
    except RuntimeError as e: return str(e)
    return next((f"{k}: off by {v}" for k, v in all_.items() if not isinstance(v, float) or not v < 1e-5), None)


def one(folder, seed):
    r = random.Random(seed)
    torch.manual_seed(seed)
    m, s = model(r)
    x, open_ = torch.randn(r.choice([1, 1, 2]), *s), r.random() < 0.5
    why = tried(settle(m, r), x, open_, os.path.join(folder, str(seed)))
    if why: print(f"seed {seed}, {list(x.shape)}{' open' if open_ else ''}: {why}\n  {' '.join(str(m).split())}", flush=True)
    for file in os.listdir(folder):
        if not why and re.match(rf"{seed}\D", file): os.remove(os.path.join(folder, file))
    return why is not None


def main(folder, *seeds):
    torch.set_num_threads(1)
    all_ = [k for s in seeds for k in range(int(s.split("-")[0]), int(s.split("-")[-1]) + 1)]
    bad = sum(one(folder, k) for k in all_)
    print(f"{bad} of {len(all_)} fail")
    return bad > 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
