"""The parameters and results of a user's function: type hints or a signature, read as Arrow types.

Hints are Python's types (`int`, `float`, `str`, …), data types of colkern, or both at once,
`Annotated[int, ck.date32()]`, so that a type checker is content too. A signature is text:
`"(float64, utf8?, decimal128(12, 2)) -> list<utf8>"`; a `?` marks what may be null. Columns of other types
that read alike are accepted.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.builders.infer import from_dtype
from colkern.dispatch import TEXT
from colkern.errors import without_addresses
from colkern.jit.none_handling import certain_to_fail
from colkern.rows.columns import LISTS, RESULTS_OF_HINTS
from colkern.rows.encoded import decoded_type
from colkern.rows.forms import PLAIN, Form


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a user's function.

    Args:
        type: The declared data type, or one of Python's types; None if any type is accepted.
        nullable: Whether the declaration says that it may be None; None if nothing was declared.
        has_default: Whether the function has a value for calls without it.
        form: The classes that its maps and structs have.
    """

    name: str
    type: s.DataType | type | None = None
    nullable: bool | None = None
    has_default: bool = False
    form: Form = PLAIN

    def __str__(self) -> str:
        if self.type is None:
            return self.name
        declared = self.type.__name__ if isinstance(self.type, type) else self.type
        return f"{self.name}: {declared}"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters and the result of a user's function.

    Args:
        returns: The type of its results; None to infer it.
        hint: Python's type that `returns` stands for, if a hint declared it.
    """

    parameters: tuple[Parameter, ...]
    returns: s.DataType | None
    hint: type | None = None

    @property
    def result(self) -> s.DataType | type | None:
        """The declared type of results; the hint `datetime.datetime` itself, as it says no zone."""
        return self.hint if self.hint is datetime.datetime else self.returns


FORM: ContextVar[Form | None] = ContextVar("form", default=None)
"""The form of all parameters where it is set; otherwise hints say what maps are."""

Declared = tuple[s.DataType | type | None, bool | None]
"""A type, and whether it may be None: see `Parameter`."""


def signature_of(
    function: Callable[..., object],
    text: str | None,
    returns: object,
    *,
    leading: int = 0,
    last: Callable[..., object] | None = None,
) -> Signature:
    """The signature of a user's function, from its hints or from `text`, which replaces them.

    Args:
        function: A plain function with positional parameters. The results of a generator function
            are its items: hinted so, or as an `Iterator` of them.
        text: A signature such as `"(float64, utf8?) -> float64"`.
        returns: The type of the results, instead of that of hints and text; None for theirs.
        leading: How many parameters come before those that stand for columns.
        last: The function that returns the results; None for `function`.

    Raises:
        TypeError: If a declaration cannot be understood; names the parameter.
    """
    names = list(_parameter_names(function))[leading:]
    form = FORM.get()
    forms = [form or PLAIN] * len(names)
    declared: list[Declared]
    result: s.DataType | type | None
    if text is not None:
        arguments, result = _parse(text)
        declared = [*arguments]
        if len(declared) != len(names):
            raise TypeError(
                f"signature: {len(declared)} types for {len(names)} parameters of "
                f"{function.__name__}"
            )
    else:
        hints = _hints(function)
        declared = [_declared(hints, name) for name in names]
        forms = [form or _form(hints.get(name)) for name in names]
        result = _declared(_result_hints(last or function), "return")[0]
    if returns is not None:
        result = _declared({"returns": returns}, "returns")[0]
    own = inspect.signature(function, follow_wrapped=False).parameters
    is_of_spark = form is not None and text is None and not leading
    propagating = certain_to_fail(function) if is_of_spark else set(names)
    parameters = tuple(
        Parameter(
            name,
            type_,
            name not in propagating or None if nullable is None else nullable,
            own[name].default is not inspect.Parameter.empty,
            form,
        )
        for name, (type_, nullable), form in zip(names, declared, forms, strict=True)
    )
    hint = result if isinstance(result, type) else None
    if form is None and text is None and returns is None and isinstance(result, s.Map):
        hint = dict
    return Signature(parameters, _result_type(result), hint)


def _parameter_names(function: Callable[..., object]) -> Iterator[str]:
    """Yields the names of the parameters that stand for columns: not those of options with a default."""
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
            continue
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(
                f"{function.__name__}: {parameter} is no positional parameter; "
                f"each one stands for a column"
            )
        yield parameter.name


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return inspect.get_annotations(function, eval_str=True, locals=_names_of_hints(function))
    except Exception as error:
        # Text hints are code of the user's, so evaluating them may raise anything.
        raise TypeError(f"{function.__name__}: a type hint cannot be evaluated: {error}") from error


class _Unseen:
    """Stands for a type that only type checkers import, so that nothing is known of it."""

    def __class_getitem__(cls, _: object) -> type:
        return cls


def _names_of_hints(function: Callable[..., object]) -> dict[str, object] | None:
    """The names for hints of a function whose module has imports for type checkers alone; else None."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    if "TYPE_CHECKING" in names or any(value is typing for value in names.values()):
        return collections.defaultdict(lambda: _Unseen, vars(builtins) | names)
    return None


