"""Messages of limn as exceptions and warnings."""

from __future__ import annotations

import warnings
from typing import Any, List, NamedTuple, Optional

from ._library import library


class Message(NamedTuple):
    """One thing that limn found: where, and what."""

    severity: str
    file: str
    line: int
    column: int
    length: int
    text: str
    help: Optional[str] = None
    note: Optional[str] = None


class Error(Exception):
    """What limn refused. `str(e)` is its text with the lines it is about; `e.messages` are the records."""

    def __init__(self, text: str, messages: Optional[List[Message]] = None, status: int = 1):
        super().__init__(text)
        self.messages: List[Message] = messages or []
        self.status = status


class NameError_(Error, KeyError):
    """A name that a program does not have."""

    def __str__(self) -> str:
        return str(self.args[0])


class LimnWarning(UserWarning):
    """What limn found odd, and did nevertheless."""


def messages_of(text: Optional[bytes]) -> List[Message]:
    import json

    found = []
    for m in json.loads(text or b"[]"):
        note = m.get("note") or {}
        place = m["file"], m["line"], m["column"], m["length"]
        found.append(Message(m["kind"], *place, m["message"], m.get("help"), note.get("message")))
    return found


def settle(handle: Any, status: int, kind: type = Error, level: int = 4) -> None:
    """Raises what went wrong with the last call of a handle, or warns; its messages are forgotten."""
    lib = library()
    if handle is None:
        raise ValueError("this program is closed")
    if not status and not lib.limn_message_count(handle):
        return
    text = (lib.limn_messages(handle, False) or b"").decode(errors="replace").rstrip("\n")
    found = messages_of(lib.limn_messages(handle, True))
    lib.limn_forget(handle)
    if status:
        raise kind(text or "memory is exhausted", found, status)
    if text:
        warnings.warn(text, LimnWarning, stacklevel=level)


def settle_function(function: Any, status: int) -> None:
    if status:
        lib = library()
        text = (lib.limn_function_messages(function, False) or b"").decode(errors="replace").rstrip("\n")
        raise Error(text or "memory is exhausted", messages_of(lib.limn_function_messages(function, True)), status)
