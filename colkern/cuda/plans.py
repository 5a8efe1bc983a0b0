"""Launch plans: kernels that are compiled and loaded for their types once, then called with numbers.

The compiler's dispatcher finds out at each launch of which types the arguments are, and asks each array for
its memory through DLPack, which takes some hundred microseconds. A plan knows the types: it writes down how
each argument becomes words of the kernel's parameters, as a function of its own, and hands these words to
the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from colkern.cuda import adapter
from colkern.cuda.compiler import compile_kernel
from colkern.generated import function_of_text
from colkern.kernels.kernel import Kernel
from colkern.memory import Argument

Plan = Callable[..., None]
"""Called with a stream's pointer, the number of blocks, `count`, `tile` and the kernel's arguments."""

_PLAN = """
def {name}(pointer, blocks, count, tile, {names}):
    launch(streams[pointer], grids[blocks], kernel, count, tile, {words})
"""

# As the compiler passes an array: its owners, items, bytes of an item, address, shape, strides.
_ARRAY = "0, 0, {a}.size, {size}, {a}.data.ptr, {a}.size, {size}"

_HALF, _WHOLE = 1 << 63, 1 << 64


class _Kept(dict[int, object]):
    """What was made of numbers, kept: a few thousand at most. Faster than any call."""

    def __init__(self, make: Callable[[int], object]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> object:
        if len(self) == 4096:
            self.clear()
        made = self[number] = self._make(number)
        return made


@cache
def array_places(kernel: Kernel) -> tuple[int, ...]:
    """Which arguments of a kernel are arrays: their types choose the plan."""
    return tuple(k for k, argument in enumerate(kernel.arguments) if argument.array)


def plan_of(
    kernel: Kernel, args: tuple[Argument, ...], threads: int, lanes: int, ordinal: int
) -> Plan:
    """The plan for arguments of these types on the current device.

    Args:
        kernel: The kernel.
        args: Its arguments; with the array of partial results, if it returns some.
        threads: The threads of a block.
        lanes: How many of them work on one item.
        ordinal: The device's.

    Raises:
        TypeError: If an array is of a type that the kernel is not declared for.
    """
    # The compiler would take others, too.
    kernel.require_types(args)
    compiled = compile_kernel(kernel, threads, lanes)
    if not adapter.loads_kernels():
        return _through_dispatcher(compiled, threads, ordinal)
    arrays = {k: value.dtype.str[1:] for k, value in enumerate(args) if hasattr(value, "dtype")}
    places = {*array_places(kernel), *range(len(kernel.arguments), len(args))}
    types = [
        (arrays[k], True) if k in places else (kernel.arguments[k].item, False)
        for k in range(len(args))
    ]
    source = _PLAN.format(
        name=kernel.name,
        names=", ".join(f"a{k}" for k in range(len(args))),
        words=", ".join(_words(f"a{k}", *each) for k, each in enumerate(types)),
    )
    namespace: dict[str, Any] = {
        "__name__": __name__,
        "kernel": adapter.loaded(compiled, [("u8", False), ("u8", False), *types]),
        "launch": adapter.launcher(),
        "streams": _Kept(adapter.launch_stream),
        "grids": _Kept(partial(adapter.grid, threads)),
        "word": _word,
    }
    return function_of_text(kernel.name, source, namespace, f"plan {kernel.name}")


def _words(name: str, code: str, is_array: bool) -> str:
    """An argument as words of parameters; a narrow number is in the low bytes of its word."""
    dtype = np.dtype(code)
    if is_array:
        return _ARRAY.format(a=name, size=dtype.itemsize)
    return f"float({name})" if dtype.kind == "f" else f"word({name})"


def _word(value: Any) -> int:
    """An integer as the signed one of the same 64 bits."""
    number = int(value)
    return number if number < _HALF else number - _WHOLE


def _through_dispatcher(compiled: adapter.Launchable, threads: int, ordinal: int) -> Plan:
    """The same where there is nothing to load: in the simulator, and with numba-cuda-mlir."""

    def launch(pointer: int, blocks: int, count: int, tile: int, *args: Any) -> None:
        plain = (np.int64(a) if isinstance(a, int) and a < _HALF else a for a in args)
        numbers = (np.uint64(count), np.uint64(tile))
        stream = adapter.stream(ordinal, pointer)
        adapter.launch(compiled, blocks, threads, stream, (*numbers, *plain))

    return launch
