"""`skew` and `kurtosis`: what the third and fourth powers of deviations say of a column."""

from __future__ import annotations

import math

import numpy as np

from colkern.arrays import Array
from colkern.layouts import Role
from colkern.operations.aggregates import mean
from colkern.operations.aggregates.encodings import is_enough
from colkern.operations.arguments import operation
from colkern.operations.group_aggregates import numbers_of
from colkern.operations.position_checks import require_valid
from colkern.operations.sorting import drop_nulls
from colkern.targets import on_its_device


@operation
def skew(
    array: Array, *, skip_nulls: bool = True, biased: bool = True, min_count: int = 0
) -> float | None:
    """The skewness: the mean cube of deviations from the mean, by the cube of the standard deviation.

    Args:
        array: Numbers, booleans or decimals, also encoded. Nulls do not count.
        skip_nulls: If False, any null makes the result None.
        biased: If False, it is corrected for a sample, which has at least three values.
        min_count: With fewer values, the result is None.

    Returns:
        None without values; NaN if all are the same.

    Raises:
        UnsupportedError: If the values are no numbers.
    """
    require_valid(array)
    numbers = drop_nulls(numbers_of(array, "skew"))
    count = numbers.length
    if count <= (0 if biased else 2) or not is_enough(array, skip_nulls, min_count):
        return None
    squares, cubes = _powers(numbers, 3)
    skewness = _quotient(cubes, squares, 1.5)
    return skewness if biased else skewness * math.sqrt(count * (count - 1)) / (count - 2)


@operation
def kurtosis(
    array: Array, *, skip_nulls: bool = True, biased: bool = True, min_count: int = 0
) -> float | None:
    """The excess kurtosis: the mean fourth power of deviations, by the squared variance, less 3.

    Arguments, results and errors are those of `skew`; a sample has at least four values.
    """
    require_valid(array)
    numbers = drop_nulls(numbers_of(array, "kurtosis"))
    count = numbers.length
    if count <= (0 if biased else 3) or not is_enough(array, skip_nulls, min_count):
        return None
    squares, fourths = _powers(numbers, 4)
    excess = _quotient(fourths, squares, 2.0) - 3
    if biased:
        return excess
    return ((count + 1) * excess + 6) * (count - 1) / ((count - 2) * (count - 3))


def _quotient(mean: float, squares: float, power: float) -> float:
    # Python's powers and quotients raise where these are infinite or NaN.
    with np.errstate(all="ignore"):
        return float(np.float64(mean) / np.float64(squares) ** power)


def _powers(numbers: Array, power: int) -> tuple[float, float]:
    """The mean square of the deviations from the mean, and the mean of another power of them."""
    return _mean_powers(numbers, mean(numbers), power)


@on_its_device
def _mean_powers(numbers: Array, mean: float, power: int) -> tuple[float, float]:
    # Between infinities, the difference is NaN, and so are the means.
    with np.errstate(invalid="ignore", over="ignore"):
        deviations = np.subtract(numbers.items(Role.DATA), mean, dtype=np.float64)
        squares = deviations * deviations
        others = squares * (deviations if power == 3 else squares)
        return float(squares.sum()) / len(squares), float(others.sum()) / len(others)
