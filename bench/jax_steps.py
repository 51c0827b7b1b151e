"""One training step of iris, mlp or nash in JAX, on a fixed random batch.

    python3 bench/jax_steps.py NAME… [--batch N] [--threads N] [--mode jit|scan|jit,scan] [--device cpu|cuda]

`jit` calls a compiled step again and again; `scan` runs a hundred steps inside one compiled loop, which is the fair
opponent where a step takes microseconds. A name may have a batch: mlp_b512. Prints lines "key value" as bench/step.c does.
"""
import argparse
import os
import resource
import statistics
import sys
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("names", nargs="+")
arguments.add_argument("--batch", type=int)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--mode", default="jit")
arguments.add_argument("--device", default="cpu")
asked = arguments.parse_args()
os.environ["JAX_PLATFORMS"] = asked.device
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # others want the GPU's memory too
if hasattr(os, "sched_setaffinity") and asked.device == "cpu":  # XLA has as many threads as it sees cores
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:asked.threads])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

REPETITION, BUDGET, FEW, MANY, LENGTH = 0.02, 2.0, 5, 60, 100
KEY = jax.random.PRNGKey(0)


def adam_start(p):
    zeros = jax.tree_util.tree_map(jnp.zeros_like, p)
    return zeros, zeros, jnp.zeros(())


def adam(p, grad, state, rate, b1=0.9, b2=0.999, eps=1e-8):
    m, s, t = state
    t = t + 1
    m = jax.tree_util.tree_map(lambda a, g: b1 * a + (1 - b1) * g, m, grad)
    s = jax.tree_util.tree_map(lambda a, g: b2 * a + (1 - b2) * g * g, s, grad)
    p = jax.tree_util.tree_map(
        lambda w, a, b: w - rate * (a / (1 - b1**t)) / (jnp.sqrt(b / (1 - b2**t)) + eps), p, m, s)
    return p, (m, s, t)


# Each gives (weights, loss, rate).
def perceptron(widths, labels, n):
    keys = jax.random.split(KEY, len(widths) + 1)
    weights = [(jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b)) for k, a, b in zip(keys, widths, widths[1:])]
    x = jax.random.uniform(keys[-2], (n, widths[0]))
    y = jax.random.randint(keys[-1], (n,), 0, labels)

    def loss(p):
        h = x
        for w, b in p[:-1]:
            h = jax.nn.relu(h @ w + b)
        scores = jax.nn.log_softmax(h @ p[-1][0] + p[-1][1])
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    return weights, loss, 1e-3


def nash(_):
    u, v = jax.random.uniform(KEY, (2, 3, 3))

    def loss(p):
        a, b = jax.nn.softmax(p[0]), jax.nn.softmax(p[1])
        return -(a @ u @ jax.lax.stop_gradient(b)) - (jax.lax.stop_gradient(a) @ v @ b)

    return (jnp.zeros(3), jnp.zeros(3)), loss, 1e-2


WORKLOADS = {"iris": (lambda n: perceptron((4, 16, 3), 3, n), 32),
             "mlp": (lambda n: perceptron((784, 512, 512, 10), 10, n), 64),
             "nash": (nash, 0)}


def timed(call, carry, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        carry = call(carry)
    jax.block_until_ready(carry)
    return carry, (time.perf_counter() - start) / rounds


def repetitions(call, carry):
    carry, _ = timed(call, carry, 3)
    rounds, seconds = 1, 0
    while seconds < REPETITION:
        rounds *= 2
        carry, each = timed(call, carry, rounds)
        seconds = each * rounds
    times, start = [], time.perf_counter()
    while len(times) < FEW or (len(times) < MANY and time.perf_counter() - start < BUDGET):
        carry, each = timed(call, carry, rounds)
        times.append(each)
    return times


def measure(name, mode):
    make, batch = WORKLOADS[name.split("_b")[0]]
    if "_b" in name:
        batch = int(name.split("_b")[1])
    batch = asked.batch or batch
    weights, loss, rate = make(batch)

    def step(carry):
        p, state = carry
        return adam(p, jax.grad(loss)(p), state, rate)

    def many(carry):
        return jax.lax.scan(lambda c, _: (step(c), None), carry, None, length=LENGTH)[0]

    length = LENGTH if mode == "scan" else 1
    call = jax.jit(many if mode == "scan" else step, donate_argnums=0)
    carry = jax.tree_util.tree_map(jnp.array, (weights, adam_start(weights)))
    start = time.perf_counter()
    carry, _ = timed(call, carry, 1)
    first, times = time.perf_counter() - start, repetitions(call, carry)
    count = sum(w.size for w in jax.tree_util.tree_leaves(weights))
    for key, value in (
            ("name", name), ("mode", mode), ("jax", jax.__version__), ("batch", batch), ("threads", asked.threads),
            ("weights", count), ("first_step_s", f"{first:.4f}"),
            ("round_ms", f"{statistics.median(times) / length * 1e3:.6f}"),
            ("best_ms", f"{min(times) / length * 1e3:.6f}"),
            ("peak_rss_mb", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6:.1f}")):
        print(f"{key:16} {value}", flush=True)


def main():
    for name in asked.names:
        if name.split("_b")[0] not in WORKLOADS:
            sys.exit(f"there is no workload {name}: {', '.join(WORKLOADS)}")
    for mode in asked.mode.split(","):
        for name in asked.names:
            measure(name, mode)


main()
