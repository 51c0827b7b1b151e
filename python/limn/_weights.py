"""The weights of a program by name."""

from __future__ import annotations

import ctypes as C
from typing import TYPE_CHECKING, Any, Dict, Iterator, MutableMapping

from ._arrays import array_of, one_array, taken
from ._errors import Error, NameError_, settle
from ._library import Array, Arrays, library

if TYPE_CHECKING:
    from ._program import Program


class Weights(MutableMapping[str, Any]):
    """Arrays by names like "enc/dense.1/b". What is read cannot be written to; `w[name] = array` sets one, and `del
    w[name]` lets it be as the program begins."""

    def __init__(self, program: "Program"):
        self._program = program
        self._names: Dict[str, None] = {}

    def _known(self) -> Dict[str, None]:
        program = self._program
        if not self._names:
            lib, all_ = library(), Arrays()
            with program._lock:
                for name in [None] + program.names["learners"]:
                    status = lib.limn_weights(program._handle, name and name.encode(), C.byref(all_))
                    if status:
                        lib.limn_forget(program._handle)  # of open sizes, which no goal settles
                        continue
                    self._names.update((all_.at[i].name.decode(), None) for i in range(all_.n))
        return self._names

    def __getitem__(self, name: str) -> Any:
        program = self._program
        program._pull()
        x = program._values.get(name)
        if x is None:
            a = Array()
            with program._lock:
                settle(program._handle, library().limn_weight_get(program._handle, name.encode(), C.byref(a)), NameError_)
                x = taken(a)
        x = x.view()
        x.flags.writeable = False
        return x

    def __setitem__(self, name: str, value: Any) -> None:
        program = self._program
        if program._training:
            raise RuntimeError("this program is being trained: its weights cannot be set now")
        program._pull()
        x = array_of(value)
        x = x.astype(x.dtype if x.dtype.kind == "f" else "f8")  # a copy
        a, keep = one_array(x)
        with program._lock:
            status = library().limn_weight_set(program._handle, name.encode(), C.byref(a))
            try:
                settle(program._handle, status)
            except Error as error:
                if name in self:
                    raise
                raise NameError_(str(error), error.messages, error.status) from None
            program._note(name, x)
            if program._trainer is not None:
                program._trainer._set(name, x)

    def __delitem__(self, name: str) -> None:
        program = self._program
        a = Array()
        with program._lock:
            settle(program._handle, library().limn_weight_set(program._handle, name.encode(), None), NameError_)
            settle(program._handle, library().limn_weight_get(program._handle, name.encode(), C.byref(a)), NameError_)
            program._note(name, taken(a))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __contains__(self, name: object) -> bool:
        return name in self._known()

    def __repr__(self) -> str:
        lines = [f"  {name}: {'×'.join(map(str, self[name].shape)) or 'a number'}" for name in self]
        return "<limn weights\n" + "\n".join(lines) + ">" if lines else "<limn weights: none>"

    def read(self, source: str) -> None:
        """All that a run folder or a safetensors file has of this program; it is refused if that is nothing."""
        program = self._program
        lib = library()
        with program._lock:
            program._pull()
            before = {}
            settle(program._handle, lib.limn_weights_read(program._handle, str(source).encode()), path=str(source))
            for name in self._known():
                a = Array()
                if not lib.limn_weight_get(program._handle, name.encode(), C.byref(a)):
                    before[name] = taken(a)
            lib.limn_forget(program._handle)
            for name, x in before.items():
                program._note(name, x)
