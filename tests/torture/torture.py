#!/usr/bin/env python3
"""Faults injected everywhere, and a table of what held.

    torture.py --limn build/limn --build build [--seconds N] [--runs N] [--first N] [--seed N] [--only memory,calls] [--small] [--jobs N]
    torture.py … --job calls:1234        one of them alone, with what it was

All that an attack can do is put into an order by the seed; jobs FIRST to FIRST + RUNS of it are done, or as many as there is time for,
and the table says where to go on. Exit status 1 if anything did not hold."""
import argparse
import concurrent.futures
import itertools
import glob
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import attacks
from ground import HERE, ROOT, Ground

# Faults that are known and not mended yet: (attack, which of its jobs and faults, why). They are counted apart, and listed.
KNOWN = []

state = {}


def build(o):
    """The library that fails, and a limn whose arena can be told to."""
    folder = os.path.join(o.build, "torture")
    os.makedirs(folder, exist_ok=True)
    shim, guard = os.path.join(folder, "shim.so"), os.path.join(folder, "limn")
    cc, libs = os.environ.get("CC", "cc").split(), (os.environ.get("HTTP_LIBS", "") + " " + os.environ.get("LDLIBS", "-lpng -lz -lpthread -ldl -lm")).split()
    san = ["-fsanitize=address,undefined"] if o.san else []
    subprocess.run([*cc, "-std=gnu11", *["-DSANITIZED"][:len(san)], "-O1", "-shared", "-fPIC", "-o", shim, os.path.join(HERE, "shim.c"), "-ldl"], check=True)
    cli = sorted(glob.glob(os.path.join(o.build, "cli", "*.o")) + glob.glob(os.path.join(o.build, "studio", "*.o")) + glob.glob(os.path.join(o.build, "queue", "*.o")))
    subprocess.run([*cc, "-std=c11", "-D_DEFAULT_SOURCE", "-g", "-O1", "-Isrc", "-Iinclude", "-DLIMN_GUARD", *san, "-o", guard, *cli, "src/base/arena.c",
                    os.path.join(o.build, "libinner.a"), *libs], check=True, cwd=ROOT)
    return shim, guard


def do(which, number, job):
    ground, attack = state["ground"], state["attacks"][which]
    try:
        return which, number, job, attack.one(ground, tuple(job))
    except Exception as e:  # an attack that cannot be made is a fault of ours
        return which, number, job, "the attack itself failed: %r" % e


def known(name, job, fault):
    return next((why for attack, fits, why in KNOWN if attack == name and fits(job, fault)), None)


class Tally:
    def __init__(self):
        self.done, self.next, self.total, self.seconds = 0, 0, 0, 0.0
        self.bad, self.known = [], {}


def order(name, o):
    """All jobs of an attack, in the order that the seed gives."""
    jobs = list(state["attacks"][name].space(state["ground"], o.small))
    random.Random("%d %s" % (o.seed, name)).shuffle(jobs)
    return jobs


def attack(pool, name, o, seconds):
    t, begun = Tally(), time.time()
    jobs = order(name, o)
    runs = o.runs or (state["attacks"][name].small if o.small else 0) or len(jobs)
    t.total, t.next = len(jobs), o.first
    rest = iter(list(enumerate(jobs))[o.first:o.first + runs])
    waiting = set()
    while True:
        if not seconds or time.time() - begun < seconds:
            waiting |= {pool.submit(do, name, i, job) for i, job in itertools.islice(rest, 4 * o.jobs - len(waiting))}
        if not waiting:
            break
        ended, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for f in ended:
            _, number, job, fault = f.result()
            t.done, t.next = t.done + 1, max(t.next, number + 1)
            why = fault and known(name, job, fault)
            if why:
                t.known.setdefault(why, []).append(number)
            elif fault:
                t.bad.append((number, job, fault))
                if len(t.bad) <= o.show:
                    print("%s:%d %s: %s" % (name, number, job, fault), file=sys.stderr, flush=True)
    t.seconds = time.time() - begun
    return t


def table(tallies, o):
    print("%-4s %-40s %9s %9s %6s %6s  %s" % ("line", "attack", "made", "of", "bad", "known", "seconds"))
    for line in range(1, 12):
        if line in attacks.ABSENT:
            print("%-4d %s" % (line, attacks.ABSENT[line]))
        for name, t in tallies.items():
            a = state["attacks"][name]
            if a.line != line:
                continue
            later = "; go on with FIRST=%d" % t.next if t.next < t.total else ""
            print("%-4d %-40s %9d %9d %6d %6d  %.0f%s" % (line, a.title, t.done, t.total, len(t.bad), sum(map(len, t.known.values())), t.seconds, later))
    for name, t in tallies.items():
        for why, numbers in t.known.items():
            print("known: %s, %d times (first %s:%d)" % (why, len(numbers), name, min(numbers)))


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--limn", default="build/limn")
    p.add_argument("--build", default="build")
    for name, value in (("seconds", 0), ("runs", 0), ("first", 0), ("seed", 1), ("jobs", os.cpu_count()), ("show", 20)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--only", default="")
    p.add_argument("--job")
    p.add_argument("--small", action="store_true")
    o = p.parse_args()
    o.limn, o.build = os.path.abspath(o.limn), os.path.abspath(o.build)
    o.san = o.build.endswith("/san")
    return o


def prepare(o):
    shim, guard = build(o)
    ground = Ground(o.limn, shim, guard)
    ground.build, ground.small, ground.san = o.build, o.small, o.san
    ground.make()
    names = {a.__name__.lower(): a for a in attacks.ALL}
    every = [n for n, a in names.items() if a.small or not o.small]
    wanted = [o.job.split(":")[0]] if o.job else [n for n in o.only.split(",") if n] or every
    if not set(wanted) <= set(names):
        raise SystemExit("there is no attack %s; there are %s" % (", ".join(set(wanted) - set(names)), ", ".join(names)))
    state.update(ground=ground, attacks={n: names[n]() for n in wanted})
    for a in state["attacks"].values():
        if hasattr(a, "prepare"):
            a.prepare(ground)
    for verb in attacks.VERBS:
        ground.expect(verb)
    return ground


def main():
    o = options()
    os.chdir(ROOT)
    ground = prepare(o)
    try:
        if o.job:
            name, number = o.job.split(":")
            job = order(name, o)[int(number)]
            print(job, do(name, int(number), job)[3] or "holds")
            return 0
        tallies = {}
        with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:  # forked here, with all that was prepared
            for name in state["attacks"]:
                tallies[name] = attack(pool, name, o, o.seconds / len(state["attacks"]))
    finally:
        ground.close()
    table(tallies, o)
    if o.small:
        for name, t in tallies.items():
            print("%s torture %s: %d" % ("not ok" if t.bad else "ok", name, t.done))
    return any(t.bad for t in tallies.values())


if __name__ == "__main__":
    sys.exit(main())
