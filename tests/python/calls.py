"""The module `limn` with numpy alone."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings

import limn
import numpy as np
from harness import raises, test

TEXT = """
axis d = 3
box two(x: R[n], k: R[]) -> (R[n], R[]) = (k * x * x, sum(x) * k)
box pick(x: R[5], at: {5}) -> R[] = sum(one_hot(at) * x)
box kind(x: R[4]) -> {4} = argmax(x)
box above(x: R[4]) -> B[4] = x > 0
learn net : R[d] -> R[2] = dense[4] ; tanh ; dense[2]
learn drop : R[d] -> R[d] = dropout[0.5]
"""
IRIS = """
given x, kind from iris
learn guess : R[4] -> R[3] = dense[16] ; tanh ; dense[3]
goal fit : guess(x) ~ kind by cross_entropy
measure fit by hits on iris.test
train 30 epochs, batch 16, adam(0.02), seed 1
"""
p = limn.loads(TEXT)
rng = np.random.default_rng(1)


def by_hand(x, w):
    hidden = np.tanh(x @ w["net/dense.1/linear/W"] + w["net/dense.1/b"])
    return hidden @ w["net/dense.2/linear/W"] + w["net/dense.2/b"]


@test
def values_and_types():
    x = rng.random((6, 3))
    want = by_hand(x, p.weights)
    y = p.net(x)
    assert y.dtype == np.float64 and np.allclose(y, want, 1e-12, 1e-12)
    y = p.net(x.astype("f4"))
    assert y.dtype == np.float32 and np.allclose(y, want, 1e-5, 1e-5)
    assert p.net(x[0]).shape == (2,) and np.allclose(p.net(list(x[0])), want[0])
    assert np.allclose(p.net(x.reshape(2, 3, 3)), want.reshape(2, 3, 2))  # several axes of samples
    for odd in (x[::-1], np.asfortranarray(x), x[:, ::-1], np.broadcast_to(x[0], (4, 3)), x.astype("f2"), x > 0.5, x.astype(">f8")):
        assert np.allclose(p.net(odd), by_hand(odd.astype("f8"), p.weights), 1e-3 if odd.dtype == "f2" else 1e-12)
    for name in "i1 i2 i4 i8 u1 u2 u4 u8".split():
        assert np.allclose(p.net(np.arange(3).astype(name)), by_hand(np.arange(3.0), p.weights))
    assert p.net(np.arange(3)).dtype == np.float64  # as numpy has it
    assert p.function("net", precision=32)(x).dtype == np.float32
    auto = p.function("net", precision="auto")(x)  # the CPU computes: 32
    assert auto.dtype == np.float32 and np.array_equal(auto, p.function("net", precision=32)(x))
    many = rng.random((3000, 3))
    assert np.allclose(p.net(many), by_hand(many, p.weights))
    raises(TypeError, "arrays of numbers", p.net, np.array(["a", "b", "c"]))
    large = np.array([2**63 + 2**20, 2**64 - 2**12, 3], "u8")  # beyond what int64 has
    assert np.array_equal(p.two(large, 1.0)[1], large.astype("f8").sum()) and np.array_equal(p.above(np.array([2**63, 0, 1, 2], "u8")), [1, 0, 1, 1])
    assert p.two(np.ones(2, "f4"), np.float32(1))[1].dtype == np.float64  # a result without axes


@test
def what_is_no_option():
    raises(ValueError, "a precision is 32, 64, 'bf16', 'tf32' or 'auto', not 16", p.function, "net", precision=16)
    raises(ValueError, "a precision is 32, 64, 'bf16', 'tf32' or 'auto', not 16", p.export, "net", precision=16)
    raises(TypeError, "a program is a path for limn.load, or a str for limn.loads", limn.load, None)
    raises(TypeError, "not bytes", limn.loads, b"")
    raises(TypeError, "as limn.torch(p.enc), not 'net'", limn.torch, "net")
    iris = limn.loads(IRIS)
    for wrong in (0, -1, 1.5, float("nan")):
        raises(ValueError, "steps is a whole number from 1 on", iris.train, steps=wrong)
    raises(ValueError, "epochs is more than 0, not 0", iris.train, epochs=0)
    raises(ValueError, "steps is a whole number from 1 on", iris.trainer, steps=0)


@test
def weights_that_do_not_fit():
    name = "net/dense.1/b"
    wrong = raises(limn.Error, "is 7 float32, but the program wants", p.weights.__setitem__, name, np.zeros(7, "f4"))
    assert not isinstance(wrong, KeyError)
    raises(KeyError, "there is no weight `nope`", p.weights.__setitem__, "nope", np.zeros(7))
    raises(KeyError, "there is no weight `nope`", p.weights.__delitem__, "nope")
    iris = limn.loads(IRIS)
    with tempfile.TemporaryDirectory() as d:
        iris.export("guess", "safetensors", d + "/w.safetensors")
        raises(limn.Error, "w.safetensors has none of the weights of this program: it wants net/dense.1/", p.weights.read, d + "/w.safetensors")
    first = next(iter(iris.weights))
    iris.weights[first] = np.full_like(iris.weights[first], np.nan)
    raises(limn.Error, f"weight {first} is not finite as it begins", iris.train, steps=1)


@test
def several_results_names_labels_bits():
    y, s = p.two([1.0, 2, 3], k=2)
    assert list(y) == [2, 8, 18] and s == 12 and s.shape == ()
    y, s = p.two(k=np.array([1.0, 2]), x=np.ones((2, 4)))
    assert y.shape == (2, 4) and list(s) == [4, 8]
    assert list(p.pick(np.arange(5.0), np.array([1, 4]))) == [1, 4]
    y = p.kind(np.eye(4, dtype="f4"))
    assert y.dtype == np.int32 and list(y) == [0, 1, 2, 3]
    y = p.above(np.array([1, -1, 0, 2.0]))
    assert y.dtype == np.bool_ and list(y) == [True, False, False, True]
    raises(limn.Error, "a label here is a whole number from 0 to 4", p.pick, np.arange(5.0), 7)
    raises(limn.Error, "did you mean", p.two, np.ones(3), kk=1)
    raises(limn.Error, "is not given", p.two, np.ones(3))
    raises(TypeError, "3 arrays for 2 inputs", p.two, 1, 2, 3)


@test
def gradients():
    x = rng.random((5, 3))
    g = p.net.grad(x)
    step = 1e-6
    for i in range(3):
        moved = x.copy()
        moved[:, i] += step
        assert np.allclose((p.net(moved) - p.net(x)).sum(1) / step, g.inputs["in.1"][:, i], 1e-4, 1e-5)
    assert np.allclose(g.value, p.net(x)) and g.weights["net/dense.2/b"].shape == (2,)
    assert np.allclose(g.weights["net/dense.2/b"], 5)
    g = p.grad("two", x=np.array([1.0, 2]), k=3, dy=(np.array([1.0, 0]), 0))
    assert list(g.inputs["x"]) == [6, 0] and g.inputs["k"] == 1 and not g.weights
    g = p.pick.grad(np.arange(5.0), 2)
    assert list(g.inputs) == ["x"] and list(g.inputs["x"]) == [0, 0, 1, 0, 0]
    raises(limn.Error, "labels have no gradient", p.kind.grad, np.ones(4))
    raises(limn.Error, "the cotangent of result 1 is", p.net.grad, x, dy=np.ones(3))


@test
def weights_by_name():
    q = limn.loads(TEXT)
    w = q.weights
    assert "net/dense.1/b" in w and len(w) == 4 and list(w)[0].startswith("net/")
    x = rng.random((2, 3))
    before = q.net(x)
    w["net/dense.2/b"] = [10, 20]
    assert np.allclose(q.net(x), before + [10, 20]) and np.allclose(q.net(x.astype("f4")), before + [10, 20], 1e-5)
    assert list(w["net/dense.2/b"]) == [10, 20] and list(q.net.weights["net/dense.2/b"]) == [10, 20]
    raises(ValueError, "read-only", w["net/dense.2/b"].__setitem__, 0, 1)
    raises(KeyError, "did you mean `net/dense.2/b`", w.__getitem__, "net/dense.2/c")
    raises(limn.Error, "but the program wants R[", w.__setitem__, "net/dense.2/b", [1, 2, 3])
    del w["net/dense.2/b"]
    assert np.allclose(q.net(x), before)
    assert "net/dense.1/linear/W: 3×4" in repr(w)


@test
def names_and_words():
    assert "net" in dir(p) and "train" in dir(p) and "net" in p and "nothing" not in p
    assert repr(p) == "<limn program program.limn: 4 boxes, 2 learners>"
    assert repr(p.two) == "<limn box two(x: R[n], k: R[]) -> (R[n], R[])>"
    assert p.two.inputs[0].shape == (-1,) and p.pick.inputs[1].labels == 5 and p.pick.inputs[1].kind == "label"
    assert p.net is p["net"] and p.names["learners"] == ["net", "drop"]
    raises(AttributeError, "declares no box, learner", getattr, p, "nett")
    assert isinstance(raises(limn.Error, "did you mean `net`?", p.__getitem__, "nett"), KeyError)
    assert p.summary() == "4 boxes, 2 learners" and "dense" in p.text("net") and p.cost("net")
    assert limn.version() == limn.__version__ and limn.version()[0].isdigit()
    assert limn.format("box f(x:R[])->R[]=x\n") == "box f(x: R[]) -> R[] = x\n"
    raises(limn.Error, "error:", limn.format, "box f(\n")
    for thing in (limn.load, limn.Program.train, limn.Program.draw, limn.Function.grad, limn.Weights.read):
        assert thing.__doc__


@test
def errors_have_their_lines():
    e = raises(limn.Error, "^^^", limn.loads, "axis d = 4\nbox f(x: R[3]) -> R[d] = tanhh(x)\n", name="net.limn")
    assert "net.limn:2:26: error: there is no box `tanhh` here" in str(e) and "did you mean `tanh`" in str(e)
    assert "    2 | box f(x: R[3]) -> R[d] = tanhh(x)\n" in str(e)
    m = e.messages[0]
    assert (m.severity, m.file, m.line, m.column, m.length) == ("error", "net.limn", 2, 26, 5) and m.help
    raises(limn.Error, "cannot read nowhere.limn", limn.load, "nowhere.limn")
    raises(TypeError, "NoneType", limn.load, None)
    e = raises(limn.Error, "wants its axis d to be 3", p.net, np.ones(4))
    assert "^" in str(e) and e.status == 1
    raises(limn.Error, "has no place along its axis", p.net, np.ones((0, 3)))
    raises(ValueError, "a precision is 32", limn.loads, TEXT, precision=16)


@test
def set_read_and_files():
    assert limn.loads(TEXT, set={"d": 7}).net(np.ones(7)).shape == (2,)
    with tempfile.TemporaryDirectory() as dir_:
        path = os.path.join(dir_, "net.limn")
        with open(path, "w") as f:
            f.write(TEXT)
        with limn.load(path, set={"d": 5}) as q:
            q.check()
            assert q.net(np.ones(5)).shape == (2,)
        other = os.path.join(dir_, "other")
        os.mkdir(other)
        table = os.path.join(other, "t.csv")
        with open(table, "w") as f:
            f.write("a,b\n" + "1,2\n" * 20)
        reads = f'given a : R[], b : R[] from "{table}"\nlearn m : R[1] = [0]\ngoal g : m ~ [0] by mse\ntrain 1 steps, gd(0.1)\n'
        with tempfile.TemporaryDirectory() as home:
            at = os.path.join(home, "r.limn")
            e = raises(limn.Error, "", limn.loads, reads, name=at)
            assert "read" in str(e), e
            limn.loads(reads, name=at, read=[other])


@test
def training():
    q = limn.loads(IRIS)
    q.check()
    before = q.measure()  # changes nothing
    slopes = q.gradients()
    assert set(slopes) == set(q.weights) and all(slopes[k].shape == q.weights[k].shape and slopes[k].any() for k in slopes)
    assert q.gradients("fit", "guess/dense.2/b", n=7)["guess/dense.2/b"].shape == (3,)
    assert np.array_equal(q.weights["guess/dense.1/linear/W"], q.trainer(precision=64).weights["guess/dense.1/linear/W"])
    made = []
    for precision in (32, "auto"):
        t = limn.loads(IRIS).trainer(precision=precision, device="cpu")
        t.step(steps=3)
        made.append({k: np.array(v) for k, v in t.weights.items()})
    assert all(np.array_equal(made[0][k], made[1][k]) for k in made[0])
    rows = []
    r = q.train(epochs=5, on_epoch=rows.append)
    assert len(rows) == len(r.history) == 5 and rows[-1]["fit"] < rows[0]["fit"] and r.folder is None and not r.stopped
    assert abs(q.measure()["fit.hits"] - r.last["fit.hits"]) < 1e-9 and before != q.measure()
    assert limn.loads(IRIS).train(epochs=5).last["fit"] == r.last["fit"]
    r = q.train(on_epoch=lambda m: m["fit"] > 0.2)
    assert r.stopped and r.last["fit"] <= 0.2
    r = q.train(on_step=lambda m: False)
    assert not r.history and r.last.step == 1 and r.last["fit"] > 0
    cpu, *gpus = limn.devices()
    assert cpu.name == "cpu" and cpu.precision == "32" and "cores" in cpu.about and all(g.name.startswith("cuda:") for g in gpus)
    assert bool(gpus) == (limn.devices().no_gpu is None)
    raises(limn.Error, "for one of several GPUs, not abacus", q.train, steps=1, device="abacus")
    for f in (lambda **k: q.predict("guess", np.zeros(4), **k), lambda **k: q.sample("guess", 2, **k), q.measure):
        f(device="cpu")
        raises(limn.Error, "not abacus", f, device="abacus")
        f(precision=64)
        f(precision="auto", device="cpu")
        raises(ValueError, "a precision is 32", f, precision=16)
    x = rng.random((50, 4)).astype("f4")
    wide, rough = (q.predict("guess", x, precision=p) for p in (64, "bf16"))
    assert np.allclose(wide, rough, atol=1) and np.array_equal(q.predict("guess", x, precision=32), q.predict("guess", x))
    assert set(q.gradients(precision=64)) == set(q.gradients())
    raises(ZeroDivisionError, "", q.train, epochs=3, on_epoch=lambda m: 1 / 0)
    seen, x = [], rng.random((3, 4))

    def look(m):  # a callback may ask for anything: with the weights of its step
        seen.append((q.guess(x), q.weights["guess/dense.2/b"], q.measure()["fit.hits"] - m["fit.hits"]))
        raises(RuntimeError, "being trained", q.train)
        raises(RuntimeError, "being trained", q.weights.__setitem__, "guess/dense.2/b", [1, 2, 3])

    q.train(epochs=3, on_epoch=look)
    assert len(seen) == 3 and not np.array_equal(seen[0][0], seen[1][0]) and all(abs(s[2]) < 1e-9 for s in seen)
    assert np.array_equal(seen[2][0], q.guess(x)) and np.array_equal(seen[2][1], q.weights["guess/dense.2/b"])
    with tempfile.TemporaryDirectory() as dir_:
        folder = os.path.join(dir_, "run")
        r = q.train(epochs=2, out=folder)
        assert r.folder == folder and os.path.exists(os.path.join(folder, "report.html"))
        x = rng.random((4, 4)).astype("f4")
        fresh = limn.loads(IRIS)
        assert np.allclose(fresh.predict("guess", x, from_=folder), q.guess(x), 1e-5, 1e-5)
        fresh.weights.read(folder)
        assert np.array_equal(fresh.guess(x), q.guess(x)) and np.allclose(fresh.predict("guess", x), q.guess(x), 1e-5)
        assert fresh.measure() == fresh.measure(from_=folder)
        raises(limn.Error, "run", q.train, epochs=2, out=folder)  # it is taken


@test
def steps_of_ones_own():
    q = limn.loads(IRIS)
    x, kind = rng.random((20, 4)), rng.integers(0, 3, 20)
    first = q.step({"x": x, "kind": kind})["fit"]
    for _ in range(60):
        m = q.step({"kind": kind, "x": x})
    assert m.step == 61 and m["fit"] < first
    before = q.guess(x)
    q.step({"x": x[:7], "kind": kind[:7]})
    assert np.abs(q.guess(x) - before).max() > 0  # the weights are those of the trainer
    raises(limn.Error, "no array for the field kind", q.step, {"x": x})
    raises(limn.Error, "the batch has 40 samples", q.step, {"x": np.tile(x, (2, 1)), "kind": np.tile(kind, 2)})
    q.weights["guess/dense.2/b"] = [1, 2, 3]
    assert list(q._trainer.weights["guess/dense.2/b"]) == [1, 2, 3]
    with q.trainer(batch=16, steps=3) as t:
        while not t.done:
            m = t.step()
        assert m.step == 3 and t.weights["guess/dense.2/b"].dtype == np.float32
        raises(ValueError, "read-only", t.weights["guess/dense.2/b"].__setitem__, 0, 1)
        last = {k: v.copy() for k, v in t.weights.items()}
    raises(ValueError, "closed", t.step)
    assert all(np.array_equal(q.weights[k], v) for k, v in last.items())


@test
def ctrl_c_stops_and_saves():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    q = limn.loads(IRIS)
    with tempfile.TemporaryDirectory() as dir_:
        folder = os.path.join(dir_, "run")
        said = []

        def hit(m):
            if not said:
                said.append(m)
                signal.raise_signal(signal.SIGINT)

        raises(KeyboardInterrupt, "", q.train, epochs=1e6, out=folder, on_epoch=hit)
        assert os.path.exists(os.path.join(folder, "state.safetensors"))
        with open(os.path.join(folder, "run.json")) as f:
            assert '"stopped"' in f.read()
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()  # between two rows
        raises(KeyboardInterrupt, "", q.train, epochs=1e6)
        assert q.measure()["fit.hits"] > 0.5  # what was learned so far is there
        assert q.train(resume=folder, on_epoch=lambda m: False).stopped


@test
def samples_and_noise():
    q = limn.loads(
        "given z from normal[2]\nbox gen(z: R[2]) -> R[2] = 2 * z\nlearn w : R[2] = [0, 0]\n"
        "goal g : w ~ [0, 0] by mse\nshow gen(z) as scatter\ntrain 1 steps, gd(0.1)\n"
    )
    a = q.sample(n=50, seed=1)
    assert a.shape == (50, 2) and 1 < a.std() < 3 and np.array_equal(a, q.sample(n=50, seed=1))
    raises(limn.Error, "1000000000 samples of `gen` have 4e+09 numbers, and 1.07374e+09 are the most at once", q.sample, "gen", 10**9)
    raises(limn.Error, "how many and how long are whole numbers up to 1000000000", q.sample, "gen", 10**10)
    for n in (-1, 2**64):  # nothing is taken modulo what a field has room for
        raises(ValueError, "n is a whole number from 0 to", q.sample, "gen", n)
        raises(ValueError, "seed is a whole number from 0 to", q.sample, "gen", 2, seed=n)
        raises(ValueError, "steps is a whole number from 0 to", q.trainer().step, steps=n)
    d = p.function("drop", training=True)
    x = np.ones((200, 3))
    y, z = d(x), d(x)
    assert set(np.unique(y)) == {0, 2} and not np.array_equal(y, z) and np.array_equal(p.drop(x), x)
    again = p.function("drop", training=True)
    assert np.array_equal(again(x), y) and np.array_equal(again(x), z)  # from the same seed
    raises(TypeError, "there is no option 'precission'", p.function, "net", precission=32)


@test
def machines():
    q = limn.loads(
        "machine decay() -> (x: R[2], s: R[]) {\n  state x : R[2] = [1, 2]\n  state s = 1\n  x' = -0.5 * x\n  s' = -s\n}\n"
        "run decay to 1\ncheck decay : last(s) = 0.36787944 within 1e-6\ncheck decay : last(s) = 2 within 1e-6\n"
    )
    assert q.names["machines"] == ["decay"]
    r = q.run(check=False)
    assert list(r) == ["decay"] and [c.holds for c in r.checks] == [True, False] and not r.holds
    run = r["decay"]
    assert run.time[-1] == 1 and run["x"].shape == (len(run.time), 2)
    assert np.allclose(run["x"], np.exp(-0.5 * run.time)[:, None] * [1, 2], 1e-5)
    raises(limn.Error, "last(s) = 2", q.run)
    assert q.run(check=False, device="cpu")["decay"]["s"][-1] == run["s"][-1]
    raises(limn.Error, "not abacus", q.run, device="abacus")
    with tempfile.TemporaryDirectory() as dir_:
        kept = q.run(os.path.join(dir_, "run"), check=False)
        assert os.path.exists(os.path.join(kept.folder, "decay.csv"))


@test
def pictures():
    picture = p.draw("net")
    assert picture._repr_svg_().startswith("<svg") and repr(picture) == "<limn picture of net>" and "tanh" in str(picture)
    assert picture._repr_html_().startswith('<img alt="limn picture of net"')
    assert p.net.draw(theme="dark").svg != picture.svg
    with tempfile.TemporaryDirectory() as dir_:
        for ending, head in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("tex", b""), ("txt", b"")):
            path = os.path.join(dir_, "a." + ending)
            picture.save(path)
            with open(path, "rb") as f:
                assert f.read().lstrip().startswith(head), ending
    raises(limn.Error, "there is no", p.draw, "nothing")
    raises(TypeError, "no option 'colour'", p.draw, "net", colour=True)


@test
def closed():
    import copy

    q = limn.loads(TEXT)
    raises(TypeError, "cannot be pickled or copied", copy.copy, q)
    net = q.net
    net(np.ones(3))
    with q:
        pass
    for ask in (q.summary, q.check, q.train, lambda: net(np.ones(3)), lambda: q.weights["net/dense.1/b"], q.draw):
        raises(ValueError, "this program is closed", ask)


@test
def eight_threads():
    q = limn.loads(TEXT)
    x = rng.random((50, 3))
    want = q.net(x)
    bad, gradient = [], q.net.grad(x).inputs["in.1"]

    def work(k):
        try:
            for i in range(60):
                if not np.array_equal(q.net(x), want) or (i % 10 == k and not np.array_equal(q.net.grad(x).inputs["in.1"], gradient)):
                    bad.append((k, i))
                if i % 20 == 0:
                    q.text("net"), q.weights["net/dense.1/b"]
        except BaseException as error:
            bad.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad, bad[:3]


@test
def the_lock_of_python_is_free():
    import time

    q = limn.loads("box mul(a: R[n n], b: R[n n]) -> R[n n] {\n  return y[i k] = a[i j] b[j k]\n}\n"
                   "box slow(x: R[400 400]) -> R[400 400] = mul(x, mul(x, mul(x, mul(x, mul(x, mul(x, x))))))\n", threads=1)
    x = rng.random((400, 400)) / 400
    q.slow(x)
    count, going = [0], [True]

    def beside():
        while going[0]:
            count[0] += 1
            time.sleep(0)

    t = threading.Thread(target=beside)
    t.start()
    longest, at = 0, count[0]
    for _ in range(5):
        q.slow(x)
        longest = max(longest, count[0] - at)
        at = count[0]
    going[0] = False
    t.join()
    assert longest > 20, longest  # it went on while one call was at work


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@test
def memory_is_steady():
    q = limn.loads(TEXT)
    x, big = rng.random((4, 3)), rng.random((500, 3))

    def calls(n):
        for i in range(n):
            q.net(x)
            if i % 20 == 0:
                q.net.grad(big), q.two(big[:, 0], 1.0)
            if i % 50 == 0:
                q.weights["net/dense.2/b"] = [i, 1]
            if i % 100 == 0:
                try:
                    q.net(np.ones(4))
                except limn.Error:
                    pass

    calls(3000)
    before = resident()
    calls(10000)
    grown = resident() - before
    print(f"# {grown / 1024:.0f} KiB more after 10 000 calls")
    assert grown < 2 << 20, grown


MOVES = "machine m() -> (x: R[]) {\n  state x = 1\n  x' = 0 - x\n}\nrun m to 1\n"


@test
def what_is_not_there_is_an_os_error():
    gone = os.path.join(tempfile.gettempdir(), "nothing of limn is here")
    q = limn.loads(IRIS)
    calls = [
        lambda: limn.load(gone + ".limn"), lambda: q.weights.read(gone), lambda: q.weights.read(gone + ".safetensors"), lambda: q.measure(from_=gone),
        lambda: q.predict("guess", np.ones(4), from_=gone), lambda: q.function("guess", from_=gone)(np.ones(4)), lambda: q.train(resume=gone), lambda: limn.loads(MOVES).run(from_=gone),
        lambda: q.export("guess", from_=gone, out=gone + ".onnx"), lambda: q.gradients(from_=gone),
    ]  # fmt: skip
    for call in calls:
        wrong = raises(FileNotFoundError, "nothing of limn", call)
        assert isinstance(wrong, limn.Error) and wrong.errno == 2 and wrong.filename.startswith(gone) and wrong.status, wrong
    with tempfile.TemporaryDirectory() as d:  # what is there and wrong is no missing file
        open(d + "/a.limn", "w").write("box f(x: R[3]) -> R[3] = tanhh(x)\n")
        assert not isinstance(raises(limn.Error, "tanhh", limn.load, d + "/a.limn"), OSError)
        assert not isinstance(raises(limn.Error, d, q.weights.read, d), OSError)


@test
def memory_that_is_exhausted_is_a_memory_error():
    code = (
        "import limn, resource\np = limn.loads('box f(x: R[n]) -> R[n n] { return y[i j] = x[i] * x[j] }\\n')\nx = [1.0] * 30000\n"
        "now = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20),) * 2)\n"
        "try:\n    p.f(x)\nexcept MemoryError as e:\n    print(isinstance(e, limn.Error), e)\n"
    )
    if os.path.exists("/proc/self/statm"):
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert said.stdout.startswith("True") and "memory" in said.stdout, said


@test
def import_is_quick_and_alone():
    code = (
        "import sys, time; t = time.process_time(); import limn; t = time.process_time() - t\n"
        "assert 'numpy' not in sys.modules and 'torch' not in sys.modules\nprint(t * 1000)"
    )
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="")
    with tempfile.TemporaryDirectory() as cache:
        env["PYTHONPYCACHEPREFIX"] = cache
        took = [float(subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout) for _ in range(4)]
    print(f"# import takes {min(took):.1f} ms")
    assert min(took) < 50, took


@test
def warnings_are_warnings():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        q = limn.loads(IRIS)
        q.train(steps=1)
    assert not [w for w in found if "error" in str(w.message)]


@test
def single_numbers_and_sizes_of_batches():
    q = limn.loads("given x, kind from iris\nlearn f : R[4] -> R[3] = dense[3]\ngoal fit : f(x) ~ kind by cross_entropy\ntrain 2 steps, batch 20, gd(0.1)\n")
    x = np.ones((5, 4), np.float32)
    assert q.predict("f", x).dtype == np.float32 and q.predict("f", x.astype("f8")).dtype == np.float64
    assert np.allclose(q.predict("f", x), q.f(x))
    raises(ValueError, "batch is a whole number from 1 on, not 0; without it, the program says how many", q.train, batch=0)
    q.step({"x": x[:3], "kind": [0, 1, 2]})
    raises(limn.Error, "p.trainer(batch=…) opens one for more", q.step, {"x": x, "kind": [0, 1, 2, 0, 1]})
    q.trainer(batch=5)
    q.step({"x": x, "kind": [0, 1, 2, 0, 1]})
    q.step({"x": x[:3], "kind": [0, 1, 2]})


sys.exit(1 if __import__("harness").failed else 0)
