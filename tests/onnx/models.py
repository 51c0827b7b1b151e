"""Models as PyTorch exports them: `models.py DIR [NAME…]` writes NAME.onnx, NAME.K.npy (inputs), NAME.out.npy (the output), NAME.npz (data to
train on: x and y, all of it for training), NAME.losses.npy (of ten steps of gradient descent), NAME.after.npy (the outputs then), NAME.rate
and NAME.nodes (how many the graph has). Random weights, small widths."""
import copy
import math
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


# -- convolutions ---------------------------------------------------------------------------------
class Basic(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.relu = nn.ReLU()
        self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride > 1 else None

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet18(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, w, 7, 2, 3, bias=False), nn.BatchNorm2d(w), nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for k in range(4):
            i = w * 2 ** max(k - 1, 0)
            setattr(self, f"layer{k + 1}", nn.Sequential(Basic(i, w * 2 ** k, 2 if k else 1), Basic(w * 2 ** k, w * 2 ** k, 1)))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(8 * w, 10)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Inverted(nn.Module):
    def __init__(self, i, o, stride, widen):
        super().__init__()
        h = i * widen
        self.add = stride == 1 and i == o
        self.conv = nn.Sequential(nn.Conv2d(i, h, 1), nn.ReLU6(), nn.Conv2d(h, h, 3, stride, 1, groups=h), nn.ReLU6(), nn.Conv2d(h, o, 1))

    def forward(self, x): return x + self.conv(x) if self.add else self.conv(x)


def mobilenet():
    rows = [(4, 1, 1), (6, 2, 2), (6, 1, 2), (8, 2, 2), (8, 1, 2), (8, 1, 2)]
    layers, i = [nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU6()], 4
    for o, stride, widen in rows: layers.append(Inverted(i, o, stride, widen)); i = o
    return nn.Sequential(*layers, nn.Conv2d(i, 32, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def double(i, o): return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, w=4):
        super().__init__()
        self.down1, self.down2, self.mid = double(1, w), double(w, 2 * w), double(2 * w, 4 * w)
        self.pool = nn.MaxPool2d(2)
        self.up2, self.dec2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, 2), double(4 * w, 2 * w)
        self.up1, self.dec1 = nn.ConvTranspose2d(2 * w, w, 2, 2), double(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        y = self.dec2(torch.cat([self.up2(self.mid(self.pool(b))), b], 1))
        return self.out(self.dec1(torch.cat([self.up1(y), a], 1)))


# -- sequences ------------------------------------------------------------------------------------
class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn, self.head = kind(6, 8, batch_first=True), nn.Linear(8, 4)

    def forward(self, x): return self.head(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self, m, h, causal=False):
        super().__init__()
        self.h, self.causal = h, causal
        self.query, self.key, self.value, self.out = (nn.Linear(m, m) for _ in range(4))

    def heads(self, x): return x.view(x.shape[0], x.shape[1], self.h, x.shape[2] // self.h).transpose(1, 2)

    def forward(self, x, y):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(y)), self.heads(self.value(y))
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.causal: s = s.masked_fill(torch.triu(torch.ones(s.shape[-2], s.shape[-1]), 1) == 1, float("-inf"))
        z = (s.softmax(-1) @ v).transpose(1, 2)
        return self.out(z.reshape(z.shape[0], z.shape[1], -1))


class Layer(nn.Module):
    def __init__(self, m, h, causal=False, across=False):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(m), nn.LayerNorm(m), Attention(m, h, causal)
        self.across, self.norm3 = (Attention(m, h), nn.LayerNorm(m)) if across else (None, None)
        self.mlp = nn.Sequential(nn.Linear(m, 2 * m), nn.GELU(), nn.Linear(2 * m, m))

    def forward(self, x, memory=None):
        y = self.norm1(x)
        x = x + self.attention(y, y)
        if self.across: x = x + self.across(self.norm3(x), memory)
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, m=8, h=2, n=12):
        super().__init__()
        self.layers, self.norm, self.head = nn.ModuleList(Layer(m, h) for _ in range(n)), nn.LayerNorm(m), nn.Linear(m, 3)

    def forward(self, x):
        for layer in self.layers: x = layer(x)
        return self.head(self.norm(x).mean(1))


class Decoder(nn.Module):
    def __init__(self, m=8, h=2, n=3):
        super().__init__()
        self.layers, self.norm, self.head = nn.ModuleList(Layer(m, h, True, True) for _ in range(n)), nn.LayerNorm(m), nn.Linear(m, 5)

    def forward(self, x, memory):
        for layer in self.layers: x = layer(x, memory)
        return self.head(self.norm(x))


class ViT(nn.Module):
    def __init__(self, m=8, h=2, n=4):
        super().__init__()
        self.patch = nn.Conv2d(3, m, 8, 8)
        self.cls, self.pos = nn.Parameter(0.1 * torch.randn(1, 1, m)), nn.Parameter(0.1 * torch.randn(1, 17, m))
        self.layers, self.norm, self.head = nn.ModuleList(Layer(m, h) for _ in range(n)), nn.LayerNorm(m), nn.Linear(m, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        for layer in self.layers: x = layer(x)
        return self.head(self.norm(x)[:, 0])


# -- pictures made --------------------------------------------------------------------------------
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(8, 64)
        self.up = nn.Sequential(nn.ConvTranspose2d(4, 4, 4, 2, 1), nn.LeakyReLU(0.2), nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z): return self.up(self.start(z).view(-1, 4, 4, 4))


def discriminator():
    return nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(4, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(128, 1), nn.Sigmoid())


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.logvar = nn.Linear(64, 32), nn.Linear(32, 4), nn.Linear(32, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64), nn.Sigmoid())

    def forward(self, x, noise):
        h = torch.relu(self.enc(x))
        return self.dec(self.mu(h) + torch.exp(0.5 * self.logvar(h)) * noise)


# name: (the model, sizes of its inputs behind the samples, rate)
MODELS = {
    "resnet18": (ResNet18, [(3, 64, 64)], 0.001),
    "mobilenet": (mobilenet, [(3, 32, 32)], 0.05),
    "unet": (UNet, [(1, 16, 16)], 0.05),
    "lstm": (lambda: Recurrent(nn.LSTM), [(7, 6)], 0.1),
    "gru": (lambda: Recurrent(nn.GRU), [(7, 6)], 0.1),
    "encoder": (Encoder, [(6, 8)], 0.05),
    "transformer": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 12).train(), [(6, 8)], 0.05),
    "decoder": (Decoder, [(6, 8), (5, 8)], 0.05),
    "vit": (ViT, [(3, 32, 32)], 0.05),
    "generator": (Generator, [(8,)], 0.1),
    "discriminator": (discriminator, [(1, 16, 16)], 0.1),
    "vae": (VAE, [(64,), (4,)], 0.1),
}


