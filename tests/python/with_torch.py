"""The module `limn` with torch: tensors by DLPack, and learners as differentiable modules."""

import sys
import threading

import limn
import numpy as np
import torch
from harness import failed, raises, test
from torch.autograd import gradcheck

TEXT = """
axis d = 3
box two(x: R[n], k: R[]) -> (R[n], R[]) = (k * x * x, sum(x) * k)
box pick(x: R[5], at: {5}) -> R[] = sum(one_hot(at) * x)
box kind(x: R[4]) -> {4} = argmax(x)
box both(x: R[4]) -> (R[4], {4}) = (tanh(x), argmax(x))
learn net : R[d] -> R[2] = dense[4] ; tanh ; dense[2]
learn norm : R[d] -> R[d] = dense[d] ; batch_norm
learn drop : R[d] -> R[d] = dense[d] ; dropout[0.5]
learn image : R[6 6 2] -> R[4] = conv[3, 5] ; relu ; flatten ; dense[4]
learn layer : R[d] -> R[d] = dense[d] ; layer_norm ; gelu
learn noisy : R[d] -> R[d] = dense[d] ; tanh ; dropout[0.5]
learn batch : R[d] -> R[d] = dense[d] ; batch_norm ; tanh
learn photo : R[5 4 2] -> R[2] = conv[3, k: 3] ; tanh ; mean_pool ; flatten ; dense[2]
learn block : R[t 4] -> R[t 4] = transformer_block[h: 2, k: 2, f: causal]
learn long : R[t 2] -> R[t 3] = lstm[3]
learn words : {5}[t] -> R[2] = embed[3] ; mean_row ; tanh ; dense[2]
box cube(x: R[5], at: {5}) -> R[] = sum(one_hot(at) * x * x * x)
box steep(x: R[n]) -> (R[n], {n}) = (x * x * x * x * x, argmax(x))
"""
p = limn.loads(TEXT)
torch.manual_seed(0)


def double(*shape):
    return torch.rand(shape, dtype=torch.float64, requires_grad=True)


@test
def tensors_come_in():
    x = torch.rand(4, 3)
    y = p.net(x)
    assert isinstance(y, np.ndarray) and y.dtype == np.float32 and np.array_equal(y, p.net(x.numpy()))
    assert p.net(x.double()).dtype == np.float64
    assert np.array_equal(p.net(x.t().contiguous().t()), y)
    assert np.allclose(p.net(x > 0.5), p.net((x > 0.5).numpy()))
    assert list(p.pick(torch.arange(5.0), torch.tensor([3, 1]))) == [3, 1]
    import limn._arrays as arrays

    assert arrays.array_of(x).ctypes.data == x.data_ptr()  # no copy
    z = torch.complex(x, x + 1).conj()
    assert z.imag.is_neg() and np.array_equal(p.net(z.imag), p.net(-x - 1))  # its sign is not in its memory
    assert torch.equal(limn.torch(p.net)(z.imag), limn.torch(p.net)(-x - 1))
    raises(TypeError, "x.detach() goes without", p.net, torch.rand(3, requires_grad=True))


@test
def gradcheck_of_a_learner():
    m = limn.torch(p.net).double()
    assert len(list(m.parameters())) == 4 and set(m.names.values()) == set(p.weights) & set(m.names.values())
    assert gradcheck(lambda x, *_: m(x), (double(5, 3), *m.parameters()))
    assert gradcheck(m, (double(3),))  # without samples


@test
def gradcheck_of_several_inputs_and_outputs():
    m = limn.torch(p.two)
    assert gradcheck(m, (double(4), double())) and gradcheck(m, (double(6, 4), double(6)))
    assert gradcheck(lambda x, k: m(x, k)[1], (double(6, 4), double(6)))  # one result is not used
    assert gradcheck(lambda x, k: m(k=k, x=x), (double(2), double()))


@test
def gradcheck_with_labels():
    m = limn.torch(p.pick)
    at = torch.tensor([0, 4, 4])
    assert gradcheck(lambda x: m(x, at), (double(5),)) and gradcheck(lambda x: m(x, at), (double(3, 5),))
    y, kind = limn.torch(p.both)(double(3, 4))
    assert y.requires_grad and not kind.requires_grad and not kind.is_floating_point()
    assert gradcheck(lambda x: limn.torch(p.both)(x)[0], (double(3, 4),))
    raises(limn.Error, "a label here is", m, torch.rand(5), torch.tensor([5]))


