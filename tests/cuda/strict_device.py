"""A device whose arrays are as strict as CuPy's, and whose work is done as late as a stream may.

Operations take the way that they take on a GPU (`colkern.cuda.target`), but for the launch itself: the
kernel is noted, and runs on the CPU when somebody waits for its stream. So is the work of the array
library, and copies. Nothing runs of a stream that nobody waits for, and memory that nobody has any more is
given to others of the same stream at once, as CuPy's pool does. Host code that reads memory before,
another stream that does not wait, an array of NumPy in place of the device's, and what CuPy has no name
for are failures so.
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from operator import attrgetter
from typing import Any
from unittest.mock import patch

import numpy as np

from colkern.cpu.target import CpuTarget
from colkern.cuda import memory, stand_in, stand_in_target
from colkern.cuda.target import CudaTarget, Cut, Part
from colkern.kernels import Kernel
from colkern.memory import Device

_NAMES = """
    all any argmax argsort astype clip copy cumprod cumsum dtype flags item itemsize max min nbytes ndim
    nonzero prod ravel repeat reshape shape size sort sum take view
"""
"""The attributes of `cupy.ndarray` that may be used; a test on a GPU looks whether it is there."""

_FUNCTIONS = """
    arange argsort asarray asnumpy bincount concatenate cumsum diff empty empty_like from_dlpack full
    lexsort maximum minimum ndarray nonzero ones repeat searchsorted stack unique where zeros
"""
"""As well, of `cupy`."""

NAMES, FUNCTIONS = frozenset(_NAMES.split()), frozenset(_FUNCTIONS.split())

_AT_ONCE = frozenset({"dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size"})
"""Names that the host knows without the values."""

_SAME_MEMORY = frozenset({"ravel", "reshape", "view"})

_SIZED_BY_VALUES = frozenset({"bincount", "nonzero", "unique"})
"""Functions that wait, in CuPy too, since values decide how large their results are."""

_GRAIN = 512
"""Memory is allocated in multiples of so many bytes, so that others can use it again."""


class Stream:
    """Work in the order in which it was asked for, which is done when somebody waits for it.

    Args:
        device: Its device, whose streams wait for each other.
        early: Whether work is done as soon as it is asked for.
    """

    def __init__(self, device: StrictDevice, early: bool) -> None:
        self._device, self._early = device, early
        self._waiting: list[Callable[[], object]] = []
        self.done = 0
        self._lock = device.lock

    @property
    def asked(self) -> int:
        """The amount of work asked for so far."""
        return self.done + len(self._waiting)

    def ask(self, work: Callable[[], object]) -> None:
        """Work that nobody waits for yet."""
        with self._lock:
            self._waiting.append(work)
            if self._early:
                self.run_until(self.asked)

    def run_until(self, number: int) -> None:
        """Do all work before that one."""
        with self._lock:
            while self.done < number:
                work = self._waiting.pop(0)
                self.done += 1
                work()


class _Event:
    def __init__(self, device: StrictDevice, stream: Stream) -> None:
        self._device, self._stream, self._number = device, stream, stream.asked
        self.handle = id(self)

    def is_over(self) -> bool:
        return self._stream.done >= self._number

    def wait(self) -> None:
        self._device.waits += 1
        self._stream.run_until(self._number)

    def hold_current(self) -> None:
        self._device.stream.ask(partial(self._stream.run_until, self._number))


class _CopyStream(Stream):
    """A stream of copies."""

    def to_device(self, source: Any, target: StrictArray) -> None:
        self.ask(partial(_copy, source, target.raw))

    def to_host(self, source: StrictArray, target: Any) -> None:
        self.ask(partial(_copy, source.raw, target))

    def record(self, event: Any = None) -> _Event:
        assert event is None or event.is_over(), "an event is used again that is not over"
        return _Event(self._device, self)

    def wait_for_current(self) -> None:
        stream = self._device.stream
        self.ask(partial(stream.run_until, stream.asked))


def _copy(source: Any, target: Any) -> None:
    assert np.shape(source) == target.shape, f"a copy of {np.shape(source)} to {target.shape}"
    target[...] = source


class _Pointer:
    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class StrictArray:
    """An array of the device: of NumPy's names those that CuPy has, and never an array of NumPy."""

    __hash__ = object.__hash__

    def __init__(self, device: StrictDevice, raw: Any, ordinal: int, owner: object) -> None:
        self.device_, self.raw, self.ordinal, self.owner = device, raw, ordinal, owner

    @property
    def data(self) -> _Pointer:
        return _Pointer(self.raw.ctypes.data)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        known: dict[str, Any] = dict(self.raw.__array_interface__)
        return known | {"version": 3, "stream": 1}

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **options: Any) -> Any:
        # CuPy has one of the same name.
        assert method == "__call__", f"{function.__name__}.{method}"
        if "out" in options:
            (options["out"],) = options["out"]
        return self.device_.computed(function, *args, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return getattr(self.device_, function.__name__)(*args, **options)

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (slice, int)):
            # A view, also of one item.
            return self._over(self.raw[key, ...])
        return self.device_.computed(np.ndarray.__getitem__, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.device_.computed(np.ndarray.__setitem__, self, key, value)

    def _over(self, raw: Any) -> StrictArray:
        return StrictArray(self.device_, raw, self.ordinal, self.owner)

    def __getattr__(self, name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(f"no name of CuPy's, or not listed here: ndarray.{name}")
        result = getattr(self.raw, name)
        if name in _AT_ONCE:
            return result
        if name in _SAME_MEMORY:
            return lambda *args: self._over(result(*args))
        return partial(self.device_.computed, getattr(np.ndarray, name), self)

    def get(self) -> Any:
        with self.device_.current(self.ordinal):
            return memory.on_host(self)  # type: ignore[arg-type]

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def __int__(self) -> int:
        return int(self.get())

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __iter__(self) -> Iterator[Any]:
        if self.raw.ndim < 2:
            raise TypeError("an array of the device is iterated: a wait for each item")
        return (self[k] for k in range(len(self)))


_OPERATORS = """
    abs add and eq floordiv ge gt iadd iand ilshift imul invert ior irshift isub ixor le lshift lt mod mul
    ne neg or pow radd rfloordiv rmul rrshift rshift rsub rtruediv sub truediv xor
"""


def _operator(name: str) -> Callable[..., Any]:
    def called(self: StrictArray, *others: Any) -> Any:
        result = self.device_.computed(getattr(np.ndarray, name), self, *others)
        return self if name.startswith("__i") and name not in ("__invert__",) else result

    return called


for _name in _OPERATORS.split():
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))