def make(name, folder):
    torch.manual_seed(sum(map(ord, name)))
    kind, sizes, rate = MODELS[name]
    model, n = kind(), 4
    if name != "transformer": model.eval()  # otherwise it becomes one operator that is no ONNX
    for p in model.modules():  # equal weights would become one in the file
        if isinstance(p, (nn.BatchNorm2d, nn.LayerNorm)): p.weight.data.uniform_(0.5, 1.5), p.bias.data.normal_(0, 0.1)
        if isinstance(p, nn.BatchNorm2d): p.running_mean.normal_(0, 0.1), p.running_var.uniform_(0.5, 1.5)
    x = [torch.randn(n, *s) for s in sizes]
    names = ["x", "x2"][:len(x)]
    path = os.path.join(folder, name)
    torch.onnx.export(model, tuple(x), path + ".onnx", opset_version=16, input_names=names, output_names=["y"], training=torch.onnx.TrainingMode.PRESERVE,
                      do_constant_folding=True, dynamic_axes={k: {0: "N"} for k in names + ["y"]})
    graph = torch.onnx.utils._model_to_graph(model, tuple(x), training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={})[0]
    with open(path + ".nodes", "w") as f: f.write(str(sum(1 for _ in graph.nodes())))
    y = model(*x)
    for k, v in enumerate(x): np.save(f"{path}.{k}.npy", v.numpy())
    np.save(path + ".out.npy", y.detach().numpy())
    target, losses = torch.randn_like(y) * 0.5, []
    np.savez(path + ".npz", y_train=target.numpy(), **{f"{k}_train": v.numpy() for k, v in zip(names, x)})
    model = copy.deepcopy(model).train().double()
    step = torch.optim.SGD(model.parameters(), rate)
    for _ in range(10):
        loss = F.mse_loss(model(*[v.double() for v in x]), target.double())
        losses.append(loss.item())
        step.zero_grad(), loss.backward(), step.step()
    np.save(path + ".losses.npy", np.array(losses))
    np.save(path + ".after.npy", model.eval()(*[v.double() for v in x]).detach().numpy())
    with open(path + ".rate", "w") as f: f.write(str(rate))


if __name__ == "__main__":
    for one in sys.argv[2:] or MODELS: make(one, sys.argv[1])
