"""Models that are dropped on the page, weights of a run as pictures, two runs side by side."""
import base64
import json
import os
import re
import shutil
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
check("one that is none", page.refused("host/weights", {"run": "runs/1", "name": "nothing"})[0] == "there is no weight `nothing` in runs/1")
check("of no run", page.refused("host/weights", {"run": "sub"})[0].startswith("the weights of sub cannot be read: "))

# -- side by side
diff = page.ask("host/diff", {"a": "runs/1", "b": "runs/2"})
check("two runs side by side", not diff["same"] and isinstance(diff["diff"], dict) and "<svg" in diff["picture"], str(diff)[:500])
check("of what is no model", "not refused" not in page.refused("host/diff", {"a": "runs/1", "b": "nothing"})[0], page.refused("host/diff", {"a": "runs/1", "b": "nothing"})[0])
check("never outside", "is not below the folder" in page.refused("host/diff", {"a": "runs/1", "b": "../x"})[0])
status, said = studio.end()
check("ends", status == 0 and not said, said)
