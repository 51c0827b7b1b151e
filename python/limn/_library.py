"""liblimn.so by ctypes: the structs and functions of limn.h, and where the library is found."""

from __future__ import annotations

import ctypes as C
import operator
import os
import sys
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, List, Optional

GOOD, WRONG, USAGE, SYSTEM = range(4)
F64, F32, I64, I32, U8 = range(5)
PRECISION = {None: 0, 32: 1, 64: 2, "32": 1, "64": 2, "bf16": 3, "tf32": 4, "auto": 5}


def precision_code(precision: Any) -> int:
    try:
        return PRECISION[precision]
    except (KeyError, TypeError):
        raise ValueError(f"a precision is 32, 64, 'bf16', 'tf32' or 'auto', not {precision!r}") from None


_MOST = {c_int64: 2**63 - 1, c_uint64: 2**64 - 1, c_uint32: 2**32 - 1}


def whole(name: str, x: Any, most: int = 2**63 - 1) -> int:
    """A count: ctypes itself would take any integer, modulo what there is room for."""
    n = operator.index(x)
    if not 0 <= n <= most:
        raise ValueError(f"{name} is a whole number from 0 to {most}, not {x!r}")
    return n


class Array(C.Structure):
    _fields_ = [("type", c_int), ("rank", c_uint32), ("shape", c_void_p), ("strides", c_void_p), ("data", c_void_p)]


class NamedArray(C.Structure):
    _fields_ = [("name", c_char_p), ("array", Array)]


class Arrays(C.Structure):
    _fields_ = [("n", c_uint32), ("at", POINTER(NamedArray))]


class Input(C.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p), ("array", POINTER(Array))]


class Sized(C.Structure):
    """Options begin with their size; what is 0 is a default."""

    def __init__(self, **fields: Any):
        for name, kind in self._fields_:
            if kind in _MOST and name in fields:
                fields[name] = whole(name, fields[name], _MOST[kind])
        super().__init__(size=C.sizeof(self), **fields)


SAY = C.CFUNCTYPE(None, c_void_p, c_char_p)
WIDTH = C.CFUNCTYPE(c_uint32, c_void_p)


class MessageC(Sized):
    _fields_ = [
        ("size", c_size_t), ("severity", c_int), ("file", c_char_p), ("line", c_uint32), ("column", c_uint32),
        ("length", c_uint32), ("text", c_char_p), ("note", c_char_p), ("note_file", c_char_p), ("note_line", c_uint32),
        ("note_column", c_uint32), ("note_length", c_uint32), ("help", c_char_p),
    ]  # fmt: skip


class Use(Sized):
    _fields_ = [
        ("size", c_size_t), ("from_", c_char_p), ("in_", POINTER(Input)), ("nin", c_uint32), ("out", c_char_p),
        ("seed", c_uint64), ("threads", c_uint32), ("precision", c_int), ("has_seed", c_bool), ("reference", c_bool),
        ("json", c_bool), ("n", c_int64), ("length", c_int64), ("temperature", c_double), ("prompt", c_char_p),
        ("say", SAY), ("say_to", c_void_p), ("stop", c_void_p), ("device", c_char_p),
    ]  # fmt: skip


class Prepare(Sized):
    _fields_ = [
        ("size", c_size_t), ("from_", c_char_p), ("precision", c_int), ("threads", c_uint32), ("seed", c_uint64),
        ("has_seed", c_bool), ("training", c_bool), ("reference", c_bool), ("say", SAY), ("say_to", c_void_p), ("stop", c_void_p),
    ]  # fmt: skip


class ExportC(Sized):
    _fields_ = [
        ("size", c_size_t), ("as_", c_char_p), ("out", c_char_p), ("from_", c_char_p), ("weights", c_char_p), ("precision", c_int),
        ("seed", c_uint64), ("has_seed", c_bool), ("train", c_bool), ("weights_beside", c_bool), ("batch", c_int64),
    ]  # fmt: skip


class PortC(Sized):
    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("type", c_char_p), ("number", c_int), ("labels", c_int64),
        ("rank", c_uint32), ("shape", POINTER(c_int64)),
    ]  # fmt: skip


class Call(Sized):
    _fields_ = [
        ("size", c_size_t), ("in_", POINTER(Input)), ("nin", c_uint32), ("step", c_uint64), ("dy", POINTER(Array)),
        ("ndy", c_uint32), ("order", c_uint32),
    ]  # fmt: skip


