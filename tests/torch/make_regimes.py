#!/usr/bin/python3
"""Prints tests/regime_numbers.h: what PyTorch makes of the training programs in tests/regime_test.c, in double precision.

    /usr/bin/python3 tests/torch/make_regimes.py > tests/regime_numbers.h

Run by hand when a program changes. Weights start, and batches are drawn, by formulas that both sides know. For each case: what the goals
show in each of the steps, and the weights after the last, by limn's names and in limn's order of axes.
"""
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
STEPS = 10


def letters(text):
    return sum(text.encode())


def start(path, *shape):
    n = math.prod(shape)
    at = [0.5 * math.sin(1 + 0.37 * i + 0.11 * letters(path)) for i in range(n)]
    return torch.tensor(at).reshape(shape).requires_grad_()


def batch(name, t, *shape):
    n = math.prod(shape)
    return torch.tensor([math.cos(0.5 * i + 0.29 * letters(name) + 1.7 * t) for i in range(n)]).reshape(shape)


def labels(t, count, n):
    return torch.tensor([(7 * i + 3 * t) % count for i in range(n)])


class Weights(dict):
    def __call__(self, path, *shape):
        if path not in self:
            self[path] = start(path, *shape)
        return self[path]

    def dense(self, path, x, o):
        return x @ self(path + "/linear/W", x.shape[-1], o) + self(path + "/b", o)


def mlp(w, x, name="f"):
    return w.dense(name + "/dense.2", torch.tanh(w.dense(name + "/dense.1", x, 5)), 3)


def fit(w, t):
    return F.cross_entropy(mlp(w, batch("x", t, 6, 4)), labels(t, 3, 6))


def show(name, losses, end):
    print(f"static const double {name}_shown[][{len(losses[0])}] = {{")
    for row in losses:
        print("    {" + ", ".join(repr(float(x)) for x in row) + "},")
    print("};")
    for k, v in end.items():
        print(f"static const double {name}_{k.replace('/', '_').replace('.', '_')}[] = {{"
              + ", ".join(repr(float(x)) for x in v.detach().reshape(-1)) + "};")
    print(f"static const Known {name}_end[] = {{")
    for k, v in end.items():
        print(f'    {{"{k}", {v.numel()}, {name}_{k.replace("/", "_").replace(".", "_")}}},')
    print("};")


def plain(name, optimiser, loss=fit, clip=None, rate=None):
    w, losses = Weights(), []
    loss(w, 0)
    o = optimiser(list(w.values()))
    for t in range(STEPS):
        o.zero_grad()
        y = loss(w, t)
        y.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(list(w.values()), clip)
        if rate:
            for group in o.param_groups:
                group["lr"] = rate(t)
        o.step()
        losses.append([y])
    show(name, losses, w)


def gan_goals(w, t):
    n, flower = batch("n", t, 6, 3), batch("flower", t, 6, 5)
    gen = w.dense("gen/dense.2", torch.tanh(w.dense("gen/dense.1", n, 4)), 5)

    def dis(x):
        h = torch.tanh(x @ w("dis/dense.1/linear/W", 5, 4) + w("dis/dense.1/b", 4))
        return h @ w("dis/dense.2/linear/W", 4) + w("dis/dense.2/b")

    def bce(a, b):
        return (F.softplus(a) - a * b).mean()

    return bce(dis(flower), 1), bce(dis(gen), 0), bce(dis(gen), 1)


def part(w, name):
    return {k: v for k, v in w.items() if k.startswith(name)}


def gradients(of, weights):
    return dict(zip(weights, torch.autograd.grad(of, list(weights.values()), retain_graph=True)))


def set_gradients(w, grads):
    for k, v in w.items():
        v.grad = grads.get(k)


