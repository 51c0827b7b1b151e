"""limn: deep learning written as diagrams.

    import limn
    p = limn.load("vae.limn")
    p.train(epochs=3, on_epoch=print)
    z = p.enc(x)                        # numpy arrays in and out, or tensors of torch and JAX
    p.draw("enc")                       # a picture, in a notebook
    net = limn.torch(p.enc)             # a torch.nn.Module, differentiable
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Sequence

from ._errors import Error, LimnWarning, Message
from ._function import Function, Gradients, Port
from ._picture import Picture
from ._program import Path, Program
from ._record import Claim, Record, Runs
from ._train import Metrics, Trainer, Training
from ._weights import Weights

if TYPE_CHECKING:
    from ._torch import Module

__all__ = [
    "load", "loads", "format", "devices", "torch", "version", "Error", "LimnWarning", "Message", "Program", "Function", "Port", "Device", "Devices",
    "Gradients", "Picture", "Record", "Runs", "Claim", "Metrics", "Trainer", "Training", "Weights",
]  # fmt: skip


def load(path: Path, *, set: Optional[Mapping[str, Any]] = None, read: Optional[Sequence[Path]] = None,
         precision: Any = None, threads: int = 0) -> Program:  # fmt: skip
    """The program of a file. `set` replaces axes, consts, learners or edges by name, as `--set` does; `read` are further
    folders that it may read. `precision` is 32, 64, "bf16", "tf32" or "auto" for all that is computed; without it, numbers are those of
    the arrays. An error is raised as limn.Error with the lines it is about."""
    return Program(None if path is None else os.fspath(path), None, set, read, precision, threads)


def loads(text: str, *, name: str = "program.limn", set: Optional[Mapping[str, Any]] = None,
          read: Optional[Sequence[Path]] = None, precision: Any = None, threads: int = 0) -> Program:  # fmt: skip
    """The program of a text; files that it names are beside `name`."""
    return Program(None, text, set, read, precision, threads, name)


class Device(NamedTuple):
    """What can compute."""

    name: str  # what `device=` takes: "cpu", "cuda:0"
    about: str  # "NVIDIA H200, 150.1 GB, …"
    precision: str  # what `precision="auto"` is on it: "32", "bf16"


class Devices(List[Device]):
    """The CPU, and each GPU. Without a GPU, `no_gpu` says why there is none."""

    no_gpu: Optional[str] = None


def devices() -> Devices:
    """What can compute here, as the command `limn devices`: the CPU first, then each GPU."""
    import json
    from ctypes import byref, c_char_p

    from ._errors import settle
    from ._library import library

    lib = library()
    handle, text, found = lib.limn_new(), c_char_p(), Devices()
    try:
        settle(handle, lib.limn_devices(handle, True, byref(text)))
        for one in json.loads(text.value or b"[]"):
            if "precision_auto" in one:
                found.append(Device(one["device"], one["is"], one["precision_auto"]))
            found.no_gpu = one.get("why_not", found.no_gpu)
        return found
    finally:
        lib.limn_free(handle)


def format(text: str, name: str = "program.limn") -> str:
    """A text in the one layout for all programs."""
    from ._errors import settle
    from ._library import WRONG, library

    lib = library()
    handle, data = lib.limn_new(), text.encode()
    try:
        laid_out = lib.limn_format(handle, name.encode(), data, len(data))
        answer = None if laid_out is None else laid_out.decode()
        settle(handle, WRONG if answer is None else 0)
        return answer or ""
    finally:
        lib.limn_free(handle)


def torch(function: Function, **options: Any) -> "Module":
    """A box or learner as a torch.nn.Module: its weights are Parameters, its values and gradients come from limn."""
    if not isinstance(function, Function):
        raise TypeError(f"limn.torch wants a box or learner of a program, as limn.torch(p.enc), not {function!r}")
    from ._torch import Module

    return Module(function, **options)


def version() -> str:
    """Of the library."""
    from ._library import library

    return library().limn_version().decode()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'limn' has no attribute {name!r}")
