"""Kinds: what a value in a row function is, as far as that is known before it runs.

A kind stands for one of Python's types, with what its values are made of in compiled code
(`colkern.kernels.row_values`). `words` is how many words of eight bytes a value takes as an item of a list,
a key or a value of a dictionary, or a field of a row.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import inspect
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from enum import Enum, EnumMeta, Flag
from time import struct_time
from typing import Any, cast


@dataclass(frozen=True)
class Kind:
    """A type without parts.

    Args:
        name: Python's name of the type.
        words: How many words an item takes.
        loose: Whether some of its values are of a narrower type in Python: an `int` that is a `bool`, a
            `float` that is an `int`. Such a value has no text of its own.
    """

    name: str
    words: int = 1
    loose: bool = False

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

LOOSE_INT = replace(INT, loose=True)
LOOSE_FLOAT = replace(FLOAT, loose=True)

PLAIN = {
    kind.name: kind
    for kind in (INT, FLOAT, BOOL, TEXT, BYTES, DATE, TIME, DATETIME, TIMEDELTA, NONE)
}
"""The kinds without parts, by name."""

HELD_BY_PYTHON = {name: Kind(name) for name in ("address", "hash", "matcher", "template", "uuid")}
"""The kinds of what only Python makes, in rows that are left to it."""


@dataclass(frozen=True)
class Aware(Kind):
    """A datetime in a time zone: a word, the microseconds since 1970 in UTC.

    Args:
        zone: The time zone, one object for all values of a kind.
        shown: How Python shows it: zones of one offset are equal, whatever their names are.
    """

    zone: tzinfo | None = None
    shown: str = ""

    def __str__(self) -> str:
        return f"datetime[{self.zone}]"


@dataclass(frozen=True)
class Member(Kind):
    """A member of an enum: a word, its number among them.

    Args:
        form: The enum.
    """

    form: type[Enum] = Enum

    def __str__(self) -> str:
        return self.form.__name__


def is_enum(value: object) -> bool:
    """Whether an object is an enum whose members are all that there are: flags have more."""
    if not isinstance(value, EnumMeta) or issubclass(value, Flag):
        return False
    return len(cast(type[Enum], value)) > 0


def member_of(form: type[Enum]) -> Member:
    """The kind of an enum's members."""
    return Member("member", form=form)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several functions that are known: a word, its number among them.

    Args:
        among: The functions.
    """

    among: tuple[Any, ...] = ()


def choice_of(functions: Iterable[Any]) -> Choice:
    """The kind of one of several functions."""
    return Choice("function", among=tuple(dict.fromkeys(functions)))


def is_function(value: object) -> bool:
    """Whether a constant is a function, also one that is defined in the row function."""
    return callable(value) or isinstance(value, ast.FunctionDef | ast.Lambda)


@dataclass(frozen=True)
class Decimal(Kind):
    """A decimal: two words, the number and the exponent of ten that it is times.

    Args:
        scale: How many digits there are behind the point at most; None if that is not known.
    """

    scale: int | None = None


@dataclass(frozen=True)
class Optional(Kind):
    """A value of another kind, or None.

    Args:
        of: The kind, itself not optional.
    """

    of: Kind = NONE

    def __str__(self) -> str:
        return f"{self.of} | None"


@dataclass(frozen=True)
class Compound(Kind):
    """A value of parts that are known.

    Args:
        items: The kinds of its parts.
        names: Their names, of a named tuple, a data class, or a dictionary with constant keys.
        form: `tuple`, `dict`, or the class.
    """

    items: tuple[Kind, ...] = ()
    names: tuple[str, ...] = ()
    form: type = tuple


class Record(Compound):
    """An instance of a data class: its parts are attributes, and nothing can be asked for by number."""

    def __str__(self) -> str:
        return self.form.__name__


class Unset:
    """The form of a field that may not be assigned yet: whether it is not, and its value."""


class Tuple(Compound):
    """A tuple of a known length, or a dictionary with constant keys."""

    def __str__(self) -> str:
        return f"tuple[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True)
class Container(Kind):
    """A list, set or dictionary: a word, the address of its header in the arena.

    Args:
        items: The kind of its items; of a dictionary, those of its keys and values.
        default: What a dictionary gives for a key that is not there: "int", "float", "str" or "list" for
            a new value of that type; "count" for 0, which is not kept; empty for a KeyError, which
            "ordered" raises, too: that is an `OrderedDict`; "range" of a list that stands for a `range`,
            and "either" of one that may.
        sites: The displays that it may come from, whose items can still become wider.
        constant: Whether it may be a constant, or part of one, which must not change.
        is_tuple: Whether it stands for a tuple, whose length depends on the row.
        most: Of a list that stands for a `deque`, how many items it keeps; else 0.
    """

    items: tuple[Kind, ...] = ()
    default: str = ""
    sites: frozenset[int] = field(default=frozenset(), compare=False)
    constant: bool = field(default=False, compare=False)
    is_tuple: bool = False
    most: int = 0

    def __str__(self) -> str:
        if self.is_tuple:
            return f"tuple[{self.items[0]}, ...]"
        name = "deque" if self.most else self.name
        return f"{name}[{', '.join(map(str, self.items))}]"


def is_tuple(kind: Kind) -> bool:
    """Whether a kind is that of tuples whose length depends on the row."""
    return isinstance(kind, Container) and kind.is_tuple


UNBOUNDED = 1 << 62
"""How many items a `deque` without a bound keeps."""


def is_deque(kind: Kind) -> bool:
    """Whether a kind is that of deques."""
    return isinstance(kind, Container) and kind.most > 0


def has_constant(kind: Kind) -> bool:
    """Whether a kind, or one of its parts, is a container that may be a constant."""
    if isinstance(kind, Optional):
        return has_constant(kind.of)
    if isinstance(kind, Container) and kind.constant:
        return True
    return isinstance(kind, Compound | Container) and any(map(has_constant, kind.items))


def origins(kind: Kind) -> tuple[object, ...]:
    """The differences of equal kinds: which displays containers come from, and whether they may change."""
    return tuple((container.sites, container.constant) for container in containers_in(kind))


def parts_of(kind: Kind) -> Iterator[Kind]:
    """A kind, those of its parts, and those of their parts."""
    yield kind
    parts = (kind.of,) if isinstance(kind, Optional) else getattr(kind, "items", ())
    for part in parts:
        yield from parts_of(part)


def depth(kind: Kind) -> int:
    """How deep the parts of a kind are nested."""
    parts = (kind.of,) if isinstance(kind, Optional) else getattr(kind, "items", ())
    return 1 + max(map(depth, parts), default=0)


def containers_in(kind: Kind) -> Iterator[Container]:
    """The containers that a value of a kind is or has."""
    return (part for part in parts_of(kind) if isinstance(part, Container))


def unchangeable(kind: Kind) -> Kind:
    """A kind whose containers are not to be changed, as if they were constants."""
    if isinstance(kind, Optional):
        return replace(kind, of=unchangeable(kind.of))
    if isinstance(kind, Compound | Container):
        kind = replace(kind, items=tuple(map(unchangeable, kind.items)))
    return replace(kind, constant=True) if isinstance(kind, Container) else kind


ELSEWHERE = 0
"""Stands among the displays that a container may come from for another that is none of them."""


def may_be_one(left: Kind, right: Kind) -> bool:
    """Whether two containers may be one object, as far as it is known which displays they come from."""
    if not isinstance(left, Container) or not isinstance(right, Container):
        return False
    sites = [side.sites or frozenset({ELSEWHERE}) for side in (left, right)]
    return left.name == right.name and bool(sites[0] & sites[1])


def is_row(kind: Kind) -> bool:
    """Whether a value is a dictionary with constant keys: what a struct is."""
    return isinstance(kind, Tuple) and kind.form is dict


def optional(of: Kind) -> Kind:
    """The kind of a value that may be None."""
    if isinstance(of, Optional) or of == NONE:
        return of
    return Optional(f"{of} | None", of.words + 1, of=of)


_GENERATING = ("<string>", *(module.__file__ for module in (collections, dataclasses)))


def written_method(form: type, name: str) -> types.FunctionType | None:
    """A special method of a class that a user wrote; None of one that was made with the class."""
    method = getattr(form, name, None)
    code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
    is_written = code is not None and code.co_filename not in _GENERATING
    return method if is_written and isinstance(method, types.FunctionType) else None


OPERATOR_METHODS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
}
"""The special methods that a user's class may have for operators."""


