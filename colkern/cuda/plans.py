"""Launch plans: kernels that are compiled and loaded once for their types, then called with numbers.

The compiler's dispatcher determines the types of arguments at each launch, and asks each array for its
memory by DLPack, which takes a few hundred microseconds. A plan knows the types: it is a generated
function that turns each argument into words of the kernel's parameters, and passes them to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, SupportsInt

import numpy as np

from colkern.cuda import adapter
from colkern.cuda.compiler import compile_grid, parameters
from colkern.cuda.device_code import KernelSource, Types
from colkern.cuda.memory import current_stream
from colkern.generated import function_of_text
from colkern.kernels.kernel import Kernel
from colkern.memory import Argument

Plan = Callable[..., None]
"""Called with a stream's pointer, the number of blocks, and the kernel's arguments; see `CudaTarget`."""

_PLAN = """
def {name}(pointer, blocks, {names}):
    launch(streams[pointer], grids[blocks], kernel, {words})
"""

# An array is passed as the compiler does: owners, items, bytes of an item, address, shape, strides.
_ARRAY = "0, 0, {a}.size, {size}, {a}.data.ptr, {a}.size, {size}"

_HALF, _WHOLE = 1 << 63, 1 << 64


class _Kept(dict[int, object]):
    """A cache of `make(number)` with at most a few thousand entries. A lookup is faster than a call."""

    def __init__(self, make: Callable[[int], object]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> object:
        if len(self) == 4096:
            self.clear()
        value = self[number] = self._make(number)
        return value


@cache
def array_places(kernel: Kernel) -> tuple[int, ...]:
    """The positions of a kernel's array arguments: their types choose the plan."""
    return tuple(k for k, argument in enumerate(kernel.arguments) if argument.array)


def plan_of(
    kernels: Sequence[tuple[Kernel, int, tuple[Argument, ...]]], threads: int, ordinal: int
) -> Plan:
    """The plan for a grid on the current device; `TypeError` for arguments of undeclared types.

    Args:
        kernels: Each kernel of the grid, its lanes, and arguments of the types to launch it with.
        threads: The threads of a block.
    """
    # The compiler would accept other types, too.
    variants = [kernel.variant(kernel.require_types(args)) for kernel, _, args in kernels]
    types = parameters([kernel for kernel, *_ in kernels], variants)
    source = compile_grid(tuple([(kernel, lanes) for kernel, lanes, _ in kernels]), threads)
    loaded = source.loaded(types, ordinal)
    if loaded is None:
        return _through_dispatcher(source, threads, ordinal)
    return _plan("of_kernel", loaded, _named(types), partial(adapter.grid, threads))


def launch(
    source: KernelSource,
    blocks: Any,
    threads: Any,
    ordinal: int,
    args: tuple[object, ...],
    shared: int = 0,
) -> None:
    """Launch a kernel made from a user's function; does not wait for its end."""
    # By a plan, if its arguments are numbers and contiguous arrays of them, else by the dispatcher.
    # `shared` is in bytes.
    pointer = current_stream()
    types = tuple(map(_type_of, args))
    with source.explained():
        if None not in types and isinstance(blocks, int) and isinstance(threads, int):
            adapter.make_context(ordinal)
            plan = _user_plan(source, types, threads, ordinal, shared)
            if plan is not None:
                plan(pointer, blocks, *args)
                return
        stream = adapter.stream(ordinal, pointer)
        adapter.launch(source.dispatcher, blocks, threads, stream, args, shared)


@lru_cache(maxsize=1024)
def _user_plan(
    source: KernelSource, types: Types, threads: int, ordinal: int, shared: int
) -> Plan | None:
    loaded = source.loaded(types, ordinal)
    if loaded is None:
        return None
    return _plan("of_user", loaded, _named(types), lambda n: adapter.grid(threads, n, shared))


def _type_of(value: Any) -> tuple[str, bool] | None:
    """The type code of an argument, and whether it is an array; None for types that plans do not know."""
    kind = type(value)
    if kind is int:
        return ("i8", False) if -_HALF <= value < _HALF else None
    if kind is float:
        return "f8", False
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "iuf":
        return None
    if isinstance(value, np.generic):
        return None if dtype.kind == "f" and dtype.itemsize != 8 else (dtype.str[1:], False)
    is_plain = hasattr(getattr(value, "data", None), "ptr") and value.ndim == 1
    return (dtype.str[1:], True) if is_plain and value.flags.c_contiguous else None


def _named(types: Iterable[tuple[str, bool]]) -> list[tuple[str, str]]:
    """The name of each argument, and its words as an expression."""
    return [(f"a{k}", _words(f"a{k}", *each)) for k, each in enumerate(types)]


def _plan(
    name: str, kernel: object, arguments: list[tuple[str, str]], grid: Callable[[int], object]
) -> Plan:
    """The plan for arguments with those names and words; without words, the argument itself is the word."""
    source = _PLAN.format(
        name=name,
        names=", ".join(argument for argument, _ in arguments),
        words=", ".join(words or argument for argument, words in arguments),
    )
    namespace: dict[str, object] = {
        "__name__": __name__,
        "kernel": kernel,
        "launch": adapter.launcher(),
        "streams": _Kept(adapter.launch_stream),
        "grids": _Kept(grid),
        "word": _word,
    }
    return function_of_text(name, source, namespace, f"plan {name}")


def _words(name: str, code: str, is_array: bool) -> str:
    """The words of a kernel's parameters for an argument; a narrow number is in its word's low bytes."""
    dtype = np.dtype(code)
    if is_array:
        return _ARRAY.format(a=name, size=dtype.itemsize)
    return f"float({name})" if dtype.kind == "f" else f"word({name})"


def _word(value: SupportsInt) -> int:
    """An integer as the signed one with the same 64 bits."""
    number = int(value)
    return number if number < _HALF else number - _WHOLE


def _through_dispatcher(source: KernelSource, threads: int, ordinal: int) -> Plan:
    """A plan that the compiler launches: in the simulator, for numba-cuda-mlir, or with debug code."""

    def launch(pointer: int, blocks: int, *args: object) -> None:
        plain = tuple([np.int64(a) if isinstance(a, int) and a < _HALF else a for a in args])
        adapter.launch(source.dispatcher, blocks, threads, adapter.stream(ordinal, pointer), plain)

    return launch
