"""`variance`, `stddev`, `skew`, `kurtosis`, `quantile`, `median`, `product`, `first`, `last` and more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, Literal, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import record_batch
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.memory import HOST
from colkern.operations.aggregates import count, mean
from colkern.operations.aggregates.encodings import is_enough
from colkern.operations.arguments import Kind, operation
from colkern.operations.casting import cast
from colkern.operations.decimal_arithmetic import sum_digits
from colkern.operations.encodings import decoded
from colkern.operations.group_aggregates import (
    INTERPOLATIONS,
    ONE_VALUE,
    checked_shares,
    numbers_of,
    one_group,
)
from colkern.operations.moving import few_on_host
from colkern.operations.null_filling import is_valid
from colkern.operations.position_checks import require_valid
from colkern.operations.remedies import instead_of_sum
from colkern.operations.selection.filtering import filter
from colkern.operations.sorting import drop_nulls, few_counts
from colkern.targets import Items, on_its_device, target_of

WORTH_COUNTING = 1 << 15
"""From so many integers on, counting those of a small range takes less time than a selection."""

_WORTH_SAMPLE = 1 << 11
"""From so many numbers on, a sample tells most of those that a selection need not look at."""

Interpolation = Literal["linear", "lower", "higher", "nearest", "midpoint"]


@operation
def variance(
    array: Array, *, ddof: int = 0, skip_nulls: bool = True, min_count: int = 0
) -> float | None:
    """The mean of the squared deviations from the mean; None if there are not more values than `ddof`.

    Args:
        array: Numbers, booleans or decimals, also encoded. Nulls do not count.
        ddof: The number subtracted from the count of values: 0 for a population, 1 for a sample.
        skip_nulls: If False, any null makes the result None.
        min_count: With fewer values, the result is None.

    Raises:
        UnsupportedError: If the values are no numbers.
    """
    numbers = _numbers(array, "variance", max(ddof, 0) + 1, skip_nulls, min_count)
    if numbers is None:
        return None
    return _squares(numbers, mean(numbers)) / (numbers.length - ddof)


def _numbers(array: Array, what: str, least: int, skip_nulls: bool, min_count: int) -> Array | None:
    """The numbers of an array without nulls; None if they are fewer than `least`, or than asked for."""
    require_valid(array)
    numbers = drop_nulls(numbers_of(array, what))
    return numbers if numbers.length >= least and is_enough(array, skip_nulls, min_count) else None


# Between infinities, the difference is NaN, and so is the sum.
@on_its_device
@np.errstate(invalid="ignore", over="ignore")
def _squares(numbers: Array, mean: float) -> float:
    """The sum of the squared deviations of numbers from their mean."""
    items = numbers.items(Role.DATA)
    # On the host, caches hold the deviations of a block until they are multiplied.
    size = _BLOCK if numbers.device == HOST else len(items)
    deviations, total = target_of(numbers.device).output(min(size, len(items)), np.float64), 0.0
    for begin in range(0, len(items), size):
        block = items[begin : begin + size]
        own = np.subtract(block, mean, out=deviations[: len(block)], dtype=np.float64)
        np.multiply(own, own, out=own)
        total += float(own.sum())
    return total


_BLOCK = 1 << 15


@operation
def stddev(
    array: Array, *, ddof: int = 0, skip_nulls: bool = True, min_count: int = 0
) -> float | None:
    """The square root of the `variance`."""
    squared = variance(array, ddof=ddof, skip_nulls=skip_nulls, min_count=min_count)
    return None if squared is None else squared**0.5


@overload
def quantile(
    array: Array,
    q: float = 0.5,
    *,
    interpolation: Interpolation = "linear",
    skip_nulls: bool = True,
    min_count: int = 0,
) -> Any: ...
@overload
def quantile(
    array: Array,
    q: Sequence[float],
    *,
    interpolation: Interpolation = "linear",
    skip_nulls: bool = True,
    min_count: int = 0,
) -> list[Any]: ...
@operation
def quantile(
    array: Array,
    q: float | Sequence[float] = 0.5,
    *,
    interpolation: Interpolation = "linear",
    skip_nulls: bool = True,
    min_count: int = 0,
) -> Any:
    """The exact value below which a share `q` of the values lies; None without values.

    Args:
        array: Numbers, booleans (as 0 and 1) or decimals, also encoded. Nulls and NaN do not count.
        q: The share, from 0 to 1; or several, for a list of results.
        interpolation: The result between two values: a float by "linear" interpolation or the
            "midpoint", or one of them, as `to_pylist` gives it: the "lower", "higher" or "nearest".
        skip_nulls: If False, any null makes the results None.
        min_count: With fewer values that are not null, the results are None.

    Raises:
        ValueError: If a share is out of its range, or there is no such interpolation.
        UnsupportedError: If the values are no numbers.
    """
    require_valid(array)
    is_one, shares = checked_shares(q, interpolation)
    numbers = numbers_of(array, "quantile", keep_decimals=interpolation in ONE_VALUE)
    results: list[Any]
    if not is_enough(array, skip_nulls, min_count):
        results = [None] * len(shares)
    elif array.device == HOST and not isinstance(numbers.type.storage, s.Decimal):
        numbers = drop_nulls(numbers)
        is_counted = isinstance(numbers.type.storage, s.Int) and numbers.length >= WORTH_COUNTING
        few = few_counts(numbers) if is_counted else None
        if few is not None:
            count, at = numbers.length, _counted(*few)
        else:
            count, at = _selected(numbers.items(Role.DATA), shares)
        kind = None if interpolation in ONE_VALUE else float
        results = _quantiles(count, shares, INTERPOLATIONS[interpolation], at, kind)
    else:
        rows = one_group(array)
        options = [{"q": share, "interpolation": interpolation} for share in shares]
        results = [_only(rows.aggregate("quantile", array, **own)) for own in options]
    return results[0] if is_one else results


def _counted(least: int, counts: Items) -> Callable[[int], float]:
    """The integer at a place in their order; they are given as by `few_counts`."""
    ends = counts.cumsum()
    return lambda place: least + int(np.searchsorted(ends, place, side="right"))


def _selected(numbers: Items, shares: Sequence[float]) -> tuple[int, Callable[[int], float]]:
    """The number of numbers on the host that are not NaN, and the one at a place in their order.

    The places are the last ones below the shares, and those behind them.
    """
    # NaN is the largest.
    if numbers.dtype.kind == "f" and len(numbers) and math.isnan(numbers[numbers.argmax()]):
        numbers = numbers[~np.isnan(numbers)]
    count = len(numbers)
    # Those from place `first` on, in no order.
    chosen, first = numbers[:0], 0
    at: dict[int, float] = {}
    # One by one, since NumPy vectorises the selection of a single place.
    for share in sorted(shares) if count else ():
        low = int((count - 1) * share)
        if low < first:
            continue
        if min(low + 1, count - 1) >= first + len(chosen):
            chosen, first = _around(numbers, low)
        chosen.partition(low - first)
        at[low] = chosen.item(low - first)
        chosen, first = chosen[low - first + 1 :], low + 1
        if len(chosen):
            at[first] = chosen.item(chosen.argmin())
    return count, at.__getitem__


def _around(numbers: Items, low: int) -> tuple[Items, int]:
    """Neighbours in the order of the numbers, copied, and the place of the least of them.

    Those at the places `low` and `low + 1` are among them.
    """
    chosen, first = numbers, 0
    high = min(low + 1, len(numbers) - 1)
    while len(chosen) >= _WORTH_SAMPLE:
        # As by Floyd and Rivest: a sample tells most of those that are far from the place.
        count = len(chosen)
        sample = np.sort(chosen[:: int(count ** (1 / 3))])
        middle = (low - first) * len(sample) // count
        reach = int(1.5 * math.sqrt(len(sample))) + 1
        begin, end = middle - reach, middle + reach
        kept, less = np.True_, 0
        if begin >= 0:
            kept = chosen >= sample[begin]
            less = count - int(np.count_nonzero(kept))
        if end < len(sample):
            kept = kept & (chosen <= sample[end])
        few = int(np.count_nonzero(kept))
        if not first + less <= low <= high < first + less + few:
            break
        if begin >= 0 and end < len(sample) and sample[begin] == sample[end]:
            # All that are kept are equal.
            return sample[begin : begin + 2], low
        if few > count // 2:
            break
        # By positions: a mask takes NumPy longer.
        chosen, first = chosen[np.flatnonzero(kept)], first + less
    return (chosen.copy() if chosen is numbers else chosen), first


def _quantiles(
    count: int,
    shares: Sequence[float],
    way: Callable[[float, int], float],
    at: Callable[[int], float],
    kind: type[float] | None,
) -> list[float | None]:
    """The quantiles of `count` numbers, which `at` gives by place; `way` as in `INTERPOLATIONS`.

    They are of the class `kind`, or as `at` gives them.
    """
    results: list[float | None] = []
    for share in shares if count else ():
        low = int((count - 1) * share)
        part = way((count - 1) * share - low, low)
        first = at(low)
        second = at(low + 1) if part else first
        # Between infinities, the difference would be NaN.
        between = first * (1 - part) + second * part
        result = second if part in (0, 1) else between
        results.append(result if kind is None else kind(result))
    return results if count else [None] * len(shares)


@operation
def median(array: Array, *, skip_nulls: bool = True, min_count: int = 0) -> float | None:
    """The `quantile` for one half."""
    half: float | None = quantile(array, skip_nulls=skip_nulls, min_count=min_count)
    return half


@operation
def product(
    array: Array, *, skip_nulls: bool = True, min_count: int = 1
) -> int | float | Decimal | None:
    """The product of the values: integers modulo 2^64, as int64 or uint64; None without values.

    As in pyarrow, products of decimals have their scale, and each is rounded half away from zero.

    Args:
        array: Integers, floats, decimals or booleans, also encoded. Nulls do not count.
        skip_nulls: If False, any null makes the product None.
        min_count: With fewer values, the product is None.

    Raises:
        OverflowError: If a product of decimals needs more than 38 digits (76 for decimal256).
        UnsupportedError: If the values are no such numbers.
    """
    require_valid(array)
    values = drop_nulls(decoded(array))
    storage = values.type.storage
    if isinstance(storage, s.Decimal):
        enough = is_enough(array, skip_nulls, min_count)
        return _product_of_decimals(values, storage) if enough else None
    if isinstance(storage, s.Bool | s.Null):
        values = cast(values, s.uint8())
    elif not isinstance(storage, s.Int | s.FloatingPoint):
        remedy = instead_of_sum(array.type)
        raise UnsupportedError(f"product: no product of the values of {array.type}; {remedy}")
    return _product(values) if is_enough(array, skip_nulls, min_count) else None


def _product_of_decimals(values: Array, type_: s.Decimal) -> Decimal:
    if values.device != HOST:
        where = f"{values.type} on {values.device}; colkern.to_host copies it"
        raise UnsupportedError(f"product: no product of {where}")
    last, product = Decimal(1).scaleb(-type_.scale), Decimal(1)
    most = Decimal(10) ** (sum_digits(type_) - type_.scale)
    with localcontext(prec=2 * 76):
        for value in values:
            product = (product * value).quantize(last, ROUND_HALF_UP)
            if abs(product) >= most:
                raise OverflowError(f"product: {sum_digits(type_)} digits do not hold {product}")
    return product


@on_its_device
@np.errstate(over="ignore", invalid="ignore")
def _product(values: Array) -> int | float:
    items = values.items(Role.DATA)
    wide = {"f": np.float64, "i": np.int64, "u": np.uint64}[items.dtype.kind]
    product: int | float = items.prod(dtype=wide).item()
    return product


@operation(kind=Kind.AGGREGATE, combine=lambda values, like: _valid_at(values, 0))
def first(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The first value that is not null, as `to_pylist` gives it; None if there is none.

    Args:
        array: Any array but a union.
        skip_nulls: If False, nulls count as first values, too, and give None.
        min_count: With fewer values that are not null, the result is None.
    """
    return _end(array, 0, skip_nulls, min_count)


