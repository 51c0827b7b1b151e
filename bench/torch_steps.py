"""One training step of the workloads of bench/*.limn in PyTorch, on a fixed random batch.

    /usr/bin/python3 bench/torch_steps.py NAME… [--batch N] [--threads N] [--mode eager|compile] [--device cpu|cuda]

NAME is iris, mlp, conv, vae, gan, nash, chargpt, res18 or gpt2s; without --batch the batch is that of the program, or of
a name like mlp_b512. Prints lines "key value" as bench/step.c does, beginning with the name and the mode; of several
modes, "eager,compile", each in turn. Works with PyTorch 1.13 and later; `compile` wants 2.0.

On a GPU, products of floats are in TF32; res18 and gpt2s are in bf16 with weights and sums in floats (autocast).
"""
import argparse
import gc
import resource
import statistics
import sys
import time

import torch_threads

arguments = argparse.ArgumentParser()
arguments.add_argument("names", nargs="+")
arguments.add_argument("--batch", type=int)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--mode", default="eager")
arguments.add_argument("--device", default="cpu")
asked = arguments.parse_args()

torch_threads.prepare(asked.threads)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from torch_models import GPT2, VAE, CharGPT, perceptron, resnet18  # noqa: E402

REPETITION, BUDGET, FEW, MANY = 0.02, 2.0, 5, 60
torch.set_num_threads(asked.threads)
torch.manual_seed(0)
device = torch.device(asked.device)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
mode = "eager"  # now


def numbers(*shape):
    return torch.rand(*shape, device=device)


def labels(count, *shape):
    return torch.randint(0, count, shape, device=device)


def adam(parameters, rate=1e-3):
    return torch.optim.Adam(parameters, lr=rate, **({"fused": True} if device.type == "cuda" else {}))


def compiled(f):
    if mode == "eager":
        return f
    return torch.compile(f) if mode == "compile" else torch.compile(f, mode=mode)


def descend(optimiser, loss):
    optimiser.zero_grad(set_to_none=True)
    value = loss()
    value.backward()
    optimiser.step()


# Each gives (parameters, a function that makes one step).
def classifier(model, x, y, half=False):
    model = model.to(device)
    optimiser = adam(model.parameters())
    half = half and device.type == "cuda"

    @compiled
    def loss():
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            scores = model(x)
        return F.cross_entropy(scores.reshape(-1, scores.shape[-1]).float(), y.reshape(-1))

    return list(model.parameters()), lambda: descend(optimiser, loss)


def iris(n):
    return classifier(perceptron(4, 16, 3), numbers(n, 4), labels(3, n))


def mlp(n):
    return classifier(perceptron(784, 512, 512, 10), numbers(n, 784), labels(10, n))


def conv(n):
    def layer(a, b):
        return [nn.Conv2d(a, b, 3), nn.ReLU(), nn.MaxPool2d(2)]

    model = nn.Sequential(*layer(1, 16), *layer(16, 32), nn.Flatten(), nn.Linear(800, 10))
    return classifier(model, numbers(n, 1, 28, 28), labels(10, n))


def chargpt(n):
    return classifier(CharGPT(), labels(65, n, 64), labels(65, n, 64))


def res18(n):
    x = numbers(n, 3, 32, 32).to(memory_format=torch.channels_last)
    return classifier(resnet18().to(memory_format=torch.channels_last), x, labels(10, n), True)


def gpt2s(n):
    return classifier(GPT2(50304), labels(50304, n, 1024), labels(50304, n, 1024), True)


def vae(n):
    model = VAE().to(device)
    optimiser, x = adam(model.parameters()), numbers(n, 784)
    loss = compiled(lambda: model(x))
    return list(model.parameters()), lambda: descend(optimiser, loss)


def gan(n):
    gen, dis = perceptron(64, 256, 512, 784).to(device), perceptron(784, 512, 256, 1).to(device)
    of_gen, of_dis = adam(gen.parameters(), 2e-4), adam(dis.parameters(), 2e-4)
    x, one, zero = numbers(n, 784), torch.ones(n, 1, device=device), torch.zeros(n, 1, device=device)
    bce = F.binary_cross_entropy_with_logits

    @compiled
    def tell():
        made = gen(torch.randn(n, 64, device=device)).detach()
        return bce(dis(x), one) + bce(dis(made), zero)

    @compiled
    def fool():
        return bce(dis(gen(torch.randn(n, 64, device=device))), one)

    def step():
        descend(of_dis, tell)
        descend(of_gen, fool)

    return [*gen.parameters(), *dis.parameters()], step


def nash(_):
    u, v = numbers(3, 3), numbers(3, 3)
    p, q = (torch.zeros(3, device=device, requires_grad=True) for _ in range(2))
    optimiser = torch.optim.Adam([p, q], lr=1e-2)

    @compiled
    def loss():
        a, b = p.softmax(0), q.softmax(0)
        return -(a @ u @ b.detach()) - (a.detach() @ v @ b)

    return [p, q], lambda: descend(optimiser, loss)


WORKLOADS = {"iris": (iris, 32), "mlp": (mlp, 64), "conv": (conv, 64), "vae": (vae, 128), "gan": (gan, 128),
             "nash": (nash, 0), "chargpt": (chargpt, 32), "res18": (res18, 128), "gpt2s": (gpt2s, 8)}


def timed(step, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / rounds


def repetitions(step):
    timed(step, 3)
    rounds = 1
    while timed(step, rounds) * rounds < REPETITION:
        rounds *= 2
    times, start = [], time.perf_counter()
    while len(times) < FEW or (len(times) < MANY and time.perf_counter() - start < BUDGET):
        times.append(timed(step, rounds))
    return times


def measure(name, make, batch):
    """The time and memory of one workload in the mode that is now."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    parameters, step = make(batch)
    start = time.perf_counter()
    timed(step, 1)
    first, times = time.perf_counter() - start, repetitions(step)
    found = [("name", name), ("mode", mode), ("torch", torch.__version__), ("batch", batch),
             ("threads", torch.get_num_threads()), ("weights", sum(p.numel() for p in parameters)),
             ("first_step_s", f"{first:.4f}"), ("round_ms", f"{statistics.median(times) * 1e3:.6f}"),
             ("best_ms", f"{min(times) * 1e3:.6f}"),
             ("peak_rss_mb", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6:.1f}")]
    if device.type == "cuda":
        found.append(("device_mb", f"{torch.cuda.max_memory_allocated() / 1e6:.1f}"))
    for key, value in found:
        print(f"{key:16} {value}", flush=True)


def main():
    global mode
    for name in asked.names:
        if name.split("_b")[0] not in WORKLOADS:
            sys.exit(f"there is no workload {name}: {', '.join(WORKLOADS)}")
    if asked.mode != "eager" and not hasattr(torch, "compile"):
        sys.exit(f"PyTorch {torch.__version__} cannot compile")
    failed = 0
    for mode in asked.mode.split(","):
        for name in asked.names:
            make, batch = WORKLOADS[name.split("_b")[0]]
            if "_b" in name:
                batch = int(name.split("_b")[1])
            try:
                measure(name, make, asked.batch or batch)
            except Exception as error:  # the other rows are still wanted
                print(f"{name}, {mode}: {type(error).__name__}: {error}", file=sys.stderr)
                failed += 1
            if hasattr(torch, "_dynamo"):
                torch._dynamo.reset()
    sys.exit(failed > 0)


main()