def gan():
    w, losses = Weights(), []
    gan_goals(w, 0)
    gen, dis = part(w, "gen"), part(w, "dis")
    both = [torch.optim.Adam(gen.values(), 2e-3, (0.5, 0.999)), torch.optim.SGD(dis.values(), 0.05, momentum=0.9)]
    for t in range(STEPS):
        real, fake, fool = gan_goals(w, t)
        set_gradients(w, {**gradients(real + fake, dis), **gradients(0.5 * fool, gen)})
        for o in both:
            o.step()
        losses.append([real, fake, fool])
    show("gan", losses, w)


def turns():
    """dis three times, then gen once, by a rate that falls with the rounds: 10 rounds"""
    w, losses, run = Weights(), [], 0
    gan_goals(w, 0)
    gen, dis = part(w, "gen"), part(w, "dis")
    o = {"gen": torch.optim.Adam(gen.values(), 0), "dis": torch.optim.Adam(dis.values(), 0)}
    for r in range(STEPS):
        for name in ["dis", "dis", "dis", "gen"]:
            real, fake, fool = gan_goals(w, run)
            set_gradients(w, gradients(real + fake, dis) if name == "dis" else gradients(0.5 * fool, gen))
            o[name].param_groups[0]["lr"] = 0.01 * (1 - r / STEPS)
            o[name].step()
            losses.append([real, fake] if name == "dis" else [fool, fool])
            run += 1
    show("turns", losses, w)


def stale():
    w, losses = Weights(), []

    def f(x, at):
        return x @ at["W"] + at["b"]

    now = {"W": w("f/dense/linear/W", 4, 4), "b": w("f/dense/b", 4)}
    g, h = ({k: v.detach().clone() for k, v in now.items()} for _ in range(2))
    o = torch.optim.SGD(now.values(), 0.05)
    for t in range(STEPS):
        x = batch("x", t, 6, 4)
        y = 0.5 * ((f(x, now) - (0.5 * f(x, g) + 0.4 * f(x, h) + x)) ** 2).sum(-1).mean()
        o.zero_grad()
        y.backward()
        o.step()
        for k in now:
            new = now[k].detach()
            if (t + 1) % 3 == 0:
                g[k] = new.clone()
            h[k] = 0.9 * h[k] + (1 - 0.9) * new
        losses.append([y])
    ends = {f"{n}/dense/{p}": c[k] for n, c in (("g", g), ("h", h)) for k, p in (("W", "linear/W"), ("b", "b"))}
    show("stale", losses, {**w, **ends})


def batch_norm():
    w, losses = Weights(), []
    state = {"f/batch_norm/m": torch.zeros(4), "f/batch_norm/v": torch.ones(4)}

    def f(x):
        y = w.dense("f/dense.1", x, 4)
        m, v, kept = y.mean(0), y.var(0, unbiased=False), y.var(0)
        y = (y - m) / torch.sqrt(v + 1e-5) * w("f/batch_norm/g", 4) + w("f/batch_norm/b", 4)
        return w.dense("f/dense.2", torch.tanh(y), 2), m.detach(), kept.detach()

    def goals(t):
        a, ma, va = f(batch("x", t, 6, 4))
        b, mb, vb = f(batch("y", t, 6, 4))
        c = w.dense("g/dense", a, 2)
        half = lambda d: 0.5 * (d ** 2).sum(-1).mean()
        return half(a - 1), half(b + a), half(c - 0.5), (ma, va), (mb, vb)

    goals(0)
    mine = part(w, "f")
    o = torch.optim.Adam(w.values(), 0.01)
    for t in range(STEPS):
        one, two, three, a, b = goals(t)
        set_gradients(w, {**gradients(one + two, mine), **gradients(three, part(w, "g"))})
        o.step()
        # the first goal proposes a, the second the mean of a and b; the third does not train f
        for k, i in (("m", 0), ("v", 1)):
            now = (a[i] + (a[i] + b[i]) / 2) / 2
            state["f/batch_norm/" + k] = 0.9 * state["f/batch_norm/" + k] + (1 - 0.9) * now
        losses.append([one, two, three])
    show("norm", losses, {**w, **state})


