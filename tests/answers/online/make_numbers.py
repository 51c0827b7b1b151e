#!/usr/bin/python3
"""Writes the programs beside this file whose numbers are PyTorch's, in double precision.

    cd tests/answers/online && /usr/bin/python3 make_numbers.py

Run by hand when a program changes.
"""
import math

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
TICKS = 100


def rows(x):
    if isinstance(x, float):
        return repr(x)
    return "[" + ", ".join(rows(y) for y in x) + "]"


def see(t):
    return torch.tensor([math.sin(0.7 * t), math.cos(1.3 * t)])


WORLD = """machine World -> (see: R[2], truth: R[]) {
  see[i] = [sin(0.7 * time), cos(1.3 * time)][i]
  truth  = tanh(sin(0.7 * time) - 2 * cos(1.3 * time))
}
"""


def online(name, optimiser, make):
    """A network of 2, 16 and 1 that learns at each tick."""
    torch.manual_seed(7)
    V, c = torch.randn(2, 16), 0.1 * torch.randn(16)
    U, d = torch.randn(16) / 4, torch.tensor(0.1)
    start = [rows(x.tolist()) for x in (V, c, U, d)]
    weights = [x.clone().requires_grad_() for x in (V, c, U, d)]
    step = make(weights)
    guess = []
    for t in range(TICKS):
        V, c, U, d = weights
        x = see(t)
        y = torch.tanh(x @ V + c) @ U + d
        loss = (y - math.tanh(x[0] - 2 * x[1])) ** 2
        guess.append(y.item())
        step.zero_grad()
        loss.backward()
        step.step()
    with open(name + ".limn", "w") as f:
        f.write(f"""# A network that learns at each tick, by {optimiser}, against PyTorch in double precision (make_numbers.py)
{WORLD}learn net(x: R[2]) -> R[] {{
  learn V : R[2 16] = {start[0]}
  learn c : R[16] = {start[1]}
  learn U : R[16] = {start[2]}
  learn d : R[] = {start[3]}
  a[o] = x[i] V[i o] + c[o]
  h = tanh(a)
  return h[o] U[o] + d
}}
machine Pupil(see: R[2], truth: R[]) -> (guess: R[]) {{
  guess = net(see)
  next net by {optimiser} on (guess - truth)^2
}}
run Pupil for {TICKS} ticks on World
check at[10](guess) = {guess[10]!r}   within 1e-11
check at[50](guess) = {guess[50]!r}   within 1e-11
check last(guess) = {guess[-1]!r}   within 1e-10
#! run --plain
#= rc 0
#! run --plain --reference
#= rc 0
""")


online("sgd", "gd(0.02)", lambda w: torch.optim.SGD(w, lr=0.02))
online("adam", "adam(0.01)", lambda w: torch.optim.Adam(w, lr=0.01))


def recurrent(name, optimiser, make, k):
    """A cell whose loss goes back k ticks: from the state of then, with the weights of now."""
    torch.manual_seed(3)
    V, W, U = torch.randn(2, 4), torch.randn(4, 4) / 2, torch.randn(4) / 2
    start = [rows(x.tolist()) for x in (V, W, U)]
    weights = [x.clone().requires_grad_() for x in (V, W, U)]
    step = make(weights)
    h, states, inputs, guess = torch.zeros(4), [], [], []
    for t in range(TICKS):
        V, W, U = weights
        x = see(t)
        states.append(h)
        inputs.append(x)
        with torch.no_grad():
            z = torch.tanh(x @ V + h @ W)
            guess.append((z @ U).item())
        first = max(0, t - k + 1)
        back = states[first]
        for i in range(first, t + 1):
            back = torch.tanh(inputs[i] @ V + back @ W)
        loss = (back @ U - math.sin(0.7 * (t - 2))) ** 2
        h = z
        step.zero_grad()
        loss.backward()
        step.step()
    with open(name + ".limn", "w") as f:
        f.write(f"""# Credit that flows back {k} ticks, against PyTorch in double precision (make_numbers.py)
machine World -> (see: R[2], truth: R[]) {{
  see[i] = [sin(0.7 * time), cos(1.3 * time)][i]
  truth  = sin(0.7 * (time - 2))
}}
learn cell(x: R[2], h: R[4]) -> R[4] {{
  learn V : R[2 4] = {start[0]}
  learn W : R[4 4] = {start[1]}
  a[o] = x[i] V[i o]
  b[o] = h[i] W[i o]
  return tanh(a + b)
}}
learn U : R[4] = {start[2]}
machine Pupil(see: R[2], truth: R[]) -> (guess: R[]) {{
  state h : R[4] = 0
  z      = cell(see, h)
  next h = z
  guess  = z[i] U[i]
  next cell, U by {optimiser} on (guess - truth)^2 unroll {k}
}}
run Pupil for {TICKS} ticks on World
check at[3](guess) = {guess[3]!r}   within 1e-11
check at[50](guess) = {guess[50]!r}   within 1e-10
check last(guess) = {guess[-1]!r}   within 1e-9
check Pupil : nested = flat
#! run --plain
#= rc 0
#= ~ 4 claims hold
""")


