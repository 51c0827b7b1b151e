# The network of examples/unfold.limn in PyTorch, 2000 steps in doubles; writes unfold.limn, a program of claims.
#   /usr/bin/python3 tests/machines/torch/unfold.py > tests/machines/torch/unfold.limn
import torch

torch.set_default_dtype(torch.float64)
one, two = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
with torch.no_grad():
    one.weight.copy_(torch.tensor([[-0.2, -1.0], [-0.8, -0.6], [-0.2, -0.1], [0.8, -0.4]]))
    one.bias.copy_(torch.tensor([-0.5, 0.3, -0.4, -0.4]))
    two.weight.copy_(torch.tensor([[0.9, 0.5, -0.3, -0.7]]))
    two.bias.copy_(torch.tensor([-0.1]))
net = torch.nn.Sequential(one, torch.nn.Tanh(), two, torch.nn.Tanh())
steps = torch.optim.SGD(net.parameters(), lr=0.2)
for t in range(2000):
    p, q = float(t % 2), float(t // 2 % 2)
    x = torch.tensor([p, q], requires_grad=True)
    loss = ((net(x) - abs(p - q)) ** 2).sum() / 2
    steps.zero_grad()
    loss.backward()
    steps.step()

print("# Written by unfold.py: what PyTorch has after 2000 steps.")
print('use "../../../examples/unfold.limn"\n')
print("run Both(unfolded.net.w: w2, unfolded.net.b: b2, unfolded.net.worker.w: w1, unfolded.net.worker.b: b1) for 2001 ticks")


def claims(name, value):
    for place in torch.cartesian_prod(*[torch.arange(n) for n in value.shape]).reshape(-1, value.dim()):
        at = " ".join(str(int(i)) for i in place)
        print(f"check Both : last({name}[{at}]) = {value[tuple(place)].item():.17g}   within 1e-12")


claims("unfolded.net.worker.w", one.weight)
claims("unfolded.net.worker.b", one.bias)
claims("unfolded.net.w", two.weight)
claims("unfolded.net.b", two.bias)
claims("unfolded.net.worker.worker.felt", x.grad)
claims("y", net(torch.tensor([0.0, 0.0])))
