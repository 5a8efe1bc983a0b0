"""Records what compiled functions rely on, such as the objects of names, and tells whether that holds."""

from __future__ import annotations

import functools
import sys
import types
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from operator import eq, is_
from typing import Any

import numpy as np

from colkern.rows.front import WRITTEN, is_of_standard_library, names_in
from colkern.rows.program import Program, are_true

MOST_COMPARED = 1 << 12
"""If a container has more items, only their number is compared; so many items within it are compared."""

_MOST_BYTES = MOST_COMPARED << 4

_CONTAINERS = (dict, list, set, deque, array, bytearray, types.MappingProxyType)

_PLAIN = (bool, int, float, complex, str, bytes, Decimal, date, datetime, time, timedelta)

_GONE = object()

_Reader = Callable[[Iterable[Any]], list[Any]]
_Comparison = Callable[[Any, Any], bool]


class Meanings:
    """The values of the names in functions, and what their programs assume, when they are noted."""

    def __init__(self, before: Meanings | None = None) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self._owners: dict[tuple[_Reader, _Comparison], dict[int, Any]] = {}
        self._contents: list[tuple[_Reader, list[Any], list[Any], _Comparison]] = []
        self._assumptions: list[tuple[Callable[..., Any], Any, Hashable]] = []
        if before is not None:
            self._names |= before._names
            self._cells += before._cells
            self._owners = {readers: dict(owners) for readers, owners in before._owners.items()}
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
        self._contents = [
            (read, [*owners.values()], read(owners.values()), are_same)
            for (read, are_same), owners in self._owners.items()
        ]

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
                for read, are_same in _readers(owner):
                    if not isinstance(owner, tuple | frozenset):
                        self._owners.setdefault((read, are_same), {})[id(owner)] = owner
                    # Keys never change.
                    is_led_to = are_same is _are_same and read is not _keys
                    if is_led_to and not _is_of_library(part):
                        items = read([owner])
                        room -= len(items)
                        waiting += items

    def hold(self) -> bool:
        """Whether all names still have the same values, and all assumptions are still true."""
        for namespace, name, value in self._names.values():
            if namespace.get(name, _GONE) is not value:
                return False
        for cell, value in self._cells:
            if _content(cell) is not value:
                return False
        for read, owners, before, are_same in self._contents:
            if not are_same(read(owners), before):
                return False
        return not self._assumptions or are_true(self._assumptions)


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
    own: list[Any] = [value] if is_container or _fields_in_slots(value) else []
    own += [value.__dict__] if hasattr(value, "__dict__") else []
    return own + ([(type(value),)] if type(value).__flags__ & WRITTEN else [])


def _is_of_library(value: Any) -> bool:
    """Whether a value is an instance of a library's class, whose fields are its own affair."""
    form = value if isinstance(value, type) else type(value)
    package = form.__module__.partition(".")[0]
    path = getattr(sys.modules.get(form.__module__), "__file__", None) or ""
    is_containers = package in ("argparse", "array", "collections", "functools")
    is_of_library = is_of_standard_library(form) or package == "colkern" or "site-packages" in path
    return bool(form.__flags__ & WRITTEN) and is_of_library and not is_containers


def _readers(owner: Any) -> list[tuple[_Reader, _Comparison]]:
    """Returns functions that list the contents of such owners, and what compares the lists."""
    if isinstance(owner, type):
        return [(_attributes, _are_same)]
    if not isinstance(owner, (np.ndarray, tuple, frozenset, *_CONTAINERS)):
        return [(_slots, _are_same)]
    if isinstance(owner, np.ndarray):
        return [(_lengths if owner.nbytes > _MOST_BYTES else _bytes, eq)]
    if len(owner) > MOST_COMPARED:
        return [(_lengths, eq)]
    if isinstance(owner, array | bytearray):
        return [(_bytes, eq)]
    if isinstance(owner, dict) and not isinstance(owner, OrderedDict):
        # Only a text equals a text; to compare keys by `==` takes a third of the time.
        are_texts = all(type(key) is str for key in dict.keys(owner))
        return [(_keys, eq if are_texts else _are_same), (_values, _are_same)]
    if isinstance(owner, Mapping):
        return [(_entries, _are_same)]
    return [(_lengths, eq), (_items, _are_same)]


def _lengths(owners: Iterable[Any]) -> list[Any]:
    return list(map(len, owners))


def _items(owners: Iterable[Any]) -> list[Any]:
    return list(chain.from_iterable(owners))


def _keys(owners: Iterable[Any]) -> list[Any]:
    return [*map(dict.__len__, owners), *chain.from_iterable(map(dict.keys, owners))]


def _values(owners: Iterable[Any]) -> list[Any]:
    # Not by a method that a subclass may have instead.
    return list(chain.from_iterable(map(dict.values, owners)))


def _entries(owners: Iterable[Any]) -> list[Any]:
    # An ordered dictionary has an order of its own.
    return [
        [*OrderedDict.items(owner)] if isinstance(owner, OrderedDict) else dict(owner)
        for owner in owners
    ]


def _bytes(owners: Iterable[Any]) -> list[Any]:
    return [owner.tobytes() if isinstance(owner, np.ndarray) else bytes(owner) for owner in owners]


def _attributes(owners: Iterable[Any]) -> list[Any]:
    return [each for owner in owners for each in (owner, *vars(owner), *vars(owner).values())]


def _slots(owners: Iterable[Any]) -> list[Any]:
    """Returns instances, each with its fields that are slots."""
    return [each for owner in owners for each in (owner, *_fields_in_slots(owner))]


def _fields_in_slots(value: Any) -> list[Any]:
    if _is_of_library(value):
        return []
    written = [base for base in type(value).__mro__[:-1] if base.__flags__ & WRITTEN]
    members = ((name, each) for base in written for name, each in vars(base).items())
    names = [name for name, each in members if isinstance(each, types.MemberDescriptorType)]
    return [getattr(value, name, _GONE) for name in names]


def _are_same(content: list[Any], before: list[Any]) -> bool:
    """Whether items are the same objects, or others that no function can tell apart."""
    if len(content) != len(before):
        return False
    if all(map(is_, content, before)):
        return True
    if not all(map(_is_same, content, before)):
        return False
    # Next time, it is the same object. Of another container, the changes would not be seen.
    before[:] = [
        one if type(one) in _PLAIN else other for one, other in zip(content, before, strict=True)
    ]
    return True


def _is_same(one: Any, other: Any) -> bool:
    kind = type(one)
    if one is other or kind is not type(other):
        return one is other
    if kind in _PLAIN:
        return repr(one) == repr(other)
    if kind is dict:
        return _is_same([*one], [*other]) and _is_same([*one.values()], [*other.values()])
    if kind not in (list, tuple) or len(one) != len(other):
        return False
    return all(map(_is_same, one, other))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _GONE
