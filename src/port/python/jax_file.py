# The text of an exported file for JAX, in sections: a line `#: name`, then the text. $0, $1 … are replaced. A helper is
# written if the text before its definition occurs: its section has that as name.
#: head
"""$0, from $1: JAX.

$2    $3 = jax.jit($4)($5)

Samples stand in front of every input. Weights are a tree of dicts, called as in the program.$6
"""
#: goals
"""$0 as JAX: its goals, and how it trains.

    p = init(0)                              # or load("weights.safetensors")
    p = train(p, {"name": array, …})       # what is given, samples in front
    save(p, "trained.safetensors")         # limn reads it: --weights

or python FILE.py DATA.npz --out trained.safetensors. For a loop of your own, `begin` and `step`
are pure functions. Weights are a tree of dicts, called as in the program.$1
"""
#: imports
import json

import jax
import jax.numpy as jnp
import numpy as np
#: load


def load(path):
    """The weights of a safetensors file of limn, as a tree."""
    p, found = init(0), 0
    for name, array in read_safetensors(path).items():
$0        branch = p
        for word in name.replace(".", "_").split("/"):
            keys = {key.strip("_"): key for key in branch} if isinstance(branch, dict) else {}
            above, last = branch, keys.get(word.strip("_"))
            branch = branch[last] if last else None
        if branch is not None and not isinstance(branch, dict):
            above[last] = jnp.array(array, branch.dtype)
            found += 1
    if found < $1:
        raise KeyError("%s has %d of $2 weights" % (path, found))
    return p
#: glorot(
def glorot(rng, shape, fan_in, fan_out):
    limit = (6 / (fan_in + fan_out)) ** 0.5
    return jnp.array(rng.uniform(-limit, limit, shape), REAL)
#: he(
def he(rng, shape, fan_in):
    return jnp.array(rng.normal(0, (2 / fan_in) ** 0.5, shape), REAL)
#: orthogonal(
def orthogonal(rng, shape):
    """All axes but the last are one."""
    n, m = int(np.prod(shape[:-1])), shape[-1]
    q, _ = np.linalg.qr(rng.normal(size=(max(n, m), min(n, m))))
    return jnp.array(q if n >= m else q.T, REAL).reshape(shape)
#:  normal(rng
def normal(rng, shape):
    return jnp.array(rng.normal(size=shape), REAL)
#:  uniform(rng
def uniform(rng, shape):
    return jnp.array(rng.uniform(size=shape), REAL)
#: root(
def root(x):
    """The square root; its slope at 0 is 0."""
    return jnp.where(x == 0, 0.0, jnp.sqrt(jnp.where(x == 0, 1.0, x)))
#: modulo(
def modulo(x, n):
    """What is left of x, divided by n and rounded down; Python has another answer where n is infinite."""
    return x - n * jnp.floor(x / n)
#: power(
def power(x, n):
    """x to the n; no slope by x at 0 where n < 1, nor by n where x is not positive."""
    base = jnp.where((x == 0) & (n < 1), jax.lax.stop_gradient(x), x)
    return jnp.power(base, jnp.where(x <= 0, jax.lax.stop_gradient(n), n))
#: through(
def through(value, slope):
    """The value of one, the slope of the other."""
    return jax.lax.stop_gradient(value) + (slope - jax.lax.stop_gradient(slope))
#: with_slope(
def with_slope(value, slope):
    """A function with a derivative of its own: of what went in, and the slopes of what came out."""
    def several(x):
        return x if isinstance(x, tuple) else (x,)

    own = jax.custom_vjp(value)
    own.defvjp(lambda *x: (value(*x), x), lambda x, d: several(slope(*x, *several(d))))
    return own
#: first_max(
def first_max(x):
    """The largest of the last axis; the first of equal ones has the slope."""
    return jnp.take_along_axis(x, jnp.argmax(x, -1)[..., None], -1)[..., 0]
#: first_min(
def first_min(x):
    """The smallest of the last axis; the first of equal ones has the slope."""
    return jnp.take_along_axis(x, jnp.argmin(x, -1)[..., None], -1)[..., 0]
