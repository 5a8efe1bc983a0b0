"""Runs the original function in Python, over the values of columns as Python objects."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    DivisionByZero,
    FloatOperation,
    Inexact,
    InvalidOperation,
    Overflow,
    Rounded,
    Subnormal,
    getcontext,
)
from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array as build_array
from colkern.dispatch import LISTS
from colkern.errors import CompileError
from colkern.rows.encoded import decoded_type
from colkern.rows.forms import Form
from colkern.rows.program import Program, Site

OTHER_CONTEXT = "the thread's decimal context is not the one that Python starts with"
"""The reason if all rows with decimals are left to Python."""

_PARTS = 28, ROUND_HALF_EVEN, -999999, 999999, 1, 0
_TRAPS = Inexact, Rounded, Subnormal, FloatOperation

USUAL_CONTEXT = Context(*_PARTS, flags=[], traps=[InvalidOperation, DivisionByZero, Overflow])
"""Python's own decimal context, in which compiled code computes."""


def is_usual_context() -> bool:
    """Whether Python computes decimals in this thread as compiled code does: with 28 digits."""
    now = getcontext()
    parts = now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp
    return parts == _PARTS and not any(now.traps[signal] for signal in _TRAPS)


class PythonPlan:
    """A function that only runs in Python.

    Args:
        forms: The forms in which it gets the values of columns.
        returns: The type of the results; None to infer it from the values.
        name: The name in messages; empty for the function's.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        forms: Sequence[Form],
        returns: s.DataType | type | None,
        name: str = "",
    ) -> None:
        self._function = function
        self._row = f"{name or function.__name__}: row"
        self._forms = list(forms)
        self._returns = None if isinstance(returns, type) else returns

    programs: Sequence[Program] = ()

    @property
    def returns(self) -> s.DataType:
        """The type of the results, or null if it is unknown before a call."""
        return self._returns or s.null()

    def run(self, arrays: Sequence[Array], length: int) -> tuple[Array, Counter[Site | None]]:
        """Returns the results."""
        called = called_rows(arrays, self._forms)
        results: list[Any] = [None] * length
        for (place, _), result in zip(
            called, called_in_python(self._function, called, self._row), strict=True
        ):
            results[place] = result
        return self._column(results), Counter()

    def _column(self, results: list[Any]) -> Array:
        """Returns the column of results."""
        if self._returns is None:
            return build_array(as_rows(results))
        return build_array(as_column_values(results, self._returns), type=self._returns)

    def compile(self) -> None:
        """Does nothing: there is nothing to compile."""


def called_rows(arrays: Sequence[Array], forms: Sequence[Form]) -> list[tuple[int, Sequence[Any]]]:
    """Returns the rows for which a function is called, each with its number."""
    columns = [form.values(array) for array, form in zip(arrays, forms, strict=True)]
    return [
        (place, row)
        for place, row in enumerate(zip(*columns, strict=True))
        if all(value is not None or form.nullable for value, form in zip(row, forms, strict=True))
    ]


def as_rows(results: list[Any]) -> list[Any]:
    """Returns tuples of one length as structs with the field names of compiled functions' results."""
    there = [result for result in results if result is not None]
    if there and all(isinstance(result, list) for result in there):
        flat = iter(as_rows([item for result in there for item in result]))
        return [result and [next(flat) for _ in result] for result in results]
    if not there or not all(isinstance(result, tuple) for result in there):
        return results
    if len(set(map(len, there))) > 1:
        return results
    names = getattr(there[0], "_fields", [f"f{place}" for place in range(len(there[0]))])
    return [None if result is None else dict(zip(names, result, strict=True)) for result in results]


def as_column_values(results: list[Any], type_: s.DataType) -> list[Any]:
    """Returns results as a column of a declared type takes them."""
    storage = decoded_type(type_).storage
    if not isinstance(storage, s.Int | s.FloatingPoint) and not storage.fields:
        return results
    return [_as_column_value(result, storage) for result in results]


def _as_column_value(result: Any, type_: s.DataType) -> Any:
    """Returns a result, or a part of one, as a column takes it.

    A data class becomes a dictionary of its fields. A boolean is 0 or 1 where a number is declared, as in
    compiled code: it equals that number.

    Raises:
        OverflowError: For an integer outside the range of its type.
    """
    if isinstance(result, bool) and isinstance(type_, s.FloatingPoint):
        return int(result)
    if isinstance(result, int) and isinstance(type_, s.Int):
        end = 1 << (type_.bit_width - type_.signed)
        if not (-end if type_.signed else 0) <= result < end:
            raise OverflowError(f"{result} does not fit {type_}")
        return int(result)
    if dataclasses.is_dataclass(result):
        result = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    parts = [decoded_type(field.type).storage for field in type_.fields]
    if isinstance(type_, s.Map) and isinstance(result, dict):
        return dict(_as_column_value(list(result.items()), type_))
    if isinstance(type_, s.Struct) and type(result) is dict:
        types = dict(zip([field.name for field in type_.fields], parts, strict=True))
        return {
            name: _as_column_value(value, types[name]) if name in types else value
            for name, value in result.items()
        }
    if isinstance(type_, s.Struct) and isinstance(result, tuple) and len(result) == len(parts):
        return tuple(map(_as_column_value, result, parts))
    if isinstance(type_, LISTS) and type(result) is list:
        return [_as_column_value(item, parts[0]) for item in result]
    return result


def called_in_python(
    function: Callable[..., Any], rows: Iterable[tuple[int, Sequence[Any]]], title: str
) -> list[Any]:
    """Returns the results of a function for rows, each with its number, which an exception's note names.

    For a generator function, a result is the list of the items that it yields.

    Args:
        title: The words of the note before the number.
    """
    results = []
    yields = inspect.isgeneratorfunction(function)
    for place, row in rows:
        try:
            results.append(list(function(*row)) if yields else function(*row))
        except Exception as error:
            error.add_note(f"{title} {place}")
            raise
    return results


def refusal_of(row: str, site: Site | None) -> CompileError:
    """Returns the error of `strict=True` for a row that compiled code does not cover, and the place."""
    where = f"line {site.line}: {site.reason}" if site else "beyond the lines counted"
    return CompileError(f"{row} is left to Python ({where}), which strict=True refuses")
