"""A box or learner as a torch.nn.Module."""

from __future__ import annotations

import copy
import ctypes as C
import threading
from typing import Any, Dict, List, Optional, Tuple

import torch

from ._arrays import int64s, shape_of
from ._errors import Error
from ._function import Function, Made
from ._library import F32, F64, I32, I64, U8, Array, Call, Input, library
from ._errors import settle_function

_CODE = {torch.float64: F64, torch.float32: F32, torch.int64: I64, torch.int32: I32, torch.uint8: U8, torch.bool: U8}
_DTYPE = {F64: torch.float64, F32: torch.float32, I32: torch.int32, I64: torch.int64, U8: torch.uint8}


def _fill(to: Array, x: torch.Tensor, keep: List[Any]) -> None:
    if x.device.type != "cpu":
        raise ValueError(f"limn computes on the CPU, and a tensor is on {x.device}: x.cpu() brings it")
    x = x.resolve_neg()
    if x.dtype not in _CODE:
        x = x.to(torch.float32 if x.is_floating_point() else torch.int64)
    shape = int64s(x.dim())(*x.shape)
    size = x.element_size()
    strides = int64s(x.dim())(*[s * size for s in x.stride()])
    to.type, to.rank, to.data = _CODE[x.dtype], x.dim(), x.data_ptr()
    to.shape, to.strides = C.addressof(shape), C.addressof(strides)
    keep.append((x, shape, strides))


def _taken(a: Array) -> torch.Tensor:
    out = torch.empty(shape_of(a), dtype=_DTYPE[a.type])
    C.memmove(out.data_ptr(), a.data, out.numel() * out.element_size())
    return out


def _shared(a: Array, owner: Any) -> torch.Tensor:
    """A tensor on the memory of limn."""
    dtype, shape = _DTYPE[a.type], shape_of(a)
    n = torch.Size(shape).numel()
    if not n:
        return torch.empty(shape, dtype=dtype)
    buffer: Any = (C.c_char * (n * torch.empty((), dtype=dtype).element_size())).from_address(a.data)
    buffer._owner = owner
    return torch.frombuffer(buffer, dtype=dtype).reshape(shape)


class _Engine:
    """One compiled function. Weights that do not lie in its own memory are copied there before each call: a tensor may
    be written to behind torch's back."""

    def __init__(self, function: Function, precision: int, training: bool):
        how = (precision, training) + function._rest[1:]
        self.wide = precision == 64
        self.made = Made(function.program, function.name, how)
        self.own: Dict[str, int] = {}
        for all_ in self.made.weights():
            self.own.update((all_.at[i].name.decode(), all_.at[i].array.data) for i in range(all_.n))
        self.rooms: Dict[int, Any] = {}
        self.lock = threading.Lock()

    def _room(self, n: int) -> Any:
        """The structs of a call with n inputs: to make them takes as long as a small call."""
        found = self.rooms.get(n)
        if found is None:
            arrays, given = (Array * n)(), (Input * n)()
            for i in range(n):
                given[i].name, given[i].array = b"", C.pointer(arrays[i])
            call = Call(in_=given, nin=n)
            found = self.rooms[n] = arrays, call, C.byref(call)
        return found

    def run(self, inputs: Any, weights: Any, step: int, order: int) -> List[torch.Tensor]:
        """The results of the box, or of its derivative of this order: then cotangents stand behind the inputs."""
        made = self.made
        for name, w in weights.items():
            if self.own.get(name) == w.data_ptr():
                continue
            keep: List[Any] = []
            a = Array()
            _fill(a, w.detach(), keep)
            made.set(name, a)
        keep = []
        if not order and len(inputs) != len(made.ins):
            raise TypeError(f"{len(made.ins)} inputs are wanted, not {len(inputs)}")
        arrays, call, byref_call = self._room(len(inputs))
        for i, x in enumerate(inputs):
            _fill(arrays[i], x.detach(), keep)
        call.step, call.order = step, order
        settle_function(made.handle, library().limn_function_call(made.handle, byref_call, made.byref_result, None))
        out = [_taken(made.result.at[i].array) for i in range(made.result.n)]
        real = torch.float64 if self.wide else torch.float32  # one number is double in limn, always
        return [y.to(real) if y.is_floating_point() else y for y in out]


def _leads(ports: Any, inputs: Any) -> Tuple[int, ...]:
    """The axes of samples, if there are several in front of some input."""
    lead: Tuple[int, ...] = ()
    for port, x in zip(ports, inputs):
        more = x.dim() - port.rank
        if more < 2 or (port.rank and "…batch" in port.type):
            continue
        if lead and tuple(x.shape[:more]) != lead:
            raise ValueError(f"inputs have different axes of samples: {lead} and {tuple(x.shape[:more])}")
        lead = tuple(x.shape[:more])
    return lead


