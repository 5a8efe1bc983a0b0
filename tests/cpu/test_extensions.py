"""Numba's extensions by others are part of the key of users' functions."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any

import numba
import pytest
from numba.core import imputils
from numba.core.typing.templates import (
    AbstractTemplate,
    builtin_registry,
    make_overload_template,
)


def plus(number: int) -> Any:
    """A template as `overload` makes it, of a function that adds `number`."""

    def typed(x: Any) -> Any:
        return lambda x: x + number

    return make_overload_template(len, typed, {}, True, "never")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions that Numba knows of: none."""
    entries: list[Any] = []
    monkeypatch.setattr(builtin_registry, "functions", entries)
    return entries


def extensions() -> ModuleType:
    """The module as in a process that has not looked for any extension."""
    spec = importlib.util.find_spec("colkern.cpu.extensions")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def keys(entries: list[Any], *registrations: Any) -> list[str]:
    """The key before, and after each registration."""
    extensions_key = extensions().extensions_key
    result = [extensions_key([])]
    for registration in registrations:
        entries.append(registration)
        result.append(extensions_key([]))
    return result


def test_what_numba_and_colkern_register_is_in_the_key_by_other_ways(registered: list[Any]) -> None:
    before, *after = keys(registered, *KNOWN)
    assert len(after) == 50
    assert set(after) == {before}


def test_content_and_number_count_and_order_does_not(registered: list[Any]) -> None:
    empty, one, both = keys(registered, plus(1), plus(2))
    assert len({empty, one, both}) == 3
    registered[:] = [plus(2), plus(1)]
    assert extensions().extensions_key([]) == both


def test_threads_count_nothing_twice(registered: list[Any]) -> None:
    both_look = threading.Barrier(2)

    class Waiting:
        @property
        def _overload_func(self) -> Any:
            with contextlib.suppress(threading.BrokenBarrierError):
                both_look.wait(timeout=0.2)
            return plus

    extensions_key = extensions().extensions_key
    registered.append(Waiting())
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(extensions_key, [(), ()])
    assert first == second == extensions_key([])
    assert [first] == keys(registered)


def test_implementations_in_wrappers_of_numbas_count(registered: list[Any]) -> None:
    def attribute(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        return value

    wrapped = imputils._decorate_getattr(attribute, numba.types.intp, "itself")
    empty, one = keys(registered, wrapped)
    assert empty != one


def test_methods_of_registered_classes_count(registered: list[Any]) -> None:
    def typing(number: int) -> type:
        class Typing(AbstractTemplate):  # type: ignore[misc]
            def generic(self, args: Any, kws: Any) -> int:
                return number

        return Typing

    empty, one = keys(registered, typing(1))
    registered[:] = [typing(2)]
    other = extensions().extensions_key([])
    assert len({empty, one, other}) == 3


def test_entry_points_count_for_their_own_types_alone(
    registered: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = __name__.partition(".")[0]
    points = [SimpleNamespace(module=f"{package}.numba")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)
    before, after = keys(registered, plus(1))
    assert before == after

    class Theirs:
        pass

    monkeypatch.setitem(sys.modules, package, SimpleNamespace(__version__="1.0"))
    extensions_key = extensions().extensions_key
    first = extensions_key([Theirs()])
    monkeypatch.setitem(sys.modules, package, SimpleNamespace(__version__="1.1"))
    assert len({before, first, extensions_key([Theirs()])}) == 3


KNOWN = builtin_registry.functions[:50]
"""Some that are Numba's."""

FORGOTTEN = """
import importlib, pkgutil
import colkern.jit
from colkern.jit import environment
from numba.core import imputils
from numba.core.datamodel import default_manager
from numba.core.typing.templates import builtin_registry
for module in pkgutil.walk_packages(colkern.jit.__path__, "colkern.jit."):
    # What is made for the device is compiled under keys of its own.
    if not module.name.startswith("colkern.jit.device"):
        importlib.import_module(module.name)
hashed, packages = [], set()
environment.source_key = lambda package: hashed.append(package) or ""
environment.library_key()
lowering = imputils.builtin_registry
registered = [*builtin_registry.functions, *builtin_registry.attributes]
registered += [each[0] for kind in ("functions", "getattrs", "casts") for each in getattr(lowering, kind)]
for entry in [*registered, *default_manager._handlers.values()]:
    for name in ("_overload_func", "_definition_func"):
        entry = getattr(entry, name, entry)
    # Numba wraps functions that implement attributes.
    for part in (entry, *(cell.cell_contents for cell in getattr(entry, "__closure__", None) or ())):
        name = getattr(part, "__module__", None) or ""
        if name.startswith("colkern."):
            assert name.startswith(tuple(hashed)), (name, part)
            packages.add(name.split(".")[1])
print(*sorted(packages))
"""


def test_all_that_colkern_registers_is_in_the_files_that_are_hashed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.split()) == (0, ["cpu", "jit", "kernels"]), done.stderr
