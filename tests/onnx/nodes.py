#!/usr/bin/env python3
"""Runs a folder of ONNX's node tests (test_*/model.onnx, test_data_set_0/{input,output}_k.pb) through `limn import` and `limn eval`,
and prints a table by operator: how many passed, which failed, which were refused and why.

  LIMN=build/limn tests/onnx/nodes.py [FOLDER] [name…]     FOLDER: otherwise $LIMN_ONNX_NODES, or $LIMN_DATA/onnx/node

An input that decides about sizes is given at import, as the message says (--in NAME=VALUE); those are counted, too."""
import concurrent.futures, os, re, shutil, subprocess, sys, tempfile
import numpy as np
sys.dont_write_bytecode = True
from fields import number, parse

LIMN = os.environ.get("LIMN", "build/limn")

# -- tensors, and the names of a graph ---------------------------------------------------------------
def fields(b): return ((field, v) for field, _, v in parse(b))

def small_float(bits, exponent, fraction, bias, kind):
    bits = bits.astype(np.int64)
    f, e = bits & ((1 << fraction) - 1), bits >> fraction & ((1 << exponent) - 1)
    sign = np.where(bits >> (exponent + fraction) & 1, -1.0, 1.0)
    x = np.where(e > 0, (1 + f / (1 << fraction)) * 2.0 ** (e - bias), f / (1 << fraction) * 2.0 ** (1 - bias)) * sign
    top = (1 << exponent) - 1
    if kind == "ieee": x = np.where(e == top, np.where(f > 0, np.nan, sign * np.inf), x)
    if kind == "fn": x = np.where((e == top) & (f == (1 << fraction) - 1), np.nan, x)
    if kind == "uz": x = np.where(bits == 1 << (exponent + fraction), np.nan, x)
    return x

PLAIN = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.uint8, 10: np.float16,
         11: np.float64, 12: np.uint32, 13: np.uint64}
FLOATS = {17: (4, 3, 7, "fn"), 18: (4, 3, 8, "uz"), 19: (5, 2, 15, "ieee"), 20: (5, 2, 16, "uz")}
PACKED = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}

