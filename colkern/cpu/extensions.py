"""Extensions of Numba by users and other packages, on which compiled code depends.

An `overload` that a user registers, for a method, an attribute or a type, is found by types while a
function is compiled: nothing in the function names it. So its content is part of the key of every
user's function.
"""

from __future__ import annotations

import hashlib
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import metadata

from numba.core import imputils, pythonapi
from numba.core.datamodel import default_manager
from numba.core.typing import templates

from colkern.cpu.content import parts_of
from colkern.forks import Lock

_KNOWN = {"numba", "numba_cuda", "numba_cuda_mlir", "llvmlite", "colkern"}
"""Packages whose versions, or files, are in the keys already."""

_TYPING, _LOWERING = templates.builtin_registry, imputils.builtin_registry

_SOURCES: list[Callable[[], Iterable[object]]] = [
    lambda: _TYPING.functions,
    lambda: _TYPING.attributes,
    lambda: [
        template for _, kind in _TYPING.globals for template in getattr(kind, "templates", ())
    ],
    lambda: [registered[0] for registered in _LOWERING.functions],
    lambda: [registered[0] for registered in _LOWERING.getattrs],
    lambda: [registered[0] for registered in _LOWERING.setattrs],
    lambda: [registered[0] for registered in _LOWERING.casts],
    lambda: [registered[0] for registered in _LOWERING.constants],
    lambda: default_manager._handlers.values(),
    lambda: pythonapi._unboxers.functions.values(),
    lambda: pythonapi._boxers.functions.values(),
]


def extensions_key(arguments: Iterable[object]) -> str:
    """A hash of everything that users and other packages have registered with Numba."""
    # Registrations by entry points (`numba_extensions`) count only if an argument's type is from
    # their package: Numba loads them when it compiles, so a process that finds all code compiled
    # never does. Therefore it is noted which package registered what.
    with _looking:
        for number, source in enumerate(_SOURCES):
            entries = list(source())
            for entry in entries[_seen[number] :]:
                _note(entry)
            _seen[number] = len(entries)
    if not _registered:
        return ""
    installed = _by_entry_points()
    named = {_package(type(argument).__module__) for argument in arguments} & installed
    parts = {package: str(getattr(sys.modules[package], "__version__", "")) for package in named}
    parts |= {package: _content(package) for package in _registered.keys() - installed}
    return repr(sorted(parts.items())) if parts else ""


_looking = Lock()
_seen: list[int] = [0] * len(_SOURCES)
_registered: dict[str, list[object]] = defaultdict(list)
_contents: dict[tuple[str, int], str] = {}


def _note(entry: object) -> None:
    if not _is_known(entry):
        for package in {_package(f.__module__) for f in _functions(entry)} - _KNOWN:
            _registered[package].append(entry)


def _content(package: str) -> str:
    """A hash of everything that a package registered."""
    entries = _registered[package]
    if (package, len(entries)) not in _contents:
        # The order of imports must not matter.
        digests = sorted(_digest(entry) for entry in entries)
        _contents[package, len(entries)] = hashlib.sha256(b"".join(digests)).hexdigest()
    return _contents[package, len(entries)]


def _digest(entry: object) -> bytes:
    digest = hashlib.sha256(getattr(entry, "__qualname__", "").encode())
    for function in _functions(entry):
        for part in parts_of(function):
            digest.update(part)
    return digest.digest()


# Modules in which Numba makes classes and functions around the registered ones.
_WRAPPERS = {"abc", "numba.core.imputils", "numba.core.typing.templates"}


def _is_known(entry: object) -> bool:
    """Whether a registered object is from Numba or colkern, as thousands are."""
    function = getattr(entry, "_overload_func", None) or getattr(entry, "_definition_func", entry)
    module = function.__module__
    return module not in _WRAPPERS and _package(module) in _KNOWN


def _functions(entry: object) -> Iterator[types.FunctionType]:
    """The functions in a template, a data model or an implementation."""
    for name in ("_overload_func", "_definition_func"):
        function = getattr(entry, name, None)
        if function is not None:
            yield function
            return
    if not isinstance(entry, type):
        yield from _unwrapped(entry)
        return
    for base in entry.__mro__:
        if base.__module__ == "abc" or _package(base.__module__) not in {*_KNOWN, "builtins"}:
            for member in vars(base).values():
                yield from _unwrapped(member)


def _unwrapped(value: object) -> Iterator[types.FunctionType]:
    """A function, and those that it wraps if it is one of Numba's wrappers."""
    if isinstance(value, types.FunctionType):
        yield value
        if value.__module__ in _WRAPPERS:
            for cell in value.__closure__ or ():
                if isinstance(cell.cell_contents, types.FunctionType):
                    yield cell.cell_contents


def _package(module: str | None) -> str:
    # Functions that Numba generates have no module.
    return (module or "numba").partition(".")[0]


@cache
def _by_entry_points() -> set[str]:
    return {_package(point.module) for point in metadata.entry_points(group="numba_extensions")}
