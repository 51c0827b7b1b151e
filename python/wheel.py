"""The module as a wheel, by zipfile alone: python/wheel.py LIBRARY VERSION OUT (by `make python`). With `--files FOLDER`
instead of LIBRARY, the module and its metadata without the library, as they are installed."""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

here = os.path.dirname(os.path.abspath(__file__))


def metadata(version):
    with open(os.path.join(here, "README.md"), encoding="utf-8") as f:
        page = f.read()
    return (
        f"Metadata-Version: 2.1\nName: limn\nVersion: {version}\nSummary: deep learning written as diagrams\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\nProvides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\n"
        "Classifier: Programming Language :: Python :: 3\nClassifier: Typing :: Typed\n"
        f"Description-Content-Type: text/markdown\n\n{page}"
    )


def tag():
    name = re.sub(r"[-.]", "_", sysconfig.get_platform())
    if platform.system() == "Linux":
        name = "linux_" + platform.machine()
    return f"py3-none-{name}"


def module():
    folder = os.path.join(here, "limn")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(folder, name), "rb") as f:
                yield "limn/" + name, f.read()


def information(version, purelib):
    info = f"limn-{version}.dist-info/"
    with open(os.path.join(here, "..", "LICENSE"), "rb") as f:
        licence = f.read()
    pure = str(purelib).lower()
    kind = "py3-none-any" if purelib else tag()
    yield info + "METADATA", metadata(version).encode()
    yield info + "WHEEL", f"Wheel-Version: 1.0\nGenerator: limn\nRoot-Is-Purelib: {pure}\nTag: {kind}\n".encode()
    yield info + "LICENSE", licence


def record(files, version):
    lines = []
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    name = f"limn-{version}.dist-info/RECORD"
    return name, ("".join(lines) + f"{name},,\n").encode()


def library(path):
    """Without what only a debugger reads."""
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, os.path.basename(path))
        shutil.copyfile(path, own)
        if platform.system() == "Linux" and shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", own], check=True)
        with open(own, "rb") as f:
            return "limn/liblimn" + (".dylib" if path.endswith(".dylib") else ".so"), f.read()


def main():
    if sys.argv[1] == "--files":
        folder, version = sys.argv[2:]
        for name, data in [*module(), *information(version, True)]:
            place = os.path.join(folder, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as f:
                f.write(data)
        return
    path, version, out = sys.argv[1:]
    files = [*module(), library(path), *information(version, False)]
    files.append(record(files, version))
    os.makedirs(out, exist_ok=True)
    wheel = os.path.join(out, f"limn-{version}-{tag()}.whl")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files:
            entry = zipfile.ZipInfo(name)  # of 1980: the same bytes each time
            entry.external_attr = (0o755 if "liblimn" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    print(wheel)


main()
