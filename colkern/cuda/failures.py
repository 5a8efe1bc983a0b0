"""Errors of CUDA's libraries in colkern's words: out of memory, a lost context, a forked process."""

from __future__ import annotations

import functools
import os
import re
import types
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ParamSpec, TypeVar

from colkern.errors import ColkernError, DeviceUnavailableError, LimitExceededError

P = ParamSpec("P")
R = TypeVar("R")
Class = TypeVar("Class", bound=type[object])

_NAME = re.compile(r"\b(?:cudaError|CUDA_ERROR_)(\w+)")
"""The names of errors of the runtime and the driver: cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED."""

_NO_MEMORY = {"memoryallocation", "outofmemory"}

_NOT_INITIALIZED = {"initializationerror", "notinitialized"}
"""Also of a driver that works, in a process that was forked after its parent had used it."""

_NOT_STARTED = _NOT_INITIALIZED | {
    "devicesunavailable",
    "insufficientdriver",
    "nodevice",
    "systemdrivermismatch",
    "systemnotready",
}

_LOST_NAMES = """
    assert contextisdestroyed eccuncorrectable hardwarestackerror illegaladdress illegalinstruction
    invalidaddressspace invalidpc launchfailed launchfailure launchtimeout misalignedaddress
"""
_LOST = frozenset(_LOST_NAMES.split())
"""Errors after which every further CUDA call in the process fails in the same way."""

_FORKED = "CUDA initialized before forking"
"""The message of numba-cuda."""

# The first process that used a device through colkern; forked children compare it.
_process = os.getpid()


def explained(error: BaseException) -> ColkernError | None:
    """An error of CuPy, RMM, the CUDA compiler or cuda.core in colkern's words; None for all others."""
    if isinstance(error, ColkernError):
        return None
    text = str(error)
    # The messages of all these libraries contain the names of CUDA's errors.
    named = _NAME.search(text)
    name = named[1].replace("_", "").lower() if named else ""
    if name in _NO_MEMORY or _is_of_device_memory(error):
        return LimitExceededError(f"device memory: {text}")
    if text == _FORKED or (name in _NOT_INITIALIZED and os.getpid() != _process):
        return DeviceUnavailableError(
            "CUDA does not work in a process that was forked after its parent had used the device; "
            "start it with multiprocessing's 'spawn' or 'forkserver'"
        )
    if name in _NOT_STARTED:
        return DeviceUnavailableError(f"CUDA does not start: {text}; see `nvidia-smi`")
    if named and name in _LOST:
        return DeviceUnavailableError(
            f"this process has lost its device: a kernel failed with {named[0]}, and all that comes after "
            "it fails, too. Start another process; `compute-sanitizer` names the kernel"
        )
    return None


def _is_of_device_memory(error: BaseException) -> bool:
    """Whether it is CuPy's class, or RMM's message; other MemoryErrors are for host memory."""
    return isinstance(error, MemoryError) and (
        type(error).__module__.startswith("cupy") or "bad_alloc" in str(error)
    )


class Explaining(AbstractContextManager[object]):
    """A context manager around another one; errors of CUDA's libraries are raised in colkern's words."""

    __slots__ = ("_inner",)

    def __init__(self, inner: AbstractContextManager[object]) -> None:
        self._inner = inner

    def __enter__(self) -> object:
        try:
            return self._inner.__enter__()
        except Exception as error:
            explanation = explained(error)
            if explanation is None:
                raise
            raise explanation from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        failed = error
        try:
            self._inner.__exit__(kind, error, traceback)
        except Exception as other:
            # With a lost device, leaving the context fails, too.
            failed = error or other
            if explained(failed) is None:
                raise
        explanation = None if failed is None else explained(failed)
        if explanation is not None:
            raise explanation from failed


def explaining(decorated: Class) -> Class:
    """A class decorator: methods raise errors of CUDA's libraries, except `MemoryError`, in our words."""
    for name, member in list(vars(decorated).items()):
        if isinstance(member, types.FunctionType) and not name.startswith("_"):
            setattr(decorated, name, _in_our_words(member))
    return decorated


def _in_our_words(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except Exception as error:
            explanation = None if isinstance(error, MemoryError) else explained(error)
            if explanation is None:
                raise
            raise explanation from error

    return called