def is_record(form: type) -> bool:
    """Whether a class is a data class, or another of a user's that is no tuple or dictionary."""
    return not issubclass(form, tuple | dict | re.Match)


def data_class_of(form: type) -> Any:
    """The parameters of a data class; None of another class."""
    return getattr(form, "__dataclass_params__", None)


def tuple_of(items: tuple[Kind, ...], names: tuple[str, ...] = (), form: type = tuple) -> Compound:
    """The kind of a tuple, or of an instance of a class of rows."""
    words = sum(kind.words for kind in items)
    if is_record(form):
        return Record("record", words, items=items, names=names, form=form)
    return Tuple("tuple", words, items=items, names=names, form=form)


def unset(of: Kind) -> Compound:
    """The kind of a field that may not have been assigned yet."""
    return tuple_of((BOOL, of), (), Unset)


def is_unset(kind: Kind) -> bool:
    """Whether a kind is that of such a field."""
    return getattr(kind, "form", None) is Unset


def datetime_in(zone: tzinfo | None) -> Kind:
    """The kind of a datetime in a zone, or without one."""
    return DATETIME if zone is None else Aware("aware", zone=zone, shown=repr(zone))


def kind_of_datetime(value: datetime) -> Kind:
    """The kind of a datetime that is known."""
    return datetime_in(value.tzinfo)


