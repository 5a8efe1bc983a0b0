"""Compares a compiled function with the original on rows of a batch, by results and by time."""

from __future__ import annotations

import functools
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.graph import NumPyType
from colkern.spark.acceleration.texts import SPECIAL

_ROWS = 256
"""The number of rows from the start, the number across the batch, and the limit of rows with nulls per
column."""


def sample(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Returns some rows of a batch: from its start, spread over it, and with nulls of each column."""
    length = len(columns[0])
    chosen = [np.arange(min(length, _ROWS)), np.linspace(0, length - 1, _ROWS).astype(np.int64)]
    for column in columns:
        if column.null_count:
            chosen.append(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[:_ROWS])
    rows = pa.array(np.unique(np.concatenate(chosen)))
    return [column.take(rows) for column in columns]


def extremes(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Returns rows of extreme values, for which results are most likely to differ, for columns of given
    types.

    The ends of each type, both zeros, NaN, infinities, subnormal numbers, halves of the last decimal; texts
    with letters of several bytes, with letters whose upper and lower case differ in length, with unusual
    white space. Nulls only where the batch has them. The values of several columns are paired at random,
    with a fixed seed.
    """
    choice = np.random.default_rng(0)
    every = [_extremes_of(column.type, column.null_count > 0) for column in columns]
    rows = max(map(len, every)) * min(len(every), _MOST_ROUNDS)
    chosen = [np.resize(choice.permutation(len(each)), rows) for each in every]
    return [
        values.take(pa.array(choice.permutation(places)))
        for values, places in zip(every, chosen, strict=True)
    ]


_MOST_ROUNDS = 4
"""The largest number of times that each extreme of a column is paired with others."""

_MOST_ALONE = 128
"""Up to this number of rows, each row is tried separately."""

_TEXTS = [
    *("", " ", "a", "A", "abc xyz", " \t padded \n", "x" * 300),
    *("ß", "İstanbul", "ŉ", "ﬁ", "é", "e\u0301", "Ω", "ς", "日本", "😀", "\u0345"),
    *("a\0", "\0", "\u00a0x\u2003", "\x1cx\x1f", "\u200bx"),
    # Some texts have several parts, whatever the separator.
    "a-b-c_d_e,f,g;h;i:j:k/l/m.n.o|p|q@r@s=t=u",
]


@functools.cache
def _extremes_of(type_: pa.DataType, has_nulls: bool) -> pa.Array:
    null = [None] if has_nulls else []
    if pa.types.is_boolean(type_):
        return pa.array([True, False, *null], type_)
    if pa.types.is_integer(type_):
        return pa.array([*_integers(type_.bit_width), *null], type_)
    if pa.types.is_floating(type_):
        return pa.array([*_floats(np.dtype(type_.to_pandas_dtype())), *null], type_)
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return pa.array([*_TEXTS, *null], type_)
    if pa.types.is_binary(type_):
        return pa.array([*(text.encode() for text in _TEXTS), bytes(range(256)), *null], type_)
    if pa.types.is_date32(type_):
        return pa.array([*_DAYS, *null], pa.int32()).view(type_)
    if pa.types.is_timestamp(type_):
        return pa.array([*_MOMENTS, *null], pa.int64()).cast(type_)
    if pa.types.is_decimal(type_):
        most = 10**type_.precision - 1
        units = [0, 1, 5, 15, 25, 99, 100, most // 2, most]
        values = [Decimal(n).scaleb(-type_.scale, _CONTEXT) for n in units if n <= most]
        return pa.array([*values, *[-value for value in values], *null], type_)
    if pa.types.is_struct(type_):
        parts = [_extremes_of(field.type, True).to_pylist() for field in type_]
        rows = [
            {f.name: part[k % len(part)] for f, part in zip(type_, parts, strict=True)}
            for k in range(max(map(len, parts)))
        ]
        return pa.array([*rows, *null], type_)
    if pa.types.is_list(type_):
        items = _extremes_of(type_.value_type, True).to_pylist()
        return pa.array([[], *[items[k : k + 3] for k in range(0, len(items), 2)], *null], type_)
    raise UnsupportedError(f"columns of {type_} are not compiled")


_SIZES = [1 << k for k in (3, 5, *range(8, 61, 4))]
_BESIDE = range(-2, 3)
_MOST_SECONDS, _MOST_TIMES = 0.01, 20
"""Rising numbers, the distances of others near them, of which some are divisible where others are not, and
how much longer than calls with smaller ones a call may take."""


def require_steady(function: Function, types: Sequence[pa.DataType]) -> None:
    """Raise UnsupportedError if a row takes the longer, the larger a number is, as by `range(n)` or
    `text * n`: for extreme numbers, it would not end, or need all memory."""
    least = math.inf
    for size in _SIZES:
        rows = _rows_of(types, size)
        if not rows:
            return
        limit = _MOST_SECONDS + _MOST_TIMES * least
        seconds = _longest_call(function, rows)
        if seconds > limit:
            # A machine with other work may be slow for once.
            again = 1 if seconds > 10 * limit else 2
            seconds = min(_longest_call(function, rows) for _ in range(again))
        if seconds > limit:
            raise UnsupportedError("a row takes longer, the larger a number is")
        least = min(least, seconds)


def _rows_of(types: Sequence[pa.DataType], size: int) -> list[pa.Array]:
    """Returns rows in which all numbers or one are of a size, or as large as their types allow; none if it
    fits no column."""
    largest = [_largest_of(type_) for type_ in types]
    if size > max(largest):
        return []
    numbers = [place for place, most in enumerate(largest) if most]
    grown = {(*numbers,), *((each,) for each in numbers)}
    chosen = [(sign * (size + j), g) for sign in (1, -1) for j in _BESIDE for g in grown]
    same = pa.array([0] * len(chosen), pa.int64())
    rows = []
    for place, (type_, most) in enumerate(zip(types, largest, strict=True)):
        kind = float if pa.types.is_floating(type_) else int
        values = [
            kind(max(-most, min(most, number if place in places else 1)))
            for number, places in chosen
        ]
        rows.append(pa.array(values, type_) if most else _extremes_of(type_, False)[-1:].take(same))
    return rows


def _largest_of(type_: pa.DataType) -> int:
    """Returns the largest size of numbers of a type; 0 for other types."""
    if pa.types.is_integer(type_):
        return int(2 ** (type_.bit_width - 1)) - 1
    if pa.types.is_decimal(type_):
        return int(10 ** (type_.precision - type_.scale)) - 1
    return sys.maxsize if pa.types.is_floating(type_) else 0


def _longest_call(function: Function, rows: Sequence[pa.Array]) -> float:
    """Returns the time of a call for all rows; if that raises, the longest time of a call for one."""
    start = time.perf_counter()
    raises = isinstance(outcome(function, rows), Exception)
    longest, count = time.perf_counter() - start, len(rows[0])
    for row in range(count) if raises and count > 1 else ():
        longest = max(longest, _longest_call(function, [each.slice(row, 1) for each in rows]))
    return longest


_OF_CODE_POINTS = frozenset(
    [
        *("center", "count", "endswith", "find", "isascii", "isspace", "ljust", "lstrip"),
        *("removeprefix", "removesuffix", "rfind", "rjust", "rsplit", "rstrip", "split"),
        *("startswith", "strip", "zfill"),
    ]
)
"""Text methods that need no Unicode table except that of white space, on which pandas agrees."""


def gives_what_str_gives(name: str, *constants: object) -> bool:
    """Whether a method of `Series.str` gives the same as the method of `str`, also for extreme texts."""
    if name == "str[]":
        return len(constants) == 1 and type(constants[0]) is int
    parts = [each for each in constants if isinstance(each, str)]
    is_pattern = name == "count" or (name == "split" and len("".join(parts)) > 1)
    if name not in _OF_CODE_POINTS or (is_pattern and any(map(SPECIAL.search, parts))):
        return False
    texts = [*_TEXTS, *(f"{part}é{part}日{part}{part}x" for part in parts)]
    method = getattr(pd.Series(texts, dtype="str").str, name)
    try:
        expected = [getattr(text, name)(*constants) for text in texts]
        return list(method(*constants)) == expected
    except (AttributeError, TypeError, ValueError):
        return False


def _integers(width: int) -> list[int]:
    least, most = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    # Around these, floats begin to have gaps, or squares no longer fit.
    edges = [2**k + j for k in (7, 8, 11, 15, 16, 24, 31, 32, 53) for j in (-1, 0, 1)]
    sizes = {least, least + 1, most - 1, most, *range(-12, 13), 15, 25, 50, 99, 100, *edges}
    return sorted({n for each in sizes for n in (each, -each) if least <= n <= most})


def _floats(dtype: NumPyType) -> list[float]:
    facts = np.finfo(dtype)
    halves = [(k + 0.5) / 10**d for d in range(4) for k in (0, 1, 2, 12, 57, 1234, 99_999)]
    ends = [facts.max, facts.max / 2, facts.tiny, facts.smallest_subnormal]
    sizes = [*ends, facts.eps, 1 + facts.eps]
    whole = [0.0, 1.0, 2.0, 3.0, 10.0, 2.0**24, 2.0**24 + 2, 2.0**31, 2.0**53, 2.0**53 + 2, 2.0**63]
    plain = [*halves, *map(float, sizes), *whole, 0.1, 1 / 3, 1e10, float("inf")]
    return [*plain, *[-value for value in plain], float("nan")]


_CONTEXT = Context(prec=76)

_DAY = 86_400
_DAYS = [-25_509, -1, 0, 1, 30, 58, 59, 364, 365, 19_782, 19_783, 20_088, 20_089, 106_000]
"""Days since 1970: ends of months and years, a leap day, and the limits of nanoseconds."""

_MOMENTS = [
    (day * _DAY + second) * 10**6 + micros
    for day in _DAYS
    for second, micros in ((0, 0), (1, 1), (43_200, 0), (86_399, 999_999))
]

Function: TypeAlias = Callable[[Sequence[pa.Array]], pa.Array]


def difference_at_extremes(
    rows: Sequence[pa.Array], compiled: Function, original: Function
) -> str | None:
    """Returns the difference of two functions at a batch's `extremes`, where one may raise; None if they
    agree."""
    expected, actual = outcome(original, rows), outcome(compiled, rows)
    if isinstance(expected, pa.Array) and isinstance(actual, pa.Array):
        return difference(rows, actual, expected)
    # The original computes batches for which compiled code raises, so only the other rows are compared.
    rows = accepted(compiled, rows)
    if not len(rows[0]):
        return None
    expected = outcome(original, rows)
    if isinstance(expected, pa.Array):
        return difference(rows, compiled(rows), expected)
    return f"it has results, where the original raises {type(expected).__name__}: {expected}"


def accepted(compiled: Function, columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Returns the rows that compiled code accepts, and a row of nulls where columns have any."""
    null = [column.is_null().index(True).as_py() if column.null_count else 0 for column in columns]

    def taken(rows: Sequence[int]) -> list[pa.Array]:
        # A row of nulls next to the others keeps the dtypes.
        return [
            column.take(pa.array([*rows, *([at] if column.null_count else rows[:1])]))
            for column, at in zip(columns, null, strict=True)
        ]

    def among(rows: Sequence[int]) -> list[int]:
        if isinstance(outcome(compiled, taken(rows)), pa.Array):
            return list(rows)
        if len(rows) == 1:
            return []
        half = len(rows) // 2
        return [*among(rows[:half]), *among(rows[half:])]

    places = among(range(min(len(columns[0]), _MOST_ALONE)))
    return taken(places) if places else [column.slice(0, 0) for column in columns]


def outcome(function: Function, rows: Sequence[pa.Array]) -> pa.Array | Exception:
    """Returns a function's results for some rows, or the exception that it raises."""
    try:
        # Extreme values overflow; nobody needs a warning about that.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(rows)
    except Exception as error:  # noqa: BLE001 The user's function may raise anything.
        return error


TIMED_ROWS = 1000
"""Batches of fewer rows say little about the time of other batches."""

_MOST_TIMED_ROWS = 4096
_ROUNDS = 2
"""The largest number of rows to time in a batch, and the number of repetitions."""

_CLEARLY = 0.95
"""The share of the original's time below which compiled code counts as clearly faster."""


def is_faster(compiled: Function, original: Function, columns: Sequence[pa.Array]) -> bool:
    """Whether compiled code takes clearly less time than the original for rows of a batch."""
    rows = [column.slice(0, _MOST_TIMED_ROWS) for column in columns]
    best = {compiled: math.inf, original: math.inf}
    for function in [*best] * _ROUNDS:
        best[function] = min(best[function], _seconds(function, rows))
    return best[compiled] < _CLEARLY * best[original]


def _seconds(function: Function, rows: Sequence[pa.Array]) -> float:
    start = time.perf_counter()
    outcome(function, rows)
    return time.perf_counter() - start


def difference(columns: Sequence[pa.Array], compiled: pa.Array, original: pa.Array) -> str | None:
    """Returns the first difference of two results for some rows; None if they are the same to the bit."""
    if compiled.type != original.type or len(compiled) != len(original):
        return f"{len(compiled)} results of {compiled.type}, not {len(original)} of {original.type}"
    same = pc.equal(_bits(compiled), _bits(original))
    nulls = pc.and_(compiled.is_null(), original.is_null())
    agree = pc.or_(same.fill_null(False), nulls).to_numpy(zero_copy_only=False)
    if agree.all():
        return None
    row = int(np.argmin(agree))
    values = ", ".join([repr(column[row].as_py()) for column in columns])
    return f"for ({values}) it is {compiled[row].as_py()!r}, not {original[row].as_py()!r}"


def _bits(array: pa.Array) -> pa.Array:
    """Returns floats as integers, so that signs of zeros and NaNs count, and nested values as text."""
    if pa.types.is_nested(array.type):
        return pa.array([repr(value) for value in array.to_pylist()])
    if pa.types.is_floating(array.type):
        return array.view(pa.int32() if array.type == pa.float32() else pa.int64())
    return array