class MetricsC(Sized):
    _fields_ = [
        ("size", c_size_t), ("step", c_uint64), ("steps", c_uint64), ("epoch", c_double), ("seconds", c_double),
        ("reported", c_bool), ("n", c_uint32), ("name", POINTER(c_char_p)), ("value", POINTER(c_double)),
    ]  # fmt: skip


METRICS = C.CFUNCTYPE(None, c_void_p, POINTER(MetricsC))


class Tell(C.Structure):
    _fields_ = [("context", c_void_p), ("line", SAY), ("redraw", SAY), ("width", WIDTH), ("metrics", METRICS)]


class Train(Sized):
    _fields_ = [
        ("size", c_size_t), ("out", c_char_p), ("resume", c_char_p), ("epochs", c_double), ("steps", c_double),
        ("batch", c_int64), ("seed", c_uint64), ("pause", c_uint64), ("threads", c_uint32), ("precision", c_int),
        ("device", c_char_p), ("every", c_char_p), ("has_seed", c_bool), ("reference", c_bool), ("plan", c_bool),
        ("json", c_bool), ("quiet", c_bool), ("plain", c_bool), ("in_memory", c_bool), ("stop", c_void_p),
        ("tell", Tell), ("changes", c_char_p), ("beyond", c_bool),
    ]  # fmt: skip


class Run(Sized):
    _fields_ = [
        ("size", c_size_t), ("out", c_char_p), ("from_", c_char_p), ("seed", c_uint64), ("threads", c_uint32),
        ("reference", c_bool), ("json", c_bool), ("quiet", c_bool), ("plain", c_bool), ("stop", c_void_p),
        ("tell", Tell), ("resume", c_char_p), ("numbers", c_bool), ("only", c_uint32), ("device", c_char_p), ("seconds", c_double),
    ]  # fmt: skip


class Draw(Sized):
    _fields_ = [
        ("size", c_size_t), ("out", c_char_p), ("level", c_char_p), ("theme", c_char_p), ("open", POINTER(c_char_p)),
        ("close", POINTER(c_char_p)), ("ascii", c_bool), ("width", c_char_p), ("no_legend", c_bool), ("notes", c_bool),
        ("lens", c_bool), ("grad", c_bool), ("who", c_bool), ("unfold", c_bool), ("places", c_bool),
    ]  # fmt: skip


# The structs by the names that limn.h has: the tests hold them against it.
STRUCTS = {
    "LimnArray": Array, "LimnNamedArray": NamedArray, "LimnArrays": Arrays, "LimnInput": Input,
    "LimnMessage": MessageC, "LimnUse": Use, "LimnPrepare": Prepare, "LimnPort": PortC, "LimnCall": Call,
    "LimnMetrics": MetricsC, "LimnTell": Tell, "LimnTrain": Train, "LimnRun": Run, "LimnDraw": Draw,
    "LimnExport": ExportC,
}  # fmt: skip

