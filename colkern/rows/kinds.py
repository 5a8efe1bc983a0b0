"""Kinds: the types of values in a row function, as far as they are known before it runs.

A kind stands for a Python type and the form of its values in compiled code (`colkern.kernels.row_values`).
`words` is the number of eight-byte words that a value takes as an item of a list, a key or value of a
dictionary, or a field of a row.
"""

from __future__ import annotations

import abc
import ast
import collections
import dataclasses
import inspect
import itertools
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from enum import STRICT, Enum, EnumMeta, Flag
from functools import lru_cache
from time import struct_time
from typing import Any, TypeGuard, cast


@dataclass(frozen=True)
class Kind:
    """A type without parts.

    Args:
        name: Python's name of the type.
        words: The number of words of an item.
        loose: Whether some values have a narrower type in Python: an `int` that is a `bool`, a `float` that
            is an `int`. The text of such a value is unknown.
    """

    name: str
    words: int = 1
    loose: bool = False

    def __str__(self) -> str:
        return self.name


INT = Kind("int")
UNSIGNED = Kind("unsigned")
"""The kind of integers from 0 to 2**64 - 1, such as hashes; code has their bits as a signed integer."""
MOST_UNSIGNED = (1 << 64) - 1

WORD = Kind("int of which 64 bits are known")
"""The kind of integers of which code has the lowest 64 bits, and only these are read."""

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
    for kind in (INT, UNSIGNED, FLOAT, BOOL, TEXT, BYTES, DATE, TIME, DATETIME, TIMEDELTA, NONE)
}
"""The kinds without parts, by name."""

HELD_BY_PYTHON = {name: Kind(name) for name in ("address", "hash", "matcher", "template", "uuid")}
"""The kinds of values that only Python makes, in rows that are left to it."""


@dataclass(frozen=True)
class Aware(Kind):
    """A datetime in a time zone: one word, the microseconds since 1970 in UTC.

    Args:
        zone: The time zone, one object for all values of a kind.
        shown: Python's text of it: zones with one offset are equal, whatever their names are.
    """

    zone: tzinfo | None = None
    shown: str = ""

    def __str__(self) -> str:
        return f"datetime[{self.zone}]"


@dataclass(frozen=True)
class Member(Kind):
    """A member of an enum: one word, its position among `values_of` the enum."""

    form: type[Enum] = Enum

    def __str__(self) -> str:
        return self.form.__name__


def is_enum(value: object) -> bool:
    """Whether an object is an enum; of flags, one without gaps whose values are no integers."""
    if not isinstance(value, EnumMeta):
        return False
    if issubclass(value, Flag):
        bits = 1 << len(value)
        is_strict = value._boundary_ is STRICT  # type: ignore[attr-defined]
        every = value._flag_mask_ == value._all_bits_ == bits - 1  # type: ignore[attr-defined]
        return is_strict and every and bits <= _MOST_FLAGS and not issubclass(value, int)
    return len(cast(type[Enum], value)) > 0


_MOST_FLAGS = 256
"""The largest number of combinations of flags."""


@lru_cache(maxsize=1 << 10)
def values_of(form: type[Enum]) -> tuple[Any, ...]:
    """Returns the members of an enum; of flags, their combinations, each at the place of its value."""
    if issubclass(form, Flag):
        return tuple(form(bits) for bits in range(1 << len(form)))
    return tuple(form)


def member_of(form: type[Enum]) -> Member:
    """Returns the kind of an enum's members."""
    return Member("member", form=form)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several known functions: one word, its position among them."""

    among: tuple[Any, ...] = ()


class PatternText:
    """A text of a constant that only functions of `re` take, as their pattern."""

    def __init__(self, text: str) -> None:
        self.text = text


def choice_of(functions: Iterable[Any]) -> Choice:
    """Returns the kind of one of several functions."""
    return Choice("function", among=tuple(dict.fromkeys(functions)))


def is_function(value: object) -> bool:
    """Whether a constant is a function, also one within the row function, or a pattern."""
    return callable(value) or isinstance(
        value, ast.FunctionDef | ast.Lambda | re.Pattern | PatternText
    )


@dataclass(frozen=True)
class Decimal(Kind):
    """A decimal: two words, the coefficient and the exponent of ten.

    Args:
        scale: The largest number of fraction digits; None if unknown.
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
class Parted(Kind):
    """A value with a fixed number of parts."""

    items: tuple[Kind, ...] = ()


