"""Ten steps of a program's training by its Python file, against `limn train`.

    python3 steps.py LIMN WORK FILE"""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import torch

limn, work, file = sys.argv[1:]
start, data, end, text = (os.path.join(work, x) for x in ("start.safetensors", "data.safetensors", "run", "steps.py"))


def run(*args):
    subprocess.run([limn, *args], check=True, stdout=subprocess.DEVNULL)


run("export", file, "--as", "safetensors", "--precision", "64", "-o", start)
run("export", file, "--as", "torch", "--precision", "64", "-o", text)
run("data", "iris", "--out", data)
run("train", file, "--precision", "64", "--out", end)
spec = importlib.util.spec_from_file_location("steps", text)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
rows = module.read_safetensors(data)
x = torch.tensor(np.array(rows["x_train"], float))
kind = torch.tensor(np.array(rows["label_train"], int))
model = module.load(module.Goals(), start)
first = {k: v.clone() for k, v in model.state_dict().items()}
module.train(model, [(x, kind)] * 10, torch.optim.SGD(model.parameters(), 0.1))
other = module.load(module.Goals(), os.path.join(end, "model.safetensors"))
away = max(float((model.state_dict()[k] - v).abs().max()) for k, v in other.state_dict().items())
moved = min(float((v - first[k]).abs().max()) for k, v in other.state_dict().items())
print("ok" if away < 1e-6 and moved > 1e-3 else "not ok", "torch ten steps of training: %.0e, moved %.0e" % (away, moved))
