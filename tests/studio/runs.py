"""Runs: begun, paused, resumed to the same end, seen by a server that did not begin them, told as they go on."""
import glob
import json
import os
import shutil
import signal
import sys
import time

from client import SLOW, Studio, check

folder = sys.argv[1]
shutil.copy("examples/iris.limn", folder)
open(folder + "/bad.limn", "w").write("learn f : R[2] -> R[2] = nothing\n")


def state(page, run):
    return next((r for r in page.ask("host/runs") if r["run"] == run), {}).get("state")


def reaches(page, run, wanted, seconds=40):
    until = time.time() + seconds * SLOW
    while time.time() < until:
        if state(page, run) in wanted:
            return True
        time.sleep(0.1)
    return False


def begun(page, run):
    """It has written down what can be changed."""
    until = time.time() + 40 * SLOW
    while time.time() < until:
        if any(r["run"] == run and r["settings"] for r in page.ask("host/runs")):
            return True
        time.sleep(0.02)
    return False


def children_of(parent):
    """Processes may end while they are looked at."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            if int(open(stat).read().rsplit(")", 1)[1].split()[1]) == parent:
                yield stat.split("/")[2]
        except OSError:
            pass


def files_of(pid):
    for f in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            yield os.readlink(f)
        except OSError:
            pass


def hash_of(run):
    return json.load(open(f"{folder}/{run}/run.json")).get("hash")


studio = Studio(folder)
page = studio.page()
page.listen()
how = {"reference": True, "steps": 1500, "every": "100", "seed": 3, "plain": True}
plain = page.ask("host/train", {"path": "iris.limn", "options": how})["run"]
check("a run has a folder below runs", plain == "runs/iris", plain)
second = page.ask("host/train", {"path": "iris.limn", "options": how})["run"]
check("the next one another", second == "runs/iris.2", second)
check("it runs", reaches(page, second, ("running",)), state(page, second))
check("it is told", page.told("host/run", lambda p: p["run"] == second and p["state"] in ("starting", "running")))
fds = [f for pid in children_of(studio.process.pid) for f in files_of(pid)]
check("it has no socket of the server's", not any("socket" in f for f in fds), fds)
for _ in range(400):  # a step was made
    if page.ask("host/metrics", {"run": second})["rows"] or os.path.exists(f"{folder}/{second}/state.safetensors"):
        break
    time.sleep(0.02)
page.ask("host/pause", {"run": second})
check("it is paused", reaches(page, second, ("paused",)), state(page, second))
check("which is told", page.told("host/run", lambda p: p["run"] == second and p["state"] == "paused"))
check("what rests is not paused", f"{second} is not under way: it is paused" == page.refused("host/pause", {"run": second})[0], page.refused("host/pause", {"run": second})[0])
steps = json.load(open(f"{folder}/{second}/run.json"))["steps"]
check("before its end", 0 < steps < 1500, steps)
check("what can be changed, as it is", next(r for r in page.ask("host/runs") if r["run"] == second)["settings"].get("fit.weight") == 1, page.ask("host/runs"))
check("what there is not is not changed", page.refused("host/change", {"run": second, "what": "speed", "value": 1})[0].startswith("there is no `speed` to be changed: there is rate"), page.refused("host/change", {"run": second, "what": "speed", "value": 1})[0])
check("nor without a number", page.refused("host/change", {"run": second, "what": "rate", "value": "much"})[0].startswith("`what` is wanted"))
before = {int(pid) for pid in children_of(studio.process.pid)}
third = page.ask("host/train", {"path": "iris.limn", "options": how})["run"]
held = [int(pid) for pid in children_of(studio.process.pid) if int(pid) not in before]
for pid in held:
    os.kill(pid, signal.SIGSTOP)
early = os.path.exists(f"{folder}/{third}/run.json") or page.refused("host/change", {"run": third, "what": "rate", "value": 0.02})[0]
check("what has not begun says so when it is to be changed", early is True or early in [f"{third} is {now}: what can be changed is known when it has begun" for now in ("starting", "running")], early)
for pid in held:
    os.kill(pid, signal.SIGCONT)
check("it begins", begun(page, third), state(page, third))
page.ask("host/change", {"run": third, "what": "rate", "value": 0.02})
page.ask("host/resume", {"run": second})
check("one that goes on is not resumed", "is under way" in page.refused("host/resume", {"run": second})[0])
reaches(page, second, ("running",))

# -- the server is killed: the runs go on, and a new one sees them
studio.end(signal.SIGKILL)
studio = Studio(folder)
page = studio.page()
page.listen()
check("a new server sees what the old one began", state(page, second) in ("running", "finished"), page.ask("host/runs"))
check("both come to their end", reaches(page, plain, ("finished",)) and reaches(page, second, ("finished",)), page.ask("host/runs"))
check("paused, resumed and left alone it is the same run, bit for bit", hash_of(plain) and hash_of(plain) == hash_of(second), (hash_of(plain), hash_of(second)))
reaches(page, third, ("finished",))
changed = next(r for r in page.ask("host/runs") if r["run"] == third)
check("a run that was changed says in which step", [(c["what"], c["value"]) for c in changed["changes"]] == [("rate", 0.02)] and 0 <= changed["changes"][0]["step"] < 1500 and changed["settings"]["rate"] == 0.02, changed)
check("and is another", hash_of(third) != hash_of(plain))
files = {f["path"]: f for f in page.ask("host/files")}
check("runs are among the files", files[plain] == {"path": plain, "kind": "run", "state": "finished"}, files)

# -- numbers
run = next(r for r in page.ask("host/runs") if r["run"] == plain)
check("a run says where it is", run["program"] == "iris.limn" and run["step"] == 1500 and run["steps"] == 1500 and run["losses"].keys() == {"fit"} and run["measures"].keys() == {"fit.hits"}, run)
all_rows = page.ask("host/metrics", {"run": plain})
lines = open(f"{folder}/{plain}/metrics.csv").read().splitlines()
check("metrics are the rows of metrics.csv", all_rows["names"] == lines[0].split(",") and len(all_rows["rows"]) == len(lines) - 1 == all_rows["next"], all_rows["names"])
check("as numbers", all_rows["rows"][-1][0] == 1500 and [None if c == "" else float(c) for c in lines[-1].split(",")] == all_rows["rows"][-1], all_rows["rows"][-1])
rest = page.ask("host/metrics", {"run": plain, "since": all_rows["next"] - 2})
check("from a row on", rest["rows"] == all_rows["rows"][-2:] and rest["next"] == all_rows["next"] and not rest["more"], rest)

# -- stopped, shown, wrong
shown = page.ask("host/train", {"path": "iris.limn", "options": {"reference": True, "steps": 20}})["run"]
check("one with a report", reaches(page, shown, ("finished",)), page.ask("host/runs"))
pictures = page.ask("host/shown", {"run": shown})
check("what it shows", len(pictures) == 1 and pictures[0]["caption"].startswith("confusion guess x kind"), pictures)
status, body, heads = studio.http("GET", "/file?path=" + pictures[0]["file"]) if pictures else (0, b"", {})
check("as a file", status == 200 and b"<svg" in body and heads["content-type"] == "image/svg+xml" and "sandbox" in heads["content-security-policy"], (status, heads))
long = page.ask("host/train", {"path": "iris.limn", "options": {**how, "steps": 10**6}})["run"]
reaches(page, long, ("running",))
until = time.time() + 20 * SLOW
while not page.ask("host/shown", {"run": long}) and time.time() < until:
    time.sleep(0.2)
check("what a run shows can be seen while it goes on", state(page, long) == "running" and len(page.ask("host/shown", {"run": long})) == 1, page.ask("host/shown", {"run": long}))
page.ask("host/stop", {"run": long})
check("stopped", reaches(page, long, ("stopped",)), state(page, long))
check("what has ended is not stopped", page.refused("host/stop", {"run": plain})[0] == f"{plain} cannot be stopped: it is finished")
bad = page.ask("host/train", {"path": "bad.limn"})["run"]
check("a wrong program fails", reaches(page, bad, ("failed",)), state(page, bad))
check("with its sentence", "nothing" in next(r for r in page.ask("host/runs") if r["run"] == bad).get("message", ""), page.ask("host/runs"))
never = page.ask("host/train", {"path": "iris.limn", "options": {"precision": "none"}})["run"]
check("what never began has failed, and is not paused", reaches(page, never, ("failed",)), state(page, never))
check("in the words of limn train", "--precision wants" in next(r for r in page.ask("host/runs") if r["run"] == never).get("message", ""), page.ask("host/runs"))
open(folder + "/machine.limn", "w").write(open("examples/lotka.limn").read())
machine = page.ask("host/train", {"path": "machine.limn"})["run"]
check("a program that is not trained says so", reaches(page, machine, ("failed",)) and "there is no `train` in this program" == next(r for r in page.ask("host/runs") if r["run"] == machine).get("message"), page.ask("host/runs"))
before = len(page.ask("host/runs"))
above, whole = "wants a number above 0, and at most 1000000000000, not", "wants a whole number from"
for option, value, words in (("epochs", -1, f"`epochs` {above} -1"), ("epochs", 0, f"`epochs` {above} 0"), ("epochs", 1e13, f"`epochs` {above} 10000000000000"), ("epochs", "x", f"`epochs` {above} x"), ("steps", True, f"`steps` {above} that"), ("seed", -3, f"`seed` {whole} 0 to 9000000000000000, not -3"), ("seed", 1.5, f"`seed` {whole} 0 to 9000000000000000, not 1.5"), ("seed", 1e20, f"`seed` {whole} 0 to 9000000000000000, not 1e+20"), ("batch", 0, f"`batch` {whole} 1 to 1000000000, not 0"), ("threads", 5000, f"`threads` {whole} 0 to 4096, not 5000"), ("pause", 0, f"`pause` {whole} 1 to 1000000000000, not 0")):
    said = page.refused("host/train", {"path": "iris.limn", "options": {option: value}})[0]
    check(f"refused: {option} {value}", said == words, said)
said = page.refused("host/train", {"path": "iris.limn", "options": {"epochs": 1, "steps": 1}})[0]
check("refused: both", said == "`epochs` or `steps` is wanted, not both", said)
check("and nothing was begun", len(page.ask("host/runs")) == before)
for params, words in (({"path": "none.limn"}, "cannot train none.limn: "), ({"path": "../x.limn"}, "is not below the folder"), ({"path": "iris.limn", "options": {"out": "/x"}}, "`out` is no option of training, or not of this kind"), ({"path": "iris.limn", "options": {"reference": 1}}, "`reference` is no option of training"), ({"path": "iris.limn", "options": [1]}, "`options` is an object: what `limn train` has, by name"), ({"path": "iris.limn", "options": {"set": [1]}}, "`set` is an object of at most 20 names")):
    said = page.refused("host/train", params)[0]
    check(f"not trained: {words}", words in said, said)
# -- deleted: a run, all of it and nothing else
os.makedirs(folder + "/kept")
open(folder + "/kept/file", "w").write("stays")
os.symlink(folder + "/kept", folder + "/" + long + "/link")
os.makedirs(folder + "/" + long + "/deep/er")
open(folder + "/" + long + "/deep/er/file", "w").write("goes")
check("a run is not deleted by chance", page.refused("host/delete", {"run": long})[0] == f"{long} is not deleted: `sure` is not true" and os.path.exists(folder + "/" + long + "/run.json"))
page.ask("host/delete", {"run": long, "sure": True})
check("it is deleted", not os.path.exists(folder + "/" + long) and all(r["run"] != long for r in page.ask("host/runs")), os.listdir(folder + "/runs"))
check("nothing is left of it", not [n for n in os.listdir(folder + "/runs") if n.startswith(".")], os.listdir(folder + "/runs"))
check("and what a link led to stays", open(folder + "/kept/file").read() == "stays")
going = page.ask("host/train", {"path": "iris.limn", "options": {**how, "steps": 10**6}})["run"]
reaches(page, going, ("running",))
check("one that goes on is not deleted", page.refused("host/delete", {"run": going, "sure": True})[0] == f"{going} is not deleted: it is running; stop it first", page.refused("host/delete", {"run": going, "sure": True}))
page.ask("host/stop", {"run": going})
reaches(page, going, ("stopped",))
os.makedirs(folder + "/nest/inner")
for name in ("nest/run.json", "nest/inner/run.json"):
    open(folder + "/" + name, "w").write("{}")
check("nor one that holds another", page.refused("host/delete", {"run": "nest", "sure": True})[0] == "nest is not deleted: there are other runs in it")
os.symlink(folder + "/runs", folder + "/elsewhere")
for run, words in (("elsewhere/" + os.path.basename(going), "is a link"), ("../x", "is not below the folder"), ("", "is not below the folder"), ("runs", "is no run"), ("kept", "is no run")):
    said = page.refused("host/delete", {"run": run, "sure": True})[0]
    check(f"not deleted: {run}", words in said and os.path.exists(folder + "/" + going), said)
for method in ("pause", "resume", "stop", "metrics", "shown", "delete"):
    said = page.refused("host/" + method, {"run": "sub"})[0]
    check(f"host/{method} of no run", "sub is no run: there is no run.json in it" == said, said)
status, said = studio.end()
check("ends", status == 0 and not said, said)