@dataclass(frozen=True)
class Compound(Parted):
    """A tuple, a dictionary with constant keys, or an instance.

    Args:
        names: The names of its parts, for a named tuple, a data class, or a dictionary with constant keys.
        form: `tuple`, `dict`, or the class.
    """

    names: tuple[str, ...] = ()
    form: type = tuple


class Record(Compound):
    """An instance of a data class: its parts are attributes, and cannot be indexed."""

    def __str__(self) -> str:
        return python_class(self.form).__name__


class Several(Parted):
    """An instance of one of several classes: the number of the class, and an instance of each."""

    def __str__(self) -> str:
        return " or ".join(map(str, self.items[1:]))


class _Node:
    """A kind of which there is one object: it has itself as a part of its parts."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, name: str) -> None:
        for field_, value in (("name", name), ("words", 1), ("loose", False)):
            object.__setattr__(self, field_, value)

    def __str__(self) -> str:
        return "a value of a document"


class _Document(_Node, Optional):
    """A value of a document of `json.loads`, or None: the address of a node of its own form, or 0."""

    @property
    def of(self) -> Kind:
        """The kind where it is not None."""
        return CONTENT

    def __reduce__(self) -> str:
        return "DOCUMENT"


class _Content(_Node, Several):
    """A value of a document that is not None: the address of its node."""

    @property
    def items(self) -> tuple[Kind, ...]:
        """The kinds of the number of its type, and of a value of each type."""
        return (INT, BOOL, INT, FLOAT, TEXT, list_of(DOCUMENT), dict_of(TEXT, DOCUMENT))

    def __reduce__(self) -> str:
        return "CONTENT"


DOCUMENT, CONTENT = _Document("document"), _Content("content")

NODES = (DOCUMENT, CONTENT)
"""The kinds of values of documents: of all, and of those that are not None."""


class Unset:
    """The form of a field that may be unassigned: a flag for that, and its value."""


class Tuple(Compound):
    """A tuple of a known length, or a dictionary with constant keys."""

    def __str__(self) -> str:
        return f"tuple[{', '.join(map(str, self.items))}]"


class FieldRow(abc.ABC):
    """A class of tuples whose fields are attributes and keys too: Spark's `Row` is registered as one."""

    @abc.abstractmethod
    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """Returns the fields, and with `recursive` those of rows in them, as a dictionary."""


class SomeKeys:
    """The form of a dictionary that may lack some of its keys."""


class Uneven(Compound):
    """A dictionary with constant keys, some of which it may lack; those have the form `Unset`."""

    def __str__(self) -> str:
        return f"dict with some of the keys {', '.join(self.names)}"


@dataclass(frozen=True)
class Container(Kind):
    """A list, set or dictionary: one word, the address of its header in the arena.

    Args:
        items: The kind of its items; for a dictionary, the kinds of keys and values.
        default: For a dictionary, the result for a missing key: "int", "float", "str" or "list" for a new
            value of that type; "count" for 0, which is not stored; a KeyError if empty or "ordered" (an
            `OrderedDict`). For a list, "range" if it represents a `range`, "either" if it may.
        sites: The displays that may have made it, whose items can still become wider.
        constant: Whether it may be a constant, or part of one, which must not change.
        is_tuple: Whether it represents a tuple whose length depends on the row.
        most: For a list that represents a `deque`, its maximum length; else 0.
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


def container(kind: Kind) -> Container:
    """Returns the kind of a value that is known to be a container."""
    assert isinstance(kind, Container)
    return kind


def is_tuple(kind: Kind) -> bool:
    """Whether a kind is a tuple whose length depends on the row."""
    return isinstance(kind, Container) and kind.is_tuple


UNBOUNDED = 1 << 62
"""The maximum length that stands for a `deque` without one."""


def is_deque(kind: Kind) -> bool:
    """Whether a kind is a deque."""
    return isinstance(kind, Container) and kind.most > 0


def origins(kind: Kind) -> tuple[object, ...]:
    """Returns facts that equal kinds may differ in: containers' displays, and whether they are constant."""
    return tuple((container.sites, container.constant) for container in containers_in(kind))


