"""The CPU target: runs kernels over host memory. `colkern.cuda.target` has the same names.

It implements patterns: a kernel is mapped over a range, partial results are combined, lengths are
scanned into offsets.

Kernels over few items run as plain Python, since loading the compiler takes longer than reading a small
file. Once the compiler is loaded, or that has taken as long, kernels are compiled for any number of items.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from ctypes import addressof, c_char
from functools import reduce as fold
from itertools import pairwise
from operator import add
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from colkern import memory
from colkern.cpu.threads import GRAIN, num_threads, run_ranges
from colkern.forks import cached_property
from colkern.kernels import offsets, selection
from colkern.kernels.kernel import Kernel
from colkern.memory import HOST, Argument, Buffer, Items, ItemType, Later

FEW = 128
"""The most items, bytes or slots for which plain Python pays."""

SHORT = 4096
"""The longest arrays for plain Python: a slot may stand for many elements."""

_ENOUGH = 0.2
"""The seconds of plain Python, in one process, after which loading the compiler pays."""

_spent = [0.0]
"""The seconds of plain Python so far."""


def plain_loop(kernel: Kernel, count: int, args: Sequence[Any]) -> Callable[..., Any] | None:
    """A kernel's loop in plain Python, called like a compiled one; None if it should be compiled."""
    if count > FEW or _spent[0] > _ENOUGH or "numba" in sys.modules:
        return None
    longest = max(
        (len(a) for a, d in zip(args, kernel.arguments, strict=True) if d.array), default=0
    )
    if longest > SHORT:
        return None
    types = [None if a.array else np.dtype(a.item).type for a in kernel.arguments]

    def loop(start: int, stop: int, *args: Any) -> Any:
        typed = [a if t is None else t(a) for a, t in zip(args, types, strict=True)]
        begin = perf_counter()
        try:
            # Compiled code does not warn, so NumPy must not.
            with np.errstate(all="ignore"):
                return kernel(uint64(start), uint64(stop), uint64(1), *typed)
        finally:
            _spent[0] += perf_counter() - begin

    return loop


_MOST = (1 << 63) - 1

_WRAP = 1 << 64

_PAST_CACHES = 1 << 25
"""From this many bytes on, caches do not keep copied data until it is read again."""

_FEW = 160
"""The number of values below which Python's `sum` is used."""

_WORTH_THREADS = 2 * GRAIN
"""Less work is always done by the calling thread, whatever time was measured."""

_WORTH_BLOCKS = 1 << 14
"""Bitmaps of filters with more words are divided among threads, which reads them once more."""

_WORTH_SUMMING = 1 << 19
"""The lengths that are worth a thread of their own where they are summed."""

WORTH_WAKING = 75e-6
"""The least seconds of work that a thread is worth waking for."""

_LONG = 20
"""Work that takes several threads this many times `WORTH_WAKING` is theirs, however fast one is."""

_STALE = 0.99
"""The slower way's time is multiplied by this at each call, until that way is tried again."""

_paces: dict[tuple[object, ...], tuple[float, float]] = {}
"""Kernel and variant, as in `_loops`, and the bits of the work → the seconds for a unit of it: of one
thread, and of several; 0 until they are known."""

_COMBINE: dict[str, Callable[[int, int], int]] = {"add": add, "min": min, "max": max}


Loop: TypeAlias = Callable[..., Any]
"""A kernel over a range: `loop(start, stop, *args)`, which returns its share of a result."""

_loops: dict[tuple[Kernel, object], Loop] = {}
"""Kernel, and the type or types of the arrays that choose its variant → the machine code.

It is called as what Numba has for Python, past Numba's own choice of a variant: that takes longer than a
kernel of few values.
"""


def _made_loop(kernel: Kernel, chosen: object, count: int, args: tuple[Argument, ...]) -> Loop:
    """The loop that runs a kernel over a range, made at the first call for its types."""
    loop = plain_loop(kernel, count, args)
    if loop is None:
        # Imported late: it loads Numba.
        from colkern.cpu.compiler import compile_kernel, signature

        variant = kernel.variant(kernel.require_types(args))
        loop = _loops[kernel, chosen] = compile_kernel(kernel).compile(signature(variant))
    return loop


def _chosen(kernel: Kernel, arrays: tuple[Any, ...]) -> object:
    """The key by which a variant is chosen, for a kernel with several type variables."""
    places = kernel.choosing
    if len(places) == 2:
        # Nearly all have two; a list takes four times as long.
        first, second = places
        return arrays[first].dtype, arrays[second].dtype
    return tuple([arrays[place].dtype for place in places])


