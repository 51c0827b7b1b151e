"""bench/charlm.limn in PyTorch: the same model, first weights of the same kind, the same optimiser and data.

    /usr/bin/python3 bench/torch_charlm.py TEXT [--steps N] [--threads N] [--seed N] [--device cpu|cuda]

Prints the mean cross entropy on the validation text, cut into windows as limn cuts it.
"""
import argparse
import math

import torch_threads

arguments = argparse.ArgumentParser()
arguments.add_argument("text")
arguments.add_argument("--steps", type=int, default=2000)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--device", default="cpu")
asked = arguments.parse_args()
torch_threads.prepare(asked.threads)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from torch_models import CharGPT  # noqa: E402

BATCH, WINDOW, RATE, WARMUP, DECAY, CLIP = 32, 65, 1e-3, 100, 0.1, 1
torch.set_num_threads(asked.threads)
torch.manual_seed(asked.seed)


def read(path):
    """Characters as labels, nine tenths to train and a twentieth to validate."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    place = {c: i for i, c in enumerate(sorted(set(text)))}
    codes = torch.tensor([place[c] for c in text])
    train = len(codes) * 9 // 10
    return codes[:train], codes[train:(train + len(codes)) // 2]


def first_weights(model):
    """As limn has them: Glorot's for matrices, zero for biases; tables are normal in both."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def batches(codes):
    """Pass after pass over windows side by side, shuffled, each pass from another first place."""
    while True:
        first = int(torch.randint(WINDOW, ()))
        starts = torch.arange(first, len(codes) - WINDOW + 1, WINDOW)
        for chosen in starts[torch.randperm(len(starts))].split(BATCH):
            yield codes[chosen[:, None] + torch.arange(WINDOW)].to(asked.device)


def loss_on(model, windows):
    scores = model(windows[:, :-1])
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), windows[:, 1:].reshape(-1))


def rate(step):
    return RATE * min(1, (step + 1) / WARMUP) * 0.5 * (1 + math.cos(math.pi * step / asked.steps))


def train(model, codes):
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=DECAY)
    for step, windows in zip(range(asked.steps), batches(codes)):
        for group in optimiser.param_groups:
            group["lr"] = rate(step)
        optimiser.zero_grad(set_to_none=True)
        loss_on(model, windows).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()


def validate(model, codes):
    windows = codes[:len(codes) // WINDOW * WINDOW].view(-1, WINDOW).to(asked.device)
    with torch.no_grad():
        return sum(loss_on(model, part).item() * len(part) for part in windows.split(128)) / len(windows)


def main():
    codes, held = read(asked.text)
    model = CharGPT().to(asked.device)
    first_weights(model)
    train(model, codes)
    print(f"{validate(model, held):.4f}")


main()