def _own_parts(kind: Kind) -> tuple[Kind, ...]:
    if kind in NODES:
        return ()
    return (kind.of,) if isinstance(kind, Optional) else getattr(kind, "items", ())


def parts_of(kind: Kind) -> Iterator[Kind]:
    """Yields a kind, the kinds of its parts, and those of their parts; a document has none."""
    yield kind
    for part in _own_parts(kind):
        yield from parts_of(part)


def depth(kind: Kind) -> int:
    """Returns the depth of the parts of a kind: 1 for a kind without parts."""
    return 1 + max(map(depth, _own_parts(kind)), default=0)


def containers_in(kind: Kind) -> Iterator[Container]:
    """Yields the containers that a value of a kind is or contains; a document may have all of its own."""
    for part in parts_of(kind):
        if part in NODES:
            yield from (each for each in CONTENT.items if isinstance(each, Container))
        if isinstance(part, Container):
            yield part


def unchangeable(kind: Kind) -> Kind:
    """Returns a kind whose containers must not be changed, as if they were constants."""
    return _with_containers(kind, constant=True)


def from_elsewhere(kind: Kind) -> Kind:
    """Returns a kind whose containers may be changed, but are made by none of the function's displays."""
    return _with_containers(kind, constant=False, sites=frozenset())


def _with_containers(kind: Kind, **fields: Any) -> Kind:
    if kind in NODES:
        return kind
    if isinstance(kind, Optional):
        return replace(kind, of=_with_containers(kind.of, **fields))
    if isinstance(kind, Parted | Container):
        items = tuple(_with_containers(item, **fields) for item in kind.items)
        kind = replace(kind, items=items)
    return replace(kind, **fields) if isinstance(kind, Container) else kind


def with_items(kind: Kind, key: Any, items: Kind) -> Kind:
    """Returns a kind in which containers that a display may have made have a wider kind of items.

    Args:
        key: The display, and which of the kinds of items; keys of other values change nothing.
    """
    if isinstance(kind, Optional):
        return optional(with_items(kind.of, key, items))
    if not isinstance(kind, Container):
        return kind
    parts = [
        items if key in ((site, place) for site in kind.sites) else with_items(part, key, items)
        for place, part in enumerate(kind.items)
    ]
    return replace(kind, items=tuple(parts))


ELSEWHERE = 0
"""Stands for all containers that are made by no known display."""


def may_be_one(left: Kind, right: Kind) -> bool:
    """Whether two containers may be the same object, judging by the displays that may have made them."""
    if not isinstance(left, Container) or not isinstance(right, Container):
        return False
    sites = [side.sites or frozenset({ELSEWHERE}) for side in (left, right)]
    # A display that became part of a document is read from there, too.
    are_in_documents = left.items[-1] in NODES and right.items[-1] in NODES
    return left.name == right.name and (are_in_documents or bool(sites[0] & sites[1]))


def is_hashable(kind: Kind) -> bool:
    """Whether all values of a kind may be in a set."""
    return not any(
        (isinstance(part, Container) and not part.is_tuple)
        or getattr(getattr(part, "form", None), "__hash__", True) is None
        for part in parts_of(kind)
    )


def is_row(kind: Kind) -> bool:
    """Whether a value is a dictionary with constant keys, which is also the form of a struct."""
    return isinstance(kind, Tuple) and kind.form is dict


def is_field_row(kind: Kind) -> TypeGuard[Tuple]:
    """Whether a value is a tuple whose fields are attributes and keys too."""
    return isinstance(kind, Tuple) and issubclass(kind.form, FieldRow)


def present(kind: Kind) -> Kind:
    """Returns the kind of a value where it is not None."""
    return kind.of if isinstance(kind, Optional) else kind


