"""Models that are dropped on the page, weights of a run as pictures, two runs side by side."""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from client import LIMN, Studio, check

folder = sys.argv[1]
shutil.copy("examples/iris.limn", folder)
limn = lambda *words: subprocess.run([LIMN, *words], cwd=folder, capture_output=True, text=True, check=True)
for seed in ("1", "2"):
    limn("train", "iris.limn", "--reference", "--steps", "20", "--plain", "--quiet", "--seed", seed, "--out", f"runs/{seed}")
limn("export", "iris.limn", "guess", "--as", "onnx", "-o", "guess.onnx")
model = open(folder + "/guess.onnx", "rb").read()
studio = Studio(folder)
page = studio.page()

# -- dropped
data = base64.b64encode(model).decode()
path = page.ask("host/upload", {"name": "dropped.onnx", "data": data})["path"]
check("a model becomes a program beside it", path == "dropped.limn" and open(folder + "/dropped.onnx", "rb").read() == model and os.path.exists(folder + "/dropped.safetensors"), path)
page.open(path, open(f"{folder}/{path}").read())
check("which is drawn", "<svg" in page.about("limn/picture", path, name="model")["picture"])
check("a second one has another name", page.ask("host/upload", {"name": "dropped.onnx", "data": data})["path"] == "dropped-2.limn")
check("a table lies in the folder", page.ask("host/upload", {"name": "sub/t.csv", "data": base64.b64encode(b"1,2\n").decode()})["path"] == "sub/t.csv" and open(folder + "/sub/t.csv").read() == "1,2\n")
big = base64.b64encode(os.urandom(6 << 20)).decode()
check("an upload may be larger than a message", page.ask("host/upload", {"name": "big.bin", "data": big})["path"] == "big.bin" and os.path.getsize(folder + "/big.bin") == 6 << 20)
for params, words in (({"name": "broken.onnx", "data": base64.b64encode(model[: len(model) // 2]).decode()}, "broken.onnx is in the folder, but does not become a program: "), ({"name": "a.csv", "data": "no base 64!"}, "`data` is wanted: the bytes of a.csv in base 64"), ({"name": "a.csv"}, "`data` is wanted"), ({"name": "../a.csv", "data": ""}, "is not below the folder"), ({"name": "iris.limn/x.csv", "data": ""}, "cannot write iris.limn/x.csv: ")):
    said = page.refused("host/upload", params)[0]
    check(f"refused: {words}", words in said and not said.startswith("not refused"), said)

# -- weights
names = page.ask("host/weights", {"run": "runs/1"})["names"]
check("the weights of a run have names", names and all(set(n) == {"name", "shape"} for n in names), names)
one = next(n for n in names if len(n["shape"]) == 2)
weight = page.ask("host/weights", {"run": "runs/1", "name": one["name"]})
check("one of them: its range, how often what, a picture", weight["shape"] == one["shape"] and weight["least"] < weight["most"] and sum(weight["histogram"]) == one["shape"][0] * one["shape"][1] and weight["picture"].count("<rect") == one["shape"][0] * one["shape"][1], weight)
check("one that is none", page.refused("host/weights", {"run": "runs/1", "name": "nothing"})[0] == "there is no weight and no wire `nothing` in the goals that a gradient reaches")
check("of no run", page.refused("host/weights", {"run": "sub"})[0].startswith("the weights of sub cannot be read: "))

# -- gradients, and what wires carry: on all rows of a table, so that `limn eval` can say the same
ROWS = [(0.5, -1, 0.3), (1.5, 0.2, -0.4), (-0.7, 0.9, 1.1), (0.1, 0.4, 0)]
SMALL = """axis k = 3
given a, b, y from "rows.csv"
learn f(a, b: R[]) -> R[] {
  h = tanh(dense[k]([a, b]))
  return dense[](h)
}
goal fit : f(a, b) ~ y by l2
goal calm : f(b, a) ~ 0 by l2 times 0.5
train 40 steps, batch 4, gd(0.1)
"""
open(folder + "/rows.csv", "w").write("a,b,y\n" + "".join("%g,%g,%g\n" % r for r in ROWS))
open(folder + "/small.limn", "w").write(SMALL)
limn("train", "small.limn", "--reference", "--plain", "--quiet", "--set", "k=5", "--pause", "10", "--precision", "64", "--out", "runs/small")


def said_by_eval(goal, weights):
    """The gradient of a goal by the command, as a range for each weight."""
    columns = [["--in", f"{name}={[r[i] for r in ROWS]}"] for i, name in enumerate("aby") if goal == "fit" or name != "y"]
    out = json.loads(limn("eval", "small.limn", goal, "--set", "k=5", "--json", "--from", "runs/small", "--grads", "grads.safetensors", *sum(columns, [])).stdout)
    head = open(folder + "/grads.safetensors", "rb").read()
    n = int.from_bytes(head[:8], "little")
    table = json.loads(head[8 : 8 + n])
    found = {}
    for name in weights:
        one = table[name]
        from_, to = one["data_offsets"]
        numbers = struct.unpack("<%d%s" % ((to - from_) // (8 if one["dtype"] == "F64" else 4), "d" if one["dtype"] == "F64" else "f"), head[8 + n + from_ : 8 + n + to])
        found[name] = (min(numbers), max(numbers))
    return found


inside = page.ask("host/weights", {"run": "runs/small"})
check("wires and goals are named too", inside["wires"] == ["h.1", "h.2"] and inside["goals"] == ["fit", "calm"], inside)
weights = [n["name"] for n in inside["names"]]
for goal in ("fit", "calm"):
    want = said_by_eval(goal, weights)
    for name in weights:
        got = page.ask("host/weights", {"run": "runs/small", "name": name, "of": "gradient", "goal": goal})
        check(f"d {goal} by {name}", got["name"] == name and max(abs(got[k] - w) for k, w in zip(("least", "most"), want[name])) < 1e-6 and any(want[name]), (got["least"], got["most"], want[name]))
for of in ("value", "gradient"):
    got = page.ask("host/weights", {"run": "runs/small", "name": "h.2", "of": of})
    check(f"the {of} of a wire", got["shape"] == [4, 5] and sum(got["histogram"]) == 20 and got["least"] < got["most"] and got["picture"].count("<rect") == 20, got)
before = page.ask("host/weights", {"run": "runs/small", "name": "h.1", "of": "gradient"})["most"]
limn("train", "small.limn", "--reference", "--plain", "--quiet", "--set", "k=5", "--precision", "64", "--resume", "runs/small")
after = page.ask("host/weights", {"run": "runs/small", "name": "h.1", "of": "gradient"})["most"]
check("which change as the run goes on", before != after, (before, after))
for params, words in (({"name": "h.3", "of": "gradient"}, "there is no weight and no wire `h.3`"), ({"name": "h.1", "of": "slope"}, '`of` is "value" or "gradient"'), ({"name": "h.1", "of": "gradient", "goal": "fitt"}, "there is no goal `fitt` in this program")):
    check(f"refused: {words}", words in page.refused("host/weights", {"run": "runs/small", **params})[0], page.refused("host/weights", {"run": "runs/small", **params})[0])
open(folder + "/small.limn", "w").write(SMALL.replace("times 0.5", "times 2"))
check("the program must be that of the run", page.refused("host/weights", {"run": "runs/small", "name": "h.1", "of": "gradient"})[0].startswith("the program is another one than that of runs/small: in small.limn, line 8 is"), page.refused("host/weights", {"run": "runs/small", "name": "h.1", "of": "gradient"})[0])

# -- side by side
diff = page.ask("host/diff", {"a": "runs/1", "b": "runs/2"})
check("two runs side by side", not diff["same"] and isinstance(diff["diff"], dict) and "<svg" in diff["picture"], str(diff)[:500])
check("of what is no model", "not refused" not in page.refused("host/diff", {"a": "runs/1", "b": "nothing"})[0], page.refused("host/diff", {"a": "runs/1", "b": "nothing"})[0])
check("never outside", "is not below the folder" in page.refused("host/diff", {"a": "runs/1", "b": "../x"})[0])
status, said = studio.end()
check("ends", status == 0 and not said, said)
