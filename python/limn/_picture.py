"""A picture of a program, which shows itself in a notebook."""

from __future__ import annotations

import ctypes as C
import os
from typing import TYPE_CHECKING, Any, Optional, Sequence

from ._errors import settle
from ._library import Draw, encoded, library

if TYPE_CHECKING:
    from ._program import Program


def _list(names: Optional[Sequence[str]]) -> Any:
    if not names:
        return None
    if isinstance(names, str):
        names = [names]
    return (C.c_char_p * (len(names) + 1))(*[n.encode() for n in names], None)


class Picture:
    """A drawing: `svg` is its text, `save` writes it as svg, pdf, png, tex or txt, `str` is it in letters."""

    def __init__(self, program: "Program", name: Optional[str], options: dict):
        self._program, self.name = program, name
        self._options = {
            k: _list(v) if k in ("open", "close") else v if isinstance(v, bool) else encoded(str(v))
            for k, v in options.items()
            if v is not None
        }
        unknown = set(self._options) - {f[0] for f in Draw._fields_} | ({"size", "out"} & set(self._options))
        if unknown:
            raise TypeError(f"a picture has no option {sorted(unknown)[0]!r}")
        self.svg: str = self._bytes(".svg").decode()

    def _draw(self, out: Optional[str]) -> Draw:
        return Draw(out=encoded(out), **self._options)

    def _settle(self, status: int) -> None:
        # A program with errors is drawn as far as it is known: its messages were told when it was loaded.
        handle = self._program._handle
        if status:
            settle(handle, status)
        library().limn_forget(handle)

    def _bytes(self, ending: str) -> bytes:
        at, n = C.c_void_p(), C.c_size_t()
        program = self._program
        with program._lock:
            self._settle(
                library().limn_draw_bytes(
                    program._handle, encoded(self.name), self._draw("picture" + ending), C.byref(at), C.byref(n)
                )
            )
            return C.string_at(at.value or 0, n.value) if n.value else b""

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # What makes pages of notebooks takes elements out of an SVG that stands in the page; a picture it leaves alone.
        import base64

        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{repr(self)[1:-1]}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}"/>'

    def save(self, path: str) -> None:
        """To a file: svg, pdf, png, tex or txt, by its ending."""
        program = self._program
        with program._lock:
            self._settle(library().limn_draw(program._handle, encoded(self.name), self._draw(os.fspath(path))))

    def __str__(self) -> str:
        text = C.c_char_p()
        program = self._program
        with program._lock:
            self._settle(
                library().limn_draw_text(program._handle, encoded(self.name), self._draw(None), C.byref(text))
            )
            return (text.value or b"").decode()

    def __repr__(self) -> str:
        return f"<limn picture of {self.name or 'the goals'}>"