@test
def gradcheck_of_norm_and_noise():
    m = limn.torch(p.norm).double()
    x = double(6, 3)
    y = m(x)
    assert y.mean(0).abs().max() < 1e-9 and (y.std(0, unbiased=False) - 1).abs().max() < 1e-3
    assert gradcheck(m, (x,)) and gradcheck(m.eval(), (x,))
    assert len(list(m.buffers())) == 2 and len(m.state_dict()) == 6
    d = limn.torch(p.drop).double()
    a, b = d(x), d(x)
    assert not torch.equal(a, b) and (a == 0).any() and torch.equal(d.eval()(x), d(x))
    (g,) = torch.autograd.grad(a.sum(), x)  # of the noise that it had
    w = d.drop__dense__linear__W
    assert torch.allclose(g, 2.0 * (a != 0).double() @ w.t())


def net_and_torchs():
    """Our net as a module, and the same in torch alone, from the same weights."""
    m = limn.torch(p.net).double()
    own = {limn_name: getattr(m, name) for name, limn_name in m.names.items()}
    ref = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    with torch.no_grad():
        for i, k in ((0, 1), (2, 2)):
            ref[i].weight.copy_(own[f"net/dense.{k}/linear/W"].t())
            ref[i].bias.copy_(own[f"net/dense.{k}/b"])
    return m, ref


@test
def ten_steps_as_torch():
    m, ref = net_and_torchs()
    x = torch.rand(9, 3, dtype=torch.float64)
    for model in (m, ref):
        optimiser = torch.optim.Adam(model.parameters(), 1e-2)
        for _ in range(10):
            optimiser.zero_grad()
            (model(x) ** 2).mean().backward()
            optimiser.step()
    assert (m(x) - ref(x)).abs().max() < 1e-12
    m.store()
    assert np.abs(p.net(x) - ref(x).detach().numpy()).max() < 1e-12


@test
def as_a_part_of_a_module():
    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.last = limn.torch(p.image), torch.nn.Linear(4, 3)

        def forward(self, x):
            return self.last(self.conv(x))

    m = Whole()
    x, kind = torch.rand(16, 6, 6, 2), torch.randint(3, (16,))
    optimiser = torch.optim.Adam(m.parameters(), 0.02)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(m(x), kind)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0], (losses[0], losses[-1])
    state = {k: v.clone() for k, v in m.state_dict().items()}
    want = m(x)
    n = Whole()
    n.load_state_dict(state)
    assert torch.equal(n(x), want) and torch.allclose(n.eval()(x), want, 1e-5, 1e-6)
    with torch.no_grad():
        for w in n.parameters():
            w.data.zero_()  # behind torch's back
    assert n(x).abs().max() == 0 and n.train()(x).abs().max() == 0


@test
def what_is_refused():
    m = limn.torch(p.net)
    raises(TypeError, "several types of numbers", m, torch.rand(3, dtype=torch.float64))
    raises(TypeError, "1 inputs are wanted, not 2", m, torch.rand(3), torch.rand(3))
    raises(TypeError, "there is no input 'y'", limn.torch(p.two), torch.rand(3), y=torch.rand(()))
    raises(limn.Error, "wants its axis d", m, torch.rand(4))


def of_all(m):
    """Its value as a function of inputs and weights, for gradgradcheck to move all of them."""
    return lambda *all_: m(*all_[: len(all_) - len(list(m.parameters()))])


@test
def gradients_of_gradients():
    from torch.autograd import gradgradcheck

    for name, shape in (("net", (2, 3)), ("layer", (2, 3)), ("batch", (4, 3)), ("photo", (1, 5, 4, 2)), ("block", (1, 3, 4)), ("long", (1, 3, 2))):
        m = limn.torch(p[name]).double()
        assert gradgradcheck(of_all(m), (double(*shape), *m.parameters())), name
        assert gradgradcheck(m.eval(), (double(*shape),)) and gradgradcheck(m, (double(*shape[1:]),) if name != "batch" else (double(*shape),)), name
    m = limn.torch(p.two)
    assert gradgradcheck(m, (double(4), double())) and gradgradcheck(m, (double(3, 4), double(3)))
    assert gradgradcheck(lambda x, k: m(x, k)[1], (double(3, 4), double(3)))  # one result is not used
    assert gradgradcheck(m, (double(3, 4), double()))  # the same for all samples
    assert gradgradcheck(m, (double(2, 2, 4), double(2, 2)))