MOST_SCALE = 38
"""The largest scale that is told apart; beyond, it is not known."""


def decimal_of(scale: int | None, loose: bool = False) -> Decimal:
    """The kind of a decimal with so many digits behind the point at most."""
    known = None if scale is None or scale > MOST_SCALE else max(scale, 0)
    return Decimal("Decimal", 2, loose, scale=known)


PLAIN["Decimal"] = decimal_of(None)


def scale_of(kind: Kind) -> int | None:
    """How many digits behind the point a number that is added to decimals has at most."""
    if isinstance(kind, Decimal):
        return kind.scale
    return 0 if kind.name in ("int", "bool") else None


FIELDS_OF: dict[type, tuple[str, ...]] = {
    type(date.min.isocalendar()): ("year", "week", "weekday"),
    struct_time: struct_time.__match_args__,
}
"""The names of the integers in tuples of Python's, which are fields of no struct."""

PLAIN |= {
    form.__name__: tuple_of((INT,) * len(names), (), form) for form, names in FIELDS_OF.items()
}


def list_of(item: Kind) -> Container:
    """The kind of a list."""
    return Container("list", items=(item,))


def set_of(item: Kind) -> Container:
    """The kind of a set."""
    return Container("set", items=(item,))


def dict_of(key: Kind, value: Kind) -> Container:
    """The kind of a dictionary."""
    return Container("dict", items=(key, value))


_NUMBERS = ("bool", "int", "float")

SEQUENCES = ("range", "either")
"""What `Container.default` is of lists that are no lists in Python, or may be none."""


