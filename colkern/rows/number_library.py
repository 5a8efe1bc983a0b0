"""Sums and statistics of the library, and missing values of pandas, as plain Python to compile.

Each gives the same result as the library's function, or leaves the row. The library computes with
fractions; here, a number is a sum of two floats, `high + low`, and a result counts only if the error that
may remain does not affect its rounding.
"""

from __future__ import annotations

import math
import statistics
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from colkern.rows.text_library import Uncovered


def partials_of(iterable: Any) -> list[float]:
    """Returns floats with the same exact sum, in rising order, whose binary digits do not overlap."""
    partials: list[float] = []
    for item in iterable:
        x = float(item)
        count = 0
        for k in range(len(partials)):
            y = partials[k]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[count] = low
                count += 1
            x = high
        while len(partials) > count:
            partials.pop()
        if x != 0.0:
            if not math.isfinite(x):
                raise Uncovered
            partials.append(x)
    return partials


def fsum(seq: Any) -> float:
    """`math.fsum`: the exact sum, rounded once."""
    partials = partials_of(seq)
    if not partials:
        return 0.0
    k = len(partials) - 1
    high = partials[k]
    low = 0.0
    while k > 0 and low == 0.0:
        k -= 1
        x = high
        high = x + partials[k]
        low = partials[k] - (high - x)
    # If half of a last digit remains, the partial sums below decide the rounding.
    if k > 0 and ((low < 0.0 and partials[k - 1] < 0.0) or (low > 0.0 and partials[k - 1] > 0.0)):
        twice = low * 2.0
        x = high + twice
        if twice == x - high:
            high = x
    return high


def mean(data: Any) -> Any:
    """`statistics.mean` of integers and of floats, whose exact sum is divided and rounded once."""
    if len(data) == 0:
        raise statistics.StatisticsError
    if any(isinstance(item, float) for item in data):
        if any(isinstance(item, int) and abs(item) > 9007199254740992 for item in data):
            raise Uncovered
        partials = partials_of(data)
        if len(partials) > 1:
            return share(partials, float(len(data)))
        return (partials[0] if partials else 0.0) / len(data)
    if not isinstance(data[0], int):
        raise Uncovered
    total = sum(data)
    return total / len(data) if total % len(data) else total // len(data)


def share(partials: list[float], count: float) -> float:
    """The sum of several partial sums, divided by their count and rounded once."""
    high = partials[-1]
    if not 1e-250 < abs(high) < 1e280:
        raise Uncovered
    low = 0.0
    for partial in partials[:-1]:
        low += partial
    quotient = high / count
    if len(partials) == 2 and count in (2.0, 4.0, 8.0):
        # Both quotients are exact.
        return quotient + partials[0] / count
    product, rest = exact_product(quotient, count)
    remainder = ((high - product) - rest + low) / count
    lost = (abs(high - product) + abs(rest) + abs(low)) / count
    return rounded(quotient, remainder, lost * 2.0**-46 + abs(quotient) * 2.0**-100)


def stdev(data: Any) -> float:
    """`statistics.stdev`, without the mean."""
    return root(*mean_square(data, 1))


def pstdev(data: Any) -> float:
    """`statistics.pstdev`, without the mean."""
    return root(*mean_square(data, 0))


def variance(data: Any) -> float:
    """`statistics.variance`, without the mean, where it is a float."""
    return as_float(data, *mean_square(data, 1))


def pvariance(data: Any) -> float:
    """`statistics.pvariance`, without the mean, where it is a float."""
    return as_float(data, *mean_square(data, 0))


def as_float(data: Any, high: float, low: float, error: float) -> float:
    """`high + low`, rounded once; leaves the row for integers whose variance may be one."""
    if isinstance(data[0], int) and high == math.floor(high):
        raise Uncovered
    return rounded(high, low, error)


def mean_square(data: Any, less: int) -> tuple[float, float, float]:
    """The sum of squared deviations from the mean, divided by the count less `less`; and its error."""
    count = len(data)
    if count <= less:
        raise statistics.StatisticsError
    if count > 4096:
        raise Uncovered
    if not isinstance(data[0], int | float) or isinstance(data[0], bool):
        raise Uncovered
    centre = fsum(data) / count
    high, low, sum_high, sum_low = 0.0, 0.0, 0.0, 0.0
    for item in data:
        if isinstance(item, int) and abs(item) > 9007199254740992:
            raise Uncovered
        deviation, rest = exact_sum(float(item), -centre)
        square, square_rest = exact_product(deviation, deviation)
        high, lost = exact_sum(high, square)
        low += lost + (square_rest + 2.0 * deviation * rest)
        sum_high, lost = exact_sum(sum_high, deviation)
        sum_low += lost + rest
    if not high < 1e280:
        raise Uncovered
    if high < 1e-250:
        if any(item != data[0] for item in data):
            raise Uncovered
        return 0.0, 0.0, 0.0
    # The deviations from another number than the mean are too large by this.
    excess = (sum_high + sum_low) * (sum_high + sum_low) / count
    error = high * (count * count + 16) * 2.0**-104 + excess * 2.0**-44
    high, lost = exact_sum(high, -excess)
    high, low = exact_sum(high, low + lost)
    divisor = float(count - less)
    quotient = high / divisor
    product, rest = exact_product(quotient, divisor)
    remainder = ((high - product) - rest + low) / divisor
    return quotient, remainder, error / divisor + quotient * 2.0**-100


def exact_sum(x: float, y: float) -> tuple[float, float]:
    """The rounded sum of two floats, and what it lacks."""
    high = x + y
    own = high - x
    return high, (x - (high - own)) + (y - own)


def exact_product(x: float, y: float) -> tuple[float, float]:
    """The rounded product of two floats of less than 2**970, and what it lacks."""
    high = x * y
    wide = 134217729.0 * x
    x_high = wide - (wide - x)
    x_low = x - x_high
    wide = 134217729.0 * y
    y_high = wide - (wide - y)
    y_low = y - y_high
    return high, ((x_high * y_high - high) + x_high * y_low + x_low * y_high) + x_low * y_low


def root(high: float, low: float, error: float) -> float:
    """The square root of `high + low`, rounded once."""
    if high == 0.0:
        return 0.0
    near = math.sqrt(high)
    square, rest = exact_product(near, near)
    more = ((high - square) - rest + low) / (2.0 * near)
    return rounded(near, more, error / near + near * 2.0**-100)


def rounded(high: float, low: float, error: float) -> float:
    """`high + low`, rounded once; leaves the row if the error might change the last digit."""
    result, rest = exact_sum(high, low)
    if result + (rest + error) != result or result + (rest - error) != result:
        raise Uncovered
    return result


def isna(obj: Any) -> bool:
    """`pandas.isna` of a value that is no container."""
    if obj is None:
        return True
    if isinstance(obj, float | Decimal):
        return obj != obj
    if not isinstance(obj, str | bytes | int | np.integer | np.bool | date | time | timedelta):
        raise Uncovered
    return False


def notna(obj: Any) -> bool:
    """`pandas.notna` of a value that is no container."""
    return not isna(obj)
