"""Records what compiled functions rely on, such as the objects of names, and tells whether that holds."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from colkern.rows.front import WRITTEN, is_of_standard_library, names_in
from colkern.rows.program import Program, are_true

MOST_COMPARED = 1 << 10
"""If a container has more items, only their number is compared."""

_CONTAINERS = (dict, list, set, Counter, OrderedDict, defaultdict, types.MappingProxyType)

_GONE = object()


class Meanings:
    """The values of the names in functions, and what their programs assume, when they are noted."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self._containers: dict[int, tuple[Any, Any]] = {}
        self._assumptions: list[tuple[Callable[..., Any], Any, Hashable]] = []

    def note(self, functions: Iterable[Any], programs: Sequence[Program]) -> None:
        """Note the values of the names in functions, and in those that they call; also of modules."""
        called = [each for program in programs for each in program.definitions.values()]
        self._assumptions += [each for program in programs for each in program.assumptions]
        for each in (each for program in programs for each in program.objects):
            self._note_container(each)
        for function in (*functions, *(each.function for each in called)):
            names = names_in(function.__code__)
            for name in names & function.__globals__.keys():
                self._note(function.__globals__, name)
                value = function.__globals__[name]
                if isinstance(value, types.ModuleType):
                    for attribute in names & vars(value).keys():
                        self._note(vars(value), attribute)
            for cell in function.__closure__ or ():
                value = _content(cell)
                self._cells.append((cell, value))
                self._note_container(value)

    def _note(self, namespace: dict[str, Any], name: str) -> None:
        self._names[id(namespace), name] = namespace, name, namespace[name]
        self._note_container(namespace[name])

    def _note_container(self, value: Any) -> None:
        for base in value.__mro__[:-1] if isinstance(value, type) else ():
            if base.__flags__ & WRITTEN and not is_of_standard_library(base):
                self._containers[id(base)] = vars(base), dict(vars(base))
        if isinstance(value, types.FunctionType):
            value = getattr(value, "registry", value)  # The registry of `functools.singledispatch`.
        is_named = isinstance(value, type | types.ModuleType | types.FunctionType)
        if type(value) not in _CONTAINERS and not is_named:
            # The fields of an instance.
            value = getattr(value, "__dict__", None)
        if type(value) in _CONTAINERS:
            few = len(value) <= MOST_COMPARED
            self._containers[id(value)] = value, value.copy() if few else len(value)

    def hold(self) -> bool:
        """Whether all names still have the same values, and all assumptions are still true."""
        if self._assumptions and not are_true(self._assumptions):
            return False
        for namespace, name, value in self._names.values():
            if namespace.get(name, _GONE) is not value:
                return False
        for cell, value in self._cells:
            if _content(cell) is not value:
                return False
        for value, before in self._containers.values():
            if _differs(len(value) if type(before) is int else value, before):
                return False
        return True


def _differs(value: Any, before: Any) -> bool:
    try:
        return bool(value != before)
    except ValueError:
        # Comparing arrays compares their items; here a field is another array.
        return True


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _GONE