def signed(kind: Kind) -> Kind:
    """Returns the kind of unsigned integers that are below 2**63; other kinds unchanged."""
    if isinstance(kind, Optional):
        return optional(signed(kind.of))
    return replace(INT, loose=kind.loose) if kind.name == "unsigned" else kind


def all_signed(kinds: Sequence[Kind]) -> Sequence[Kind]:
    """Returns the kinds that one value may have: if one is that of signed integers, all such kinds are."""
    names = {present(kind).name for kind in kinds}
    return list(map(signed, kinds)) if names == {"int", "unsigned"} else kinds


def optional(of: Kind) -> Kind:
    """Returns the kind of a value that may be None."""
    if isinstance(of, Optional) or of == NONE:
        return of
    if of == CONTENT:
        return DOCUMENT
    return Optional(f"{of} | None", of.words + 1, of=of)


_GENERATING = ("<string>", *(module.__file__ for module in (collections, dataclasses)))


def written_method(form: type, name: str) -> types.FunctionType | None:
    """Returns a special method of a class if a user wrote it; None if it was generated with the class."""
    if issubclass(form, FieldRow):
        return None
    method = getattr(form, name, None)
    code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
    is_written = code is not None and code.co_filename not in _GENERATING
    return method if is_written and isinstance(method, types.FunctionType) else None


def answers(form: type, name: str, other: type) -> bool:
    """Whether a comparison by a class's own method that no user wrote has a result for another class."""
    if issubclass(form, tuple):
        return issubclass(other, tuple)
    own = getattr(getattr(form, name, None), "__code__", None)
    return form is other and own is not None and own.co_filename == "<string>"


OPERATOR_METHODS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "@": "__matmul__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
}
"""The special methods that a user's class may have for operators."""

UNARY_METHODS = {"neg": "__neg__", "pos": "__pos__", "~": "__invert__"}
"""The special methods of operators of one value."""


def is_record(form: type) -> bool:
    """Whether a class is a data class, or another class of a user's that is no tuple or dictionary."""
    return not issubclass(form, tuple | dict | re.Match)


def data_class_of(form: type) -> Any:
    """Returns the parameters of a data class; None for other classes."""
    return getattr(form, "__dataclass_params__", None)


def tuple_of(items: tuple[Kind, ...], names: tuple[str, ...] = (), form: type = tuple) -> Compound:
    """Returns the kind of a tuple, or of an instance of a class with fields."""
    words = sum(kind.words for kind in items)
    if form is SomeKeys:
        return Uneven("row", words, items=items, names=names, form=form)
    if is_record(form):
        return Record("record", words, items=items, names=names, form=form)
    return Tuple("tuple", words, items=items, names=names, form=form)


ITERATORS = (Iterator, itertools.cycle)
"""The forms of iterators that have a name."""


def has_iterator(kind: Kind) -> bool:
    """Whether a kind is that of iterators, or has one as a part."""
    return any(getattr(part, "form", None) in ITERATORS for part in parts_of(kind))


EXCEPTION = tuple_of(
    (TEXT, tuple_of((TEXT,)), tuple_of((TEXT,), ("__name__",), type), INT, INT),
    ("<text>", "args", "__class__", "<status>", "<fields>"),
    Exception,
)
"""The exception of a handler that reads only its text, its first argument, its class or fields.

`<status>` tells its class, and `<fields>` where in the arena the fields are."""


def unset(of: Kind) -> Compound:
    """Returns the kind of a field that may be unassigned."""
    return tuple_of((BOOL, of), (), Unset)


def is_unset(kind: Kind) -> bool:
    """Whether a kind is a field that may be unassigned."""
    return getattr(kind, "form", None) is Unset


def datetime_in(zone: tzinfo | None) -> Kind:
    """Returns the kind of a datetime in a zone, or without one."""
    return DATETIME if zone is None else Aware("aware", zone=zone, shown=repr(zone))


def kind_of_datetime(value: datetime) -> Kind:
    """Returns the kind of a constant datetime."""
    return datetime_in(value.tzinfo)


