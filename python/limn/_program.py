"""A program of limn, loaded."""

from __future__ import annotations

import ctypes as C
import os
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._arrays import array_of, inputs, one_array, taken_all
from ._errors import Error, Message, NameError_, messages_of, settle
from ._function import Function, Gradients, Made
from ._library import WRONG, Arrays, ExportC, Run, Use, encoded, library, precision_code
from ._picture import Picture
from ._record import Runs
from ._train import Beside, Metrics, Told, Trainer, Training, train
from ._weights import Weights

Path = Union[str, "os.PathLike[str]"]


class Program:
    """A program of limn: what it declares are its attributes (`p.enc`) and items (`p["enc"]`).

    Made by `limn.load` and `limn.loads`. It may be used by several threads at once; what they ask of one box or learner
    at the same time is computed at the same time, everything else one after the other.
    """

    def __init__(self, path: Optional[Path], text: Optional[str], set: Optional[Mapping[str, Any]] = None,
                 read: Optional[Sequence[Path]] = None, precision: Any = None, threads: int = 0,
                 name: str = "program.limn"):  # fmt: skip
        precision_code(precision)
        if path is None and not isinstance(text, str):
            raise TypeError(f"a program is a path for limn.load, or a str for limn.loads, not {type(text).__name__}")
        lib = library()
        self._source = (path, text, set, read, precision, threads, name)
        self._training = False
        self._lib_free = lib.limn_free
        self._handle = lib.limn_new()
        self._lock = threading.RLock()
        self._precision, self._threads = precision, threads
        self._functions: Dict[str, Function] = {}
        self._free: Dict[Any, List[Made]] = {}
        self._values: Dict[str, Any] = {}  # weights that were set or trained
        self._changed: Dict[str, int] = {}  # in which version
        self._unpushed: Dict[str, None] = {}  # what the handle does not have yet
        self._version = 0
        self._trainer: Optional[Trainer] = None
        self.path = os.fspath(path) if path is not None else name
        #: What it found odd when it was loaded.
        self.messages: List[Message] = []
        if not self._handle:
            raise MemoryError("limn: memory is exhausted")
        for key, value in (set or {}).items():
            settle(self._handle, lib.limn_set(self._handle, key.encode(), str(value).encode()))
        for folder in read or ():
            settle(self._handle, lib.limn_allow(self._handle, encoded(os.fspath(folder))))
        if text is None:
            status = lib.limn_load(self._handle, encoded(self.path))
        else:
            data = text.encode(errors="surrogateescape")
            status = lib.limn_load_text(self._handle, encoded(self.path), data, len(data))
        self.messages = messages_of(lib.limn_messages(self._handle, True))
        settle(self._handle, status, level=5, path=self.path if text is None else None)
        if text is None:  # what was loaded is what is trained, whatever becomes of the file
            with open(self.path, encoding="utf-8", errors="surrogateescape", newline="") as f:
                self._source = (path, f.read(), set, read, precision, threads, name)
        import json

        #: What it declares, by kind: boxes, learners, diagrams, machines, goals, measures, given.
        self.names: Dict[str, List[str]] = json.loads(lib.limn_names(self._handle))
        self._kinds = {
            n: kind[:-1] if kind != "boxes" else "box"
            for kind in ("measures", "goals", "boxes", "learners")
            for n in self.names[kind]
            if n
        }
        #: Weights by name.
        self.weights = Weights(self)

    # -- names ------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Function:
        if not name.startswith("_") and name in self.__dict__.get("_kinds", ()):
            return self[name]
        raise AttributeError(f"{self!r} declares no box, learner, goal or measure {name!r}")

    def __getitem__(self, name: str) -> Function:
        found = self._functions.get(name)
        if found is None:
            if name not in self._kinds:
                try:
                    Made(self, name, (32, False, None, None, self._threads, False))  # of a file that it uses, say
                except Error as error:
                    raise NameError_(str(error), error.messages, error.status) from None
            found = self._functions[name] = Function(self, name, self._kinds.get(name, "box"))
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._kinds})

    def _ipython_key_completions_(self) -> List[str]:
        return list(self._kinds)

    def __repr__(self) -> str:
        if "_kinds" not in self.__dict__:
            return "<limn program>"
        return f"<limn program {os.path.basename(self.path)}: {self.summary().splitlines()[0]}>"

    # -- questions --------------------------------------------------------------------------------
    def _ask(self, name: str, *arguments: Any) -> str:
        with self._lock:
            text = getattr(library(), name)(self._handle, *arguments)
            answer = None if text is None else text.decode()
            settle(self._handle, WRONG if answer is None else 0, level=5)
        return answer or ""

    def check(self) -> None:
        """Would it run? Everything that is refused before a first step of training is raised here."""
        with self._lock:
            settle(self._handle, library().limn_check(self._handle))

    def summary(self) -> str:
        """What it declares, in words."""
        return self._ask("limn_summary", False).rstrip("\n")

    def who(self) -> str:
        """Which goal moves which learner, as a table."""
        return self._ask("limn_who", False)

    def text(self, name: Optional[str] = None, stage: Optional[str] = None) -> str:
        """A box, learner, goal or measure (None: the whole loss) as text, at a stage: tree, value, check (None), inline,
        simplify, reverse, forward, gradient, step, plan, c."""
        return self._ask("limn_print", encoded(name), encoded(stage), False)

    def cost(self, name: Optional[str] = None) -> Dict[str, Any]:
        """Time and memory, as polynomials in the axes."""
        import json

        return json.loads(self._ask("limn_cost", encoded(name), True))

    def find(self, pattern: str) -> Any:
        """Where a route of boxes is, as "dense ; relu"."""
        import json

        return json.loads(self._ask("limn_find", encoded(pattern), True))

    def draw(self, name: Optional[str] = None, *, level: Optional[str] = None, theme: Optional[str] = None,
             open: Optional[Sequence[str]] = None, close: Optional[Sequence[str]] = None, width: Any = None,
             **more: bool) -> Picture:  # fmt: skip
        """The picture of a box, learner, machine or learning diagram, or (None) of the goals. It shows itself in a
        notebook; `save` writes a file. More: lens, grad, who, unfold, notes, no_legend, ascii."""
        return Picture(self, name, dict(level=level, theme=theme, open=open, close=close, width=width, **more))

    # -- values -----------------------------------------------------------------------------------
    def function(self, name: str, **options: Any) -> Function:
        """A box, learner, goal or measure with options of its own: precision, training, seed, from_, threads,
        reference."""
        return self[name].with_(**options)

    def grad(self, name: str, *args: Any, dy: Any = None, **named: Any) -> Gradients:
        """The results of a box, learner, goal or measure and the gradients of its inputs and weights."""
        return self[name].grad(*args, dy=dy, **named)

    def _use(self, from_: Optional[Path], seed: Optional[int], device: Optional[str] = None, precision: Any = None, **fields: Any) -> Use:
        return Use(
            from_=encoded(None if from_ is None else os.fspath(from_)), seed=seed or 0, has_seed=seed is not None,
            precision=precision_code(self._precision if precision is None else precision), threads=self._threads, device=encoded(device), **fields,
        )  # fmt: skip

    def _begin(self, from_: Optional[Path]) -> List[str]:
        """Without a run, first values stand in for weights that nothing set: while it is asked."""
        if from_ is not None:
            return []
        self._push()
        names = [name for name in self.weights if name not in self._values]
        for name in names:
            a, keep = one_array(self.weights[name])
            settle(self._handle, library().limn_weight_set(self._handle, name.encode(), C.byref(a)))
        return names

    def _used(self, from_: Optional[Path], ask: Callable[[], int]) -> None:
        names = self._begin(from_)
        status = ask()
        for name in names:
            library().limn_weight_set(self._handle, name.encode(), None)
        settle(self._handle, status, level=5, path=from_)

    def _used_arrays(self, from_: Optional[Path], ask: Callable[[Any], int]) -> Dict[str, Any]:
        out = Arrays()
        self._used(from_, lambda: ask(C.byref(out)))
        return taken_all(out)

    def predict(self, name: str, *args: Any, from_: Optional[Path] = None, seed: Optional[int] = None, device: Optional[str] = None,
                precision: Any = None, **named: Any) -> Any:  # fmt: skip
        """A box or learner on arrays or files ("x.csv", "x.npy", "x.png"), with the weights of a run folder or a
        safetensors file, or the program's own; as the command `limn predict`. What computes is a device: "cpu", "cuda", "cuda:1"
        (see limn.devices), in a precision: 32, 64, "bf16", "tf32" or "auto"; otherwise the program's, or the run's."""
        given, keep = inputs([("", x) for x in args] + list(named.items()))
        kinds = [array_of(x).dtype for x in (*args, *named.values()) if not isinstance(x, (str, bytes))]
        single = any(k == "f4" for k in kinds) and not any(k == "f8" for k in kinds)
        with self._lock:
            use = self._use(from_, seed, device, precision, in_=given, nin=len(args) + len(named))
            lib, label = library(), name.encode()
            found = list(self._used_arrays(from_, lambda out: lib.limn_predict_arrays(self._handle, label, use, out)).values())
        if single:  # float32 in, float32 out, as of a call
            found = [x.astype("f4") if x.dtype == "f8" else x for x in found]
        return found[0] if len(found) == 1 else tuple(found)

    def sample(self, name: Optional[str] = None, n: int = 0, *, from_: Optional[Path] = None, seed: Optional[int] = None,
               length: int = 0, temperature: float = 0, prompt: Optional[str] = None, device: Optional[str] = None,
               precision: Any = None) -> Any:  # fmt: skip
        """So many samples of a learner or box that is fed with noise, or (None) of the first `show`; as the command
        `limn sample`. Of a model of text: a text, so long, with such a temperature, that goes on with the prompt.
        Device and precision are as for `predict`."""
        lib = library()
        with self._lock:
            use = self._use(from_, seed, device, precision, n=n, length=length, temperature=temperature, prompt=encoded(prompt))
            if prompt is not None or length or temperature:
                text = C.c_char_p()
                self._used(from_, lambda: lib.limn_sample(self._handle, encoded(name), use, C.byref(text)))
                return (text.value or b"").decode(errors="replace")
            found = list(self._used_arrays(from_, lambda out: lib.limn_sample_arrays(self._handle, encoded(name), use, out)).values())
        return found[0] if len(found) == 1 else tuple(found)

    def measure(self, from_: Optional[Path] = None, seed: Optional[int] = None, device: Optional[str] = None,
                precision: Any = None) -> Dict[str, float]:  # fmt: skip
        """Every measure of the program, on its data. Device and precision are as for `predict`."""
        with self._lock:
            use = self._use(from_, seed, device, precision)
            lib = library()
            found = self._used_arrays(from_, lambda out: lib.limn_measure_arrays(self._handle, use, out))
        return {name: float(x) for name, x in found.items()}

    def gradients(self, goal: Optional[str] = None, name: Optional[str] = None, *, from_: Optional[Path] = None, n: int = 0,
                  seed: Optional[int] = None, device: Optional[str] = None, precision: Any = None) -> Dict[str, Any]:  # fmt: skip
        """The gradients of a goal's loss (None: of all) on one batch of the program's data: of a weight, of the wires
        inside that are called so (`h`, or `h.2` for the second of them), or (None) of all weights. Device and precision are
        as for `predict`."""
        with self._lock:
            use = self._use(from_, seed, device, precision, n=n)
            lib = library()
            return self._used_arrays(from_, lambda out: lib.limn_gradients(self._handle, encoded(goal), encoded(name), use, None, out))

    def export(self, name: Optional[str] = None, as_: str = "onnx", out: Optional[Path] = None, *, from_: Optional[Path] = None,
               precision: Any = None, seed: Optional[int] = None, train: bool = False, batch: int = 0,
               weights_beside: bool = False) -> List[str]:  # fmt: skip
        """A box or learner, or where the format can the whole program (None), as a file that others read, as the
        command `limn export`: "onnx", "torch", "jax", "c", "safetensors" or "json", with the weights as they are. Gives the
        files that were written."""
        text = C.c_char_p()
        how = ExportC(
            as_=encoded(as_), out=encoded(None if out is None else os.fspath(out)), from_=encoded(None if from_ is None else os.fspath(from_)),
            precision=precision_code(self._precision if precision is None else precision), seed=seed or 0, has_seed=seed is not None, train=train, batch=batch,
            weights_beside=weights_beside,
        )  # fmt: skip
        with self._lock:
            self._used(from_, lambda: library().limn_export(self._handle, encoded(name), C.byref(how), C.byref(text)))
            return (text.value or b"").decode().splitlines()

    # -- weights ----------------------------------------------------------------------------------
    def _note(self, name: str, x: Any, pushed: bool = True) -> None:
        with self._lock:
            self._version += 1
            self._values[name] = x
            self._changed[name] = self._version
            if pushed:
                self._unpushed.pop(name, None)
            else:
                self._unpushed[name] = None

    def _pull(self) -> None:
        """What a trainer made."""
        if self._trainer is not None and self._trainer.dirty:
            self._trainer.pull()

    def _push(self) -> None:
        """… becomes known to the handle, for what is asked of it."""
        lib = library()
        with self._lock:
            self._pull()
            for name in list(self._unpushed):
                a, keep = one_array(self._values[name])
                settle(self._handle, lib.limn_weight_set(self._handle, name.encode(), C.byref(a)))
                del self._unpushed[name]

    # -- training ---------------------------------------------------------------------------------
    def _twin(self) -> "Program":
        """The same program with the same weights."""
        if self._handle is None:
            raise ValueError("this program is closed")
        self._push()
        twin = Program(*self._source)
        for name, x in self._values.items():
            twin._note(name, x, pushed=False)
        twin._push()
        return twin

    def train(self, epochs: Optional[float] = None, steps: Optional[int] = None, *, out: Any = None, resume: Optional[Path] = None, batch: Optional[int] = None,
              seed: Optional[int] = None, threads: Optional[int] = None, precision: Any = None, device: Optional[str] = None, every: Any = None,
              on_epoch: Optional[Callable[[Metrics], Any]] = None, on_step: Optional[Callable[[Metrics], Any]] = None,
              progress: Optional[bool] = None) -> Training:  # fmt: skip
        """Learns, as the command `limn train`; the weights are then those of the program.

        Without `out` nothing is written. With it there is a run folder (True: runs/NAME) with checkpoints, curves, the
        model and a page. What computes is a device: "auto" (a GPU where there is one and the work is worth it), "cpu", "cuda" or
        "cuda:1", in a precision: 32, 64, "bf16", "tf32" or "auto". `on_epoch` is called with metrics at each report, `on_step` at each row of them; False in
        answer stops. Ctrl-C finishes the step, saves, and is raised then.
        """
        self._close_trainer()
        how = dict(
            epochs=epochs, steps=steps, out=out, resume=None if resume is None else os.fspath(resume),
            batch=batch, seed=seed, threads=self._threads if threads is None else threads,
            precision=precision if precision is not None else self._precision, device=device, every=every,
        )  # fmt: skip
        return train(self, on_epoch, on_step, progress, how)

    def trainer(self, **how: Any) -> Trainer:
        """A run in pieces: epochs, steps, batch, seed, threads, precision, device, out, resume, as for `train`."""
        how.setdefault("precision", self._precision)
        how.setdefault("threads", self._threads)
        self._close_trainer()
        self._trainer = Trainer(self, **how)
        return self._trainer

    def step(self, batch: Optional[Mapping[str, Any]] = None, **how: Any) -> Metrics:
        """One step of training: on the program's data, or on this batch, {"x": array, …} with samples in front. The
        first call opens a trainer with these options (see `trainer`); `p.enc(x)` then has the weights as they are."""
        if self._training:
            raise RuntimeError("this program is being trained")
        if self._trainer is None:
            if batch is not None and "batch" not in how:
                first = next(iter(batch.values()))
                how["batch"] = len(first)
            self.trainer(beyond=how.get("out") is None and how.get("resume") is None, **how)  # in memory, as long as you like
        elif how:
            raise ValueError("the trainer is open: its options cannot be changed; p.trainer(…) opens another")
        assert self._trainer is not None
        try:
            return self._trainer.step(batch)
        except Error as error:
            if "a step is made for" in str(error):
                error.args = (f"{error}\nthe first p.step opened a trainer for as many samples as it had: p.trainer(batch=…) opens one for more",)
            raise

    def _close_trainer(self) -> None:
        if self._training:
            raise RuntimeError("this program is being trained")
        if self._trainer is not None:
            self._trainer.close()
            self._trainer = None

    # -- machines ---------------------------------------------------------------------------------
    def run(self, out: Any = None, *, from_: Optional[Path] = None, seed: int = 0, check: bool = True,
            progress: Optional[bool] = None, device: Optional[str] = None) -> Runs:  # fmt: skip
        """Every run of the program's machines, with its records as arrays, and every claim. A claim that fails is
        raised, unless `check` is False. With `out` the folder of the run is kept. The device "cuda" follows machines
        by ticks. Machines are computed in doubles, wherever that is."""
        import json
        import shutil
        import tempfile

        beside = Beside()
        told = Told(beside, None, None, progress)
        folder = tempfile.mkdtemp(prefix="limn.") if out is None else os.fspath(out)
        lib, text = library(), C.c_char_p()
        try:
            with self._lock:
                self._push()
                how = Run(
                    out=encoded(os.path.join(folder, "run") if out is None else folder), seed=seed,
                    from_=encoded(None if from_ is None else os.fspath(from_)), threads=self._threads, json=True,
                    tell=told.tell, stop=C.addressof(beside.stop), device=encoded(device),
                )  # fmt: skip
                status = beside.run(lambda: lib.limn_run(self._handle, C.byref(how), C.byref(text)))
                note = json.loads(text.value) if text.value else None
                if beside.raised is not None:
                    lib.limn_forget(self._handle)
                    raise beside.raised
                failing = [c for c in (note or {}).get("checks", []) if not c["holds"]]
                if note is None or status not in (0, WRONG):
                    settle(self._handle, status or WRONG, path=from_)
                where = os.path.join(folder, "run") if out is None else folder
                runs = Runs(note, where, out is not None)
                if failing and check:
                    lines = [f"{c.get('of', '')} : {c['text']} does not hold: {c.get('figure', '')}" for c in failing]
                    found = messages_of(lib.limn_messages(self._handle, True))
                    lib.limn_forget(self._handle)
                    raise Error("\n".join(lines), found, status)
                settle(self._handle, 0 if failing else status)
                return runs
        finally:
            if out is None:
                shutil.rmtree(folder, ignore_errors=True)

    # -- the end ----------------------------------------------------------------------------------
    def close(self) -> None:
        """Gives back all that it holds; it cannot be used any more."""
        with self._lock:
            self._close_trainer()
            self._free = {}
            handle, self._handle = self._handle, None
            if handle:
                self._lib_free(handle)

    def __reduce__(self) -> Any:
        raise TypeError("a program of limn cannot be pickled or copied: load it where it is used")

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        handle = self.__dict__.get("_handle")
        if handle:
            self._handle = None
            self._lib_free(handle)
