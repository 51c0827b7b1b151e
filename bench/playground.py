#!/usr/bin/env python3
"""How fast the playground trains: seconds of one core for a thousand steps, in wasm under node (the engine of Chromium), by limn's own
prebuilt loops (LIMN_CC=), and as limn does it where there is a compiler. What a run needs before its first step is taken off.

    bench/playground.py [build/limn] [build/playground-objects/limn.wasm]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOONS = "given x, kind from moons\nlearn guess : R[2] -> R[2] = dense[16] ; tanh ; dense[2]\ngoal fit : guess(x) ~ kind by cross_entropy\ntrain 5 epochs, batch 32, adam(0.01)\n"
# how many steps: about a second of wasm
PROGRAMS = {"iris": 20000, "moons": 20000, "nash": 50000, "lens": 60, "letters": 200}
LETTERS = f"{ROOT}/playground/programs"


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_thousand(command, steps):
    """The rest of a long run behind a short one, the least of three of each."""
    least = [min(cpu(command(n)) for _ in range(3)) for n in (steps // 10, steps)]
    return (least[1] - least[0]) / (steps - steps // 10) * 1000


def main():
    limn = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/limn")
    wasm = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "build/playground-objects/limn.wasm")
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([f"{ROOT}/studio/node_modules/.bin/esbuild", f"{ROOT}/tests/playground/steps.ts", "--bundle", "--platform=node", "--format=esm",
                        "--log-level=warning", f"--outfile={work}/steps.mjs"], check=True)
        print("%-8s %12s %12s %12s   seconds for 1000 steps" % ("", "wasm", "prebuilt", "compiled"))
        for name, steps in PROGRAMS.items():
            program = f"{work}/{name}.limn"
            text = MOONS if name == "moons" else open(f"{LETTERS if name == 'letters' else ROOT + '/examples'}/{name}.limn").read()
            beside = [f"{LETTERS}/sonnet.txt"] if name == "letters" else []
            for file in beside:
                shutil.copy(file, work)
            open(program, "w").write("".join(l for l in text.splitlines(True) if not l.startswith(("measure", "show"))))
            train = lambda n, *before: [*before, limn, "train", program, "--steps", str(n), "--seed", "1", "--threads", "1", "--quiet", "--plain", "-o", f"{work}/run{os.urandom(4).hex()}"]
            t = [per_thousand(lambda n: ["node", f"{work}/steps.mjs", wasm, program, str(n), *beside], steps),
                 per_thousand(lambda n: train(n, "env", "LIMN_CC="), steps), per_thousand(train, steps)]
            print("%-8s %12.3f %12.3f %12.3f   wasm takes %.1f and %.1f times as long" % (name, *t, t[0] / t[1], t[0] / t[2]))


main()
