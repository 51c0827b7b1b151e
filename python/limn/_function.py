"""A box, learner, goal or measure of a program as a Python function of arrays."""

from __future__ import annotations

import ctypes as C
from collections import namedtuple
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ._arrays import array_of, fill, taken, taken_all, types
from ._errors import Error, settle, settle_function
from ._library import I32, U8, Array, Arrays, Call, Input, PortC, Prepare, encoded, library, precision_code

if TYPE_CHECKING:
    from ._program import Program


class Port(NamedTuple):
    """What goes in or comes out: its name ("" if it has none), its type as text, its shape (-1: open), what it is
    ("real", "label" or "bit"), and how many labels there are (0: that is open)."""

    name: str
    type: str
    shape: Tuple[int, ...]
    kind: str
    labels: int

    @property
    def rank(self) -> int:
        return len(self.shape)


class Gradients(NamedTuple):
    """What `grad` gives: the results, and the gradients of inputs and of weights by name."""

    value: Any
    inputs: Dict[str, Any]
    weights: Dict[str, Any]


def _tuple_of(name: str, fields: List[str]) -> Callable[[List[Any]], Any]:
    """What several results are put into: a tuple, with their names where each has one that Python can say."""
    if len(set(fields)) == len(fields) and all(f.isidentifier() and not iskeyword(f) and f[0] != "_" for f in fields):
        made: Any = namedtuple("Results", fields)  # type: ignore[misc]
        return made._make  # type: ignore[no-any-return]
    return tuple


class Made:
    """One function of liblimn, compiled for one precision: used by one thread at a time."""

    def __init__(self, program: "Program", name: str, how: Tuple[Any, ...]):
        lib = library()
        precision, training, seed, from_, threads, reference = how
        options = Prepare(
            precision=precision_code(precision), training=training, seed=seed or 0, has_seed=seed is not None, from_=encoded(from_), threads=threads,
            reference=reference,
        )  # fmt: skip
        handle = C.c_void_p()
        with program._lock:
            status = lib.limn_function_open(program._handle, name.encode(), options, C.byref(handle))
            self.version = 0
            settle(program._handle, status, level=6, path=from_)
        self.handle = handle.value
        self._close = lib.limn_function_close
        self.ins, self.outs = self._ports(lib.limn_function_in), self._ports(lib.limn_function_out)
        self.tuple = _tuple_of(name, [port.name for port in self.outs])
        n = max(len(self.ins), 1)
        self.array, self.input = (Array * n)(), (Input * n)()
        for i in range(n):
            self.input[i].array = C.pointer(self.array[i])
        self.result, self.grads = Arrays(), Arrays()
        self.call = Call(in_=self.input)
        self.byref_result, self.byref_grads, self.byref_call = map(C.byref, (self.result, self.grads, self.call))

    def _ports(self, ask: Any) -> List[Port]:
        found: List[Port] = []
        port = PortC()
        while not ask(self.handle, len(found), C.byref(port)):
            shape = tuple(port.shape[i] for i in range(port.rank))
            kind = {U8: "bit", I32: "label"}.get(port.number, "real")
            found.append(Port(port.name.decode(), port.type.decode(), shape, kind, port.labels))
        return found

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._close(self.handle)
            self.handle = None

    def weights(self) -> Tuple[Arrays, Arrays]:
        weights, buffers = Arrays(), Arrays()
        library().limn_function_weights(self.handle, C.byref(weights), C.byref(buffers))
        return weights, buffers

    def set(self, name: str, a: Array) -> None:
        settle_function(self.handle, library().limn_function_weight_set(self.handle, name.encode(), C.byref(a)))

    def follow(self, program: "Program") -> None:
        """Weights that were set since it last looked."""
        if self.version == program._version:
            return
        names = {a.at[i].name.decode() for a in self.weights() for i in range(a.n)}
        with program._lock:
            version = program._version
            changed = [(k, program._values[k]) for k, v in program._changed.items() if v > self.version and k in names]
        for name, x in changed:
            keep: List[Any] = []
            a = Array()
            fill(a, x, keep)
            self.set(name, a)
        if not names and program._changed and not self.ran:
            return  # of open sizes: they come with the first call
        self.version = version

    ran = False

    def run(self, names: List[bytes], arrays: List[Any], step: int, dy: Optional[List[Any]], grad: bool) -> Any:
        keep: List[Any] = []
        if len(arrays) > len(self.ins):
            raise TypeError(f"there are {len(arrays)} arrays for {len(self.ins)} inputs")
        for i, x in enumerate(arrays):
            fill(self.array[i], x, keep)
            self.input[i].name = names[i]
        call = self.call
        call.nin, call.step, call.ndy = len(arrays), step, 0
        if dy is not None:
            cotangents = (Array * len(dy))()
            for i, x in enumerate(dy):
                fill(cotangents[i], x, keep)
            call.dy, call.ndy = cotangents, len(dy)
        grads = self.byref_grads if grad else None
        status = library().limn_function_call(self.handle, self.byref_call, self.byref_result, grads)
        if status:
            settle_function(self.handle, status)
        self.ran = True