_YIELDING = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator)


def _result_hints(function: Callable[..., object]) -> dict[str, object]:
    """A function's hints; the items of a generator function are its result."""
    hints = _hints(function)
    hint = hints.get("return")
    if inspect.isgeneratorfunction(function) and typing.get_origin(hint) in _YIELDING:
        return hints | {"return": typing.get_args(hint)[0]}
    return hints


def _declared(hints: Mapping[str, object], name: str) -> Declared:
    """`(type, nullable)` of a hint; the type None if there is no hint."""
    if name not in hints or hints[name] is inspect.Parameter.empty or hints[name] is Any:
        return None, None
    hint: Any = hints[name]
    if isinstance(hint, str):
        parsed = s.parsed_types(hint)
        if len(parsed) != 1:
            raise TypeError(f"{name}: expected one type, got {hint!r}")
        return parsed[0]
    hint, nullable = _without_none(hint)
    if _is_open(hint) or (name == "return" and typing.get_origin(hint) in (set, frozenset)):
        return None, nullable
    if typing.get_origin(hint) is typing.Annotated:
        plain, *notes = typing.get_args(hint)
        arrow = [note for note in notes if isinstance(note, s.DataType)]
        hint = arrow[0] if arrow else plain
    if isinstance(hint, type) and issubclass(hint, np.integer | np.floating | np.bool_):
        hint = from_dtype(np.dtype(hint))
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[1:] == (...,):
        hint = list[typing.get_args(hint)[0]]  # type: ignore[misc]
    if (fields := _tuple_fields(hint)) is not None:
        parts: list[Any] = [
            _part(f"{name}: field {field!r}", part) for field, part in fields.items()
        ]
        hint = None if None in parts else s.struct(list(zip(fields, parts, strict=True)))
    elif typing.get_origin(hint) in _COLLECTIONS:
        parts = [_part(f"{name}: a part of {hint}", part) for part in typing.get_args(hint)]
        hint = None if None in parts else _COLLECTIONS[typing.get_origin(hint)](*parts)
    if not isinstance(hint, s.DataType) and hint not in (None, *RESULTS_OF_HINTS, decimal.Decimal):
        raise TypeError(
            f"{name}: no Arrow type is known for the hint {without_addresses(repr(hint))}; a row function "
            f"is called with the values of one row, such as str, float or datetime.date"
        )
    return hint, nullable


def _is_open(hint: Any) -> bool:
    """Whether a hint names several types, an enum, no known type, or a container without what is in it."""
    is_bare = (typing.get_origin(hint) or hint) in _COLLECTIONS and not typing.get_args(hint)
    is_enum = isinstance(hint, enum.EnumMeta)
    return is_bare or is_enum or hint in (tuple, object, Any, _Unseen) or _is_either(hint)