MOST_SCALE = 38
"""The largest scale of a kind; larger scales are unknown."""


def decimal_of(scale: int | None, loose: bool = False) -> Decimal:
    """Returns the kind of a decimal with at most `scale` fraction digits."""
    known = None if scale is None or scale > MOST_SCALE else max(scale, 0)
    return Decimal("Decimal", 2, loose, scale=known)


PLAIN["Decimal"] = decimal_of(None)


def scale_of(kind: Kind) -> int | None:
    """Returns the largest number of fraction digits of a number that is combined with decimals."""
    if isinstance(kind, Decimal):
        return kind.scale
    return 0 if kind.name in ("int", "bool") else None


FIELDS_OF: dict[type, tuple[str, ...]] = {
    type(date.min.isocalendar()): ("year", "week", "weekday"),
    struct_time: struct_time.__match_args__,
}
"""The names of the integers in some tuples of Python's, which are not fields of a struct."""

PLAIN |= {
    form.__name__: tuple_of((INT,) * len(names), (), form) for form, names in FIELDS_OF.items()
}


def list_of(item: Kind) -> Container:
    """Returns the kind of a list."""
    return Container("list", items=(item,))


def set_of(item: Kind) -> Container:
    """Returns the kind of a set."""
    return Container("set", items=(item,))


def dict_of(key: Kind, value: Kind) -> Container:
    """Returns the kind of a dictionary."""
    return Container("dict", items=(key, value))


_NUMBERS = ("bool", "int", "unsigned", "float")

SEQUENCES = ("range", "either")
"""`Container.default` of lists that are ranges in Python, or may be."""