def decode(kind, raw, count):
    """Numbers of raw bytes as doubles."""
    if kind in PLAIN: return np.frombuffer(raw, PLAIN[kind], count).astype(np.float64)
    if kind == 16: return (np.frombuffer(raw, np.uint16, count).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind in FLOATS: return small_float(np.frombuffer(raw, np.uint8, count), *FLOATS[kind])
    if kind == 24:
        b = np.frombuffer(raw, np.uint8, count).astype(np.float64)
        return np.where(b == 255, np.nan, 2.0 ** (b - 127))
    if kind in PACKED:
        bits = PACKED[kind]
        b = np.frombuffer(raw, np.uint8)
        x = np.stack([b >> s & ((1 << bits) - 1) for s in range(0, 8, bits)], 1).reshape(-1)[:count].astype(np.int64)
        if kind in (22, 26): x = np.where(x >= 1 << (bits - 1), x - (1 << bits), x)
        return small_float(x, 2, 1, 1, "") if kind == 23 else x.astype(np.float64)
    raise ValueError(f"elements of type {kind}")

def tensor(b):
    dims, kind, raw, ints, floats, doubles, name = [], 0, None, [], b"", b"", ""
    for number, v in fields(b):
        if number == 1: dims += [v] if isinstance(v, int) else packed(v)
        elif number == 2: kind = v
        elif number == 4: floats += v
        elif number in (5, 7, 11): ints += [v] if isinstance(v, int) else packed(v)
        elif number == 8: name = v.decode()
        elif number == 9: raw = v
        elif number == 10: doubles += v
    count = int(np.prod(dims)) if dims else 1
    if raw is not None: x = decode(kind, raw, count)
    elif floats: x = np.frombuffer(floats, np.float32).astype(np.float64)
    elif doubles: x = np.frombuffer(doubles, np.float64)
    elif kind in (10, 16) or kind in FLOATS or kind in PACKED or kind == 24:
        wide = np.uint16 if kind in (10, 16) else np.uint8
        x = decode(kind, np.array(ints, np.int64).astype(wide).tobytes(), count)
    elif kind in (8, 14, 15, 0): raise ValueError(f"elements of type {kind}")
    else: x = np.array([i - (1 << 64) if i >= 1 << 63 and kind != 13 else i for i in ints], np.float64)
    return name, kind, x.reshape(dims)

def packed(v):
    out, at = [], 0
    while at < len(v):
        x, at = number(v, at)
        out.append(x)
    return out

def graph_of(path):
    for number, v in fields(open(path, "rb").read()):
        if number == 7: return v

def operator(path):
    """The operator that a test is about: of one node its own, otherwise by the test's name."""
    nodes = [dict(fields(v)).get(4, b"").decode() for number, v in fields(graph_of(path)) if number == 1]
    return nodes[0] if len(nodes) == 1 else None

def inputs(path):
    return [dict(fields(v))[1].decode() for number, v in fields(graph_of(path)) if number == 11]

# -- one test ----------------------------------------------------------------------------------------
def as_argument(x, path):
    if not x.size: return None  # no input of the program
    if np.isfinite(x).all():
        np.save(path, x)
        return path
    def text(y): return "[" + ", ".join(map(text, y)) + "]" if isinstance(y, list) else repr(y)
    return text(x.tolist())

def run(*words):
    return subprocess.run([LIMN, *words], capture_output=True, text=True, timeout=60)

# Of single tests, whose own numbers are off by more than 1e-7: they were computed in floats of 32 bits.
TOLERANCE = {"test_dft_inverse_opset19": (1e-3, 1e-6)}

DRAWN = {"test_bernoulli" + e for e in ("", "_expanded", "_seed", "_seed_expanded", "_double", "_double_expanded")}

def close(got, want, name, kind):
    if got.shape != want.shape: return f"shape {got.shape}, not {want.shape}"
    rtol, atol = TOLERANCE.get(name, (1e-3, 1e-7))
    bad = ~np.isclose(got, want, rtol, atol, equal_nan=True)
    if not bad.any(): return None
    k = tuple(i[0] for i in np.nonzero(bad))
    return f"{bad.sum()} of {bad.size} numbers differ, at {k} {got[k]} and not {want[k]}"

def test(folder):
    name = os.path.basename(folder)
    model, data = folder + "/model.onnx", folder + "/test_data_set_0/"
    dir = tempfile.mkdtemp()
    try:
        op = operator(model)
        program, fixed = dir + "/m.limn", []
        try:
            count = len([f for f in os.listdir(data) if f.startswith("input_")])
            names = inputs(model)
            given = {names[k]: as_argument(tensor(open(f"{data}input_{k}.pb", "rb").read())[2], f"{dir}/in_{k}.npy") for k in range(count)}
            given = {k: v for k, v in given.items() if v}
        except Exception: given = {}
        while True:
            r = run("import", model, "--flat", "-o", program, *[w for f in fixed for w in ("--in", f"{f}={given[f]}")])
            ask = re.search(r"--in (\S+)=", r.stderr)
            if r.returncode == 0 or not ask or ask[1] in fixed or ask[1] not in given: break
            fixed.append(ask[1])
        if r.returncode not in (0, 1): return name, op, "failed", f"import: status {r.returncode}"
        if name in DRAWN: return name, op, "refused", "it is imported, but its numbers are drawn, and no two systems draw the same"
        if r.returncode: return name, op, "refused", r.stderr.strip().replace("limn: error: ", "")
        want = [tensor(open(f"{data}output_{k}.pb", "rb").read()) for k in range(len([f for f in os.listdir(data) if f.startswith("output_")]))]
        words = [w for k in given if k not in fixed for w in ("--in", given[k])]
        r = run("eval", program, "model", "--out", dir + "/y.npy", *words)
        if r.returncode: return name, op, "failed", "eval: " + " ".join(r.stderr.split())[:300]
        for k, (_, kind, x) in enumerate(want):
            got = np.load(dir + ("/y.npy" if len(want) == 1 else f"/y.{k}.npy"))
            why = close(got, x, name, kind)
            if why: return name, op, "failed", f"output {k}: {why}"
        return name, op, "passed", "with " + ", ".join(fixed) if fixed else ""
    except subprocess.TimeoutExpired: return name, op, "failed", "takes more than a minute"
    except Exception as e: return name, None, "failed", f"{type(e).__name__}: {e}"
    finally: shutil.rmtree(dir)

def main():
    words = sys.argv[1:]
    folder = words[0] if words else os.environ.get("LIMN_ONNX_NODES") or os.environ.get("LIMN_DATA", ".") + "/onnx/node"
    if not os.path.isdir(folder): print(f"skipped: no node tests in {folder}"); return 0
    names = words[1:] or sorted(n for n in os.listdir(folder) if n.startswith("test_"))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        results = list(pool.map(test, [f"{folder}/{n}" for n in names]))
    table = {}
    for name, op, state, why in results:
        table.setdefault(op or "(several nodes)", []).append((name, state, why))
    for op in sorted(table):
        rows = table[op]
        count = {s: sum(r[1] == s for r in rows) for s in ("passed", "failed", "refused")}
        print(f"{op:28} {count['passed']:4} passed {count['failed']:4} failed {count['refused']:4} refused")
        for name, state, why in rows:
            if state != "passed": print(f"    {state:8} {name}: {why}")
    total = {s: sum(r[2] == s for r in results) for s in ("passed", "failed", "refused")}
    fixed = sum(r[2] == "passed" and r[3] != "" for r in results)
    print(f"{len(results)} tests: {total['passed']} passed ({100 * total['passed'] / len(results):.1f} %), {total['failed']} failed, "
          f"{total['refused']} refused; {fixed} of those that passed have an input that is given at import")
    return 0

if __name__ == "__main__": sys.exit(main())
