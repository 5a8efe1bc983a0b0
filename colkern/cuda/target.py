"""The CUDA target: runs kernels over device memory. `colkern.cpu.target` has the same names."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast
from weakref import WeakSet

import numpy as np

from colkern.cuda import adapter, memory
from colkern.cuda.compiler import THREADS
from colkern.cuda.failures import explained
from colkern.cuda.plans import Plan, array_places, plan_of
from colkern.forks import cached_property
from colkern.kernels.kernel import Kernel
from colkern.kernels.together import HELD_BACK, TOGETHER
from colkern.memory import UNKNOWN, Argument, Buffer, Device, Items, ItemType, Later

_MOST = (1 << 63) - 1

_COMBINE = {"add": "sum", "min": "min", "max": "max"}
"""The array method that combines partial results."""


class Schedule(NamedTuple):
    """Parameters for cutting ranges, such that a device is kept busy."""

    threads: int  #: The threads of a block.
    #: The most items of a block that only writes: few enough to balance items of unequal work, and
    #: enough to share what each thread does once.
    tile: int
    blocks: int  #: The number of blocks that a device runs at a time.
    #: The most blocks that leave partial results, in multiples of `blocks`; one transfer fetches
    #: them.
    rounds: int
    #: The number of threads for each item of a `grouped` kernel: for items that have on average at
    #: least so many bytes of output, so many lanes.
    lanes: tuple[tuple[int, int], ...]

    def cut(self, kernel: Kernel, count: int, mean_bytes: int = 0) -> Cut:
        """The grid for a range of `count` items."""
        if kernel.sequential:
            return Cut(1, 1, 1, max(count, 1))
        lanes = 1
        if kernel.grouped:
            lanes = max(lanes for least, lanes in self.lanes if mean_bytes >= least)
        if kernel.most_lanes:
            # A block has several groups, also in the simulator: only a thread on its own has a step
            # of 1.
            lanes = min(lanes, kernel.most_lanes, self.threads // 2)
        most = self.tile // lanes
        if kernel.returns:
            most = max(most, -(-count // (self.blocks * self.rounds)))
        # A few items are spread over the whole device.
        tile = min(-(-count // self.blocks), most)
        width = self.threads // lanes
        tile = max(-(-tile // width), 1) * width
        return Cut(max(-(-count // tile), 1), self.threads, lanes, tile)


class Cut(NamedTuple):
    """A grid: the blocks, their threads, the lanes for one item, the items of a block."""

    blocks: int
    threads: int
    lanes: int
    tile: int


class Grid(NamedTuple):
    """The blocks of a launch, and the threads of a block."""

    blocks: int
    threads: int


def grid_of(device: Device, count: int) -> Grid:
    """A thread for each of `count` items, but no more than run at a time."""
    schedule = schedule_of(device)
    return Grid(max(min(-(-count // schedule.threads), schedule.blocks), 1), schedule.threads)


def schedule_of(device: Device) -> Schedule:
    """The schedule for a device. The simulator runs a Python thread for each thread of a block."""
    if adapter.is_simulated():
        return Schedule(4, 16, 4, 2, ((0, 2), (5, 4)))
    return schedule_for(memory.multiprocessors(device))


def schedule_for(multiprocessors: int) -> Schedule:
    """The schedule for a GPU with that many multiprocessors, each of which runs 2048 threads at a time."""
    blocks = multiprocessors * 2048 // THREADS
    return Schedule(THREADS, 4096, blocks, 8, ((0, 8), (256, 32), (8192, THREADS)))


Part: TypeAlias = tuple[Kernel, int, Cut, tuple[Argument, ...]]
"""A kernel to be launched: over so many items, cut so, with these arguments."""


class _Together:
    """Within it, launches of a thread are held back, to be made at the end.

    Attributes:
        outer: The object that held back this thread's launches before.
        parts: These launches.
        arrays: The arrays that the target has allocated meanwhile: their addresses may be arguments.
    """

    __slots__ = ("_target", "_thread", "arrays", "outer", "parts")

    def __init__(self, target: CudaTarget, thread: _Thread) -> None:
        self._target, self._thread = target, thread
        self.outer: _Together | None = None
        self.parts: list[Part] = []
        self.arrays: list[Items] = []

    def __enter__(self) -> None:
        self.outer, self._thread.held = self._thread.held, self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._thread.held = self.outer
        if error is None:
            self._target.launch_all(self.parts)


class _Thread(threading.local):
    """The state of a target in one thread.

    Attributes:
        has_context: Whether the driver has this thread's context.
        asked: The numbers that are not waited for yet.
        held: Where launches are held back, if they are.
    """

    has_context = False
    held: _Together | None = None

    def __init__(self) -> None:
        self.asked: WeakSet[_Asked] = WeakSet()


class _Asked:
    """A number on a device, made from `array` by `combine`; fetched with all others of the thread."""

    __slots__ = ("__weakref__", "_target", "array", "combine", "number")

    def __init__(self, target: CudaTarget, array: Items, combine: str) -> None:
        self.array, self.combine = array, combine
        self._target = target
        self.number: int | None = None

    def __call__(self) -> int:
        """The number."""
        if self.number is None:
            self._target.fetch(self)
        return cast("int", self.number)


class CudaTarget:
    """Runs kernels on one CUDA device, on the stream that is current there in CuPy."""

    def __init__(self, device: Device) -> None:
        memory.require_device()
        self.device = device
        # The batches of a table mostly have one length.
        self._cut_of = lru_cache(1024)(schedule_of(device).cut)
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._thread = _Thread()

    def block_words(self, words: int) -> int:
        """The number of words of a bitmap in a block of a filter: one, for each thread."""
        return 1

    @cached_property
    def no_bits(self) -> Items:
        return self.table([], np.uint8)

    def map(
        self,
        kernel: Kernel,
        count: int,
        *args: Argument,
        work: float = 1,
        balance: Items | None = None,
    ) -> None:
        """Start a kernel that writes; tiles balance unequal work, so `work` and `balance` are ignored."""
        if count > 0:
            held = self._thread.held
            part = kernel, count, self._cut(kernel, count, args), args
            if held is None or kernel not in HELD_BACK:
                self._launch(part)
            else:
                held.parts.append(part)

    def reduce(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> int:
        """Run a kernel that returns partial results; waits once, and combines them on the host."""
        return self.later(kernel, count, *args)()

    def later(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> Later:
        return self._asked(self.partials(kernel, count, *args), _COMBINE[kernel.combine])

    def later_item(self, array: Items, position: int) -> Later:
        return self._asked(array[position:][:1], "item")

    def _asked(self, array: Items, combine: str) -> _Asked:
        asked = _Asked(self, array, combine)
        self._thread.asked.add(asked)
        return asked

    def fetch(self, number: _Asked) -> None:
        """Wait for a number, and for all others that this thread has asked for, at once."""
        self._launch_held()
        asked = {number, *self._thread.asked}
        with memory.current(self.device):
            arrays = memory.all_on_host([each.array for each in asked])
        for each, array in zip(asked, arrays, strict=True):
            each.number = int(getattr(array, each.combine)())
        self._thread.asked.clear()

    def start(self, kernel: Kernel, count: int, *args: Argument) -> int:
        held = self._thread.held
        if held is None or kernel not in HELD_BACK:
            self.partials(kernel, count, *args)
        else:
            held.parts.append((kernel, count, self._cut(kernel, count, args), args))
        return UNKNOWN

    @property
    def together(self) -> _Together:
        return _Together(self, self._thread)

    def launch_all(self, parts: list[Part]) -> None:
        """Launch kernels that do not use each other's results; declared neighbours as one launch."""
        while parts:
            part, *rest = parts
            kernel, count, _, args = part
            if rest and (kernel, rest[0][0]) in TOGETHER:
                self._launch(part, rest.pop(0))
            elif kernel.returns:
                self.partials(kernel, count, *args)
            else:
                self._launch(part)
            parts = rest

    def _launch_held(self) -> None:
        """Launch the kernels that are held back, since somebody waits for them."""
        held = self._thread.held
        while held is not None:
            parts, held.parts = held.parts, []
            self.launch_all(parts)
            held = held.outer

    def partials(self, kernel: Kernel, count: int, *args: Argument) -> Items:
        """Start a kernel that returns partial results: an array, one item for each block. Does not wait."""
        cut = self._cut(kernel, count, args)
        partials = self.output(cut.blocks, np.dtype(kernel.returns))
        self._launch((kernel, count, cut, (*args, partials)))
        return partials

    def _cut(self, kernel: Kernel, count: int, args: tuple[Argument, ...]) -> Cut:
        # The last argument of a grouped kernel is its output, if it has one.
        out: Any = args[-1] if kernel.grouped and kernel.arguments[-1].array else None
        mean = 0 if out is None else out.nbytes // max(count, 1)
        return self._cut_of(kernel, count, mean)

    def _launch(self, *parts: Part) -> None:
        ordinal, library = self.device.ordinal, memory.library()
        # Each statement here takes a few tenths of a microsecond, for every launch.
        key: list[object] = []
        words: list[Any] = []
        end = 0
        for kernel, count, (blocks, _, lanes, tile), args in parts:
            arrays = cast("Any", args)
            key += kernel, lanes, *[arrays[k].dtype.num for k in array_places(kernel)]
            end += blocks
            words += (count, tile, *args) if len(parts) == 1 else (count, tile, end, *args)
        types = tuple(key)
        plan = self._plans.get(types)
        if plan is None or library.current_ordinal() != ordinal or not self._thread.has_context:
            with memory.current(self.device):
                self._thread.has_context = adapter.make_context(ordinal)
                if plan is None:
                    members = [(kernel, cut.lanes, args) for kernel, _, cut, args in parts]
                    plan = self._plans[types] = plan_of(members, parts[0][2].threads, ordinal)
                plan(library.current_stream(), end, *words)
            return
        try:
            plan(library.current_stream(), end, *words)
        except Exception as error:
            explanation = explained(error)
            if explanation is None:
                raise
            raise explanation from error

    def scan(self, lengths: Items, dtype: ItemType) -> Items:
        offsets = self.allocate(len(lengths) + 1, dtype)
        with memory.current(self.device):
            memory.array_library().cumsum(lengths, out=offsets[1:])
        return offsets

    def copy(self, items: Items, out: Items, place: int = 0) -> None:
        with memory.current(self.device):
            out[place : place + len(items)] = items

    def accumulate(self, lengths: Items) -> None:
        with memory.current(self.device):
            lengths[:1] = 0
            memory.array_library().cumsum(lengths, out=lengths)

    def running_sum(self, lengths: Items, dtype: ItemType) -> tuple[Items, int]:
        total = self.total(lengths)
        fits = total <= np.iinfo(np.dtype(dtype)).max
        return self.scan(lengths, dtype) if fits else lengths, total

    def total(self, lengths: Items) -> int:
        if not len(lengths):
            return 0
        with memory.current(self.device):
            most, total = (self._asked(item, "item") for item in (lengths.max(), lengths.sum()))
            if most() > _MOST // len(lengths):
                return sum(memory.on_host(lengths).tolist())
        return total()

    def allocate(self, count: int, dtype: ItemType) -> Items:
        with memory.current(self.device):
            return self._own(memory.allocate(count, dtype))

    def output(self, count: int, dtype: ItemType) -> Items:
        with memory.current(self.device):
            return self._own(memory.allocate_for_overwrite(count, dtype))

    def _own(self, array: Items) -> Items:
        """An array of this target, to be kept as long as launches are held back."""
        held = self._thread.held
        if held is not None:
            held.arrays.append(array)
        return array

    def table(self, values: Sequence[float | np.number[Any]] | Items, dtype: ItemType) -> Items:
        """A small array of host values, copied to the device."""
        with memory.current(self.device):
            return self._own(memory.on_device(np.array(values, dtype)))

    def positions(self, count: int) -> Items:
        with memory.current(self.device):
            items: Items = memory.array_library().arange(count, dtype=np.int64)
            return items

    def sort_positions(self, keys: Items, positions: Items | None = None) -> Items:
        with memory.current(self.device):
            chosen = keys if positions is None else keys[positions]
            # CuPy's sort is stable, and accepts no other name for that.
            order: Items = memory.array_library().argsort(chosen, kind="stable")
            return order.astype(np.uint64) if positions is None else positions[order]

    def item(self, array: Items, position: int) -> int:
        return self.later_item(array, position)()

    def ends(self, *arrays: Items) -> list[tuple[int, int]]:
        self._launch_held()
        with memory.current(self.device):
            pairs = [array[:: max(len(array) - 1, 1)] for array in arrays]
            both = pairs[0] if len(pairs) == 1 else memory.array_library().concatenate(pairs)
            values = iter(memory.on_host(both).tolist())
        # For an array of one number, that is both the first and the last.
        return [
            (first, next(values) if len(pair) > 1 else first)
            for pair, first in zip(pairs, values, strict=False)
        ]

    def address(self, array: Any) -> int:
        return int(array.ctypes.data if adapter.is_simulated() else array.data.ptr)

    def buffer(self, array: Items, size: int | None = None) -> Buffer:
        return Buffer(array.view(np.uint8)[:size], self.device)