def joined(left: Kind, right: Kind) -> Kind | None:
    """Returns the kind of a value that has one kind or the other; None if there is none."""
    if left == right and not any(containers_in(left)):
        return left
    if right == NEVER:
        return left
    if left == NEVER:
        return right
    if left in NODES or right in NODES:
        return DOCUMENT if may_be_in_document(left) and may_be_in_document(right) else None
    if is_unset(left) != is_unset(right):
        left, right = (kind if is_unset(kind) else unset(kind) for kind in (left, right))
    if NONE in (left, right) or isinstance(left, Optional) or isinstance(right, Optional):
        return _joined_optional(left, right)
    if isinstance(left, Member) != isinstance(right, Member):
        left, right = of_member(left, int), of_member(right, int)
    if WORD in (left, right) and {left.name, right.name} <= {WORD.name, "bool", "int", "unsigned"}:
        return WORD
    if left.name in _NUMBERS and right.name in _NUMBERS:
        wider = max(left, right, key=lambda kind: _NUMBERS.index(kind.name))
        is_known = {left.name, right.name} == {"int", "unsigned"}
        return replace(wider, loose=left.loose or right.loose or not is_known)
    if isinstance(left, Choice) and isinstance(right, Choice):
        return choice_of((*left.among, *right.among))
    classes, others = classes_of(left), classes_of(right)
    if classes and others and (len(classes) > 1 or classes.keys() != others.keys()):
        return _joined_instances(classes, others)
    if isinstance(left, Compound) or isinstance(right, Compound):
        left, right = _without_keys(left), _without_keys(right)
    if isinstance(left, Compound) and isinstance(right, Compound):
        return _joined_tuple(left, right)
    if is_tuple(left) != is_tuple(right):
        return _joined_lengths(left, right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _joined_decimal(left, right)
    if not isinstance(left, Container) or not isinstance(right, Container):
        return None
    if left.default != right.default and {left.default, right.default} <= {"", *SEQUENCES}:
        left, right = (replace(kind, default="either") for kind in (left, right))
    if (left.name, left.default, left.most) == (right.name, right.default, right.most):
        # Both names may refer to one object, whose items have a single layout.
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


def may_be_in_document(kind: Kind) -> bool:
    """Whether all values of a kind may be in a document; containers of displays may become so."""
    kind = present(kind)
    if isinstance(kind, Container):
        wanted = {form_of(each): each for each in CONTENT.items[1:]}.get(form_of(kind))
        is_usual = not (kind.default or kind.is_tuple or kind.most or kind.constant)
        pairs = zip(kind.items, getattr(wanted, "items", ()), strict=False)
        is_made = bool(kind.sites) and ELSEWHERE not in kind.sites
        return is_usual and all(
            has in (NEVER, wants) or (is_made and joined(has, wants) == wants)
            for has, wants in pairs
        )
    if isinstance(kind, Several) and kind not in NODES:
        return all(map(may_be_in_document, kind.items[1:]))
    return kind in (*NODES, NONE, NEVER, BOOL, INT, FLOAT, TEXT)


MOST_CLASSES = 8
"""The largest number of classes, one of which an instance may have."""


def mixed(left: Kind, right: Kind) -> Kind | None:
    """Returns the kind of a value that is of one of several of Python's own types, or users' classes; None
    if the two kinds are none of these, or alike."""
    if left in NODES or right in NODES:
        return joined(left, right)
    plain = [present(left), present(right)]
    rows = [kind for kind in plain if isinstance(kind, Compound) and is_row(kind)]
    of: Kind | None
    if len(rows) == 2 and rows[0].names == rows[1].names and rows[0] != rows[1]:
        each = [
            mixed(*pair) or joined(*pair) for pair in zip(*(row.items for row in rows), strict=True)
        ]
        items = tuple(kind for kind in each if kind is not None)
        of = tuple_of(items, rows[0].names, dict) if len(items) == len(each) else None
    else:
        kinds = [
            classes_of(kind) or ({form_of(kind): kind} if _may_be_one_of_several(kind) else {})
            for kind in plain
        ]
        are_new = all(kinds) and kinds[0].keys() != kinds[1].keys()
        of = _joined_instances(*kinds) if are_new else None
    return optional(of) if of and plain != [left, right] else of


_FORMS: dict[Kind, type] = {
    INT: int,
    UNSIGNED: int,
    FLOAT: float,
    BOOL: bool,
    TEXT: str,
    BYTES: bytes,
    DATE: date,
    DATETIME: datetime,
    TIME: time,
    TIMEDELTA: timedelta,
}


_CONTAINERS = {"list": list, "dict": dict}


def _may_be_one_of_several(kind: Kind) -> bool:
    """Whether a value of one of Python's own types may have a variable in common with others."""
    is_usual = isinstance(kind, Container) and not (kind.default or kind.is_tuple or kind.most)
    return kind in _FORMS or (is_usual and kind.name in _CONTAINERS)


def form_of(kind: Kind) -> Any:
    """Returns the class of an instance, or Python's type of a value that may be one of several types; None
    for others."""
    if isinstance(kind, Container):
        return _CONTAINERS.get(kind.name)
    return _FORMS.get(kind) or getattr(kind, "form", None)


def python_class(form: type) -> type:
    """Returns the class that Python has where this one is compiled: a library's, if it stands for one."""
    own: type = getattr(form, "_python_class_", form)
    return own


def stands_for_library(kind: Kind) -> bool:
    """Whether it is an instance of a class that has a part of what a library's class has."""
    return hasattr(form_of(kind), "_python_class_")


def type_name(kind: Kind) -> str:
    """Returns the name of the type to which methods belong."""
    return "int" if kind.name == "unsigned" else kind.name


def is_plain(kind: Kind) -> bool:
    """Whether a value may be one of several types that are not all users' classes."""
    return isinstance(kind, Several) and not all(
        isinstance(part, Record) for part in kind.items[1:]
    )


def classes_of(kind: Kind) -> dict[type, Kind]:
    """Returns the kinds of instances by the classes of one of which a value is; empty for other kinds."""
    if isinstance(kind, Several):
        return {form_of(part): part for part in kind.items[1:]}
    is_one = isinstance(kind, Record) and kind.form not in (Unset, Exception, type, *ITERATORS)
    return {kind.form: kind} if is_one else {}  # type: ignore[attr-defined]


def _joined_instances(left: dict[type, Kind], right: dict[type, Kind]) -> Kind | None:
    both = {form: joined(left[form], right[form]) for form in left.keys() & right.keys()}
    kinds = [both.get(form, kind) for form, kind in (left | right).items()]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds) or len(kinds) > MOST_CLASSES:
        return None
    words = 1 + sum(kind.words for kind in known)
    return Several("several", words, items=(INT, *known))


