"""What must be said before PyTorch is imported, so that it runs as well as it can."""
import importlib.util
import os


def prepare(threads):
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[library + "_NUM_THREADS"] = str(threads)
    found = importlib.util.find_spec("torch")
    if not found or "/dist-packages/" not in (found.origin or ""):
        return
    # Debian's PyTorch multiplies by OpenBLAS, which has threads of its own: those of OpenMP must not turn while they
    # wait. OpenBLAS falls back to its oldest kernels on a CPU that is newer than it: they are named by what the CPU has.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    for flag, core in (("avx512_bf16", "Cooperlake"), ("avx512f", "SkylakeX"), ("avx2", "Haswell")):
        if flag in flags:
            os.environ.setdefault("OPENBLAS_CORETYPE", core)