def joined(left: Kind, right: Kind) -> Kind | None:
    """The kind of a value that is of either kind; None if there is none."""
    if left == right and not any(containers_in(left)):
        return left
    if right == NEVER:
        return left
    if left == NEVER:
        return right
    if is_unset(left) != is_unset(right):
        left, right = (kind if is_unset(kind) else unset(kind) for kind in (left, right))
    if NONE in (left, right) or isinstance(left, Optional) or isinstance(right, Optional):
        return _joined_optional(left, right)
    if isinstance(left, Member) != isinstance(right, Member):
        left, right = of_member(left, int), of_member(right, int)
    if left.name in _NUMBERS and right.name in _NUMBERS:
        wider = max(left, right, key=lambda kind: _NUMBERS.index(kind.name))
        return replace(wider, loose=True)
    if isinstance(left, Choice) and isinstance(right, Choice):
        return choice_of((*left.among, *right.among))
    if isinstance(left, Compound) and isinstance(right, Compound):
        return _joined_tuple(left, right)
    if is_tuple(left) != is_tuple(right):
        return None
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _joined_decimal(left, right)
    if not isinstance(left, Container) or not isinstance(right, Container):
        return None
    if left.default != right.default and {left.default, right.default} <= {"", *SEQUENCES}:
        left, right = (replace(kind, default="either") for kind in (left, right))
    if (left.name, left.default, left.most) == (right.name, right.default, right.most):
        # Both names may stand for one object, whose items have one layout.
        pairs = list(zip(left.items, right.items, strict=True))
        are_made = all(side.sites and ELSEWHERE not in side.sites for side in (left, right))
        if all(
            NEVER in pair or pair[0] == pair[1] or (are_made and _may_be_widened(pair))
            for pair in pairs
        ):
            kinds = [joined(*pair) for pair in pairs]
            if None in kinds:
                return None
            items = tuple(kind for kind in kinds if kind is not None)
            constant = left.constant or right.constant
            is_known = bool(left.sites) == bool(right.sites)
            sites = left.sites | right.sites | (frozenset() if is_known else {ELSEWHERE})
            return replace(left, items=items, sites=sites, constant=constant)
    return None


def _may_be_widened(pair: tuple[Kind, Kind]) -> bool:
    """Whether items of one of two containers, or items of these, may be what those of the other are.

    Either may be None, or a number whose type is not known.
    """
    are_lists = all(isinstance(kind, Container) for kind in pair)
    are_alike = are_lists or pair[0].name == pair[1].name in _NUMBERS
    return are_alike or NONE in pair or any(isinstance(kind, Optional) for kind in pair)


def of_member(kind: Kind, plain: type) -> Kind:
    """The kind of the integers or texts that members of an enum are as well; other kinds as they are."""
    if isinstance(kind, Optional):
        return optional(of_member(kind.of, plain))
    is_one = isinstance(kind, Member) and issubclass(kind.form, plain)
    return {int: LOOSE_INT, str: TEXT}[plain] if is_one else kind


def _joined_optional(left: Kind, right: Kind) -> Kind | None:
    if left == NONE or right == NONE:
        return optional(left if right == NONE else right)
    plain = [kind.of if isinstance(kind, Optional) else kind for kind in (left, right)]
    of = joined(*plain)
    return of and optional(of)


def _joined_decimal(left: Kind, right: Kind) -> Kind | None:
    if not {left.name, right.name} <= {"Decimal", "int", "bool"}:
        return None
    scales = [scale_of(left), scale_of(right)]
    loose = left.loose or right.loose or left.name != right.name
    known = [scale for scale in scales if scale is not None]
    return decimal_of(max(known) if len(known) == 2 else None, loose)


def _joined_tuple(left: Compound, right: Compound) -> Kind | None:
    if left.form != right.form or left.names != right.names or len(left.items) != len(right.items):
        return None
    items = [joined(a, b) for a, b in zip(left.items, right.items, strict=True)]
    kinds = tuple(item for item in items if item is not None)
    return tuple_of(kinds, left.names, left.form) if len(kinds) == len(items) else None
