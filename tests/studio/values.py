"""Questions whose answers are numbers: costs, boxes on arrays, machines with other numbers, training in memory."""
import json
import math
import os
import shutil
import subprocess
import sys
import time

from client import LIMN, Studio, check

folder = sys.argv[1]
studio = Studio(folder)
page = studio.page()
texts = {name: open(f"examples/{name}.limn").read() for name in ("iris", "nash")}
texts["small"] = """const rate = 0.5, start = 1

box twice(x: R[2]) -> R[2] = 2 * x
box sum(x, y: R[2]) -> R[2] = x + y

machine Decay() -> (n: R[]) {
  state n = start
  n' = -rate * n
}

run Decay to 2
check at[2](n) = 0.36787944   within 1e-6
"""
for name, text in texts.items():
    open(f"{folder}/{name}.limn", "w").write(text)
    page.open(name + ".limn", text)


def printed(*words):
    return json.loads(subprocess.run([LIMN, *words, "--json"], capture_output=True, text=True, cwd=folder).stdout)


# -- as the commands
check("limn/cost is what the command prints", page.about("limn/cost", "iris.limn", name="guess") == printed("cost", "iris.limn", "guess")["cost"], page.about("limn/cost", "iris.limn", name="guess"))
check("limn/who", page.about("limn/who", "iris.limn") == printed("check", "iris.limn", "--who")["who"], page.about("limn/who", "iris.limn"))
check("limn/summary", page.about("limn/summary", "iris.limn") == printed("check", "iris.limn")["summary"], page.about("limn/summary", "iris.limn"))
check("a name is wanted", "`name` is wanted: a box, learner or goal" in page.refused("limn/cost", {"textDocument": {"uri": "file:///iris.limn"}})[0])

# -- a box on arrays
check("limn/eval", page.about("limn/eval", "small.limn", name="twice", **{"in": {"x": [1, 2.5]}})["results"][0]["data"] == [2, 5])
answer = page.about("limn/eval", "small.limn", name="sum", **{"in": {"0": [1, 2], "1": [10, 20]}})["results"]
check("by order", answer[0]["data"] == [11, 22] and answer[0]["shape"] == [2], answer)
for more, words in (({"name": "twice", "in": {"x": "1"}}, "a text is given to an input of labels with one axis, but this is R[2]"), ({"name": "twice", "in": {"x": True}}, "`in` is an object of at most 64 inputs with numbers"), ({"name": "twice", "in": {"x": [1, 2]}, "watch": "W"}, "there is no wire `W` inside of `twice`"), ({"name": "twice", "in": {"x": [1, 2, 3]}}, "3"), ({"name": "twice", "in": {}}, "x"), ({"name": "nothing", "in": {}}, "`nothing`"), ({"in": {}}, "`name` is wanted"), ({"name": "twice", "in": {"x": [1, 2]}, "from": "../x"}, "../x is not below the folder")):
    said = page.refused("limn/eval", {"textDocument": {"uri": "file:///small.limn"}, **more})[0]
    check(f"refused: {json.dumps(more)[:50]}", words in said and not said.startswith("not refused"), said)

face = page.about("limn/sample", "small.limn", set="faces", at=3)["fields"]
check("limn/sample", face[0]["name"] == "face" and face[0]["shape"] == [32, 32] and len(face[0]["data"]) == 1024 and max(face[0]["data"]) <= 1, [f["name"] for f in face])
check("another one", page.about("limn/sample", "small.limn", set="faces", at=4)["fields"][0]["data"] != face[0]["data"])
for more, words in (({"set": "../secret.csv"}, "there is no set `../secret.csv`"), ({"set": "facets"}, "there is no set `facets`"), ({}, "`set` is wanted, the name of a set"), ({"set": "faces", "at": -1}, "`set` is wanted, the name of a set")):
    said = page.refused("limn/sample", {"textDocument": {"uri": "file:///small.limn"}, **more})[0]
    check(f"no sample: {json.dumps(more)}", words in said, said)

STAIRS = """machine Counts -> (n: R[]) {
  state n = 0
  next n = n + 1
}
machine Falls -> (x: R[]) {
  state x = 1
  x' = -x
}
wiring Both -> (n, x: R[]) {
  counts : Counts every 0.5
  falls : Falls
  n = counts.n, x = falls.x
}
run Both to 2
"""
# -- machines
answer = page.about("limn/machine", "small.limn")
series = answer["series"][0]
check("limn/machine follows its runs", answer["errors"] == 0 and answer["run"]["checks"][0]["holds"] and series["names"][0] == "time" and "n" in series["names"], answer["run"])
last = dict(zip(series["names"], series["rows"][-1]))
check("moment by moment", abs(last["time"] - 2) < 1e-9 and abs(last["n"] - 0.36787944) < 1e-6, last)
page.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///slow.limn", "languageId": "limn", "version": 1, "text": "const k = 28\nmachine M -> (x: R[], y: R[], z: R[]) {\n  state x = 1, y = 1, z = 1\n  x' = 10 * (y - x)\n  y' = x * (k - z) - y\n  z' = x * y - 8 / 3 * z\n}\nrun M to 100\n"}})
begin = time.time()
slow = page.ask("limn/machine", {"textDocument": {"uri": "file:///slow.limn"}, "set": {"k": 1e9}, "run": 0})
check("a run that takes long stops with what there is", slow["run"]["state"] == "stopped" and slow["series"][0]["rows"] and time.time() - begin < 12, slow["run"])
page.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///stairs.limn", "languageId": "limn", "version": 1, "text": STAIRS}})
series = page.about("limn/machine", "stairs.limn")["series"][0]
check("what changes at moments only is held", {n: h for n, h in zip(series["names"], series["held"]) if n in ("time", "x", "n")} == {"time": False, "x": False, "n": True} and len(series["held"]) == len(series["names"]), series["held"])
answer = page.about("limn/machine", "small.limn", set={"rate": 1, "start": -3})
last = dict(zip(answer["series"][0]["names"], answer["series"][0]["rows"][-1]))
check("with other numbers", abs(last["n"] + 3 * 0.1353352832) < 1e-6 and not answer["run"]["checks"][0]["holds"], last)
check("and nothing is written", sorted(os.listdir(folder)) == ["iris.limn", "nash.limn", "small.limn"], os.listdir(folder))
for set_, words in (({"nothing": 1}, "there is no number `nothing` in this text"), ({"rate": "x"}, "`rate` is set to what is no number"), ([1], "`set` is an object of at most 64 names with numbers")):
    said = page.refused("limn/machine", {"textDocument": {"uri": "file:///small.limn"}, "set": set_})[0]
    check(f"not set: {words}", said == words, said)
