"""Static kinds of the variables of a user's kernel: what is known before it is compiled.

A view of a column has no value of its own: its kind names the buffers, and its parts are a few numbers
(a start, a length, whether it is null), each in a variable. Numbers, and other values that the compiler
supports by itself, are ordinary values with one part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from colkern import schema as s
from colkern.kernels.row_values import Bytes, Text
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind as RowKind


@dataclass(frozen=True)
class Path:
    """The place of an array in the tree of an argument.

    Args:
        root: The parameter.
        steps: The positions of children on the way down; 0 for a dictionary.
    """

    root: str
    steps: tuple[int, ...] = ()

    def part(self, k: int) -> Path:
        """Child `k`, or the dictionary."""
        return Path(self.root, (*self.steps, k))


@dataclass(frozen=True)
class Kind:
    """The root of the kinds.

    `parts` are the names of a value's parts, of which the empty one is the value itself; `words` is for
    error messages.
    """

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts."""
        return ("",)

    @property
    def words(self) -> str:
        """The kind in words."""
        return "a value"

    def moved(self, move: Callable[[Path], Path]) -> Kind:
        """The same kind, with the paths of arrays moved."""

        def part(value: object) -> object:
            if isinstance(value, Kind):
                return value.moved(move)
            if isinstance(value, tuple):
                return tuple(map(part, value))
            return move(value) if isinstance(value, Path) else value

        fields = [field.name for field in dataclasses.fields(self)]
        return dataclasses.replace(self, **{name: part(getattr(self, name)) for name in fields})


@dataclass(frozen=True)
class Unknown(Kind):
    """Nothing is known yet: the variable has not been assigned to."""


@dataclass(frozen=True)
class Plain(Kind):
    """A value that the compiler knows by itself: a number of arithmetic, an array, a module."""


@dataclass(frozen=True)
class Number(Kind):
    """A number of a column.

    Args:
        code: NumPy's type code of it; `?` for a bool.
    """

    words = "a number"

    code: str


@dataclass(frozen=True)
class Integer(Kind):
    """A constant integer, which can become a decimal, or a number without sign.

    Args:
        negative: Whether it may be negative.
    """

    words = "an integer"

    negative: bool = False


@dataclass(frozen=True)
class Nothing(Kind):
    """None."""

    parts, words = (), "None"


@dataclass(frozen=True)
class Literal(Kind):
    """A string of the source."""

    parts, words = (), "a string"

    value: str | bytes

    @property
    def element(self) -> Element:
        """The kind that its value has."""
        return TEXT if isinstance(self.value, str) else BYTES


@dataclass(frozen=True)
class Element(Kind):
    """A value of a kind of row functions that has methods: a text, a byte string, a date or time."""

    of: RowKind

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts: of a text, those in `colkern.kernels.row_values`; of a date or time, one number."""
        return {k.TEXT: Text._fields, k.BYTES: Bytes._fields}.get(self.of, ("",))

    @property
    def words(self) -> str:
        return f"a {self.of}"


@dataclass(frozen=True)
class Column(Kind):
    """A column, or a range of one: an argument, a field, the elements of a list.

    Args:
        data_type: Its type, the storage type of an extension type.
        form: `column`, `batch` or `entries`.
        whole: Whether it is all of the array.
    """

    # Its first slot, counted from that of the buffers, and how many there are.
    parts = ("start", "length")

    path: Path
    data_type: s.DataType
    form: str = "column"
    whole: bool = False

    @property
    def words(self) -> str:
        return {"batch": "a record batch", "entries": "a map"}.get(
            self.form, f"a column of {self.data_type}"
        )


@dataclass(frozen=True)
class Row(Kind):
    """A row of a struct column or a batch, or a slot of a union.

    Args:
        form: As for `Column`.
    """

    # Its slot, counted from the first one of the buffers.
    parts = ("slot",)

    path: Path
    data_type: s.DataType
    form: str = "column"

    @property
    def words(self) -> str:
        return f"a row of {self.data_type}"


@dataclass(frozen=True)
class Decimal(Kind):
    """A decimal: an integer in two's complement, lowest word first.

    Args:
        count: The number of its words of 64 bits.
        scale: The number of digits behind the point.
    """

    count: int
    scale: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The words."""
        return tuple(f"word{k}" for k in range(self.count))

    @property
    def words(self) -> str:
        return f"a decimal of scale {self.scale}"


