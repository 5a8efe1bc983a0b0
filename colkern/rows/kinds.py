"""Kinds: what a value in a row function is, as far as that is known before it runs.

A kind stands for one of Python's types, with what its values are made of in compiled code
(`colkern.kernels.row_values`). `words` is how many words of eight bytes a value takes as an item of a list,
a key or a value of a dictionary, or a field of a row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A type without parts.

    Args:
        name: Python's name of the type.
        words: How many words an item takes.
    """

    name: str
    words: int = 1

    def __str__(self) -> str:
        return self.name


INT = Kind("int")
FLOAT = Kind("float")
BOOL = Kind("bool")
TEXT = Kind("str", 2)
BYTES = Kind("bytes", 2)
DATE = Kind("date")
TIME = Kind("time")
DATETIME = Kind("datetime")
TIMEDELTA = Kind("timedelta")
NONE = Kind("None", 0)
NEVER = Kind("never", 0)
"""The kind of the items of an empty container."""

PLAIN = {
    kind.name: kind
    for kind in (INT, FLOAT, BOOL, TEXT, BYTES, DATE, TIME, DATETIME, TIMEDELTA, NONE)
}
"""The kinds without parts, by name."""


@dataclass(frozen=True)
class Optional(Kind):
    """A value of another kind, or None.

    Args:
        of: The kind, itself not optional.
    """

    name: str = ""
    words: int = 0
    of: Kind = NONE

    def __str__(self) -> str:
        return f"{self.of} | None"


@dataclass(frozen=True)
class Tuple(Kind):
    """A tuple of a known length.

    Args:
        items: The kinds of its items.
        names: Their names, of a named tuple, a dataclass, or a dictionary with constant keys.
        form: `tuple`, `dict`, or the class.
    """

    name: str = ""
    words: int = 0
    items: tuple[Kind, ...] = ()
    names: tuple[str, ...] = ()
    form: type = tuple

    def __str__(self) -> str:
        return f"tuple[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True)
class Container(Kind):
    """A list, set or dictionary: a word, the address of its header in the arena.

    Args:
        items: The kind of its items; of a dictionary, those of its keys and values.
    """

    items: tuple[Kind, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True)
class Constant(Kind):
    """A Python object that is known when the function is compiled.

    Args:
        value: The object.
    """

    value: object = None

    def __str__(self) -> str:
        return f"the constant {self.value!r}"


def optional(of: Kind) -> Kind:
    """The kind of a value that may be None."""
    return of if isinstance(of, Optional) or of == NONE else Optional("", of.words + 1, of)


def tuple_of(items: tuple[Kind, ...], names: tuple[str, ...] = (), form: type = tuple) -> Tuple:
    """The kind of a tuple."""
    return Tuple("tuple", sum(kind.words for kind in items), items, names, form)


def list_of(item: Kind) -> Container:
    """The kind of a list."""
    return Container("list", 1, (item,))


def set_of(item: Kind) -> Container:
    """The kind of a set."""
    return Container("set", 1, (item,))


def dict_of(key: Kind, value: Kind) -> Container:
    """The kind of a dictionary."""
    return Container("dict", 1, (key, value))