_status = {
    "limn_set": [c_void_p, c_char_p, c_char_p],
    "limn_allow": [c_void_p, c_char_p],
    "limn_load": [c_void_p, c_char_p],
    "limn_load_text": [c_void_p, c_char_p, c_char_p, c_size_t],
    "limn_message": [c_void_p, c_uint32, POINTER(MessageC)],
    "limn_check": [c_void_p],
    "limn_weights_read": [c_void_p, c_char_p],
    "limn_weights": [c_void_p, c_char_p, POINTER(Arrays)],
    "limn_weight_get": [c_void_p, c_char_p, POINTER(Array)],
    "limn_weight_set": [c_void_p, c_char_p, POINTER(Array)],
    "limn_measure_arrays": [c_void_p, POINTER(Use), POINTER(Arrays)],
    "limn_gradients": [c_void_p, c_char_p, c_char_p, POINTER(Use), POINTER(Arrays), POINTER(Arrays)],
    "limn_predict_arrays": [c_void_p, c_char_p, POINTER(Use), POINTER(Arrays)],
    "limn_sample_arrays": [c_void_p, c_char_p, POINTER(Use), POINTER(Arrays)],
    "limn_sample": [c_void_p, c_char_p, POINTER(Use), POINTER(c_char_p)],
    "limn_export": [c_void_p, c_char_p, POINTER(ExportC), POINTER(c_char_p)],
    "limn_report": [c_void_p, POINTER(Use), POINTER(c_char_p)],
    "limn_function_open": [c_void_p, c_char_p, POINTER(Prepare), POINTER(c_void_p)],
    "limn_function_in": [c_void_p, c_uint32, POINTER(PortC)],
    "limn_function_out": [c_void_p, c_uint32, POINTER(PortC)],
    "limn_function_call": [c_void_p, POINTER(Call), POINTER(Arrays), POINTER(Arrays)],
    "limn_function_weights": [c_void_p, POINTER(Arrays), POINTER(Arrays)],
    "limn_function_weight_set": [c_void_p, c_char_p, POINTER(Array)],
    "limn_train": [c_void_p, POINTER(Train)],
    "limn_trainer_open": [c_void_p, POINTER(Train), POINTER(c_void_p)],
    "limn_trainer_step": [c_void_p, c_uint64, POINTER(c_bool)],
    "limn_trainer_step_on": [c_void_p, POINTER(Input), c_uint32, POINTER(c_bool)],
    "limn_trainer_metrics": [c_void_p, POINTER(MetricsC)],
    "limn_trainer_weights": [c_void_p, POINTER(Arrays)],
    "limn_trainer_weight_set": [c_void_p, c_char_p, POINTER(Array)],
    "limn_trainer_close": [c_void_p],
    "limn_run": [c_void_p, POINTER(Run), POINTER(c_char_p)],
    "limn_devices": [c_void_p, c_bool, POINTER(c_char_p)],
    "limn_run_folder": [c_void_p, c_char_p, c_char_p, POINTER(c_char_p)],
    "limn_draw": [c_void_p, c_char_p, POINTER(Draw)],
    "limn_draw_text": [c_void_p, c_char_p, POINTER(Draw), POINTER(c_char_p)],
    "limn_draw_bytes": [c_void_p, c_char_p, POINTER(Draw), POINTER(c_void_p), POINTER(c_size_t)],
}
_text = {
    "limn_version": [],
    "limn_messages": [c_void_p, c_bool],
    "limn_function_messages": [c_void_p, c_bool],
    "limn_summary": [c_void_p, c_bool],
    "limn_names": [c_void_p],
    "limn_who": [c_void_p, c_bool],
    "limn_find": [c_void_p, c_char_p, c_bool],
    "limn_print": [c_void_p, c_char_p, c_char_p, c_bool],
    "limn_cost": [c_void_p, c_char_p, c_bool],
    "limn_format": [c_void_p, c_char_p, c_char_p, c_size_t],
}
_other = {
    "limn_new": ([], c_void_p),
    "limn_free": ([c_void_p], None),
    "limn_forget": ([c_void_p], None),
    "limn_message_count": ([c_void_p], c_uint32),
    "limn_errors": ([c_void_p], c_uint32),
    "limn_function_close": ([c_void_p], None),
    "limn_stop": ([POINTER(c_int), c_int], None),
}


def _places() -> List[str]:
    """The one inside the package, the one of LIMN_LIBRARY, the system's."""
    name = "liblimn.dylib" if sys.platform == "darwin" else "liblimn.so"
    found = [os.path.join(os.path.dirname(os.path.abspath(__file__)), name)]
    if os.environ.get("LIMN_LIBRARY"):
        found.append(os.environ["LIMN_LIBRARY"])
    return [p for p in found if os.path.exists(p)] + [name.replace(".so", ".so.0"), name]


def _open() -> C.CDLL:
    why: Optional[OSError] = None
    for place in _places():
        try:
            lib = C.CDLL(place)
            break
        except OSError as error:
            why = why or error
    else:
        raise ImportError(f"liblimn is not found: LIMN_LIBRARY names the file, as build/liblimn.so ({why})") from why
    for names, result in ((_status, c_int), (_text, c_char_p)):
        for name, arguments in names.items():
            function = getattr(lib, name)
            function.argtypes, function.restype = arguments, result
    for name, (arguments, kind) in _other.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, kind
    return lib


_lib: Optional[C.CDLL] = None


def library() -> Any:
    """liblimn, opened when it is first needed."""
    global _lib
    if _lib is None:
        _lib = _open()
    return _lib


def encoded(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else os.fspath(text).encode() if not isinstance(text, bytes) else text