recurrent("unroll", "adam(0.01)", lambda w: torch.optim.Adam(w, lr=0.01), 6)


def between(f, x, t, end, steps):
    """Steps of Runge and Kutta."""
    h = (end - t) / steps
    for _ in range(steps):
        a = f(x, t)
        b = f([y + h / 2 * z for y, z in zip(x, a)], t + h / 2)
        c = f([y + h / 2 * z for y, z in zip(x, b)], t + h / 2)
        d = f([y + h * z for y, z in zip(x, c)], t + h)
        x = [y + h / 6 * (p + 2 * (q + r) + s) for y, p, q, r, s in zip(x, a, b, c, d)]
        t += h
    return x


def flowing(name, optimiser, make, k):
    """A system that flows, with a network in its rates and one at its ticks, a quarter apart."""
    every, ticks = 0.25, 16
    w = torch.tensor([0.3, -0.4, 0.2], requires_grad=True)
    start = rows(w.tolist())
    opt = make([w])

    def net(x, v):
        return torch.tanh(w[0] * x + w[1] * v + w[2])

    def rates(u, push):
        return lambda y, t: [y[1], u + push - y[0]**3 - 0.3 * y[1] + 0.2 * net(y[0], y[1]) * math.sin(t)]

    x, u, push, t, kept, seen = [torch.tensor(0.5), torch.tensor(0.0)], torch.tensor(0.0), 0.1, 0.0, [], []
    for n in range(1, ticks + 1):
        with torch.no_grad():
            x = between(rates(u, push), x, t, n * every, 400)
        t = n * every
        seen.append(x[0].item())
        kept.append((x, u, push, t))
        y, held = kept[-k:][0][0], kept[-k:][0][1]
        for (_, _, _, a), (_, _, after, b) in zip(kept[-k:], kept[-k:][1:]):
            y = between(rates(net(y[1], y[0]), after), y, a, b, 8)
        opt.zero_grad()
        loss = (y[0] - 0.5 * math.sin(t))**2
        with torch.no_grad():
            u = net(x[1], x[0])
        if loss.requires_grad:
            loss.backward()
        else:
            w.grad = torch.zeros_like(w)
        opt.step()
        push = 0.3 - push
    open(name + ".limn", "w").write(f"""# Credit through {k} ticks and what flows between them, against PyTorch in double precision (make_numbers.py)
learn net(x, v: R[]) -> R[] {{
  learn W : R[3] = {start}
  return tanh(W[0] * x + W[1] * v + W[2])
}}
machine Drive(push: R[]) -> (x: R[]) {{
  state x = 0.5, v = 0, u = 0
  x' = v
  v' = u + push - x^3 - 0.3 * v + 0.2 * net(x, v) * sin(time)
  next u = net(v, x)
  next net by {optimiser} on (x - 0.5 * sin(time))^2 unroll {k}
}}
machine Push -> (push: R[]) {{
  state push = 0.1
  next push = 0.3 - push
}}
wiring Both -> (x: R[]) {{
  d : Drive every {every}
  p : Push every {every}
  p.push -> d.push
  x = d.x
}}
run Both to {ticks * every}
check at[{2 * every}](x) = {seen[1]!r}   within 1e-9
check at[{6 * every}](x) = {seen[5]!r}   within 1e-8
check last(x) = {seen[-1]!r}   within 1e-8
check Both : nested = flat
#! run --plain
#= rc 0
#= ~ 4 claims hold
""")


flowing("unroll_flow", "adam(0.1)", lambda w: torch.optim.Adam(w, lr=0.1), 5)