def _part(place: str, hint: object) -> s.DataType | None:
    """The type of a part, by its hint; None if that does not say all of it.

    A datetime may have a time zone, and a decimal any scale.
    """
    if _without_none(hint)[0] in (datetime.datetime, decimal.Decimal):
        return None
    return _result_type(_declared({place: hint}, place)[0])


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A hint in the simplest words, and whether it says that a value may be None.

    A `NewType` or an alias is its type, a `Literal` the type of its values; `int | float` is `float`.
    """
    while (named := getattr(hint, "__supertype__", getattr(hint, "__value__", None))) is not None:
        hint = named
    if typing.get_origin(hint) is typing.Literal:
        hint = typing.Union[tuple(type(value) for value in typing.get_args(hint))]  # noqa: UP007
    if not _is_either(hint):
        return hint, False
    members = [_without_none(each) for each in typing.get_args(hint) if each is not type(None)]
    nullable = len(members) < len(typing.get_args(hint)) or any(is_null for _, is_null in members)
    plain = tuple(each for each, _ in members)
    either: Any = typing.Union[plain]  # noqa: UP007
    return float if {*plain} == {int, float} else either, nullable


def _is_either(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _tuple_fields(hint: Any) -> dict[str, object] | None:
    """The names and hints of a tuple's fields; None for a hint that is no tuple of so many fields.

    Also those of a data class and of a `TypedDict`.
    """
    is_named = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")
    is_record = isinstance(hint, type) and dataclasses.is_dataclass(hint)
    if is_named or is_record or typing.is_typeddict(hint):
        try:
            hints = typing.get_type_hints(hint, include_extras=True)
        except Exception as error:
            # As in `_hints`.
            raise TypeError(f"{hint.__name__}: a type hint cannot be evaluated: {error}") from error
        # Fields of one of Python's classes are found as those of a named tuple are.
        names = [field.name for field in dataclasses.fields(hint)] if is_record else [*hints]
        return {field: hints.get(field, Any) for field in (hint._fields if is_named else names)}
    members = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and members and Ellipsis not in members:
        return {f"f{k}": member for k, member in enumerate(members)}
    return None


_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

_LISTS = (
    list,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.MutableSequence,
    collections.abc.Sequence,
)

_COLLECTIONS: dict[object, Callable[..., s.DataType]] = {
    **dict.fromkeys(_LISTS, s.list_),
    **dict.fromkeys(_MAPPINGS, s.map_),
}


def _form(hint: Any) -> Form:
    """The classes of maps and structs in a parameter with a hint: dictionaries, where it says so."""
    hint, _ = _without_none(hint)
    members = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Annotated or _is_either(hint):
        return _form(members[0])
    fields = _tuple_fields(hint) or {}
    names = () if typing.get_origin(hint) is tuple else tuple(fields)
    maps = dict if (typing.get_origin(hint) or hint) in _MAPPINGS else list
    parts = tuple(map(_form, fields.values() or members))
    return Form(maps=maps, parts=parts, names=names)


def _result_type(declared: s.DataType | type | None) -> s.DataType | None:
    if declared is None or isinstance(declared, s.DataType):
        return declared
    # Of a decimal, the hint says no scale.
    return RESULTS_OF_HINTS.get(declared)


def _parse(text: str) -> tuple[list[tuple[s.DataType, bool]], s.DataType | None]:
    """The types between the brackets of a signature, and the one after the arrow, if any."""
    arguments, arrow, result = text.partition("->")
    arguments = arguments.strip()
    if not (arguments.startswith("(") and arguments.endswith(")")):
        raise TypeError(f"signature: expected '(types) -> type', got {text!r}")
    return s.parsed_types(arguments[1:-1]), s.parsed_type(result) if arrow else None


# Columns that a parameter takes


_BINARY = (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)


_HINTS: dict[type, tuple[Callable[[Any], bool], str]] = {
    bool: (lambda t: t == s.bool_(), "bool"),
    int: (lambda t: isinstance(t, s.Int), "an integer type"),
    # As Python's own hints have it: the function gets integers.
    float: (lambda t: isinstance(t, s.FloatingPoint | s.Int), "a floating-point type"),
    str: (lambda t: isinstance(t, TEXT), "a utf8 type"),
    bytes: (lambda t: isinstance(t, _BINARY + TEXT), "a binary or utf8 type"),
    datetime.date: (lambda t: isinstance(t, s.Date), "a date type"),
    datetime.datetime: (lambda t: isinstance(t, s.Timestamp), "a timestamp type"),
    datetime.timedelta: (lambda t: isinstance(t, s.Duration), "a duration type"),
    datetime.time: (lambda t: isinstance(t, s.Time), "a time type"),
    decimal.Decimal: (lambda t: isinstance(t, s.Decimal), "a decimal type"),
}
"""A test of the types that a hint accepts, and that in words."""


def _same_names(a: s.DataType, b: s.DataType) -> bool:
    return [field.name for field in a.fields] == [field.name for field in b.fields]


def _same_parts(a: s.DataType, b: s.DataType) -> bool:
    pairs = zip(a.fields, b.fields, strict=True)
    return all(reads_alike(left.type, right.type) for left, right in pairs)


# The tests of whether two types, and their children, are read alike; other types must be equal.
_SAME_MEANING: dict[type[s.DataType], Callable[[Any, Any], bool]] = {
    s.Decimal: lambda a, b: isinstance(b, s.Decimal) and a.scale == b.scale,
    s.Timestamp: lambda a, b: isinstance(b, s.Timestamp) and a.unit == b.unit,
    s.Map: lambda a, b: (
        isinstance(b, s.Map) and _same_parts(a.entries_field.type, b.entries_field.type)
    ),
    s.Struct: lambda a, b: isinstance(b, s.Struct) and _same_names(a, b) and _same_parts(a, b),
    s.Union: lambda a, b: (
        isinstance(b, s.Union) and a.type_codes == b.type_codes and _same_parts(a, b)
    ),
    **{kind: lambda a, b: isinstance(b, TEXT) for kind in TEXT},
    **{kind: lambda a, b: isinstance(b, _BINARY) for kind in _BINARY},
    **{kind: lambda a, b: isinstance(b, LISTS) and _same_parts(a, b) for kind in LISTS},
}


def reads_alike(a: s.DataType, b: s.DataType) -> bool:
    """Whether a function for columns of one type may take those of the other: it reads the same.

    Layouts may differ, and so may what says nothing about values: names of elements, nullability.
    """
    a, b = decoded_type(a).storage, decoded_type(b).storage
    same = _SAME_MEANING.get(type(a), lambda a, b: bool(a == b))
    return same(a, b)


def require_accepted(parameter: Parameter, data_type: s.DataType) -> None:
    """Check that a parameter takes columns of a type.

    Raises:
        TypeError: If it was declared to be something else; names it.
    """
    declared = parameter.type
    if isinstance(declared, s.DataType):
        if not reads_alike(declared, data_type):
            raise TypeError(f"{parameter.name}: expected {declared}, got {data_type}")
    elif declared is not None:
        accepts, words = _HINTS[declared]
        if not accepts(decoded_type(data_type).storage):
            raise TypeError(f"{parameter.name}: expected {words}, got {data_type}")


_OF_HINTS = {**RESULTS_OF_HINTS, decimal.Decimal: s.decimal128(18, 2)}


def representative(declared: s.DataType | type | None) -> s.DataType | None:
    """A type of columns that a declaration takes; None if it takes any."""
    return _OF_HINTS.get(declared) if isinstance(declared, type) else declared


def representatives(declared: Sequence[s.DataType | type | None]) -> list[tuple[s.DataType, ...]]:
    """Types of columns that declarations take; none if one of them takes any.

    The hint `datetime.datetime` takes columns with a time zone and without.
    """
    naive = list(map(representative, declared))
    aware = [
        s.timestamp("us", "UTC") if each is datetime.datetime else known
        for each, known in zip(declared, naive, strict=True)
    ]
    return [
        tuple([each for each in types if each is not None])
        for types in ([naive] if naive == aware else [naive, aware])
        if None not in types
    ]
