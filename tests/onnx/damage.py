#!/usr/bin/env python3
"""Models that are wrong in one place: every node test (test_*/model.onnx) is damaged in every way below, and each damaged model has to be
refused, with the node named where one is to blame.

  LIMN=build/limn tests/onnx/damage.py FOLDER [name…]     prints what was taken all the same, and a line with counts

Only models that are imported undamaged take part; an input that decides about sizes is a constant then, as for nodes.py."""
import concurrent.futures, os, re, shutil, subprocess, sys, tempfile
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fields import parse
from make import attr, num, raw, real, tensor, text, varint, value

LIMN = os.environ.get("LIMN", "build/limn")

# -- messages, which are lists of [field, kind, value], as bytes ---------------------------------------------
def write(message):
    out = b""
    for field, kind, v in message:
        out += varint(field << 3 | kind) + (varint(v) if kind == 0 else varint(len(v)) + v if kind == 2 else v)
    return out

def get(message, field): return [v for f, _, v in message if f == field]
def name_of(message, field=1): return (get(message, field) or [b""])[0].decode()
def with_part(message, k, v): return [m if i != k else [m[0], m[1], v] for i, m in enumerate(message)]
def without(message, k): return [m for i, m in enumerate(message) if i != k]
def where(message, field): return [i for i, m in enumerate(message) if m[0] == field]
def parts(b): return parse(b)

# -- one model ---------------------------------------------------------------------------------------
class Model:
    def __init__(self, path):
        with open(path, "rb") as f: self.top = parse(f.read())
        self.at = where(self.top, 7)[0]
        self.graph = parse(self.top[self.at][2])
        self.nodes = where(self.graph, 1)
    def with_graph(self, graph): return write(with_part(self.top, self.at, write(graph)))
    def with_node(self, k, node): return self.with_graph(with_part(self.graph, k, write(node)))
    def node(self, k): return parse(self.graph[k][2])

OTHER = {1: num(3, 3) + num(20, 2), 2: real(2, 0.5) + num(20, 1), 3: num(3, 3) + num(20, 2), 4: num(3, 3) + num(20, 2), 5: num(3, 3) + num(20, 2),
         6: raw(8, b"\1") + num(20, 7), 7: num(3, 1) + num(20, 2), 8: raw(8, b"\1") + num(20, 7)}

def reshaped(info, change):
    """A value's type with another shape: change gets the sizes as messages."""
    whole = parse(info)
    for i in where(whole, 2):
        kind = parse(whole[i][2])
        for j in where(kind, 1):
            of = parse(kind[j][2])
            new = change(of)
            if new is None: return None
            return write(with_part(whole, i, write(with_part(kind, j, write(new)))))

def longer(of):
    for k in where(of, 2):
        shape = parse(of[k][2])
        for i in where(shape, 1):
            size = parse(shape[i][2])
            if get(size, 1): return with_part(of, k, write(with_part(shape, i, num(1, get(size, 1)[0] + 1))))

def deeper(of):
    for k in where(of, 2): return with_part(of, k, write(parse(of[k][2]) + [[1, 2, num(1, 2)]]))

def retyped(of):
    for k in where(of, 1): return with_part(of, k, {1: 11, 7: 6}.get(of[k][2], 1))

