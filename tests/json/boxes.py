"""Boxes and learners of random programs: written as JSON, read back, and equal on the same inputs.

usage: boxes.py LIMN WHOLE_TEST FIRST COUNT     a line for each fault, and for each reason of a refusal how often there was one
"""
import collections, json, os, re, subprocess, sys, tempfile
import numpy as np

LIMN, WHOLE, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def run(*args):
    return subprocess.run(args, capture_output=True, text=True)


def size_of(size):
    return size if isinstance(size, int) else int(eval(re.sub(r"[^\W\d][\w.']*", "3", size)))


def one(folder, program, name, random):
    at = lambda file: os.path.join(folder, file)
    if run(LIMN, "export", program, name, "--as", "json", "-o", at("d.json")).returncode:
        return None
    text = json.load(open(at("d.json")))
    main = next(d for d in text["diagrams"] if d["name"] == text["main"])
    read = run(LIMN, "read", at("d.json"), "-o", at("d.limn"))
    if read.returncode:
        return "refused " + next((l for l in read.stderr.splitlines() if "error" in l), read.stderr)[:300]
    if any(box["op"] == "random" for d in text["diagrams"] for box in d["boxes"]):
        return "ok"
    args = []
    for i, wire in enumerate(main["inputs"]):
        shape = [size_of(a["size"]) for a in wire["type"]["axes"]]
        base = wire["type"]["base"]
        x = random.standard_normal(shape) if base == "R" else random.integers(0, 2 if base == "B" else size_of(wire["type"]["count"]), shape).astype(float)
        np.save(at("in%d.npy" % i), x)
        args += ["--in", at("in%d.npy" % i)]
    word = re.findall(r"^(?:box|learn) (\w+)", open(at("d.limn")).read(), re.M)[-1]
    a, b = run(LIMN, "eval", program, name, *args, "--json", "--seed", "0"), run(LIMN, "eval", at("d.limn"), word, *args, "--json", "--seed", "0")
    if a.returncode:
        return None
    if b.returncode:
        return "not ok " + b.stderr[:300]
    if main["params"]:
        return "ok"  # weights have other names, and start with other numbers
    x, y = json.loads(a.stdout)["values"], json.loads(b.stdout)["values"]
    flat = lambda v: np.array([z for k in sorted(v) if k.startswith("out") for z in np.ravel(np.array(v[k], float))])
    same = flat(x).shape == flat(y).shape and np.allclose(flat(x), flat(y), 1e-12, 1e-12, equal_nan=True)
    return "ok" if same else "not ok it gives other numbers"


done, why, seed = 0, collections.Counter(), first
random = np.random.default_rng(1)
while done < count and seed < first + 10 * count:
    with tempfile.TemporaryDirectory() as folder:
        text = run(WHOLE, "program", str(seed)).stdout.replace('use "other.limn"\n', "")
        program = os.path.join(folder, "p.limn")
        with open(program, "w") as f:
            f.write(text)
        for name in re.findall(r"^(?:box|learn) (\w+)", text, re.M):
            how = one(folder, program, name, random)
            if how is None:
                continue
            done += 1
            if how.startswith("not ok"):
                print("not ok json: seed", seed, name, how[7:], flush=True)
                why["not ok"] += 1
            else:
                why[re.sub(r"`[^`]*`|\d+", "…", how)] += 1
    seed += 1
for reason, n in why.most_common():
    if reason not in ("ok", "not ok"):
        print("%4d %s" % (n, reason))
print("ok" if not why["not ok"] else "not ok", "json: %d of %d boxes of random programs are read back" % (why["ok"], done))