SEVERAL = texts["small"] + """run again : Decay(
) to 4
machine Grows() -> (m: R[]) {
  state m = start
  m' = rate * m
}
run Grows to 1
"""
page.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///several.limn", "languageId": "limn", "version": 1, "text": SEVERAL}})
answer = page.about("limn/machine", "several.limn")
check("several runs", [s["name"] for s in answer["series"]] == ["Decay", "again", "Grows"] and len(answer["run"]["checks"]) == 1, answer["run"])
for k, (name, end) in enumerate((("Decay", 2), ("again", 4), ("Grows", 1))):
    answer = page.about("limn/machine", "several.limn", run=k, set={"rate": 0.25})
    series = answer["series"]
    check(f"run {k} alone", [s["name"] for s in series] == [name] and series[0]["rows"][-1][0] == end and [r["name"] for r in answer["run"]["runs"]] == ["Decay", "again", "Grows"] and answer["errors"] == 0, answer["run"])
for run, words in ((3, "there is no run 4: this program has 3"), ("Decay", "`run` is the number of a run, from 0 on"), (-1, "`run` is the number of a run, from 0 on")):
    said = page.refused("limn/machine", {"textDocument": {"uri": "file:///several.limn"}, "run": run})[0]
    check(f"no run {run}", said == words, said)
check("a program without machines", page.refused("limn/machine", {"textDocument": {"uri": "file:///iris.limn"}})[0].find("not refused") < 0, page.refused("limn/machine", {"textDocument": {"uri": "file:///iris.limn"}})[0])

# -- played
begin = time.time()
play = page.about("limn/play/open", "nash.limn", weights={"p": [0.5, 0.3, 0.2]})
took = time.time() - begin
check("limn/play/open", play["steps"] == 5000 and play["names"] == ["p", "q"], play)
first = page.ask("limn/play/step", {"play": play["play"], "steps": 0, "read": ["p", "q"]})
check("it begins where it is told", [round(x, 6) for x in first["weights"]["p"]["data"]] == [0.5, 0.3, 0.2] and first["step"] == 0, first)
# What is measured belongs to the step that is shown, not to the last report.
shares = lambda w: [e / sum(math.exp(v) for v in w["data"]) for e in (math.exp(v) for v in w["data"])]
U = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
for k in (0, 1, 7, 30):
    seen = page.ask("limn/play/step", {"play": play["play"], "steps": k, "read": ["p", "q"]})
    p, q = shares(seen["weights"]["p"]), shares(seen["weights"]["q"])
    gain = max(sum(U[i][j] * q[j] for j in range(3)) for i in range(3)) - min(sum(p[i] * U[i][j] for i in range(3)) for j in range(3))
    check(f"exploitability is of now, {k} steps on", abs(seen["metrics"].get("exploitability", -1) - gain) < 1e-5 and seen["measured"] == seen["step"], f"{gain} {seen}")
step, rounds = {"step": 0}, 0
while not step.get("done") and rounds < 500:
    step, rounds = page.ask("limn/play/step", {"play": play["play"], "steps": 1000, "read": ["p", "q"]}), rounds + 1
check("and comes to its equilibrium", step["done"] and step["step"] == 5000 and max(step["weights"]["p"]["data"]) < 1.1 * min(step["weights"]["p"]["data"]), step)
check("an answer takes a quarter of a second at most, and some more", rounds >= 1 and took < 20, rounds)
page.ask("limn/play/set", {"play": play["play"], "weights": {"q": [1, 0, 0]}})
check("limn/play/set", page.ask("limn/play/step", {"play": play["play"], "steps": 0, "read": ["q"]})["weights"]["q"]["data"] == [1, 0, 0])
check("a weight that is none", page.refused("limn/play/set", {"play": play["play"], "weights": {"z": 1}})[0] == "there is no weight `z`")
check("and one of another size", page.refused("limn/play/set", {"play": play["play"], "weights": {"q": [1]}})[0] == "the weight `q` has 3 numbers, not 1")
page.ask("limn/play/close", {"play": play["play"]})
check("limn/play/close", page.refused("limn/play/step", {"play": play["play"], "steps": 1})[0] == "there is no such play: it was closed, or never opened")
plays = [page.about("limn/play/open", "nash.limn")["play"] for _ in range(10)]
check("the oldest goes when there are many", "there is no such play" in page.refused("limn/play/step", {"play": plays[0]})[0] and page.ask("limn/play/step", {"play": plays[-1]})["step"] == 1)
check("what does not train is not played", page.refused("limn/play/open", {"textDocument": {"uri": "file:///small.limn"}})[0].find("not refused") < 0)
status, said = studio.end()
check("ends", status == 0 and not said, said)