def damages(m):
    """(what, the node to be named or None, bytes) of every damage."""
    g = m.graph
    def named(k):
        n = m.node(k)
        return name_of(n, 3) or name_of(n, 2)
    for k in m.nodes:
        n, who = m.node(k), named(k)
        ins, outs, attrs = where(n, 1), where(n, 2), where(n, 5)
        put = lambda new, k=k: m.with_node(k, new)
        yield "unknown attribute", who, put(n + [[5, 2, parse(attr("no_such_attribute", 1))[0][2]]])
        yield "unknown operator", who, put([[f, t, b"NoSuchOperator" if f == 4 else v] for f, t, v in n])
        yield "unknown domain", who, put([x for x in n if x[0] != 7] + [[7, 2, b"no.such.domain"]])
        for i in attrs:
            a = parse(n[i][2])
            yield f"attribute {name_of(a)} twice", who, put(n + [n[i]])
            kind = (get(a, 20) or [0])[0]
            if kind in OTHER: yield f"attribute {name_of(a)} of another type", who, put(with_part(n, i, text(1, name_of(a)) + OTHER[kind]))
            if kind in OTHER: yield f"attribute {name_of(a)} says another type", who, put(with_part(n, i, write([x if x[0] != 20 else [20, 0, kind % 8 + 1] for x in a])))
            if kind == 3 and name_of(a) != "equation": yield f"text of {name_of(a)}", who, put(with_part(n, i, write([x if x[0] != 4 else [4, 2, b"odd"] for x in a])))
        if ins:
            yield "undefined input", who, put(with_part(n, ins[0], b"no such value"))
            if n[ins[0]][2] and outs and n[outs[0]][2]: yield "a cycle", who, put(with_part(n, ins[0], n[outs[0]][2]))
        op = name_of(n, 4)
        domain = name_of(n, 7)
        if op not in VARIADIC and not domain and all(n[i][2] for i in ins):
            yield "too many inputs", who, put(n + [[1, 2, n[ins[0]][2]]] * (12 - len(ins)) if ins else n + [[1, 2, b"no such value"]])
            if op not in ("If", "Loop", "Split", "Scan"): yield "too many outputs", who, put(n + [[2, 2, b"new_%d" % i] for i in range(8)])
        if ins and op not in NO_INPUT: yield "no inputs", who, put([x for x in n if x[0] != 1])
        if len(outs) > 0 and n[outs[0]][2]: yield "an output twice", who, put(n + [n[outs[0]]]) if op in ("Split", "If", "Loop", "Scan") else m.with_graph(g + [g[k]])
        for i in attrs:
            a = name_of(parse(n[i][2]))
            if (op, a) in NEEDED: yield f"no attribute {a}", who, put(without(n, i))
        if op == "Split": yield "num_outputs that does not fit", who, put([x for x in n if x[0] != 5 or name_of(parse(x[2])) != "num_outputs"] + [[5, 2, parse(attr("num_outputs", len(outs) + 1))[0][2]]])
    for field, what in ((5, "initializer"), (11, "input")):
        for k in where(g, field):
            yield f"an {what} twice", None, m.with_graph(g + [g[k]])
    for k in where(g, 11):
        for field in where(g, 1)[-1:]: yield "a node makes an input", None, m.with_graph(g[:field + 1] + [[1, 2, text(1, name_of(parse(g[k][2]))) + text(2, name_of(parse(g[k][2]))) + text(4, "Identity")]] + g[field + 1:])
    made = {v.decode(): k for k in m.nodes for v in get(m.node(k), 2)}
    for field in (12, 13):
        for k in where(g, field):
            name = name_of(parse(g[k][2]))
            for what, change in (("a longer axis", longer), ("an axis more", deeper), ("another type", retyped)):
                new = reshaped(g[k][2], change)
                if new and name in made: yield f"{what} declared for {name}", named(made[name]), m.with_graph(with_part(g, k, new))
    for k in where(g, 12): yield "an output that nothing makes", None, m.with_graph(with_part(g, k, write([x if x[0] != 1 else [1, 2, b"no such value"] for x in parse(g[k][2])])))
    top = m.top
    yield "no operator sets", None, write([x for x in top if x[0] != 8])
    yield "a new operator set", None, write([x if x[0] != 8 else [8, 2, write([y if y[0] != 2 else [2, 0, 99] for y in parse(x[2])])] for x in top])
    if not any(get(m.node(k), 7) for k in m.nodes): yield "an old operator set", None, write([x if x[0] != 8 else [8, 2, write([y if y[0] != 2 else [2, 0, 1] for y in parse(x[2])])] for x in top])
    yield "a new IR version", None, write([x if x[0] != 1 else [1, 0, 99] for x in top])
    yield "no IR version", None, write([x for x in top if x[0] != 1])
    yield "two graphs", None, write(top + [top[m.at]])
    yield "sparse initializers", None, m.with_graph(g + [[15, 2, b""]])
    yield "numbers outside of the folder", None, m.with_graph(g + [[5, 2, num(1, 1) + num(2, 1) + text(8, "far") + raw(13, text(1, "location") + text(2, "../far.bin")) + num(14, 1)]])

VARIADIC = {"Concat", "Einsum", "If", "Loop", "Max", "Mean", "Min", "Scan", "Sum"}
NO_INPUT = {"Constant", "RandomNormal", "RandomUniform", "OptionalHasElement"}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/port/onnx/signatures.def")) as f:
    NEEDED = {(op, a) for op, words in re.findall(r'^SIGNATURE(?:_OF)?\("(\w+)".*, ([^,]*)\)$', f.read(), re.M) for a in re.findall(r"(\w+):\w!", words)}

# -- all ---------------------------------------------------------------------------------------------
def run(*words): return subprocess.run([LIMN, *words], capture_output=True, text=True, timeout=60)

def test(folder):
    import nodes
    data, path, dir = folder + "/test_data_set_0/", folder + "/model.onnx", tempfile.mkdtemp()
    wrong, count = [], 0
    try:
        fixed, given = [], {}
        try:
            names = nodes.inputs(path)
            for k, name in enumerate(names):
                with open(f"{data}input_{k}.pb", "rb") as f: given[name] = nodes.as_argument(nodes.tensor(f.read())[2], f"{dir}/in_{k}.npy")
        except Exception: pass
        while True:
            words = [w for f in fixed for w in ("--in", f"{f}={given[f]}")]
            r = run("import", path, "-o", dir + "/m.limn", *words)
            ask = re.search(r"--in (\S+)=", r.stderr)
            if r.returncode == 0 or not ask or ask[1] in fixed or not given.get(ask[1]): break
            fixed.append(ask[1])
        if r.returncode: return 0, []
        for what, who, content in damages(Model(path)):
            with open(dir + "/d.onnx", "wb") as f: f.write(content)
            r = run("import", dir + "/d.onnx", "-o", dir + "/d.limn", *words)
            count += 1
            if r.returncode != 1: wrong.append(f"{what}: status {r.returncode}")
            elif who is not None and f"{who[-30:]}` (" not in r.stderr: wrong.append(f"{what}: `{who}` is not named: {r.stderr.strip()}")
            elif not r.stderr.startswith("limn: error:"): wrong.append(f"{what}: {r.stderr.strip()}")
    except subprocess.TimeoutExpired: wrong.append("takes more than a minute")
    finally: shutil.rmtree(dir)
    return count, [f"{os.path.basename(folder)}: {w}" for w in wrong]

def main():
    folder = sys.argv[1]
    names = sys.argv[2:] or sorted(n for n in os.listdir(folder) if n.startswith("test_"))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        results = list(pool.map(test, [f"{folder}/{n}" for n in names]))
    for _, wrong in results:
        for w in wrong: print(w)
    bad = sum(len(w) for _, w in results)
    print(f"{sum(c for c, _ in results)} damaged models, {bad} not refused as they should be")
    return bad > 0

if __name__ == "__main__": sys.exit(main())
