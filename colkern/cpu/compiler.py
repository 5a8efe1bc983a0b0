"""From plain Python to machine code: kernel bodies and generated loops for the CPU.

A body is compiled with primitives and helpers replaced by their compiled forms, as globals of its own
namespace: a closure over a dispatcher would be pickled differently in every process, and so never be
found in the cache. A generated loop then calls the body with a constant step of 1, so that it is
inlined into a loop that LLVM vectorises.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.core.compiler import Compiler
from numba.np.numpy_support import from_dtype

from colkern.cache import compilations
from colkern.cpu import primitives as cpu_primitives
from colkern.cpu import streaming
from colkern.cpu.cache import ContentCache
from colkern.cpu.content import content_hash
from colkern.cpu.dispatcher import CachedDispatcher, HelperDispatcher
from colkern.cpu.embedded import ApartCompiler, EmbeddedCache, HelperCompiler, is_kept
from colkern.cpu.streaming import place_of, store_lines
from colkern.generated import function_of_text
from colkern.kernels.arguments import Argument, expression, groups_in
from colkern.kernels.kernel import APART, HELPERS, KERNELS, Kernel
from colkern.kernels.primitives import PRIMITIVES

_PRIMITIVES = {plain: getattr(cpu_primitives, plain.__name__, None) for plain in PRIMITIVES}
"""Primitive → its implementation for the CPU; None if that is its definition."""

_OPTIONS = {"nogil": True, "error_model": "numpy"}

# Kernels make no objects. Numba would count references to arrays that a body passes to a helper; if
# it cannot remove the counting, each item takes ten times as long.
_WITHOUT_COUNTS: dict[str, Any] = {"_nrt": False}

# Wrappers for callers in other languages take half of the time to compile a function of a few lines.
_WITHOUT_WRAPPERS: dict[str, bool] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# Numba would inherit this option from the function that is being compiled.
_BY_SIZE: dict[str, bool] = {"forceinline": False}


def jit(
    function: Callable[..., object],
    *extra: str,
    only: Collection[Any] | None = None,
    key: str | None = None,
    prepare: Callable[[], None] | None = None,
    outermost: bool = False,
    name: str | None = None,
    **options: object,
) -> Any:
    """A Numba dispatcher for a plain function, cached on disk by the function's content.

    Args:
        function: The function; what it calls must compile too.
        extra: Texts for the cache key, with everything else that the compiled code depends on.
        only: The accepted argument types; None for any.
        key: The cache key, if the caller knows the function's content without a walk over it.
        prepare: Called if the function is not in the cache, and must be compiled; completes its
            globals.
        outermost: Whether it is only called from Python, never by other compiled functions.
        name: The name of its files in the cache; None for the function's name.
        options: For `numba.njit`, over `nogil=True, error_model="numpy"`.
    """
    # Only compiled functions would call it by a wrapper for C.
    options = _OPTIONS | {"no_cfunc_wrapper": outermost} | options
    pipeline_class = options.pop("pipeline_class", Compiler)
    local_types = options.pop("locals", {})
    dispatcher = CachedDispatcher(
        function, local_types, options | {"nopython": True}, pipeline_class=pipeline_class
    )
    dispatcher._cache = ContentCache(
        lambda: key or content_hash(dispatcher, *extra),
        name or function.__name__,
        only,
        prepare,
        outermost,
    )
    return dispatcher


def bound(function: Callable[..., object], namespace: dict[str, object]) -> types.FunctionType:
    """The same code, with its globals in `namespace`."""
    rebound = types.FunctionType(function.__code__, namespace, function.__name__)
    rebound.__defaults__ = function.__defaults__
    rebound.__module__ = __name__
    return rebound


@cache
def compiled(function: Callable[..., object]) -> Callable[..., object]:
    """A body or a helper of kernels as a dispatcher that is compiled into its callers."""
    rebound = bound(function, _target_globals(function))
    is_apart = function in APART
    options = _OPTIONS | _WITHOUT_COUNTS | _WITHOUT_WRAPPERS | _BY_SIZE
    dispatcher = HelperDispatcher(
        rebound,
        {},
        options | {"nopython": True},
        pipeline_class=ApartCompiler if is_apart else HelperCompiler,
    )
    if function in HELPERS and is_kept(function):
        # The symbols that callers link to must be the same, whichever process compiled it.
        rebound.__qualname__ = f"{function.__module__}.{function.__qualname__}"
        dispatcher._cache = EmbeddedCache(function)
    return dispatcher


def _target_globals(function: Callable[..., object]) -> dict[str, object]:
    """The globals that a function uses, in their versions for this target."""
    namespace = {}
    for name in function.__code__.co_names:
        if name in function.__globals__:
            value = function.__globals__[name]
            is_function = isinstance(value, types.FunctionType)
            if is_function and (value in HELPERS or value in _PRIMITIVES):
                value = _PRIMITIVES.get(value) or compiled(value)
            namespace[name] = value
    return namespace


def _lines(kernel: Kernel, names: Sequence[str]) -> str:
    """The lines of a kernel's loop, whose arguments have these names."""
    named = list(zip(names, kernel.arguments, strict=True))
    if kernel.streams:
        names = ["near" if argument.written else name for name, argument in named]
    following = iter(names)
    passed = ", ".join([expression(parameter, following) for parameter in kernel.parameters])
    if not kernel.streams:
        return f"    return body(u8(start), u8(stop), u8(1), {passed})\n"
    (out,) = [name for name, argument in named if argument.written]
    size = " + ".join([f"{name}.nbytes" for name, argument in named if argument.array])
    call = f"body(u8(start), u8(end), u8(1), {passed})"
    body = f"first = min(first, {call})" if kernel.returns else call
    text = streaming.LOOP.format(own=streaming, out=out, size=size, body=body)
    return text + "    return first\n" if kernel.returns else text


@cache
def compile_kernel(kernel: Kernel) -> Any:
    """The loop of a kernel, called with `start, stop` and its arguments; numbers in declared types."""
    names = [f"a{number}" for number in range(len(kernel.arguments))]
    namespace = {
        # Loading from the cache imports the module of the function.
        "__name__": __name__,
        "body": compiled(kernel.body),
        "u8": np.uint64,
        "place_of": place_of,
        "store_lines": store_lines,
        **{a.item: np.dtype(a.item).type for a in kernel.arguments if not a.array},
        **groups_in(kernel.parameters),
    }
    source = f"def {kernel.name}(start, stop, {', '.join(names)}):\n{_lines(kernel, names)}"
    loop = function_of_text(kernel.name, source, namespace, f"kernel {kernel.name}")
    signatures = [signature(variant) for variant in kernel.variants()]
    return jit(loop, only=signatures, outermost=True, **_WITHOUT_COUNTS)


def signature(variant: tuple[Argument, ...]) -> tuple[object, ...]:
    """The Numba types of a call: of the range, and of the kernel's arguments."""
    return (numba.int64, numba.int64, *map(_type_of, variant))


@cache
def _type_of(argument: Argument) -> object:
    dtype = np.dtype(argument.item)
    if argument.array:
        return numba.types.Array(from_dtype(dtype), 1, "C", readonly=not argument.written)
    return numba.float64 if dtype.kind == "f" else numba.int64


def warm(name: str) -> dict[str, int]:
    """Compile all variants of a kernel, or find them in the cache; returns the number of each."""
    before = compilations()
    kernel = KERNELS[name]
    dispatcher = compile_kernel(kernel)
    for variant in kernel.variants():
        dispatcher.compile(signature(variant))
    return {what: count - before[what] for what, count in compilations().items()}