class _Call(torch.autograd.Function):
    """The box, or its derivative of some order. The gradient is a call of the next order, which is a node of the graph
    again: there are gradients of gradients."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any, **_: Any) -> Any:
        module, engine, step, order, n, *tensors = arguments
        inputs, weights = tensors[:n], tensors[n:]
        with engine.lock:
            out = engine.run(inputs, dict(zip(module._learned + module._lasting, weights)), step, order)
        ctx.called = module, engine, step, order, n
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*[y for y in out if not y.is_floating_point()])
        ctx.labels = [False] * len(out) if order else [port.kind == "label" for port in engine.made.outs]
        ctx.shapes = [(y.shape, y.dtype) for y in out]
        return tuple(out)

    @staticmethod
    def backward(ctx: Any, *dy: Optional[torch.Tensor]) -> Any:
        module, engine, step, order, n = ctx.called
        inputs, weights = ctx.saved_tensors[:n], ctx.saved_tensors[n:]
        given = [
            torch.zeros(shape, dtype=dtype) if d is None else d
            for d, (shape, dtype), label in zip(dy, ctx.shapes, ctx.labels) if not label
        ]  # fmt: skip
        place = iter(_Call.apply(module, engine, step, order + 1, n + len(given), *inputs, *given, *weights))
        found: List[Optional[torch.Tensor]] = []
        ports = engine.made.ins
        for i, x in enumerate(inputs):
            g = next(place) if i >= len(ports) or ports[i].kind != "label" else None
            found.append(g.to(x.dtype) if g is not None and x.is_floating_point() else None)
        found += [next(place).to(w.dtype) for w in weights[: len(module._learned)]]
        return (None, None, None, None, None, *found, *[None] * len(module._lasting))


class Module(torch.nn.Module):
    """A box or learner of limn. Weights are Parameters (`names` says which is which); `train()` and `eval()` switch
    dropout and batch statistics. Tensors are on the CPU, float32 or (after `.double()`) float64; labels are whole
    numbers. Axes in front of what an input wants are samples, as of a Function."""

    def __init__(self, function: Function, seed: Optional[int] = None):
        super().__init__()
        self.function = function if seed is None else function.with_(seed=seed)
        self._engines: Dict[Tuple[int, bool], _Engine] = {}
        self._calls = 0
        program = function.program
        program._pull()
        first = _Engine(self.function, 32, True)
        first.made.follow(program)
        learned, lasting = first.made.weights()
        self._learned = [learned.at[i].name.decode() for i in range(learned.n)]
        self._lasting = [lasting.at[i].name.decode() for i in range(lasting.n)]
        #: The limn name of each Parameter and buffer.
        self.names: Dict[str, str] = {}
        for i, name in enumerate(self._learned):
            self.register_parameter(self._name(name), torch.nn.Parameter(_shared(learned.at[i].array, first.made).float()))
        for i, name in enumerate(self._lasting):
            found = _shared(lasting.at[i].array, first.made)
            self.register_buffer(self._name(name), found.float() if found.is_floating_point() else found)
        self._engines[32, True] = first

    def _name(self, name: str) -> str:
        own = name.replace("/", "__").replace(".", "_")
        while own in self.names or hasattr(self, own):
            own += "_"
        self.names[own] = name
        return own

    def _tensors(self) -> List[torch.Tensor]:
        return [getattr(self, own) for own in self.names]

    def _engine(self, inputs: Any, weights: Any) -> _Engine:
        floats = {x.dtype for x in (*weights, *inputs) if x.is_floating_point()}
        if len(floats) > 1 and torch.float64 in floats:
            raise TypeError("inputs and weights are of several types of numbers: .double() or .float() makes them the same")
        key = (64 if torch.float64 in floats else 32, self.training)
        found = self._engines.get(key)
        if found is None:
            found = self._engines[key] = _Engine(self.function, *key)
        return found

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Any:
        tensors = list(inputs)
        if named:
            ports = [p.name for p in self.function.inputs]
            unknown = set(named) - set(ports)
            if unknown:
                raise TypeError(f"there is no input {sorted(unknown)[0]!r}: {', '.join(filter(None, ports))}")
            tensors += [named[name] for name in ports[len(tensors) :] if name in named]
        if torch.jit.is_tracing() or torch.onnx.is_in_onnx_export():
            raise Error(
                f"a module of limn computes outside of torch, where a trace sees nothing: limn export FILE {self.function.name} --as onnx "
                f"(or p.export) writes {self.function.name} as ONNX, and --as torch as a module that can be traced"
            )
        tensors = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in tensors]
        step = self._calls
        if self.training:
            self._calls += 1
        wanted = self.function.inputs
        lead = _leads(wanted, tensors)
        if lead:
            tensors = [x.flatten(0, len(lead) - 1) if x.dim() - p.rank == len(lead) else x for x, p in zip(tensors, wanted)]
        weights = self._tensors()
        out = _Call.apply(self, self._engine(tensors, weights), step, 0, len(tensors), *tensors, *weights)
        if lead:
            out = tuple(y.unflatten(0, lead) if y.dim() == p.rank + 1 else y for y, p in zip(out, self.function.outputs))
        return out if len(out) > 1 else out[0]

    def store(self) -> None:
        """The Parameters as they are become the weights of the limn program."""
        for own, name in self.names.items():
            self.function.program.weights[name] = getattr(self, own).detach()

    def extra_repr(self) -> str:
        return f"{self.function.name}{self.function.signature}"

    def __deepcopy__(self, memo: Any) -> "Module":
        """The same function with tensors of its own, which are as these are."""
        twin = Module.__new__(Module)
        memo[id(self)] = twin
        shared: Dict[str, Any] = {"function": self.function, "_engines": {}}
        twin.__dict__.update(shared)
        twin.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k not in shared})
        return twin

    def __getstate__(self) -> Any:
        raise Error("a module of limn cannot be pickled: keep its state_dict")
