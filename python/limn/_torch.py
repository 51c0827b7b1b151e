"""A box or learner as a torch.nn.Module."""

from __future__ import annotations

import ctypes as C
import threading
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch.autograd.function import once_differentiable

from ._arrays import int64s, shape_of
from ._errors import Error
from ._function import Function, Made
from ._library import F32, F64, I32, I64, U8, Array, Call, library
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
        self.made = Made(function.program, function.name, how)
        self.own: Dict[str, int] = {}
        for all_ in self.made.weights():
            self.own.update((all_.at[i].name.decode(), all_.at[i].array.data) for i in range(all_.n))
        self.lock = threading.Lock()

    def run(self, inputs: Any, weights: Any, step: int, dy: Optional[List[Any]]) -> None:
        made = self.made
        for name, w in weights.items():
            if self.own.get(name) == w.data_ptr():
                continue
            keep: List[Any] = []
            a = Array()
            _fill(a, w.detach(), keep)
            made.set(name, a)
        keep = []
        if len(inputs) != len(made.ins):
            raise TypeError(f"{len(made.ins)} inputs are wanted, not {len(inputs)}")
        for i, x in enumerate(inputs):
            _fill(made.array[i], x.detach(), keep)
            made.input[i].name = b""
        call: Call = made.call
        call.nin, call.step, call.ndy = len(inputs), step, 0
        if dy is not None:
            arrays = (Array * len(dy))()
            for i, x in enumerate(dy):
                _fill(arrays[i], x.detach(), keep)
            call.dy, call.ndy = arrays, len(dy)
        grads = made.byref_grads if dy is not None else None
        settle_function(made.handle, library().limn_function_call(made.handle, made.byref_call, made.byref_result, grads))


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *arguments: Any, **_: Any) -> Any:
        module, step, n, *tensors = arguments
        inputs, weights = tensors[:n], tensors[n:]
        engine = module._engine(inputs, weights)
        with engine.lock:
            engine.run(inputs, dict(zip(module._learned + module._lasting, weights)), step, None)
            result = engine.made.result
            out = tuple(_taken(result.at[i].array) for i in range(result.n))
        ctx.module, ctx.engine, ctx.step, ctx.n = module, engine, step, n
        ctx.save_for_backward(*tensors)
        labels = [y for y in out if not y.is_floating_point()]
        ctx.mark_non_differentiable(*labels)
        ctx.shapes = [(y.shape, y.dtype) for y in out]
        return out if len(out) > 1 else out[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *dy: Optional[torch.Tensor]) -> Any:
        tensors = ctx.saved_tensors
        inputs, weights = tensors[: ctx.n], tensors[ctx.n :]
        module, engine = ctx.module, ctx.engine
        given = [torch.zeros(shape, dtype=dtype) if d is None else d for d, (shape, dtype) in zip(dy, ctx.shapes)]
        with engine.lock:
            engine.run(inputs, dict(zip(module._learned + module._lasting, weights)), ctx.step, given)
            grads = engine.made.grads
            found = [(grads.at[i].name.decode(), _taken(grads.at[i].array)) for i in range(grads.n)]
        place = iter(found)
        answer: List[Optional[torch.Tensor]] = [None, None, None]
        for x, port in zip(inputs, engine.made.ins):
            g = next(place)[1] if port.kind != "label" else None
            answer.append(g.to(x.dtype) if g is not None and x.is_floating_point() else None)
        by_name = dict(place)
        answer += [by_name[name].to(w.dtype) for name, w in zip(module._learned, weights)]
        answer += [None] * len(module._lasting)
        return tuple(answer)


class Module(torch.nn.Module):
    """A box or learner of limn. Weights are Parameters (`names` says which is which); `train()` and `eval()` switch
    dropout and batch statistics. Tensors are on the CPU, float32 or (after `.double()`) float64; labels are whole
    numbers. One or no axis of samples stands in front of the inputs."""

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
            self.register_parameter(self._name(name), torch.nn.Parameter(_shared(learned.at[i].array, first.made)))
        for i, name in enumerate(self._lasting):
            self.register_buffer(self._name(name), _shared(lasting.at[i].array, first.made))
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
        tensors = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in tensors]
        step = self._calls
        if self.training:
            self._calls += 1
        return _Call.apply(self, step, len(tensors), *tensors, *self._tensors())

    def store(self) -> None:
        """The Parameters as they are become the weights of the limn program."""
        for own, name in self.names.items():
            self.function.program.weights[name] = getattr(self, own).detach()

    def extra_repr(self) -> str:
        return f"{self.function.name}{self.function.signature}"

    def __getstate__(self) -> Any:
        raise Error("a module of limn cannot be pickled: keep its state_dict")
