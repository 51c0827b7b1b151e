"""bench/first_step.py LIMN FILE     from `limn train FILE` typed to its first step done: seconds with an empty cache folder, and with a full one"""
import os
import subprocess
import sys
import tempfile
import time


def seconds(limn, file, folder, run):
    start = time.perf_counter()
    command = [limn, "train", file, "--steps", "1", "--json", "--out", os.path.join(folder, run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LIMN_CACHE": os.path.join(folder, "cache")}) as process:
        for line in process.stdout:
            if '"report"' in line:
                found = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        cold = seconds(sys.argv[1], sys.argv[2], folder, "cold")
        cached = min(seconds(sys.argv[1], sys.argv[2], folder, f"cached.{i}") for i in range(5))
        print(f"{cold:.3f} {cached:.3f}")


main()
