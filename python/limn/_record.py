"""What `run` gives: the numbers of machines through time, and the claims about them."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple

from ._arrays import types


class Claim(NamedTuple):
    """A `check` of a program: of which run, what it says, what was found, and whether it holds."""

    of: str
    text: str
    figure: str
    holds: bool




class Record(Mapping[str, Any]):
    """One run: arrays by the names of what is kept, the first axis is time; `time` are the moments."""

    def __init__(self, name: str, note: Dict[str, Any], channels: Dict[str, Any], happened: List[Dict[str, str]]):
        self.name, self.note, self._channels, self.happened = name, note, channels, happened

    def __getitem__(self, name: str) -> Any:
        return self._channels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    @property
    def time(self) -> Any:
        return next(iter(self._channels.values()))

    def __repr__(self) -> str:
        return f"<limn run {self.name} {self.note.get('for', '')}: {', '.join(self._channels)}>"


class Runs(Mapping[str, Record]):
    """All runs of a program by name, and its claims in `checks`."""

    def __init__(self, note: Dict[str, Any], folder: str, kept: bool):
        self.note = note
        self.folder = folder if kept else None
        self.checks = [Claim(c.get("of", ""), c["text"], c.get("figure", ""), c["holds"]) for c in note.get("checks", [])]
        self._runs = {r["name"]: _record(r, folder) for r in note.get("runs", [])}

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(c.holds for c in self.checks)

    def __getitem__(self, name: str) -> Record:
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        said = f", {sum(c.holds for c in self.checks)} of {len(self.checks)} claims hold" if self.checks else ""
        return f"<limn runs {', '.join(self._runs)}{said}>"


def _numbers(column: List[str]) -> Any:
    np = types().np
    try:
        return np.array([float(x) if x else np.nan for x in column])
    except ValueError:
        return np.array(column)  # labels that have names


def _csv(path: str) -> Dict[str, Any]:
    """Columns x[0], x[1], … become one array; units behind the names, x (m), are left out."""
    import csv
    import re

    np = types().np
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    names = [re.sub(r" \([^()]*\)$", "", name) for name in rows[0]]
    columns = {name: _numbers([r[i] for r in rows[1:]]) for i, name in enumerate(names)}
    found: Dict[str, Any] = {}
    parts: Dict[str, Dict[Any, Any]] = {}
    for name, x in columns.items():
        m = re.match(r"^(.*)\[([0-9 ]+)\]$", name)
        if not m:
            found[name] = x
            continue
        found.setdefault(m[1], None)
        parts.setdefault(m[1], {})[tuple(map(int, m[2].split()))] = x
    for name, cells in parts.items():
        shape = tuple(1 + max(at[k] for at in cells) for k in range(len(next(iter(cells)))))
        whole = np.empty((len(rows) - 1,) + shape, next(iter(cells.values())).dtype)
        for at, x in cells.items():
            whole[(slice(None),) + at] = x
        found[name] = whole
    return found


def read_safetensors(path: str) -> Dict[str, Any]:
    """Every array of a safetensors file, by name."""
    import json

    np = types().np
    kinds = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1", "BOOL": "?"}
    with open(path, "rb") as f:
        n = int.from_bytes(f.read(8), "little")
        head = json.loads(f.read(n))
        body = f.read()
    found = {}
    for name, t in head.items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        found[name] = np.frombuffer(body[begin:end], "<" + kinds[t["dtype"]]).reshape(t["shape"])
    return found


def _record(run: Dict[str, Any], folder: str) -> Record:
    base = os.path.join(folder, run["file"])
    channels: Dict[str, Any] = {}
    happened: List[Dict[str, str]] = []
    if os.path.exists(base + ".csv"):
        channels = _csv(base + ".csv")
    if os.path.exists(base + ".safetensors"):  # what has too many numbers for a table
        channels.update(read_safetensors(base + ".safetensors"))
    if os.path.exists(base + ".happened.csv"):
        import csv

        with open(base + ".happened.csv", newline="", encoding="utf-8") as f:
            happened = list(csv.DictReader(f))
    return Record(run["name"], run, channels, happened)
