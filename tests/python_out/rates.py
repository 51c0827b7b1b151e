"""Rates by their formulas, in the plan and beyond it: rates.py LIMN FOLDER. The slope of the bias is 1, so it falls by the rate in each step.

In the Python module `p.step` goes by the program's plan and beyond; the exported file, with NumPy as JAX, does the same."""
import importlib.util
import math
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "shim"), os.path.join(HERE, "..", "..", "python")]
LIMN, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
os.environ.setdefault("LIMN_LIBRARY", os.path.join(os.path.dirname(LIMN), "liblimn.so"))
import limn

PLAN, MORE = 6, 30
RATES = {"fade(0.3)": lambda k, n: 0.3 * (1 - k / n), "cosine(0.3)": lambda k, n: 0.15 * (1 + math.cos(math.pi * k / n)), "cool(0.3)": lambda k, n: 0.3 * 0.003 ** (k / n),
         "warmup[3](fade(0.3))": lambda k, n: 0.3 * (1 - k / n) * min(1, (k + 1) / 3), "own(0.3)": lambda k, n: 0.3 * math.sqrt(n - 1 - k)}
GOES_ON = {"warmup[20](0.3)": lambda k: 0.3 * min(1, (k + 1) / 20), "stairs[4](0.3)": lambda k: 0.3 * 0.1 ** (k // 4)}  # what reads no plan has none


def told(got, want, what):
    far = max(abs(a - b) for a, b in zip(got, want))
    print("ok" if far < 1e-6 else "not ok", what, "" if far < 1e-6 else f"{got}, wanted {want}")


def main():
    for schedule in [*RATES, *GOES_ON]:
        rate = RATES.get(schedule)
        want = [rate(min(k, PLAN - 1), PLAN) if rate else GOES_ON[schedule](k) for k in range(PLAN + MORE)]
        path = os.path.join(FOLDER, "rates.limn")
        with open(path, "w") as f:
            f.write("box own(rate: R[]) -> R[] = rate * sqrt(steps - 1 - step)\ngiven z from normal[2]\nlearn f : R[2] -> R[] = dense[]\n"
                    f"goal down : minimise f(z)\ntrain {PLAN} steps, batch 4, gd({schedule})\n")
        p, at = limn.load(path), []
        for _ in range(PLAN + MORE):
            p.step(**({} if at else {"precision": 64}))
            at.append(float(p._trainer.weights["f/dense/b"]))
        told([a - b for a, b in zip([0, *at], at)], want, f"p.step by {schedule}, in its plan and beyond")
        out = os.path.join(FOLDER, "rates.py")
        subprocess.run([LIMN, "export", path, "--as", "jax", "--precision", "64", "-o", out], check=True, capture_output=True)
        spec = importlib.util.spec_from_file_location("rates_exported", out)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        state, at = module.begin(module.init(0)), []
        for _ in range(PLAN + MORE):
            _, state = module.step(state, {"z": np.ones((4, 2))})
            at.append(float(state["weights"]["f.dense.b"]))
        told([a - b for a, b in zip([0, *at], at)], want, f"an exported step by {schedule}, in its plan and beyond")


main()