@operation(kind=Kind.AGGREGATE, combine=lambda values, like: _valid_at(values, -1))
def last(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The last value that is not null, as `to_pylist` gives it; None if there is none; see `first`."""
    return _end(array, -1, skip_nulls, min_count)


def _valid_at(values: Sequence[Any], place: int) -> Any:
    ordered = values if place == 0 else reversed(values)
    return next((value for value in ordered if value is not None), None)


def _end(array: Array, place: int, skip_nulls: bool, min_count: int) -> Any:
    """The value at one end of the slots, or of those that are not null."""
    require_valid(array)
    if min_count > 1 and count(array) < min_count:
        return None
    # Mostly, the slot at the end is not null, or one near it. A list of more takes longer than a mask.
    for size in (1, 64) if skip_nulls else (1,):
        values = few_on_host(_end_part(array, place, size)).to_pylist()
        known = _valid_at(values, place)
        if known is not None:
            return known
    size, kept = 64, array.slice(0, 0)
    while skip_nulls and not kept.length and size < array.length:
        size *= 16
        part = _end_part(array, place, size)
        kept = filter(part, is_valid(part))
    return _only(kept.slice(place % kept.length, 1)) if kept.length else None


def _end_part(array: Array, place: int, size: int) -> Array:
    """So many slots at one end, or all."""
    size = min(size, array.length)
    return array.slice(0 if place == 0 else array.length - size, size)


@operation
def describe(data: RecordBatch) -> RecordBatch:
    """A row for each column: name, type, numbers of values and nulls; for numbers, also statistics.

    The statistics are mean, standard deviation (of a sample, `ddof=1`), minimum, quartiles and maximum,
    as float64; they are null for other columns.
    """
    rows = []
    for field, column in zip(data.schema, data.columns, strict=True):
        nulls = count(column, "only_null")
        rows.append([field.name, str(field.type), column.length - nulls, nulls])
        values = decoded(column)
        if isinstance(values.type.storage, s.Int | s.FloatingPoint | s.Decimal):
            numbers = cast(values, s.float64(), safe=False)
            rows[-1] += [find(numbers) for find in _FIGURES.values()]
        else:
            rows[-1] += [None] * len(_FIGURES)
    types = {"column": s.utf8(), "type": s.utf8(), "count": s.int64(), "null_count": s.int64()}
    schema = s.Schema({**types, **dict.fromkeys(_FIGURES, s.float64())})
    return record_batch([[row[i] for row in rows] for i in range(len(schema))], schema)


_FIGURES: dict[str, Callable[[Array], object]] = {
    "mean": lambda numbers: numbers.mean(),
    "stddev": lambda numbers: numbers.stddev(ddof=1),
    "min": lambda numbers: numbers.min(),
    "25%": lambda numbers: numbers.quantile(0.25),
    "50%": lambda numbers: numbers.median(),
    "75%": lambda numbers: numbers.quantile(0.75),
    "max": lambda numbers: numbers.max(),
}
"""Column of `describe` → its function."""


def _only(array: Array) -> Any:
    """The value of an array of one slot."""
    return few_on_host(array)[0]


@operation
def skew(
    array: Array, *, skip_nulls: bool = True, biased: bool = True, min_count: int = 0
) -> float | None:
    """The skewness: the mean cube of deviations from the mean, by the cube of the standard deviation.

    Args:
        array, skip_nulls, min_count: As for `variance`, as are errors.
        biased: If False, it is corrected for a sample, which has at least three values.

    Returns:
        None without values; NaN if all are the same.
    """
    numbers = _numbers(array, "skew", 1 if biased else 3, skip_nulls, min_count)
    if numbers is None:
        return None
    count = numbers.length
    squares, cubes = _mean_powers(numbers, mean(numbers), 3)
    skewness = _quotient(cubes, squares, 1.5)
    return skewness if biased else skewness * math.sqrt(count * (count - 1)) / (count - 2)


@operation
def kurtosis(
    array: Array, *, skip_nulls: bool = True, biased: bool = True, min_count: int = 0
) -> float | None:
    """The excess kurtosis: the mean fourth power of deviations, by the squared variance, less 3.

    Arguments, results and errors are those of `skew`; a sample has at least four values.
    """
    numbers = _numbers(array, "kurtosis", 1 if biased else 4, skip_nulls, min_count)
    if numbers is None:
        return None
    count = numbers.length
    squares, fourths = _mean_powers(numbers, mean(numbers), 4)
    excess = _quotient(fourths, squares, 2.0) - 3
    if biased:
        return excess
    return ((count + 1) * excess + 6) * (count - 1) / ((count - 2) * (count - 3))


def _quotient(mean: float, squares: float, power: float) -> float:
    # Python's powers and quotients raise where these are infinite or NaN.
    with np.errstate(all="ignore"):
        return float(np.float64(mean) / np.float64(squares) ** power)


@on_its_device
def _mean_powers(numbers: Array, mean: float, power: int) -> tuple[float, float]:
    """The mean square of the deviations from the mean, and the mean of another power of them."""
    # Between infinities, the difference is NaN, and so are the means.
    with np.errstate(invalid="ignore", over="ignore"):
        deviations = np.subtract(numbers.items(Role.DATA), mean, dtype=np.float64)
        squares = deviations * deviations
        others = squares * (deviations if power == 3 else squares)
        return float(squares.sum()) / len(squares), float(others.sum()) / len(others)
