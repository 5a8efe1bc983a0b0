"""The parameters and results of a user's function: type hints or a signature, read as Arrow types.

Hints are Python's types (`int`, `float`, `str`, …), data types of colkern, or both at once,
`Annotated[int, ck.date32()]`, so that a type checker is content too. A signature is text:
`"(float64, utf8?, decimal128(12, 2)) -> list<utf8>"`; a `?` marks what may be null.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.builders.infer import from_dtype
from colkern.errors import without_addresses
from colkern.jit.type_texts import parsed_type, parsed_types
from colkern.rows.columns import RESULTS_OF_HINTS


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a user's function.

    Args:
        name: Its name.
        type: The declared data type, or one of Python's types; None for "whatever comes".
        nullable: Whether the declaration says that it may be None; None if nothing was declared.
        has_default: Whether the function has a value for calls without it.
    """

    name: str
    type: s.DataType | type | None = None
    nullable: bool | None = None
    has_default: bool = False

    def __str__(self) -> str:
        if self.type is None:
            return self.name
        declared = self.type.__name__ if isinstance(self.type, type) else self.type
        return f"{self.name}: {declared}"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters and the result of a user's function.

    Args:
        parameters: Its parameters.
        returns: The type of its results; None to infer it.
        hint: The one of Python's types that `returns` stands for, if it was said by a hint.
    """

    parameters: tuple[Parameter, ...]
    returns: s.DataType | None
    hint: type | None = None

    @property
    def result(self) -> s.DataType | type | None:
        """The declared type of results; the hint `datetime.datetime` itself, as it says no zone."""
        return self.hint if self.hint is datetime.datetime else self.returns


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
        returns: The type of the results, over what hints and text say; None to take theirs.
        leading: How many parameters come before those that stand for columns.
        last: The function that returns the results; None for `function`.

    Raises:
        TypeError: If a declaration cannot be understood; names the parameter.
    """
    names = list(_parameter_names(function))[leading:]
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
        result = _declared(_result_hints(last or function), "return")[0]
    if returns is not None:
        result = _declared({"returns": returns}, "returns")[0]
    own = inspect.signature(function, follow_wrapped=False).parameters
    parameters = tuple(
        Parameter(name, type_, nullable, own[name].default is not inspect.Parameter.empty)
        for name, (type_, nullable) in zip(names, declared, strict=True)
    )
    hint = result if isinstance(result, type) else None
    return Signature(parameters, _result_type(result), hint)


def _parameter_names(function: Callable[..., object]) -> Iterator[str]:
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(
                f"{function.__name__}: {parameter} is no positional parameter; "
                f"each one stands for a column"
            )
        yield parameter.name


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except Exception as error:
        # Text hints are code of the user's, so evaluating them may raise anything.
        raise TypeError(f"{function.__name__}: a type hint cannot be evaluated: {error}") from error


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
        parsed = parsed_types(hint)
        if len(parsed) != 1:
            raise TypeError(f"{name}: expected one type, got {hint!r}")
        return parsed[0]
    nullable = False
    if _is_either(hint):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        nullable = len(members) < len(typing.get_args(hint))
        if len(members) != 1:
            raise TypeError(f"{name}: expected one type, or one and None, got {hint}")
        hint = members[0]
    if _says_little(hint):
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
        hint = _struct(name, fields)
    elif typing.get_origin(hint) in _COLLECTIONS:
        parts = [_part(f"{name}: a part of {hint}", part) for part in typing.get_args(hint)]
        hint = _COLLECTIONS[typing.get_origin(hint)](*parts)
    if not isinstance(hint, s.DataType) and hint not in (*RESULTS_OF_HINTS, decimal.Decimal):
        raise TypeError(
            f"{name}: no Arrow type is known for the hint {without_addresses(repr(hint))}; a row function "
            f"is called with the values of one row, such as str, float or datetime.date"
        )
    return hint, nullable


def _says_little(hint: Any) -> bool:
    """Whether a hint names a container, but not what is in it, or not all of that.

    A datetime may have a time zone, and a decimal any scale.
    """
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return False  # The data type beside it says all.
    if hint in (dict, list, tuple, object, Any):
        return True
    parts = (_tuple_fields(hint) or {}).values() or typing.get_args(hint)
    inside = () if _is_either(hint) else parts
    kinds = [
        kind for part in inside for kind in (typing.get_args(part) if _is_either(part) else [part])
    ]
    is_open = any(kind in (datetime.datetime, decimal.Decimal) for kind in kinds)
    return is_open or any(map(_says_little, parts))


def _is_either(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _tuple_fields(hint: Any) -> dict[str, object] | None:
    """The names and hints of a tuple's fields; None for a hint that is no tuple of so many fields.

    Also those of a data class and of a `TypedDict`.
    """
    if typing.is_typeddict(hint):
        return dict(typing.get_type_hints(hint, include_extras=True))
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        try:
            hints = typing.get_type_hints(hint, include_extras=True)
        except Exception as error:
            # As in `_hints`.
            raise TypeError(f"{hint.__name__}: a type hint cannot be evaluated: {error}") from error
        return {field: hints.get(field, Any) for field in hint._fields}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        # Fields of one of Python's classes are found as those of a named tuple are.
        hints = typing.get_type_hints(hint, include_extras=True)
        return {field.name: hints[field.name] for field in dataclasses.fields(hint)}
    members = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and members and Ellipsis not in members:
        return {f"f{k}": member for k, member in enumerate(members)}
    return None


def _struct(name: str, fields: dict[str, object]) -> s.DataType:
    return s.struct(
        [(field, _part(f"{name}: field {field!r}", hint)) for field, hint in fields.items()]
    )


_COLLECTIONS: dict[object, Callable[..., s.DataType]] = {list: s.list_, dict: s.map_}


def _part(place: str, hint: object) -> s.DataType:
    """The type of a part, by its hint."""
    declared = _result_type(_declared({place: hint}, place)[0])
    if declared is None:
        raise TypeError(f"{place}: expected a hint for its type")
    return declared


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
    return parsed_types(arguments[1:-1]), parsed_type(result) if arrow else None
