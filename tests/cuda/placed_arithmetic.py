"""Where operations leave arithmetic to the array library, while no device is the current one.

On a machine of several devices CuPy would work on the wrong one, and what it raises would not be in
colkern's words.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import colkern
from colkern.cuda import stand_in

_PACKAGE = Path(colkern.__file__).parent
_entered = threading.local()
_found: set[str] = set()


class _Noting(np.ndarray):
    """Memory of the stand-in that notes what is computed with it outside of `memory.current`."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        _note(ufunc.__name__)
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return result.view(_Noting) if isinstance(result, np.ndarray) and result.ndim else result

    def astype(self, *args: Any, **options: Any) -> Any:
        _note("astype")
        return super().astype(*args, **options)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Noting) else value


def _note(what: str) -> None:
    if getattr(_entered, "depth", 0):
        return
    inner = traceback.extract_stack()[:-2][-1]
    path = Path(inner.filename)
    # Kernels run as plain Python here, and not on a GPU.
    if path.is_relative_to(_PACKAGE) and not path.is_relative_to(_PACKAGE / "kernels"):
        _found.add(f"{path.relative_to(_PACKAGE)}, line {inner.lineno}: {what}")


@contextmanager
def _current() -> Iterator[None]:
    _entered.depth = getattr(_entered, "depth", 0) + 1
    try:
        yield
    finally:
        _entered.depth -= 1


@contextmanager
def noted_arithmetic() -> Iterator[set[str]]:
    """Computations on the stand-in's memory, and fetches, outside of `memory.current`, by its lines."""
    replaced = stand_in.StandIn.allocated, stand_in.StandIn.current, stand_in.StandIn.on_host
    allocated, _, on_host = replaced

    def noting(self: Any, size: int, **options: Any) -> Any:
        return allocated(self, size, **options).view(_Noting)

    def fetching(self: Any, array: Any) -> Any:
        _note("on_host")
        return on_host(self, _plain(array))

    stand_in.StandIn.allocated = noting  # type: ignore[method-assign]
    stand_in.StandIn.on_host = fetching  # type: ignore[method-assign]
    stand_in.StandIn.current = lambda self, ordinal: _current()  # type: ignore[method-assign]
    try:
        yield _found
    finally:
        (
            stand_in.StandIn.allocated,  # type: ignore[method-assign]
            stand_in.StandIn.current,  # type: ignore[method-assign]
            stand_in.StandIn.on_host,  # type: ignore[method-assign]
        ) = replaced
