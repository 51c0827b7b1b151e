"""What must be said before PyTorch is imported."""
import os


def prepare(threads):
    """OpenBLAS has threads of its own, and falls back to its oldest kernels on a CPU that is newer than it."""
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[library + "_NUM_THREADS"] = str(threads)
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    for flag, core in (("avx512_bf16", "Cooperlake"), ("avx512f", "SkylakeX"), ("avx2", "Haswell")):
        if flag in flags:
            os.environ.setdefault("OPENBLAS_CORETYPE", core)