class _Block:
    """Memory of the device, which goes back to its pool when nobody has it."""


class StrictDevice(stand_in.StandIn):
    """The manager of such arrays, on two devices: the array library works on the current one alone.

    Args:
        early: "copies", or "kernels" and the work of the array library, to be done as soon as a stream
            may, not as late.

    Attributes:
        waits: How often the host waited for the device.
        launches: The names of the kernels that were launched.
        computations: How often the array library computed.
    """

    def __init__(self, early: str | None = None) -> None:
        super().__init__(devices=2)
        self.early = early
        self.lock = threading.RLock()
        self.launches: list[str] = []
        self.computations = 0
        self._streams: dict[int, Stream] = {}
        self._current = threading.local()
        self._pool: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
        self.sharing.finish_device = self._finish_device  # type: ignore[method-assign]

    @property
    def stream(self) -> Stream:
        """The caller's current one."""
        return self._streams.setdefault(
            self.current_stream(), Stream(self, self.early == "kernels")
        )

    def counts(self) -> tuple[int, int, int]:
        """Launches, computations and waits so far."""
        return len(self.launches), self.computations, self.waits

    @property
    def arrays(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"no name of CuPy's, or not listed here: {name}")
        return partial(self.computed, getattr(np, name))

    def computed(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """The work of the array library, in the order of the current stream."""
        for value in (*args, *options.values()):
            if isinstance(value, np.ndarray) and value.ndim and function is not np.array:
                raise TypeError("Unsupported type <class 'numpy.ndarray'>")
            if isinstance(value, (list, tuple)):
                list(map(self.require_current, value))
            self.require_current(value)
        self.computations += 1

        def done(value_of: Callable[[Any], Any]) -> Any:
            with np.errstate(all="ignore"):
                given = {k: value_of(v) for k, v in options.items()}
                return function(*map(value_of, args), **given)

        if _is_sized_by_values(function, args):
            self.stream.run_until(self.stream.asked)
            return self._copied(done(_raw))
        # What the results look like does not depend on values.
        like = None if function is np.ndarray.__setitem__ else done(_blank)
        if like is None or "out" in options:
            self.stream.ask(partial(done, _raw))
            return options.get("out")
        result = self.empty(np.shape(like), np.asarray(like).dtype)
        raw = result.raw
        self.stream.ask(lambda: _copy(done(_raw), raw))
        return result

    def _copied(self, result: Any) -> Any:
        return tuple(map(self.asarray, result)) if type(result) is tuple else self.asarray(result)

    def from_dlpack(self, tensor: Any) -> StrictArray:
        """An array over the memory of another library."""
        raw = np.from_dlpack(tensor)
        return StrictArray(self, raw, self.current_ordinal(), raw)

    def require_current(self, value: Any) -> None:
        """Raise for an array of a device that is not the current one."""
        if isinstance(value, StrictArray) and value.ordinal != self.current_ordinal():
            raise ValueError(
                f"an array of cuda:{value.ordinal}, cuda:{self.current_ordinal()} is current"
            )

    def empty(self, count: Any, dtype: Any = np.float64) -> StrictArray:
        size = int(np.prod(count)) * np.dtype(dtype).itemsize
        place = self.current_ordinal(), self.current_stream(), -(-size // _GRAIN) * _GRAIN
        with self.lock:
            known = self._pool[place]
            memory_ = known.pop() if known else self.allocated(place[-1])
            self.stream.ask(partial(memory_.fill, stand_in.FRESH))
        block = _Block()
        weakref.finalize(block, known.append, memory_)
        raw = memory_[:size].view(dtype).reshape(count)
        return StrictArray(self, raw, place[0], block)

    def zeros(self, count: Any, dtype: Any = np.float64) -> StrictArray:
        result = self.empty(count, dtype)
        self.stream.ask(partial(result.raw.fill, 0))
        return result

    def asarray(self, array: Any) -> StrictArray:
        given = np.array(array)
        result = self.empty(given.shape, given.dtype)
        self.stream.ask(partial(_copy, given, result.raw))
        return result

    def on_host(self, array: Any) -> Any:
        self.require_current(array)
        self.waits += 1
        self.stream.run_until(self.stream.asked)
        return np.array(array.raw)

    def all_on_host(self, arrays: Any) -> list[Any]:
        self.waits += 1
        list(map(self.require_current, arrays))
        self.stream.run_until(self.stream.asked)
        assert all(array.raw.flags.c_contiguous for array in arrays)
        return [np.array(array.raw) for array in arrays]

    def finish(self) -> None:
        self.waits += 1
        self.stream.run_until(self.stream.asked)

    def finish_stream(self, pointer: int) -> None:
        self.waits += 1
        stream = self._streams[pointer]
        stream.run_until(stream.asked)

    def current_stream(self) -> int:
        return getattr(self._current, "pointer", 0)

    @contextmanager
    def on_stream(self, stream: Any) -> Iterator[None]:
        before, self._current.pointer = self.current_stream(), int(stream)
        try:
            yield
        finally:
            self._current.pointer = before

    def current_state(self) -> Any:
        return self.current_stream()

    def in_state(self, state: Any) -> AbstractContextManager[Any]:
        return self.on_stream(state)

    def ordinal_of(self, value: object) -> int | None:
        return value.ordinal if isinstance(value, StrictArray) else None

    def multiprocessors(self, ordinal: int) -> int:
        return 132

    def copy_stream(self, ordinal: int) -> Any:
        return _CopyStream(self, self.early == "copies")

    def _finish_device(self, ordinal: int) -> None:
        for stream in list(self._streams.values()):
            stream.run_until(stream.asked)

    def place_of(self, array: Any) -> tuple[int, int]:
        return super().place_of(array.raw)

    def array_at(self, address: int, size: int, ordinal: int, owner: object) -> Any:
        # Work that is late does not keep the owner alive.
        return StrictArray(self, super().array_at(address, size, ordinal, None), ordinal, owner)

    def record_current(self, ordinal: int) -> Any:
        event = _Event(self, self.stream)
        self.events[event.handle] = event  # type: ignore[assignment]
        return event


def _raw(value: Any, raw: Callable[[StrictArray], Any] = attrgetter("raw")) -> Any:
    if isinstance(value, StrictArray):
        return raw(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_raw(each, raw) for each in value)
    return value


def _blank(value: Any) -> Any:
    """Arrays of zeros in the place of those whose values are not there yet."""
    return _raw(value, lambda array: np.zeros_like(array.raw))


def _is_sized_by_values(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    name = function.__name__
    picks = name == "__getitem__" and getattr(args[1], "dtype", None) == np.bool_
    return picks or name in _SIZED_BY_VALUES


class StrictTarget(CudaTarget):
    """The target of a GPU, whose launches are noted."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._cpu = CpuTarget()

    def _cut(self, kernel: Kernel, count: int, args: tuple[Any, ...]) -> Cut:
        return Cut(1, 1, 1, max(count, 1))

    def _launch(self, *parts: Part) -> None:
        device: Any = memory.library()
        device.launches.append(" and ".join(kernel.name for kernel, *_ in parts))
        # Of those in one launch, none may need another one: the last is run first.
        for part in reversed(parts):
            self._ask(*part)

    def _ask(self, kernel: Kernel, count: int, cut: Cut, args: tuple[Any, ...]) -> None:
        given = args[: len(kernel.arguments)]
        kernel.require_types(given)
        for argument, value in zip(kernel.arguments, given, strict=True):
            is_array = isinstance(value, StrictArray)
            assert is_array == argument.array, f"{kernel.name}: {argument.name} is {type(value)}"
            at = value.ordinal if isinstance(value, StrictArray) else self.device.ordinal
            assert at == self.device.ordinal, f"{kernel.name}: {argument.name} is on cuda:{at}"
        device: Any = memory.library()
        raw = list(map(_raw, args))

        def run() -> None:
            if len(raw) > len(kernel.arguments):
                raw[-1][0] = self._cpu.reduce(kernel, count, *raw[:-1])
            elif kernel.returns:
                self._cpu.reduce(kernel, count, *raw)
            else:
                self._cpu.map(kernel, count, *raw)

        device.stream.ask(run)


@contextmanager
def installed(early: str | None = None) -> Iterator[StrictDevice]:
    """Within it, the device of this process is a strict one."""
    device = StrictDevice(early)
    before = stand_in._installed
    with patch.object(stand_in_target, "StandInTarget", StrictTarget):
        stand_in._install(device)
        try:
            yield device
        finally:
            stand_in._install(before)