class Function:
    """A box, learner, goal or measure of a program, called with arrays as it is written with wires.

    Arrays come in order or by the names of inputs. One or more axes in front of what an input wants are samples.
    Several results are a tuple. Numbers are those of the arrays: float32 in, float32 out; float64 in, float64 out.
    A result without axes, as a loss, is float64 always.
    """

    def __init__(self, program: "Program", name: str, kind: str = "box", **options: Any):
        self.program, self.name, self.kind = program, name, kind
        self._precision = options.get("precision", program._precision)
        precision_code(self._precision)
        self._rest = (
            bool(options.get("training", False)), options.get("seed"), options.get("from_"),
            int(options.get("threads", program._threads)), bool(options.get("reference", False)),
        )  # fmt: skip
        self._step = 0
        self._ports: Optional[Tuple[List[Port], List[Port]]] = None

    def with_(self, **options: Any) -> "Function":
        """The same with other options: precision (32, 64, "bf16", "tf32", "auto"), training, seed, from_ (a run), threads, reference."""
        training, seed, from_, threads, reference = self._rest
        now = dict(precision=self._precision, training=training, seed=seed, from_=from_, threads=threads, reference=reference)
        unknown = set(options) - set(now)
        if unknown:
            raise TypeError(f"there is no option {sorted(unknown)[0]!r}: {', '.join(now)}")
        return Function(self.program, self.name, self.kind, **{**now, **options})

    # -- what it is -------------------------------------------------------------------------------
    def _look(self) -> Tuple[List[Port], List[Port]]:
        if self._ports is None:
            made = self._take(self._precision or 32)
            self._ports = made.ins, made.outs
            self._give(self._precision or 32, made)
        return self._ports

    @property
    def inputs(self) -> List[Port]:
        """What goes in, in order."""
        return self._look()[0]

    @property
    def outputs(self) -> List[Port]:
        """What comes out, in order."""
        return self._look()[1]

    @property
    def signature(self) -> str:
        """As a type: (x: R[4]) -> R[3]."""
        ins = ", ".join(f"{p.name}: {p.type}" if p.name else p.type for p in self.inputs)
        outs = ", ".join(f"{p.name}: {p.type}" if p.name else p.type for p in self.outputs)
        return f"({ins}) -> {outs if len(self.outputs) == 1 else f'({outs})'}"

    def __repr__(self) -> str:
        try:
            return f"<limn {self.kind} {self.name}{self.signature}>"
        except Error:
            return f"<limn {self.kind} {self.name}>"

    def draw(self, **options: Any) -> Any:
        """Its picture: see Program.draw."""
        return self.program.draw(self.name, **options)

    def text(self, stage: Optional[str] = None) -> str:
        """Its diagram as text, at a stage: see Program.text."""
        return self.program.text(self.name, stage)

    def cost(self) -> Dict[str, Any]:
        """Time and memory: see Program.cost."""
        return self.program.cost(self.name)

    @property
    def weights(self) -> Dict[str, Any]:
        """Its weights as they are, by name; to set one, `program.weights[name] = …`."""
        made = self._take(self._precision or 32)
        try:
            made.follow(self.program)
            a, b = made.weights()
            return {**taken_all(a), **taken_all(b)}
        finally:
            self._give(self._precision or 32, made)

    # -- calls ------------------------------------------------------------------------------------
    def _take(self, precision: Any) -> Made:
        how = (precision,) + self._rest
        free = self.program._free.setdefault((self.name, how), [])
        try:
            return free.pop()
        except IndexError:
            return Made(self.program, self.name, how)

    def _give(self, precision: Any, made: Made) -> None:
        if self.program._handle is not None:  # otherwise it goes
            self.program._free.setdefault((self.name, (precision,) + self._rest), []).append(made)

    def _arrays(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> Tuple[List[str], List[Any], Any]:
        """Names, arrays and precision: double where a real input is double or whole, unless it is said."""
        arrays = [array_of(x) for x in args]
        names = [""] * len(args)
        for name, x in named.items():
            names.append(name)
            arrays.append(array_of(x))
        precision = self._precision
        if precision is None:
            t = types()
            single = t.np.dtype("f4")
            ins = self._ports[0] if self._ports else self._look()[0]
            by_name = {p.name: p for p in ins}
            wide = any_real = False
            for i, x in enumerate(arrays):
                port = by_name.get(names[i]) if names[i] else ins[i] if i < len(ins) else None
                if port is not None and port.kind != "real":
                    continue
                any_real = True
                wide |= x.dtype != single
            precision = 64 if wide and any_real else 32
        return names, arrays, precision

    def _flat(self, names: List[str], arrays: List[Any], made: Made) -> Optional[Tuple[int, ...]]:
        """Several axes of samples become one; gives what they were."""
        lead: Optional[Tuple[int, ...]] = None
        by_name = {p.name: p for p in made.ins}
        for i, x in enumerate(arrays):
            port = by_name.get(names[i]) if names[i] else made.ins[i] if i < len(made.ins) else None
            more = x.ndim - port.rank if port else 0
            if more < 2 or (port and port.rank and "…batch" in port.type):
                continue
            if lead is not None and x.shape[:more] != lead:
                raise ValueError(f"inputs have different axes of samples: {lead} and {x.shape[:more]}")
            lead = x.shape[:more]
            arrays[i] = x.reshape((-1,) + x.shape[more:])
        return lead

    def _results(self, made: Made, lead: Optional[Tuple[int, ...]]) -> Any:
        found = []
        for i in range(made.result.n):
            port = made.outs[i]
            y = taken(made.result.at[i].array, port.kind == "bit")
            found.append(y.reshape(lead + y.shape[1:]) if lead is not None and y.ndim == port.rank + 1 else y)
        return found[0] if len(found) == 1 else made.tuple(found)

    def _run(self, args: Tuple[Any, ...], named: Dict[str, Any], grad: bool, dy: Any, take: Any) -> Any:
        """One call; `take` makes of what comes out what is given."""
        program = self.program
        program._pull()
        names, arrays, precision = self._arrays(args, named)
        made = self._take(precision)
        try:
            lead = self._flat(names, arrays, made)
            if made.version != program._version:
                made.follow(program)
            cotangents = None if dy is None else self._cotangents(dy, made, lead)
            self._step += 1
            made.run([n.encode() for n in names], arrays, self._step - 1, cotangents, grad)
            return take(made, lead)
        finally:
            self._give(precision, made)

    def _cotangents(self, dy: Any, made: Made, lead: Optional[Tuple[int, ...]]) -> List[Any]:
        """A tuple for several results; axes of samples become one, as those of inputs do."""
        many = [array_of(x) for x in (dy if isinstance(dy, (tuple, list)) and len(made.outs) > 1 else (dy,))]
        if lead is not None:
            many = [x.reshape((-1,) + x.shape[len(lead) :]) if x.shape[: len(lead)] == lead else x for x in many]
        return many

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._run(args, named, False, None, self._results)

    def grad(self, *args: Any, dy: Any = None, **named: Any) -> Gradients:
        """Results, and the gradients of inputs and weights, for the cotangent dy of the result (a tuple of several), or
        1 for each number."""
        gradients: Gradients = self._run(args, named, True, dy, self._gradients)
        return gradients

    def _gradients(self, made: Made, lead: Optional[Tuple[int, ...]]) -> Gradients:
        reals = [p for p in made.ins if p.kind != "label"]
        weights, inputs = {}, {}
        learned = made.weights()[0]
        known = {learned.at[i].name for i in range(learned.n)}
        place = 0
        for k in range(made.grads.n):
            name = made.grads.at[k].name
            x = taken(made.grads.at[k].array)
            if name in known:
                weights[name.decode()] = x
                continue
            port = reals[place] if place < len(reals) else None
            place += 1
            if lead is not None and port is not None and x.ndim == port.rank + 1:
                x = x.reshape(lead + x.shape[1:])
            inputs[name.decode()] = x
        return Gradients(self._results(made, lead), inputs, weights)