@dataclass(frozen=True)
class Record(Kind):
    """Several values in one: a tuple, or an interval with names for its parts.

    Args:
        kinds: The kinds of the values.
        names: Their names; empty for a plain tuple.
    """

    kinds: tuple[Kind, ...]
    names: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of all values, with the positions in the tuples around them, innermost first."""
        return tuple(
            f"{part or 'item'}_{k}" for k, kind in enumerate(self.kinds) for part in kind.parts
        )

    @property
    def words(self) -> str:
        return f"({', '.join(kind.words for kind in self.kinds)})"


@dataclass(frozen=True)
class Nullable(Kind):
    """A value, or None.

    Args:
        inner: The kind of the value.
    """

    inner: Kind

    @property
    def parts(self) -> tuple[str, ...]:
        """Whether there is a value, and its parts."""
        return ("valid", *self.inner.parts)

    @property
    def words(self) -> str:
        return f"{self.inner.words} or None"


PLAIN = Plain()
UNKNOWN = Unknown()
NOTHING = Nothing()
INTEGER = Integer()
UNSIGNED = Number("u8")
TEXT = Element(k.TEXT)
BYTES = Element(k.BYTES)
BOOL = Number("?")


class Conflict(Exception):
    """Raised for two kinds that a variable cannot have both."""


def is_plain(kind: Kind) -> bool:
    """Whether the compiler supports values of a kind by itself."""
    return isinstance(kind, Plain | Number | Integer | Unknown)


def nullable(kind: Kind) -> Kind:
    """The kind of a value that may be missing."""
    return kind if isinstance(kind, Nothing | Nullable) else Nullable(kind)


def joined(a: Kind, b: Kind) -> Kind:
    """The kind of a variable that is one or the other.

    Raises:
        Conflict: If there is none.
    """
    if a == b or isinstance(b, Unknown):
        return a
    if isinstance(a, Unknown):
        return b
    if isinstance(a, Nothing | Nullable) or isinstance(b, Nothing | Nullable):
        return _joined_with_none(a, b)
    if isinstance(a, Integer) and isinstance(b, Integer):
        return Integer(negative=True)
    # To the compilers, a variable that is an int64 or a uint64 is a float.
    if {a, b} == {UNSIGNED, INTEGER}:
        return UNSIGNED
    for one, other in ((a, b), (b, a)):
        common = _joined_in_order(one, other)
        if common is not None:
            return common
    raise Conflict


def _joined_with_none(a: Kind, b: Kind) -> Kind:
    inner = [k.inner if isinstance(k, Nullable) else k for k in (a, b) if k != NOTHING]
    return nullable(inner[0] if len(inner) == 1 else joined(*inner))


def _joined_in_order(a: Kind, b: Kind) -> Kind | None:
    if is_plain(a) and is_plain(b):
        return PLAIN
    if isinstance(a, Element | Literal) and isinstance(b, Literal):
        element = a if isinstance(a, Element) else a.element
        return element if element == b.element else None
    if isinstance(a, Decimal) and isinstance(b, Integer):
        return a
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return Decimal(max(a.count, b.count), max(a.scale, b.scale))
    if isinstance(a, Column) and isinstance(b, Column):
        parted = dataclasses.replace(a, whole=False)
        return parted if parted == dataclasses.replace(b, whole=False) else None
    if isinstance(a, Record) and isinstance(b, Record) and len(a.kinds) == len(b.kinds):
        kinds = tuple(map(joined, a.kinds, b.kinds))
        return Record(kinds, a.names if a.names == b.names else ())
    return None


# Missing values


def zeros(kind: Kind) -> tuple[str, ...]:
    """The parts that stand for a missing value; nothing reads them."""
    if isinstance(kind, Number):
        return ("False" if kind.code == "?" else f"_ck_zero_{kind.code}",)
    if isinstance(kind, Nullable):
        return ("False", *zeros(kind.inner))
    if isinstance(kind, Record):
        return tuple(zero for inner in kind.kinds for zero in zeros(inner))
    if isinstance(kind, Element):
        return ("_ck_zero_i8", "_ck_zero_i8", "True")[: len(kind.parts)]
    return tuple("0" if part in ("", "length") else "_ck_zero" for part in kind.parts)
