"""Records what compiled functions rely on, such as the objects of names, and tells whether that holds."""

from __future__ import annotations

import functools
import sys
import types
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from colkern.rows.front import WRITTEN, is_of_standard_library, names_in
from colkern.rows.program import Program, are_true

MOST_COMPARED = 1 << 10
"""If a container has more items, only their number is compared; so many items within it are compared."""

_MOST_BYTES = MOST_COMPARED << 6

_CONTAINERS = (dict, list, set, deque, array, bytearray, types.MappingProxyType)

_GONE = object()


class Meanings:
    """The values of the names in functions, and what their programs assume, when they are noted."""

    def __init__(self, before: Meanings | None = None) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self._contents: dict[int, tuple[Callable[[Any], Any], Any, Any]] = {}
        self._assumptions: list[tuple[Callable[..., Any], Any, Hashable]] = []
        if before is not None:
            self._names |= before._names
            self._cells += before._cells
            self._contents |= before._contents
            self._assumptions += before._assumptions

    def with_those_of(self, functions: Iterable[Any], programs: Sequence[Program]) -> Meanings:
        """Returns these with the values of the names in functions, and in those that they call.

        These stay the same, as other threads may ask whether they hold.
        """
        meanings = Meanings(self)
        meanings._note(functions, programs)
        return meanings

    def _note(self, functions: Iterable[Any], programs: Sequence[Program]) -> None:
        called = [each for program in programs for each in program.definitions.values()]
        self._assumptions += [each for program in programs for each in program.assumptions]
        for each in (each for program in programs for each in program.objects):
            self._note_contents(each)
        for function in (*functions, *(each.function for each in called)):
            names = names_in(function.__code__)
            for name in names & function.__globals__.keys():
                self._note_name(function.__globals__, name)
                value = function.__globals__[name]
                if isinstance(value, types.ModuleType):
                    for attribute in names & vars(value).keys():
                        self._note_name(vars(value), attribute)
            self._cells += [(cell, _content(cell)) for cell in function.__closure__ or ()]
            self._note_contents(function)

    def _note_name(self, namespace: dict[str, Any], name: str) -> None:
        self._names[id(namespace), name] = namespace, name, namespace[name]
        self._note_contents(namespace[name])

    def _note_contents(self, value: Any) -> None:
        """Note the items, fields and attributes of a value, and of those that it leads to."""
        waiting, seen, room = deque([value]), set[int](), MOST_COMPARED
        while waiting and room > 0:
            part = waiting.popleft()
            if id(part) in seen:
                continue
            seen.add(id(part))
            for owner in _owners(part):
                read = _reader(owner)
                content = read(owner)
                if not isinstance(owner, tuple | frozenset):
                    self._contents[id(owner)] = read, owner, content
                if not isinstance(content, int | bytes) and not _is_of_library(part):
                    room -= len(content)
                    waiting += content.values() if isinstance(content, dict) else content

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
        contents = self._contents.values()
        # Without any, there is no generator to call.
        return not contents or not any(
            _differs(read(owner), before) for read, owner, before in contents
        )


def _owners(value: Any) -> list[Any]:
    """Returns what has the items, fields or attributes of a value, or what a function leads to."""
    match value:
        case type():
            bases = [base for base in value.__mro__[:-1] if base.__flags__ & WRITTEN]
            return [base for base in bases if not is_of_standard_library(base)]
        case types.FunctionType() if hasattr(value, "registry"):  # By `functools.singledispatch`.
            return [value.registry]
        case types.FunctionType():
            cells = map(_content, value.__closure__ or ())
            named = (value.__kwdefaults__ or {}).values()
            return [(*cells, *(value.__defaults__ or ()), *named)]
        case functools.partial():
            return [(value.func, *value.args, *value.keywords.values())]
        case types.MethodType() | types.BuiltinMethodType():
            return [(value.__self__, getattr(value, "__func__", None))]
        case types.ModuleType():
            return []
    is_container = isinstance(value, (np.ndarray, tuple, frozenset, *_CONTAINERS))
    own: list[Any] = [value] if is_container or _slots_of(value) else []
    if type(value).__flags__ & WRITTEN:
        own += [getattr(value, "__dict__", ()), (type(value),)]
    return own


def _is_of_library(value: Any) -> bool:
    """Whether a value is an instance of a library's class, whose fields are its own affair."""
    form = value if isinstance(value, type) else type(value)
    package = form.__module__.partition(".")[0]
    path = getattr(sys.modules.get(form.__module__), "__file__", None) or ""
    is_containers = package in ("array", "collections", "functools")
    is_of_library = is_of_standard_library(form) or package == "colkern" or "site-packages" in path
    return bool(form.__flags__ & WRITTEN) and is_of_library and not is_containers


def _reader(owner: Any) -> Callable[[Any], Any]:
    """Returns a function that copies contents to where `==` compares them; `len` if they are many."""
    if isinstance(owner, type):
        return _attributes_of
    if isinstance(owner, np.ndarray):
        return np.ndarray.tobytes if owner.nbytes <= _MOST_BYTES else len
    if not isinstance(owner, (tuple, frozenset, *_CONTAINERS)):
        return _slots_of
    if len(owner) > MOST_COMPARED:
        return len
    return dict if isinstance(owner, Mapping) else set if isinstance(owner, set) else list


def _attributes_of(value: type) -> dict[str, Any]:
    return dict(vars(value))


def _slots_of(value: Any) -> dict[str, Any]:
    """Returns the fields of an instance that are slots."""
    if _is_of_library(value):
        return {}
    written = [base for base in type(value).__mro__[:-1] if base.__flags__ & WRITTEN]
    members = ((name, each) for base in written for name, each in vars(base).items())
    names = [name for name, each in members if isinstance(each, types.MemberDescriptorType)]
    return {name: getattr(value, name, _GONE) for name in names}


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
