"""Stands in for JAX where it is not installed: its functions by NumPy, for values only."""
import itertools
import math
import types

import numpy as np

from . import numpy  # noqa: F401


class config:
    @staticmethod
    def update(*_):
        pass


def jit(f, **_):
    return f


class custom_vjp:
    def __init__(self, f):
        self.f = f

    def defvjp(self, *_):
        pass

    def __call__(self, *x):
        return self.f(*x)


def value_and_grad(f, has_aux):
    """By differences."""
    def both(part):
        made, slopes = f(part), {}
        for name, x in part.items():
            slopes[name] = np.zeros_like(x)
            for i in np.ndindex(np.shape(x)):
                at = []
                for way in (1e-6, -1e-6):
                    moved = np.array(x)
                    moved[i] += way
                    at.append(f(dict(part, **{name: moved}))[0])
                slopes[name][i] = (at[0] - at[1]) / 2e-6
        return made, slopes
    return both


def _draws(kind):
    def draw(key, shape, dtype):
        rng = np.random.default_rng(key)
        return (rng.normal(size=shape) if kind == "normal" else rng.uniform(size=shape)).astype(dtype)
    return draw


random = types.SimpleNamespace(PRNGKey=lambda seed: seed, fold_in=lambda key, k: 31 * int(key) + k,
                               split=lambda key, n=2: np.arange(n) + n * int(key), normal=_draws("normal"),
                               uniform=_draws("uniform"))


def _windows(x, size, strides, dilation):
    """For each place in a window, the part of x that it meets in all windows."""
    n = [(x.shape[2 + k] - (size[k] - 1) * dilation[k] - 1) // strides[k] + 1 for k in range(len(size))]
    for at in itertools.product(*map(range, size)):
        part = [slice(a * d, a * d + s * (m - 1) + 1, s) for a, d, s, m in zip(at, dilation, strides, n)]
        yield at, x[(slice(None), slice(None), *part)]


def _conv(x, w, strides, padding, lhs_dilation=None, rhs_dilation=None, feature_group_count=1):
    rank = w.ndim - 2
    if lhs_dilation:
        wide = np.zeros(x.shape[:2] + tuple((n - 1) * d + 1 for n, d in zip(x.shape[2:], lhs_dilation)), x.dtype)
        wide[(slice(None), slice(None), *[slice(None, None, d) for d in lhs_dilation])] = x
        x = wide
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    g = feature_group_count
    total = 0
    for at, part in _windows(x, w.shape[2:], strides, rhs_dilation or (1,) * rank):
        part = part.reshape(part.shape[0], g, -1, *part.shape[2:])
        kernel = w[(slice(None), slice(None), *at)].reshape(g, -1, w.shape[1])
        y = np.einsum("ngc...,goc->ngo...", part, kernel)
        total = total + y.reshape(y.shape[0], -1, *y.shape[3:])
    return total


def _reduce_window(x, first, f, size, strides, padding, window_dilation):
    x = np.pad(x, padding, constant_values=first)
    total = first
    for _, part in _windows(x, size[2:], strides[2:], window_dilation[2:]):
        total = f(total, part)
    return total


def _scan(step, carry, rows, reverse=False):
    order = range(len(rows[0]))
    out = []
    for i in reversed(order) if reverse else order:
        carry, made = step(carry, tuple(row[i] for row in rows))
        out.append(made)
    out = out[::-1] if reverse else out
    return carry, tuple(np.stack(x) for x in zip(*out))


lax = types.SimpleNamespace(stop_gradient=lambda x: x, scan=_scan, conv_general_dilated=_conv,
                            reduce_window=_reduce_window, max=np.maximum, add=np.add)
nn = types.SimpleNamespace(relu=lambda x: np.maximum(x, 0), sigmoid=lambda x: 1 / (1 + np.exp(-x)),
                           softplus=lambda x: np.logaddexp(x, 0))
scipy = types.SimpleNamespace(special=types.SimpleNamespace(erf=np.vectorize(math.erf, otypes=[float])))
