# Learners as C: exported, compiled by every compiler that is here with warnings as errors, run on random numbers, and held against
# the interpreter: values.py LIMN FOLDER [--precision 64] [--batch N] [--beside] FILE NAME…
# One line for each: ok, not ok, or refused with the sentence. FOLDER is for what is made on the way.
import ctypes, json, os, re, shutil, subprocess, sys
import numpy as np

FLAGS = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -O1 -fPIC -shared".split()
NUMBER = {"float": np.float32, "double": np.float64, "int32_t": np.int32, "unsigned char": np.uint8}

def arguments(header):
    "name, kind of number, shape, whether it goes in, type: of each"
    found = re.findall(r"^//   (float|double|int32_t|unsigned char) (\w+)((?:\[\d+\])+)  (in|out) : (.*)$", header, re.M)
    return [(n, NUMBER[k], [int(x) for x in re.findall(r"\d+", s)], d == "in", t) for k, n, s, d, t in found]

def draw(random, kind, shape, type):
    if kind == np.int32:
        labels = re.match(r"\{(\d+)\}", type)
        return random.integers(0, int(labels.group(1)) if labels else 2, shape)
    if kind == np.uint8: return random.integers(0, 2, shape)
    return random.normal(size=shape).astype(kind)

def run(words):
    return subprocess.run(words, capture_output=True, text=True)

def library(compiler, folder, source, name):
    made = os.path.join(folder, "%s_%s.so" % (name, compiler)) # a loader knows files by their names
    done = run([compiler] + FLAGS + ["-o", made, source, "-lm"])
    if done.returncode: raise SystemExit("not ok %s: %s" % (compiler, done.stderr[:1500]))
    return ctypes.CDLL(made)

def call(code, name, header, all, inputs, weights):
    first = []
    if "uint64_t seed" in header: first = [ctypes.c_uint64(0), ctypes.c_uint64(0)]
    if weights is not None: first = [weights] + first
    out = [np.full(s, 7).astype(k) for n, k, s, goes_in, t in all if not goes_in]
    given = [np.ascontiguousarray(x) for x in inputs]
    return getattr(code, name)(*first, *[x.ctypes.data_as(ctypes.c_void_p) for x in given + out]), out

# A label or bit outside of its range is told before anything is computed.
def outside(code, name, header, all, inputs, weights, random):
    goes_in = [a for a in all if a[3]]
    for i, (argument, kind, shape, _, type) in enumerate(goes_in):
        if kind not in (np.int32, np.uint8): continue
        most = 2 if kind == np.uint8 else int(re.match(r"\{(\d+)", type).group(1))
        for bad in [most, np.iinfo(kind).max] + ([-1, np.iinfo(kind).min] if kind == np.int32 else []):
            given = [x.copy() for x in inputs]
            given[i].flat[random.integers(given[i].size)] = bad
            status, out = call(code, name, header, all, given, weights)
            if status != 2 or any((x != 7).any() for x in out): return "%s = %d gives %d" % (argument, bad, status)
    return None

def check(limn, folder, file, name, options):
    source = os.path.join(folder, "net.c")
    for end in "c", "h", "bin":
        if os.path.exists(source[:-1] + end): os.remove(source[:-1] + end)
    made = run([limn, "export", file, name, "--as", "c", "-o", source, "--seed", "0"] + options)
    if made.returncode: return "refused", made.stderr.strip().split("\n")[0]
    header = open(source[:-1] + "h").read()
    all = arguments(header)
    function = re.search(r"^int (\w+)\(", header, re.M).group(1)
    random = np.random.default_rng(1)
    inputs = [draw(random, k, s, t).astype(k) for n, k, s, goes_in, t in all if goes_in]
    ask = [limn, "eval", file, name, "--json", "--seed", "0"]
    for i, x in enumerate(inputs):
        np.save("%s/in%d.npy" % (folder, i), x.astype(float).reshape(()) if x.shape == (1,) and re.search(r"(\[\]|^[^\[]*)$", all[i][4]) else x.astype(float))
        ask += ["--in", "%s/in%d.npy" % (folder, i)]
    told = run(ask)
    if told.returncode: return "refused", "eval: " + told.stderr.strip().split("\n")[0] + told.stdout[:300]
    want = list(json.loads(told.stdout)["values"].values())
    binary = source[:-1] + "bin"
    weights = np.fromfile(binary, np.uint8) if os.path.exists(binary) else None
    wide = "64" in options
    worst = 0
    for compiler in "gcc", "clang":
        if not shutil.which(compiler): continue
        code = library(compiler, folder, source, name)
        held = None if weights is None else weights.ctypes.data_as(ctypes.c_void_p)
        wrong = outside(code, function, header, all, inputs, held, random)
        if wrong: return "not ok", "%s: %s" % (compiler, wrong)
        status, out = call(code, function, header, all, inputs, held)
        if status: return "not ok", "%s: status %d" % (compiler, status)
        for i, have in enumerate(out):
            expected = np.array(want[i], float).reshape(have.shape)
            close = np.abs(have - expected) / np.maximum(1, np.abs(expected))
            same = np.isnan(expected) & np.isnan(have.astype(float)) | (expected == have)
            worst = max(worst, float(np.max(np.where(same, 0, close), initial=0)))
            if not worst <= (1e-12 if wide else 1e-5): return "not ok", "%s: differs by %g" % (compiler, worst)
    return "ok", "%.1g" % worst

def main():
    limn, folder, *rest = sys.argv[1:]
    options = []
    while rest[0].startswith("--"):
        word = rest.pop(0)
        options += ["--weights-beside"] if word == "--beside" else [word, rest.pop(0)]
    file = rest.pop(0)
    for name in rest or re.findall(r"^learn (\w+)", open(file).read(), re.M):
        how, more = check(limn, folder, file, name, options)
        print(how, os.path.basename(file), name, " ".join(options), "(%s)" % more)

if __name__ == "__main__": main()