def _wrapped(kernel: Kernel, args: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments, with numbers past int64 replaced by the negative ones with the same bits."""
    # Compiled loops take int64, and turn it into uint64 again.
    numbers: list[Any] = list(args)
    for place in kernel.unsigned:
        if numbers[place] > _MOST:
            numbers[place] = int(numbers[place]) - _WRAP
    return tuple(numbers)


def _run_wrapping(
    key: tuple[Kernel, object], loop: Loop, count: int, args: tuple[Argument, ...]
) -> Any:
    """Run a loop that refused a number past int64, and pass `_wrapped` arguments from now on."""
    kernel = key[0]
    if not any(args[place] > _MOST for place in kernel.unsigned):
        raise OverflowError(f"{kernel.name}: a number does not fit its type")

    def wrapping(start: int, stop: int, *args: Argument) -> Any:
        return loop(start, stop, *_wrapped(kernel, args))

    if key in _loops:
        _loops[key] = wrapping
    return wrapping(0, count, *args)


def _spread(
    key: tuple[Kernel, object],
    loop: Loop,
    count: int,
    args: tuple[Argument, ...],
    work: float,
    balance: Items | None = None,
) -> list[Any]:
    """The results of a loop, run on the threads that have enough work to be worth waking."""
    items = count if balance is None else max(count, int(balance[count] - balance[0]))
    amount = items * work
    # Asked for late, as the answer may take longer than a short loop.
    if amount < _WORTH_THREADS or num_threads() == 1:
        try:
            return [loop(0, count, *args)]
        except OverflowError:
            return [_run_wrapping(key, loop, count, args)]
    args = _wrapped(key[0], args)
    sized = *key, int(amount).bit_length()
    alone, shared = _paces.get(sized, (0.0, 0.0))
    least = WORTH_WAKING / (alone or shared) if alone or shared else GRAIN
    if alone <= shared and 0 < shared * amount < _LONG * WORTH_WAKING:
        # Memory may be no faster for several threads, and waking them takes time.
        least = amount
    begin = perf_counter()
    parts = run_ranges(loop, count, args, max(int(least / work), 1), balance)
    # The mean with earlier measurements, since the machine may have been busy.
    now = (perf_counter() - begin) / amount
    if key in _loops:  # Plain Python has another pace.
        if len(parts) == 1:
            _paces[sized] = (now + (alone or now)) / 2, shared * _STALE
        else:
            _paces[sized] = alone * _STALE, (now + (shared or now)) / 2
    return parts


def _sum_on_threads(kernel: Kernel, count: int, *args: Items) -> int:
    """Run a kernel of running sums; the last sum, or more if it has over 63 bits.

    Each thread sums a range of its own. Then what stands before a range is added to its sums.

    Args:
        kernel: The kernel, which one thread can run. It may return the last sum.
        args: The kernel's; the last one is the sums, [count + 1].
    """
    sums = args[-1]
    loop = _loops.get((kernel, sums.dtype)) or _made_loop(kernel, sums.dtype, count, args)
    ends = run_ranges(loop, count, args, _WORTH_SUMMING)
    cuts = [count * i // len(ends) for i in range(len(ends) + 1)]
    total, most = 0, np.iinfo(sums.dtype).max
    for (start, stop), end in zip(pairwise(cuts), ends, strict=True):
        own = int(sums[stop] if end is None else end)
        if 0 < total <= most - own:
            run_ranges(_raise, stop - start, (sums[start + 1 : stop + 1], total))
        total += own
    return total


def _raise(start: int, stop: int, sums: Items, number: int) -> None:
    sums[start:stop] += number


class CpuTarget:
    """Runs kernels on the CPU."""

    device = HOST

    together = nullcontext()

    def block_words(self, words: int) -> int:
        """The number of words of a bitmap in a block of a filter: all of them for one thread."""
        # With several threads, large enough that there are few blocks to sum.
        is_whole = words <= _WORTH_BLOCKS or num_threads() == 1
        return max(words, 1) if is_whole else 64

    @cached_property
    def no_bits(self) -> NDArray[np.uint8]:
        return self.table([], np.uint8)

    def map(
        self,
        kernel: Kernel,
        count: int,
        *args: Argument,
        work: float = 1,
        balance: Items | None = None,
    ) -> None:
        """See `Target.map`: the range is divided among threads if there is enough work."""
        if count > 0:
            place = kernel.chooser
            if place is not None:
                chosen: object = args[place].dtype  # type: ignore[union-attr]
            else:
                chosen = kernel.choosing and _chosen(kernel, args)
            loop = _loops.get((kernel, chosen)) or _made_loop(kernel, chosen, count, args)
            if kernel.sequential or (count * work < _WORTH_THREADS and balance is None):
                try:
                    loop(0, count, *args)
                except OverflowError:
                    _run_wrapping((kernel, chosen), loop, count, args)
            else:
                _spread((kernel, chosen), loop, count, args, work, balance)

    def reduce(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> int:
        place = kernel.chooser
        if place is not None:
            chosen: object = args[place].dtype  # type: ignore[union-attr]
        else:
            chosen = kernel.choosing and _chosen(kernel, args)
        loop = _loops.get((kernel, chosen)) or _made_loop(kernel, chosen, count, args)
        if kernel.sequential or count * work < _WORTH_THREADS:
            try:
                return int(loop(0, count, *args))
            except OverflowError:
                return int(_run_wrapping((kernel, chosen), loop, count, args))
        parts = _spread((kernel, chosen), loop, count, args, work)
        return int(fold(_COMBINE[kernel.combine], parts))

    start = reduce

    def later(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> Later:
        number = self.reduce(kernel, count, *args, work=work)
        return lambda: number

    def later_item(self, array: Items, position: int) -> Later:
        return lambda: int(array[position])

    def scan(self, lengths: Items, dtype: ItemType) -> Items:
        return self.running_sum(lengths, dtype)[0]

    def copy(self, items: Items, out: Items, place: int = 0) -> None:
        count = len(items)
        if count < _PAST_CACHES:
            out[place : place + count] = items
            return
        target = out[place : place + count]
        # The whole words of the result are written by a kernel that bypasses caches.
        begin = min(-self.address(target) % 8, count)
        words = (count - begin) // 8
        end = begin + words * 8
        target[:begin], target[end:] = items[:begin], items[end:]
        source = self.address(items) + begin
        self.map(selection.copy_words, words, source, target[begin:end].view(uint64), work=8)

    def accumulate(self, lengths: Items) -> None:
        if len(lengths) > 2 * _WORTH_SUMMING:
            _sum_on_threads(offsets.sum_in_place, len(lengths) - 1, lengths)
        elif len(lengths) > 2:
            self.map(offsets.sum_in_place, len(lengths) - 1, lengths)
        else:
            # As of a single block.
            lengths[:1] = 0

    def running_sum(self, lengths: Items, dtype: ItemType) -> tuple[Items, int]:
        sums = self.output(len(lengths) + 1, dtype)
        if len(lengths) >= 2 * _WORTH_SUMMING:
            total = _sum_on_threads(offsets.running_sum, len(lengths), lengths, sums)
            return sums, total if total <= _MOST else self.total(lengths)
        try:
            total = self.reduce(offsets.running_sum, len(lengths), lengths, sums)
        except OverflowError:
            # In plain Python, writing a number that does not fit raises; callers refuse the sum.
            total = self.total(lengths)
        return sums, total if total <= _MOST else self.total(lengths)

    def total(self, lengths: Items) -> int:
        # For few items, Python's exact sum takes less time than two sums of NumPy.
        if len(lengths) < _FEW or int(lengths.max()) > _MOST // len(lengths):
            return sum(lengths.tolist())
        return int(lengths.sum())

    def allocate(self, count: int, dtype: ItemType) -> Items:
        return memory.allocate(count, dtype)

    # Without a wrapper function, since each operation calls it.
    output = staticmethod(memory.allocate_for_overwrite)

    def table(self, values: Sequence[float | np.number[Any]] | Items, dtype: ItemType) -> Items:
        return np.ascontiguousarray(values, dtype)

    def positions(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)

    def sort_positions(self, keys: Items, positions: Items | None = None) -> Items:
        from colkern.cpu.radix import sorted_positions

        return sorted_positions(self, keys, positions)

    def item(self, array: Items, position: int) -> int:
        return int(array[position])

    def ends(self, *arrays: Items) -> list[tuple[int, int]]:
        return [(int(array[0]), int(array[-1])) for array in arrays]

    def address(self, array: Items) -> int:
        # A fifth of the time of `ctypes.data`, for writable memory.
        bytes_: Any = array
        if array.flags.writeable and len(array):
            return addressof(c_char.from_buffer(bytes_))
        return int(array.ctypes.data)

    buffer = staticmethod(Buffer.of_items)
