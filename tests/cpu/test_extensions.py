"""What others teach Numba is part of the key of users' functions."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numba
import pytest
from numba.core import imputils
from numba.core.typing.templates import make_overload_template

from colkern.cpu import extensions
from colkern.cpu.extensions import extensions_key


def plus(number: int) -> Any:
    """A template as `overload` makes it, of a function that adds `number`."""

    def typed(x: Any) -> Any:
        return lambda x: x + number

    return make_overload_template(len, typed, {}, True, "never")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The one registry there is, empty."""
    entries: list[Any] = []
    monkeypatch.setattr(extensions, "_SOURCES", [lambda: entries])
    monkeypatch.setattr(extensions, "_seen", [0])
    for name in ("_registered", "_contents"):
        monkeypatch.setattr(extensions, name, type(getattr(extensions, name))())
    monkeypatch.setattr(extensions, "_registered", extensions.defaultdict(list))
    monkeypatch.setattr(extensions, "_by_entry_points", set)
    return entries


def keys(entries: list[Any], *registrations: Any) -> list[str]:
    """The key before, and after each registration."""
    found = [extensions_key([])]
    for registration in registrations:
        entries.append(registration)
        found.append(extensions_key([]))
    return found


def test_what_numba_and_colkern_register_is_in_the_key_by_other_ways(registered: list[Any]) -> None:
    known = [*numba.core.typing.templates.builtin_registry.functions[:50]]
    assert set(keys(registered, *known)) == {""}


def test_content_and_number_count_and_order_does_not(registered: list[Any]) -> None:
    empty, one, both = keys(registered, plus(1), plus(2))
    assert len({empty, one, both}) == 3
    registered[:] = [plus(2), plus(1)]
    extensions._seen[0] = 0
    extensions._registered.clear()
    extensions._contents.clear()
    assert extensions_key([]) == both


def test_threads_count_nothing_twice(
    registered: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    both_look = threading.Barrier(2)

    def waiting(entry: Any) -> bool:
        with contextlib.suppress(threading.BrokenBarrierError):
            both_look.wait(timeout=0.2)
        return False

    monkeypatch.setattr(extensions, "_is_known", waiting)
    registered.append(plus(1))
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(extensions_key, [(), ()])
    assert first == second == extensions_key([])
    assert [len(entries) for entries in extensions._registered.values()] == [1]


def test_implementations_in_wrappers_of_numbas_count(registered: list[Any]) -> None:
    def attribute(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        return value

    wrapped = imputils._decorate_getattr(attribute, numba.types.intp, "itself")
    empty, one = keys(registered, wrapped)
    assert empty != one


def test_entry_points_count_for_their_own_types_alone(
    registered: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = __name__.partition(".")[0]
    monkeypatch.setattr(extensions, "_by_entry_points", lambda: {package})
    assert keys(registered, plus(1)) == ["", ""]

    class Theirs:
        pass

    monkeypatch.setitem(sys.modules, package, SimpleNamespace(__version__="1.0"))
    first = extensions_key([Theirs()])
    monkeypatch.setitem(sys.modules, package, SimpleNamespace(__version__="1.1"))
    assert len({"", first, extensions_key([Theirs()])}) == 3


FORGOTTEN = """
import importlib, pkgutil
import colkern.jit
from colkern.cpu import extensions
from colkern.jit.compiling.library import _COMPILED_IN
for module in pkgutil.walk_packages(colkern.jit.__path__, "colkern.jit."):
    # What is made for the device is compiled under keys of its own.
    if not module.name.startswith("colkern.jit.device"):
        importlib.import_module(module.name)
for source in extensions._SOURCES:
    for entry in source():
        for function in extensions._functions(entry):
            name = function.__module__ or ""
            if name.startswith("colkern.") and not name.startswith(_COMPILED_IN):
                print(name, function.__qualname__)
"""


def test_all_that_colkern_registers_is_in_the_files_that_are_hashed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