def game():
    """optimistic gradient descent on rock, paper, scissors"""
    U = torch.tensor([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    p, q, losses = start("p", 3), start("q", 3), []
    old = [torch.zeros(3), torch.zeros(3)]
    for _ in range(STEPS):
        u = torch.softmax(p, 0) @ U @ torch.softmax(q, 0)
        grad = [torch.autograd.grad(-u, p, retain_graph=True)[0], torch.autograd.grad(u, q)[0]]
        with torch.no_grad():
            for x, g, o in zip((p, q), grad, old):
                x -= 0.1 * (2 * g - o)
        old = grad
        losses.append([u, u])
    show("game", losses, {"p": p, "q": q})


def muon():
    """matrices by muon, a window of three axes as one matrix, vectors by adam with a twentieth of the rate"""
    w, losses, m = Weights(), [], {}

    def loss(t):
        K = w("f/conv1/K", 3, 2, 4)
        x = batch("x", t, 6, 5, 2)
        y = torch.tanh(F.conv1d(x.movedim(-1, 1), K.permute(2, 1, 0), padding=1).movedim(1, -1))
        z = w.dense("f/dense", y.reshape(6, 20), 3)
        return F.cross_entropy(z, labels(t, 3, 6))

    loss(0)
    wide = {k: v for k, v in w.items() if v.dim() > 1}
    adam = torch.optim.Adam([v for v in w.values() if v.dim() < 2], 0.05 * 0.04)
    for t in range(STEPS):
        y = loss(t)
        grads = gradients(y, w)
        set_gradients(w, grads)
        adam.step()
        with torch.no_grad():
            for k, v in wide.items():
                g = grads[k].reshape(-1, v.shape[-1])
                m[k] = 0.9 * m.get(k, torch.zeros_like(g)) + g
                x = g + 0.9 * m[k]
                x = x / (torch.sqrt((x * x).sum()) + 1e-7)
                for _ in range(5):
                    a = x @ x.T
                    x = 3.4445 * x + (2.0315 * a @ a - 4.775 * a) @ x
                v -= 0.04 * x.reshape(v.shape)
        losses.append([y])
    show("muon", losses, w)


def memory(w, t):
    """an LSTM along five rows, of which the last is read"""
    x, h, c = batch("x", t, 6, 5, 3), torch.zeros(6, 4), torch.zeros(6, 4)
    at = "f/lstm/scan/lstm_cell/dense."
    for k in range(5):
        z = torch.einsum("bi,igo->bgo", x[:, k], w(at + "1/linear/W", 3, 4, 4)) + w(at + "1/b", 4, 4)
        z = z + torch.einsum("bi,igo->bgo", h, w(at + "2/linear/W", 4, 4, 4)) + w(at + "2/b", 4, 4)
        c = torch.sigmoid(z[:, 1]) * c + torch.sigmoid(z[:, 0]) * torch.tanh(z[:, 2])
        h = torch.sigmoid(z[:, 3]) * torch.tanh(c)
    y = w.dense("f/dense", h, 2)
    return 0.5 * ((y - 1) ** 2).sum(-1).mean()


def falling(t):
    return 0.01 * 0.5 * (1 + math.cos(math.pi * t / STEPS)) * min(1, (t + 1) / 4)


print("// Made by tests/torch/make_regimes.py: do not edit.")
print("typedef struct {\n  const char *path;\n  int64_t count;\n  const double *value;\n} Known;")
plain("adam", lambda w: torch.optim.Adam(w, 0.01))
plain("nesterov", lambda w: torch.optim.SGD(w, 0.05, momentum=0.9, nesterov=True))
plain("decay", lambda w: torch.optim.SGD(w, 0.05, momentum=0.9, weight_decay=0.02), clip=0.3)
plain("schedule", lambda w: torch.optim.AdamW(w, 0.01, weight_decay=0.1), clip=0.5, rate=falling)
plain("lstm", lambda w: torch.optim.Adam(w, 0.01), memory)
gan()
turns()
stale()
batch_norm()
game()
muon()
