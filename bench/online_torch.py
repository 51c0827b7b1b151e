#!/usr/bin/python3
"""The network of bench/online.limn in PyTorch, a sample at a time: online_torch.py TICKS prints ticks a second."""
import math
import sys
import time

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
adam = torch.optim.Adam(net.parameters(), lr=0.001)
ticks = int(sys.argv[1])
begun = time.process_time()
for t in range(ticks):
    x, y = math.sin(0.7 * t), math.cos(1.3 * t)
    loss = (net(torch.tensor([x, y])) - x * y).square().sum()
    adam.zero_grad()
    loss.backward()
    adam.step()
print(round(ticks / (time.process_time() - begun)))
