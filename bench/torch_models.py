"""The models of bench/*.limn in PyTorch."""
import math

import torch
from torch import nn
from torch.nn import functional as F


def perceptron(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Layer(nn.Module):
    """A pre-norm transformer layer that looks back only."""

    def __init__(self, width, heads, gelu="none"):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        length = q.shape[-2]
        later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return scores.masked_fill(later, -math.inf).softmax(-1) @ v

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.into(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        seen = self.attend(*parts.permute(2, 0, 3, 1, 4))
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate=self.gelu))


class CharGPT(nn.Module):
    def __init__(self, symbols=65, length=64, width=128, heads=4, layers=4):
        super().__init__()
        self.symbol, self.place = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, symbols, bias=False)
        self.register_buffer("places", torch.arange(length))

    def forward(self, text):
        return self.head(self.norm(self.layers(self.symbol(text) + self.place(self.places))))


class GPT2(nn.Module):
    """GPT-2 small as it is: gelu by tanh, and one table of words that reads and writes."""

    def __init__(self, symbols=50257, length=1024, width=768, heads=12, layers=12):
        super().__init__()
        self.symbol, self.place = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*[Layer(width, heads, "tanh") for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.register_buffer("places", torch.arange(length))
        nn.init.normal_(self.symbol.weight, std=0.02)
        nn.init.normal_(self.place.weight, std=0.02)

    def forward(self, text):
        seen = self.norm(self.layers(self.symbol(text) + self.place(self.places)))
        return F.linear(seen, self.symbol.weight)


class Unit(nn.Module):
    """Two convolutions around the identity, norm and relu before each; where sizes change, one of 1 by 1 beside them."""

    def __init__(self, a, b, stride):
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(a), nn.BatchNorm2d(b)
        self.first = nn.Conv2d(a, b, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.beside = nn.Conv2d(a, b, 1, stride, bias=False) if a != b or stride > 1 else None

    def forward(self, x):
        y = F.relu(self.norm1(x))
        same = x if self.beside is None else self.beside(y)
        return same + self.second(F.relu(self.norm2(self.first(y))))


def resnet18():
    widths = (64, 64, 64, 128, 128, 256, 256, 512, 512)
    units = [Unit(a, b, 1 if a == b else 2) for a, b in zip(widths, widths[1:])]
    return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), *units, nn.BatchNorm2d(512), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mean, self.logvar = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
        self.dec = perceptron(20, 400, 784)

    def forward(self, x):
        hidden = F.relu(self.enc(x))
        m, v = self.mean(hidden), self.logvar(hidden)
        again = self.dec(m + torch.exp(v / 2) * torch.randn_like(m))
        rebuild = F.binary_cross_entropy_with_logits(again, x, reduction="sum")
        return (rebuild + 0.5 * (v.exp() + m * m - 1 - v).sum()) / len(x)