def _may_be_widened(pair: tuple[Kind, Kind]) -> bool:
    """Whether the kinds of two containers' items can be joined by making them, or items within them, wider.

    Items may become optional, numbers whose type is not known, or tuples of any length.
    """
    if is_tuple(pair[0]) != is_tuple(pair[1]):
        return _joined_lengths(*pair) is not None
    are_lists = all(isinstance(kind, Container) for kind in pair)
    names = {kind.name for kind in pair}
    are_integers = names <= {"int", "unsigned"}
    are_alike = are_lists or are_integers or names in ({"bool"}, {"float"}, {"int", "float"})
    return are_alike or NONE in pair or any(isinstance(kind, Optional) for kind in pair)


def of_member(kind: Kind, plain: type) -> Kind:
    """Returns the kind of the integers or texts that an enum's members also are; other kinds unchanged."""
    if isinstance(kind, Optional):
        return optional(of_member(kind.of, plain))
    is_one = isinstance(kind, Member) and issubclass(kind.form, plain)
    return {int: LOOSE_INT, str: TEXT}[plain] if is_one else kind


def _joined_optional(left: Kind, right: Kind) -> Kind | None:
    if left == NONE or right == NONE:
        return optional(left if right == NONE else right)
    plain = [present(left), present(right)]
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
    if left.form is right.form is re.Match and left != right:
        kind: Kind = left.joined_with(right)  # type: ignore[attr-defined]
        return kind
    forms = {left.form, right.form}
    if forms <= {dict, SomeKeys} and (len(forms) == 2 or left.names != right.names):
        return _joined_rows(left, right)
    if left.form != right.form or left.names != right.names:
        return None
    if len(left.items) != len(right.items):
        return of_any_length(left, *right.items)
    items = [joined(a, b) for a, b in zip(left.items, right.items, strict=True)]
    kinds = tuple(item for item in items if item is not None)
    return tuple_of(kinds, left.names, left.form) if len(kinds) == len(items) else None


def of_any_length(kind: Kind, *others: Kind) -> Container | None:
    """Returns the kind of a plain tuple, whose items may be others too, as one whose length depends on the
    row; None if it is none, or if its items have no kind in common."""
    if not isinstance(kind, Tuple) or kind.form is not tuple or kind.names:
        return None
    common: Kind | None = NEVER
    for item in (*kind.items, *others):
        common = common and joined(common, item)
    return None if common is None else Container("list", items=(common,), is_tuple=True)


def _joined_lengths(left: Kind, right: Kind) -> Kind | None:
    """Joins a tuple whose length depends on the row with another kind."""
    has_length, other = (right, left) if is_tuple(left) else (left, right)
    if not isinstance(other, Container):
        return None
    as_other = of_any_length(has_length)
    # Items of the tuple are converted to the kind that the other's items have.
    return as_other and joined(replace(as_other, sites=other.sites), other)


def _without_keys(kind: Kind) -> Kind:
    """Returns the kind of an empty dictionary as that of one with constant keys; other kinds unchanged."""
    is_empty = isinstance(kind, Container) and kind == replace(
        dict_of(NEVER, NEVER), sites=kind.sites
    )
    return tuple_of((), (), dict) if is_empty else kind


def _joined_rows(left: Compound, right: Compound) -> Kind | None:
    sides = [dict(zip(side.names, side.items, strict=True)) for side in (left, right)]
    items: dict[str, Kind | None] = {}
    for name in (*left.names, *right.names):
        kinds = [side[name] for side in sides if name in side]
        items[name] = joined(*kinds) if len(kinds) == 2 else kinds[0]
        if len(kinds) == 1 and not is_unset(kinds[0]):
            items[name] = unset(kinds[0])
    known = tuple(item for item in items.values() if item is not None)
    return tuple_of(known, tuple(items), SomeKeys) if len(known) == len(items) else None
