"""Arrays between Python and limn. Nothing is copied on the way in: limn reads an array where it lies,
whatever its strides; it copies what it gives on the way out, once."""

from __future__ import annotations

import ctypes as C
from typing import Any, Dict, List, Optional, Tuple

from ._library import F32, F64, I32, I64, U8, Array, Arrays, Input

_shapes: Dict[int, Any] = {}


def int64s(n: int) -> Any:
    kind = _shapes.get(n)
    if kind is None:
        kind = _shapes[n] = C.c_int64 * n
    return kind


class _Types:
    """What needs numpy, which is imported when the first array is there."""

    def __init__(self) -> None:
        import numpy

        self.np = numpy
        self.code = {
            numpy.dtype(name): code
            for name, code in (("f8", F64), ("f4", F32), ("i8", I64), ("i4", I32), ("u1", U8), ("?", U8))
        }
        self.dtype: Dict[int, Any] = {F64: numpy.dtype("f8"), F32: numpy.dtype("f4"), I64: numpy.dtype("i8"), I32: numpy.dtype("i4"),
                      U8: numpy.dtype("u1")}  # fmt: skip
        self.wide = {numpy.dtype(k): numpy.dtype("f4" if k == "f2" else "i8") for k in ("f2", "i1", "i2", "u2", "u4", "u8")}


_types: Optional[_Types] = None


def types() -> _Types:
    global _types
    if _types is None:
        _types = _Types()
    return _types


def array_of(x: Any) -> Any:
    """A numpy array of a type that limn reads, without a copy if there is one; torch's and JAX's by DLPack."""
    t = types()
    np = t.np
    if type(x) is not np.ndarray:
        if hasattr(x, "__dlpack__") and hasattr(np, "from_dlpack") and not isinstance(x, (np.ndarray, np.generic)):
            if getattr(x, "requires_grad", False):
                raise TypeError("this tensor asks for a gradient, which arrays do not carry: limn.torch(p.enc) makes a module that "
                                "does, and x.detach() goes without")  # fmt: skip
            for settled in ("resolve_conj", "resolve_neg"):  # a sign that torch keeps beside the numbers
                if hasattr(x, settled):
                    x = getattr(x, settled)()
            try:
                x = np.from_dlpack(x)
            except (RuntimeError, BufferError, TypeError):
                x = np.asarray(x)  # bools, say, which DLPack did not have
        else:
            x = np.asarray(x)
    if x.dtype in t.code:
        return x
    wide = t.wide.get(x.dtype)
    if wide is None:
        if x.dtype.newbyteorder("=") in t.code:
            return x.astype(x.dtype.newbyteorder("="))
        raise TypeError(f"limn takes arrays of numbers and bools, not of {x.dtype}")
    if x.dtype.kind == "u" and x.dtype.itemsize == 8 and x.size and x.max() >= 2**63:
        wide = np.dtype("f8")  # no whole number of limn is as large
    return x.astype(wide)


def fill(to: Array, x: Any, keep: List[Any]) -> None:
    """The struct of an array; what it points to is kept in the list."""
    rank = x.ndim
    shape = int64s(rank)(*x.shape)
    to.type = types().code[x.dtype]
    to.rank = rank
    to.shape = C.addressof(shape)
    if x.flags.c_contiguous:
        to.strides = None
        keep.append((x, shape))
    else:
        strides = int64s(rank)(*x.strides)
        to.strides = C.addressof(strides)
        keep.append((x, shape, strides))
    to.data = x.ctypes.data


def one_array(x: Any) -> Tuple[Array, List[Any]]:
    to, keep = Array(), []  # type: Tuple[Array, List[Any]]
    fill(to, array_of(x), keep)
    return to, keep


def inputs(named: List[Tuple[str, Any]]) -> Tuple[Any, List[Any]]:
    """LimnInput[n]: arrays, or texts as they are."""
    to = (Input * max(len(named), 1))()
    keep: List[Any] = []
    for i, (name, x) in enumerate(named):
        to[i].name = name.encode()
        if isinstance(x, (str, bytes)):
            to[i].value = x.encode() if isinstance(x, str) else x
            continue
        array = Array()
        fill(array, array_of(x), keep)
        keep.append(array)
        to[i].array = C.pointer(array)
    return to, keep


def shape_of(a: Array) -> Tuple[int, ...]:
    return tuple(int64s(a.rank).from_address(a.shape)) if a.rank else ()


def taken(a: Array, bits: bool = False) -> Any:
    """A numpy array of its own with these numbers."""
    np = types().np
    out = np.empty(shape_of(a), types().dtype[a.type])
    C.memmove(out.ctypes.data, a.data, out.nbytes)
    return out.view(np.bool_) if bits else out


def taken_all(all_: Arrays) -> Dict[str, Any]:
    return {all_.at[i].name.decode(): taken(all_.at[i].array) for i in range(all_.n)}


def seen(a: Array, owner: Any) -> Any:
    """The numbers where they lie, to be read only; the owner lives as long as they are looked at."""
    np = types().np
    dtype = types().dtype[a.type]
    shape = shape_of(a)
    n = dtype.itemsize
    for k in shape:
        n *= k
    if not n:
        return np.empty(shape, dtype)
    buffer: Any = (C.c_char * n).from_address(a.data)
    buffer._owner = owner
    x = np.frombuffer(buffer, dtype).reshape(shape)
    x.flags.writeable = False
    return x
