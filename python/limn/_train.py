"""Training: a whole run, and a step at a time."""

from __future__ import annotations

import ctypes as C
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional

from ._arrays import inputs, one_array, seen, taken
from ._errors import settle
from ._library import METRICS, SAY, Arrays, MetricsC, Tell, Train, encoded, library, precision_code, whole

if TYPE_CHECKING:
    from ._program import Program


class Metrics(Mapping[str, float]):
    """Where a run is: losses and measures by name, and how far it came."""

    def __init__(self, m: MetricsC):
        self.step, self.steps, self.epoch, self.seconds = m.step, m.steps, m.epoch, m.seconds
        self.reported = m.reported
        self._values = {m.name[i].decode(): m.value[i] for i in range(m.n)}

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        values = ", ".join(f"{k} {v:.4g}" for k, v in self._values.items())
        return f"<step {self.step}: {values}>"


class Training:
    """What a run was: its `history`, a row of metrics for each report, its `folder` (None: it was in memory), and whether
    it was `stopped` before its end."""

    def __init__(self) -> None:
        self.history: List[Metrics] = []
        #: Its last report; without any (it was stopped early, or had been at its end), where it is.
        self.last: Optional[Metrics] = None
        self.folder: Optional[str] = None
        self.stopped = False

    def __getitem__(self, name: str) -> List[float]:
        """A curve: all values of one loss or measure."""
        return [m[name] for m in self.history if name in m]

    def __repr__(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return f"<limn training{where}: {self.last!r}>" if self.last is not None else f"<limn training{where}>"


class Beside:
    """Work of limn in a thread beside this one, which runs its callbacks and listens to Ctrl-C meanwhile: a first one
    asks the work to come to an end, and is raised when it has."""

    def __init__(self) -> None:
        import queue

        self.stop = C.c_int(0)
        self.jobs: Any = queue.SimpleQueue()
        self.raised: Optional[BaseException] = None

    def ask(self, job: Callable[[], Any]) -> None:
        """From a callback of limn: done by the thread that waits."""
        if self.raised is not None:
            return
        done = threading.Event()
        self.jobs.put((job, done))
        done.wait()

    def end(self) -> None:
        library().limn_stop(C.byref(self.stop), 1)

    def _do(self, job: Callable[[], Any], done: threading.Event) -> None:
        try:
            job()
        except BaseException as error:  # noqa: B036 - it is raised when limn has come to an end
            self.raised = self.raised or error
            self.end()
        finally:
            done.set()

    def run(self, work: Callable[[], int]) -> int:
        status: List[int] = []

        def beside() -> None:
            try:
                status.append(work())
            finally:
                self.jobs.put(None)

        thread = threading.Thread(target=beside, name="limn", daemon=True)
        thread.start()
        while True:
            try:
                job = self.jobs.get()
            except KeyboardInterrupt as error:
                self.raised = self.raised or error
                self.end()
                continue
            if job is None:
                break
            self._do(*job)
        thread.join()
        return status[0]


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return bool(shell and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell")


class Told:
    """What a run says: its rows to on_step and on_epoch, its lines to the screen."""

    def __init__(self, beside: Beside, on_epoch: Any, on_step: Any, progress: Optional[bool]):
        self.beside, self.on_epoch, self.on_step = beside, on_epoch, on_step
        self.result = Training()
        self.trainer: Optional["Trainer"] = None
        if progress is None:
            progress = sys.stderr.isatty() or _in_notebook()
        self._metrics = METRICS(self._row)
        self._line = SAY(self._said)
        self.tell = Tell(metrics=self._metrics, **({"line": self._line} if progress else {}))

    def _said(self, _: Any, text: bytes) -> None:
        self.beside.ask(lambda: print(text.decode(errors="replace"), flush=True))

    def _row(self, _: Any, m: Any) -> None:
        row = Metrics(m[0])
        if row.reported:
            self.result.history.append(row)
        call = self.on_epoch if row.reported else None

        def job() -> None:
            trainer = self.trainer
            if trainer is not None:  # who asks for the weights now gets those of this step
                trainer.dirty, trainer.asking = True, threading.get_ident()
            try:
                for f in (self.on_step, call):
                    if f is not None and f(row) is False:
                        self.beside.end()
            finally:
                if trainer is not None:
                    trainer.dirty = False

        if self.on_step is not None or call is not None:
            self.beside.ask(job)


def options(fields: Dict[str, Any]) -> Train:
    """LimnTrain, from what a caller says."""
    how = dict(fields)
    seed = how.pop("seed", None)
    if seed is not None:
        how.update(seed=int(seed), has_seed=True)
    precision = precision_code(how.pop("precision", None))
    for key, least in (("epochs", "more than 0"), ("steps", "a whole number from 1 on"), ("batch", "a whole number from 1 on")):
        x = how.get(key)
        if x is None:
            continue
        if not x > 0 or (key != "epochs" and x != x // 1):
            raise ValueError(f"{key} is {least}, not {x!r}; without it, the program says " + ("how many" if key == "batch" else "how long"))
        how[key] = int(x) if key == "batch" else float(x)
    for key in ("out", "resume", "every", "device", "changes"):
        how[key] = encoded(None if how.get(key) is None else str(how[key]))
    return Train(precision=precision, **{k: v for k, v in how.items() if v is not None})


class Trainer:
    """A run in pieces of your own: `step` makes one, on the program's data or on a batch of yours."""

    def __init__(self, program: "Program", **how: Any):
        self._program = self._to = program
        self._lib = library()
        self.asking: Optional[int] = None  # the thread that may look, while it trains in another
        self._handle: Any = None
        self.dirty = False
        self.done = False
        how.setdefault("in_memory", how.get("out") is None and how.get("resume") is None)
        how.setdefault("quiet", True)
        told = how.pop("told", None)
        beside = told.beside if told else Beside()
        self._stop = beside.stop
        self._told = told
        train = options(how)
        train.stop = C.addressof(self._stop)
        if told:
            train.tell = told.tell
            train.quiet = False
        handle = C.c_void_p()
        with program._lock:
            program._push()
            status = beside.run(lambda: self._lib.limn_trainer_open(program._handle, C.byref(train), C.byref(handle)))
            if beside.raised:
                self._lib.limn_forget(program._handle)
                raise beside.raised
            settle(program._handle, status, path=how.get("resume"))
        self._handle = handle.value

    def step(self, batch: Optional[Mapping[str, Any]] = None, steps: int = 1) -> Metrics:
        """So many steps on the program's data, or one on this batch: arrays by the names of fields, samples in front."""
        done = C.c_bool()
        with self._program._lock:
            self._open()
            if batch is None:
                status = self._lib.limn_trainer_step(self._handle, whole("steps", steps), C.byref(done))
            else:
                given, keep = inputs(list(batch.items()))
                status = self._lib.limn_trainer_step_on(self._handle, given, len(batch), C.byref(done))
            self.dirty = True
            self.done = done.value
            settle(self._program._handle, status)
            return self.metrics

    def _open(self) -> None:
        if self._handle is None:
            raise ValueError("this trainer is closed")

    @property
    def metrics(self) -> Metrics:
        """Where it is: the losses of the last step."""
        m = MetricsC()
        with self._program._lock:
            self._open()
            self._lib.limn_trainer_metrics(self._handle, C.byref(m))
            return Metrics(m)

    def _arrays(self) -> Arrays:
        all_ = Arrays()
        self._open()
        self._lib.limn_trainer_weights(self._handle, C.byref(all_))
        return all_

    @property
    def weights(self) -> Dict[str, Any]:
        """Every weight by name, in the memory that is trained: to be read, between two steps."""
        with self._program._lock:
            all_ = self._arrays()
            return {all_.at[i].name.decode(): seen(all_.at[i].array, self) for i in range(all_.n)}

    def _set(self, name: str, x: Any) -> None:
        a, keep = one_array(x)
        self._open()
        status = self._lib.limn_trainer_weight_set(self._handle, name.encode(), C.byref(a))
        if status:
            self._lib.limn_forget(self._program._handle)  # no weight of what is trained

    def pull(self) -> None:
        """Its weights become the program's."""
        if self.asking is not None and self.asking != threading.get_ident():
            return
        with self._program._lock:
            self.dirty = False
            if self._handle is None:
                return
            all_ = self._arrays()
            for i in range(all_.n):
                self._to._note(all_.at[i].name.decode(), taken(all_.at[i].array), pushed=False)

    def close(self) -> None:
        """Its weights stay with the program; with a folder, the run is saved and can be resumed."""
        if self._handle is None:
            return
        with self._program._lock:
            if self.dirty:
                self.pull()
            handle, self._handle = self._handle, None
            if self._program._trainer is self:
                self._program._trainer = None
            settle(self._program._handle, self._lib.limn_trainer_close(handle))

    def __enter__(self) -> "Trainer":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<limn trainer of {self._program.path}>" if self._handle else "<limn trainer, closed>"


def train(program: "Program", on_epoch: Any, on_step: Any, progress: Optional[bool], how: Dict[str, Any]) -> Training:
    """In a handle of its own, so that callbacks may ask the program anything."""
    lib, beside = library(), Beside()
    told = Told(beside, on_epoch, on_step, progress)
    if program._training:
        raise RuntimeError("this program is being trained")
    with program._twin() as twin:
        settle(twin._handle, lib.limn_check(twin._handle), level=6)
        if how.get("out") is True:
            place = C.c_char_p()
            settle(twin._handle, lib.limn_run_folder(twin._handle, None, None, C.byref(place)))
            how = dict(how, out=(place.value or b"").decode())
        trainer = Trainer(twin, told=told, **how)
        trainer._to = program
        told.trainer, program._trainer, program._training = trainer, trainer, True
        done = C.c_bool()
        try:
            status = beside.run(lambda: lib.limn_trainer_step(trainer._handle, 2**63, C.byref(done)))
            trainer.pull()
            settle(twin._handle, status, level=6)
            told.result.last = told.result.history[-1] if told.result.history else trainer.metrics
        finally:
            program._trainer, program._training = None, False
            trainer.close()
        folder = how.get("out") or how.get("resume")
        if folder is not None:
            told.result.folder = str(folder)
            _report(twin, told, str(folder))
    told.result.stopped = bool(beside.stop.value)
    if beside.raised is not None:
        raise beside.raised
    return told.result


def _report(twin: "Program", told: Told, folder: str) -> None:
    place = C.c_char_p()
    status = library().limn_report(twin._handle, twin._use(folder, None), C.byref(place))
    settle(twin._handle, status, level=7)