@test
def gradients_of_gradients_with_labels_and_noise():
    from torch.autograd import gradgradcheck

    at = torch.tensor([0, 4, 4])
    assert gradgradcheck(lambda x: limn.torch(p.cube)(x, at), (double(3, 5),))
    assert gradgradcheck(lambda x: limn.torch(p.steep)(x)[0], (double(3, 4),))
    words = limn.torch(p.words).double()
    assert gradgradcheck(lambda *_: words(torch.tensor([[1, 4, 1], [0, 2, 2]])), tuple(words.parameters()))
    m, x = limn.torch(p.noisy).double(), double(4, 3)
    y = m(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    w, b = m.noisy__dense__linear__W, m.noisy__dense__b
    own = 2.0 * (y != 0) * torch.tanh(x @ w + b)  # by torch, of the noise that it had
    (h,) = torch.autograd.grad(own.sum(), x, create_graph=True)
    assert torch.allclose(own, y) and torch.allclose(g, h)
    for mine, torchs in zip(torch.autograd.grad((g**2).sum(), (x, w, b)), torch.autograd.grad((h**2).sum(), (x, w, b))):
        assert torch.allclose(mine, torchs)


@test
def derivatives_of_every_order():
    from torch.autograd import functional

    m, x = limn.torch(p.steep), torch.tensor([2.0], dtype=torch.float64, requires_grad=True)

    def orders(n):
        g = m(x)[0]
        for _ in range(n):
            (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
            yield g.item()

    assert list(orders(6)) == [80, 160, 240, 240, 120, 0]
    raises(limn.Error, "of order 8 at most, not 9", list, orders(9))
    net, x, one = limn.torch(p.net).double(), torch.rand(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    by_torch = lambda x: torch.tanh(x @ net.net__dense_1__linear__W + net.net__dense_1__b) @ net.net__dense_2__linear__W
    for f in (functional.hessian, lambda f, x: functional.hvp(f, x, one)[1], lambda f, x: functional.jvp(f, x, one)[1]):
        assert torch.allclose(f(lambda x: net(x).sum(), x), f(lambda x: by_torch(x).sum(), x))


@test
def a_penalty_of_the_gradient_trains_as_in_torch():
    m, ref = net_and_torchs()
    data = torch.rand(9, 3, dtype=torch.float64)
    losses = {}
    for model in (m, ref):
        optimiser = torch.optim.Adam(model.parameters(), 3e-2)
        for _ in range(40):
            x = data.clone().requires_grad_()
            optimiser.zero_grad()
            (g,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            loss = ((g.norm(dim=1) - 1) ** 2).mean()
            loss.backward()
            optimiser.step()
            losses.setdefault(model, []).append(loss.item())
    assert losses[m][-1] < 0.1 * losses[m][0], losses[m]
    assert np.allclose(losses[m], losses[ref], 1e-9, 1e-12), (losses[m][-1], losses[ref][-1])


@test
def a_trace_is_refused():
    import io

    m, x = limn.torch(p.net), torch.rand(5, 3)
    raises(limn.Error, "limn export FILE net --as onnx", torch.onnx.export, m, x, io.BytesIO())
    raises(limn.Error, "a trace sees nothing", torch.jit.trace, torch.nn.Sequential(m), x)


@test
def numbers_without_axes_are_as_wide_as_others():
    q = limn.loads("learn f : R[4] -> R[] = dense[]\n")
    m, x = limn.torch(q.f), torch.rand(5, 4)
    assert {w.dtype for w in m.parameters()} == {torch.float32}
    assert m(x).dtype == m(x[0]).dtype == torch.float32 and torch.allclose(m(x)[0], m(x[0]))
    assert m.double()(x[0].double()).dtype == torch.float64 and gradcheck(m, (double(4),))


@test
def several_axes_of_samples():
    m, x = limn.torch(p.net), torch.rand(2, 5, 3)
    assert m(x).shape == (2, 5, 2) and torch.equal(m(x).flatten(0, 1), m(x.flatten(0, 1)))
    assert gradcheck(limn.torch(p.two), (double(2, 3, 4), double(2, 3)))
    raises(ValueError, "different axes of samples", limn.torch(p.two), torch.rand(2, 3, 4), torch.rand(3, 2))


@test
def a_deep_copy_has_its_own_tensors():
    import copy

    m, x = limn.torch(p.norm).eval(), torch.rand(5, 3)
    n = copy.deepcopy(torch.nn.Sequential(m, torch.nn.Tanh()))
    assert not n[0].training and torch.equal(n(x), m(x).tanh())
    with torch.no_grad():
        n[0].norm__dense__b += 1
    assert not torch.equal(n(x), m(x).tanh())
    n(x).sum().backward()
    assert m.norm__dense__b.grad is None and n[0].norm__dense__b.grad is not None


@test
def in_threads():
    m = limn.torch(p.net)
    x = torch.rand(7, 3)
    want, bad = m(x), []

    def work():
        for _ in range(50):
            y = m(x)
            y.sum().backward()
            if not torch.equal(y, want):
                bad.append(y)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad


sys.exit(1 if failed else 0)
