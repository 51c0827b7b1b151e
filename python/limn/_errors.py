"""Messages of limn as exceptions and warnings."""

from __future__ import annotations

import errno
import os
import warnings
from typing import Any, List, NamedTuple, Optional

from ._library import SYSTEM, library


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


class FileError(Error, FileNotFoundError):
    """A file or folder that was named in a call and is not there."""

    def __init__(self, text: str, messages: Optional[List[Message]], status: int, path: str):
        super().__init__(text, messages, status)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), path

    def __str__(self) -> str:
        return str(self.args[0])


class OutOfMemory(Error, MemoryError):
    """Memory was exhausted; the program can be used further."""


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


def error_of(text: str, found: List[Message], status: int, kind: type = Error) -> Error:
    exhausted = status == SYSTEM and (not text or "out of memory" in text)
    return (OutOfMemory if exhausted else kind)(text or "memory is exhausted", found, status)


def settle(handle: Any, status: int, kind: type = Error, level: int = 4, path: Any = None) -> None:
    """Raises what went wrong with the last call of a handle, or warns; its messages are forgotten. `path`: what the call was to read."""
    lib = library()
    if handle is None:
        raise ValueError("this program is closed")
    if not status and not lib.limn_message_count(handle):
        return
    text = (lib.limn_messages(handle, False) or b"").decode(errors="replace").rstrip("\n")
    found = messages_of(lib.limn_messages(handle, True))
    lib.limn_forget(handle)
    if status and path is not None and os.fspath(path) in text and not os.path.exists(path):
        raise FileError(text, found, status, os.fspath(path))
    if status:
        raise error_of(text, found, status, kind)
    if text:
        warnings.warn(text, LimnWarning, stacklevel=level)


def settle_function(function: Any, status: int) -> None:
    if status:
        lib = library()
        text = (lib.limn_function_messages(function, False) or b"").decode(errors="replace").rstrip("\n")
        raise error_of(text, messages_of(lib.limn_function_messages(function, True)), status)
