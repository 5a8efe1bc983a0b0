"""What the results of each data type are made of: one row a type class.

Loops write fixed-size results into a NumPy array of `Writer.item`; `Writer.finish` makes the buffers
of the layout from it. Byte strings are measured first and written then (`colkern.jit.rows.execution`).
This module imports no compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.bitmaps import packed
from colkern.errors import UnsupportedError
from colkern.layouts import Role, layout
from colkern.memory import allocate

_INTS = {
    f"{sign}int{bits}": s.Int(bits, not sign) for sign in ("", "u") for bits in (8, 16, 32, 64)
}

NUMBER = frozenset({"boolean", *_INTS})
FLOAT = NUMBER | {"float32", "float64"}
TEXT = frozenset({"text", "unicode"})
BINARY = TEXT | {"binary"}

_DAY_MS = 86_400_000
DAY = {"s": 86_400, "ms": _DAY_MS, "us": _DAY_MS * 1_000, "ns": _DAY_MS * 1_000_000}
"""The length of a day in each unit of time."""


@dataclass(frozen=True, slots=True)
class Writer:
    """How the results of one data type are written.

    Args:
        kinds: What the function may return for it: names as in `Reader.value`.
        item: The NumPy type that a loop writes; None for byte strings.
        finish: From what a loop wrote, with zeros under nulls, to the array of the data buffer.
            Raises `OverflowError` for values that the type does not have.
    """

    kinds: frozenset[str]
    item: np.dtype[Any] | None
    finish: Callable[[NDArray[Any]], NDArray[Any]]


def _as_it_is(values: NDArray[Any]) -> NDArray[Any]:
    return values


def _numbers(kinds: frozenset[str], data_type: s.DataType) -> Writer:
    return Writer(kinds, layout(data_type).spec(Role.DATA).dtype, _as_it_is)


def _bool(_: s.DataType) -> Writer:
    return Writer(frozenset({"boolean"}), np.dtype(np.uint8), packed)


def _float(data_type: s.FloatingPoint) -> Writer:
    if data_type.bit_width > 16:
        return _numbers(FLOAT, data_type)

    def narrow(values: NDArray[Any]) -> NDArray[Any]:
        narrowed = allocate(len(values), np.float16)
        # A float too large for 16 bits is an infinity, as in any other arithmetic.
        with np.errstate(over="ignore"):
            narrowed[:] = values
        return narrowed

    # From 64 bits at once: by way of 32 they would be rounded twice.
    return Writer(FLOAT, np.dtype(np.float64), narrow)


def _decimal(data_type: s.Decimal) -> Writer:
    limit = 10 ** min(data_type.precision, 19)
    words = data_type.bit_width // 64

    def widen(values: NDArray[Any]) -> NDArray[Any]:
        _require_between(values, -limit, limit, data_type)
        if words <= 1:
            return values
        widened = allocate(len(values) * words, np.int64)
        widened[::words] = values
        for word in range(1, words):
            widened[word::words] = values >> 63
        return widened

    return Writer(NUMBER, np.dtype("<i4" if data_type.bit_width == 32 else "<i8"), widen)


def _date(data_type: s.Date) -> Writer:
    if data_type.unit == "day":
        return _numbers(NUMBER, data_type)

    def whole_days(values: NDArray[Any]) -> NDArray[Any]:
        if (values % _DAY_MS).any():
            raise OverflowError(f"a result is no whole day, which {data_type} asks for")
        return values

    return Writer(NUMBER, np.dtype("<i8"), whole_days)


def _time(data_type: s.Time) -> Writer:
    def within_a_day(values: NDArray[Any]) -> NDArray[Any]:
        _require_between(values, -1, DAY[data_type.unit], data_type)
        return values

    return Writer(NUMBER, layout(data_type).spec(Role.DATA).dtype, within_a_day)


def _require_between(values: NDArray[Any], low: int, high: int, data_type: s.DataType) -> None:
    if len(values) and not (low < int(values.min()) and int(values.max()) < high):
        raise OverflowError(f"a result is out of the range of {data_type}")


def _bytes(kinds: frozenset[str]) -> Writer:
    return Writer(kinds, None, _as_it_is)


_WRITERS: dict[type[s.DataType], Callable[[Any], Writer]] = {
    s.Bool: _bool,
    s.Int: lambda t: _numbers(NUMBER, t),
    s.FloatingPoint: _float,
    s.Decimal: _decimal,
    s.Date: _date,
    s.Time: _time,
    s.Timestamp: lambda t: _numbers(NUMBER, t),
    s.Duration: lambda t: _numbers(NUMBER, t),
    s.Utf8: lambda _: _bytes(TEXT),
    s.LargeUtf8: lambda _: _bytes(TEXT),
    s.Binary: lambda _: _bytes(BINARY),
    s.LargeBinary: lambda _: _bytes(BINARY),
}


def has_writer(data_type: s.DataType) -> bool:
    """Whether loops write results of a type side by side, into an array of their own."""
    return type(data_type) in _WRITERS


def writer_of(data_type: s.DataType) -> Writer:
    """How results of a type are written.

    Raises:
        UnsupportedError: If they cannot be.
    """
    if type(data_type) not in _WRITERS:
        raise UnsupportedError(f"{data_type} as the result of a udf")
    return _WRITERS[type(data_type)](data_type)


def kinds_of(data_type: s.DataType) -> frozenset[str]:
    """What a function may return for a type without parts: names as in `Reader.value`."""
    if has_writer(data_type):
        return writer_of(data_type).kinds
    if isinstance(data_type, s.FixedSizeBinary):
        return BINARY - {"unicode"}
    return NUMBER if isinstance(data_type, s.Interval) else frozenset()


INFERRED: dict[str, s.DataType] = {
    "boolean": s.bool_(),
    **_INTS,
    "float32": s.float32(),
    "float64": s.float64(),
    "text": s.utf8(),
    "unicode": s.utf8(),
    "binary": s.binary(),
}
"""The type of results by what the function returns, where nothing is declared."""
