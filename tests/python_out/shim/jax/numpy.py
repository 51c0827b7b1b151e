"""jax.numpy by NumPy."""
from numpy import *  # noqa: F401, F403
import numpy as _np


def argsort(x, axis, stable):
    return _np.argsort(x, axis, kind="stable" if stable else None)


abs, max, min, sum = _np.abs, _np.max, _np.min, _np.sum
