"""Figures: the time of a call and of a gradient against PyTorch's, one thread each, in turns; import; memory. A line for
each, and `ok` when a small call takes less than 100 microseconds of CPU."""

import os
import subprocess
import sys
import time

import limn
import numpy as np

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None


def least(*calls, rounds=7, seconds=0.15):
    """The least time of each, measured in turns: of the CPU, so that others on the machine count less."""
    best = [float("inf")] * len(calls)
    for f in calls:
        f()
    for _ in range(rounds):
        for i, f in enumerate(calls):
            n, begun = 0, time.process_time()
            while time.process_time() - begun < seconds / rounds or not n:
                f()
                n += 1
            best[i] = min(best[i], (time.process_time() - begun) / n)
    return best


def mlp(*widths):
    body = " ; relu ; ".join(f"dense[{w}]" for w in widths[1:])
    p = limn.loads(f"learn net : R[{widths[0]}] -> R[{widths[-1]}] = {body}\n", threads=1)
    if not torch:
        return p, None
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return p, torch.nn.Sequential(*layers[:-1])


def row(words, *times):
    print("# %-34s" % words + "".join("%12s" % f"{t * 1e6:.1f} µs" for t in times), flush=True)


print("# %-34s%12s%12s%12s" % ("CPU time, one thread", "limn", "torch", "limn.torch"))
small = None
for name, widths, n in (("4-16-3, 1 sample", (4, 16, 3), 1), ("4-16-3, 64 samples", (4, 16, 3), 64),
                        ("784-400-400-10, 1 sample", (784, 400, 400, 10), 1),
                        ("784-1024-1024-10, 256 samples", (784, 1024, 1024, 10), 256)):  # fmt: skip
    p, net = mlp(*widths)
    x = np.random.default_rng(0).random((n, widths[0]), "float32")
    calls = [lambda: p.net(x)]
    if torch:
        t, m = torch.from_numpy(x), limn.torch(p.net)

        def forward():
            with torch.no_grad():
                net(t)

        def backward(module):
            def f():
                module.zero_grad()
                module(t).sum().backward()

            return f

        def ours():
            with torch.no_grad():
                m(t)

        calls += [forward, ours]
    times = least(*calls)
    small = small or times[0]
    row(name, *times)
    if torch:
        grads = least(lambda: p.net.grad(x), backward(net), backward(m))
        row(name + ", gradient", *grads)

code = "import time; t = time.process_time(); import limn; print(time.process_time() - t)"
env = dict(os.environ, PYTHONDONTWRITEBYTECODE="")  # as it is installed: compiled
took = min(float(subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout) for _ in range(5))
print(f"# import: {took * 1000:.1f} ms")
with open("/proc/self/status") as f:
    print("#", [line.strip() for line in f if line.startswith("VmRSS")][0])
print("ok python figures" if small < 1e-4 else f"not ok python figures: a small call takes {small * 1e6:.0f} µs")
