"""examples/gpt2.limn in PyTorch, from the same first weights on the same batches. Prints the loss of each step.

    /usr/bin/python3 bench/torch_gpt2.py TOKENS WEIGHTS [--heads 12] [--batch 8] [--steps 50] [--seed 0]
        [--device cpu|cuda] [--precision 32|bf16] [--compile] [--threads N]

TOKENS is what `limn data 'shakespeare[pieces: 50257]' --out` writes, WEIGHTS what `limn export --as safetensors` does;
sizes are read off the weights. bench/gpt2.sh does it all.
"""
import argparse
import math

import torch_threads

arguments = argparse.ArgumentParser()
arguments.add_argument("tokens")
arguments.add_argument("weights")
arguments.add_argument("--heads", type=int, default=12)
arguments.add_argument("--batch", type=int, default=8)
arguments.add_argument("--steps", type=int, default=50)
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--device", default="cpu")
arguments.add_argument("--precision", default="32", choices=("32", "bf16"))
arguments.add_argument("--compile", action="store_true")
asked = arguments.parse_args()
torch_threads.prepare(asked.threads)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import limn_draws  # noqa: E402
from torch_models import GPT2  # noqa: E402

RATE, WARMUP, DECAY, CLIP = 6e-4, 100, 0.1, 1
torch.set_num_threads(asked.threads)
device = torch.device(asked.device)


def place_weights(model, found):
    """limn's tables are [in, out], PyTorch's [out, in]."""
    def put(parameter, name, turned=False):
        value = torch.from_numpy(found.pop(name).copy())
        value = value.reshape(value.shape[0], -1).T if turned else value.reshape(parameter.shape)
        parameter.data.copy_(value)

    def norm(layer, path):
        put(layer.weight, f"{path}/g")
        put(layer.bias, f"{path}/b")

    def dense(layer, path):
        put(layer.weight, f"{path}/linear/W", True)
        put(layer.bias, f"{path}/b")

    put(model.symbol.weight, "words")
    put(model.place.weight, "places")
    norm(model.norm, "model/layer_norm")
    for i, layer in enumerate(model.layers, 1):
        path = f"model/layer.{i}"
        norm(layer.norm1, f"{path}/layer_norm.1")
        norm(layer.norm2, f"{path}/layer_norm.2")
        dense(layer.into, f"{path}/attention/dense.1")
        dense(layer.out, f"{path}/attention/dense.2")
        dense(layer.up, f"{path}/dense.1")
        dense(layer.down, f"{path}/dense.2")
    assert not found, f"nobody takes {', '.join(found)}"


def rate(step):
    return RATE * min(1, (step + 1) / WARMUP) * 0.5 * (1 + math.cos(math.pi * step / asked.steps))


def main():
    tokens = torch.from_numpy(limn_draws.read_safetensors(asked.tokens)["text_train"].astype("int64"))
    found = limn_draws.read_safetensors(asked.weights)
    (symbols, width), length = found["words"].shape, found["places"].shape[0]
    layers = sum(name.endswith("/layer_norm.1/g") for name in found)
    model = GPT2(symbols, length, width, asked.heads, layers)
    place_weights(model, found)
    model.to(device)
    run = torch.compile(model) if asked.compile else model
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=DECAY)
    window = length + 1
    draws = limn_draws.starts(len(tokens) - window + 1, window, asked.batch, asked.seed,
                              limn_draws.stream_of("shakespeare"))
    for step, chosen in zip(range(asked.steps), draws):
        text = tokens[torch.tensor(chosen)[:, None] + torch.arange(window)].to(device)
        for group in optimiser.param_groups:
            group["lr"] = rate(step)
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=asked.precision == "bf16"):
            scores = run(text[:, :-1])
        loss = F.cross_entropy(scores.float().reshape(-1, symbols), text[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        print(step + 1, f"{float(loss):.6f}", flush=True)


main()
