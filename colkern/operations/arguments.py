"""Errors for arguments of a wrong class: a list where an operation takes an array."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any, NamedTuple, SupportsIndex, TypeVar

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.integers import integer
from colkern.memory import Buffer, Device

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _integer_or_none(value: object, name: str) -> int | None:
    return None if value is None else integer(value, name)


_INTEGERS: dict[str, Callable[[object, str], int | None]] = {
    "int": integer,
    "int | None": _integer_or_none,
}
"""Annotation of a parameter → the conversion of its argument."""


def operation(function: _Function) -> _Function:
    """A function that callers use, with errors that name each argument of a wrong class.

    The decorator reads the annotations of the parameters. It converts arguments for `int` and
    `int | None` before each call, and so refuses 1.5, for which an operation might return a wrong
    result. It checks the other arguments only after the operation has raised an exception, so that
    calls that succeed do not pay for the check.
    """
    parameters = inspect.signature(function).parameters.values()
    integers = [
        (place, parameter.name, _INTEGERS[parameter.annotation])
        for place, parameter in enumerate(parameters)
        if parameter.annotation in _INTEGERS
    ]

    @functools.wraps(function)
    def called(*args: object, **kwargs: object) -> object:
        try:
            for place, name, convert in integers:
                if place < len(args):
                    args = (*args[:place], convert(args[place], name), *args[place + 1 :])
                elif name in kwargs:
                    kwargs[name] = convert(kwargs[name], name)
            return function(*args, **kwargs)
        except Exception:
            wrong = _wrong_argument(function, args, kwargs)
            if wrong is None:
                raise
        raise TypeError(wrong)

    return typing.cast(_Function, called)


def _wrong_argument(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> str | None:
    """The message about the first argument of a wrong class; None if there is none."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    hints = typing.get_type_hints(function)
    for name, value in given.items():
        expected = _EXPECTED.get(hints[name])
        if expected is None:
            continue
        if not isinstance(value, expected.classes):
            return _text(name, value, expected)
        if expected is _ARRAYS:
            for position, item in enumerate(typing.cast("Sequence[object]", value)):
                if not isinstance(item, Array):
                    return _text(f"{name}[{position}]", item, _ARRAY)
    return None


class _Expected(NamedTuple):
    """The classes that a parameter takes, their names in messages, and how to get one."""

    classes: tuple[type, ...]
    words: str
    remedy: str


def _text(name: str, value: object, expected: _Expected) -> str:
    text = f"{name}: expected {expected.words}, got {_name(value)}"
    remedy = _FROM_BATCH.get(expected) if isinstance(value, RecordBatch) else expected.remedy
    return text if value is None or not remedy else f"{text}; {remedy}"


def _name(value: object) -> str:
    """The name of a value's class, with its library: others have arrays, too."""
    if value is None:
        return "None"
    library = type(value).__module__.split(".")[0]
    return ("" if library in ("builtins", "colkern") else f"{library}.") + type(value).__name__


_MAKE_ARRAY = "make one with colkern.array(...)"

_ARRAY = _Expected((Array,), "an Array", _MAKE_ARRAY)
_ARRAYS = _Expected((Sequence,), "a list of Arrays", "make each with colkern.array(...)")

_EXPECTED: dict[object, _Expected] = {
    Array: _ARRAY,
    Sequence[Array]: _ARRAYS,
    Array | int | float: _Expected(
        # Beside text, the operation names the array's type as well.
        (Array, Number, np.generic, str, bytes, bytearray, memoryview),
        "an Array or a number",
        _MAKE_ARRAY,
    ),
    Array | Buffer: _Expected((Array, Buffer), "an Array or a Buffer", _MAKE_ARRAY),
    Array | RecordBatch: _Expected(
        (Array, RecordBatch),
        "an Array or a RecordBatch",
        "make one with colkern.array(...) or colkern.record_batch(...)",
    ),
    RecordBatch: _Expected(
        (RecordBatch,), "a RecordBatch", "make one with colkern.record_batch(...)"
    ),
    Buffer: _Expected((Buffer,), "a Buffer", "colkern.Buffer(...) is one of any bytes"),
    Device: _Expected((Device,), "a Device", "colkern.Device('cuda') is the first GPU"),
    s.DataType: _Expected((s.DataType,), "a data type", "colkern.int64() makes one"),
    int | str: _Expected((SupportsIndex, str), "a position or a name", ""),
    int | str | Sequence[int | str]: _Expected(
        (SupportsIndex, str, Sequence), "a position, a name or a path of them", ""
    ),
    Sequence[str]: _Expected((Sequence,), "a list of str", ""),
}
"""Annotation of a parameter → its classes. Operations check parameters of other annotations."""

_FROM_BATCH = {
    _ARRAY: "take one of its columns: batch['name']",
    _ARRAYS: "its columns are batch.columns",
}
"""The remedy where a batch is given instead."""
