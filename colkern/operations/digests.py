"""`TDigest`: quantiles of numbers that come in parts; `tdigest` and `approximate_median` of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray
from colkern.integers import integer
from colkern.layouts import Role
from colkern.operations.aggregates import count
from colkern.operations.arguments import Kind, operation
from colkern.operations.casting import cast
from colkern.operations.chunks import as_columns
from colkern.operations.group_aggregates import checked_shares, numbers_of
from colkern.operations.moving import to_host
from colkern.operations.position_checks import require_valid
from colkern.operations.sorting import drop_nulls
from colkern.targets import Items, Target, on_its_device, target_of

_FINER = 4
"""How many centroids of a new part stand for one of the digest, so that merging them loses little."""


class TDigest:
    """A summary of numbers, from which quantiles are computed nearly exactly.

    It keeps the means of groups of neighbours, at most `delta` of them, with small groups near both
    ends. So it takes little memory however many numbers there are, and digests of parts of the data
    are merged: of batches that are read one after the other, or by Spark's workers. It can be pickled.
    The method is the merging t-digest of Dunning and Ertl, with their scale function k1.

    Args:
        delta: The most centroids. The error of a quantile near the median is about 1 / delta of all
            numbers; near the ends it is smaller.

    Raises:
        ValueError: If `delta` is below 10.
    """

    def __init__(self, delta: int = 100) -> None:
        self._delta = integer(delta, "delta")
        if self._delta < 10:
            raise ValueError(f"delta: expected 10 or more, got {delta}")
        # Infinities have no mean with other numbers.
        self._infinite = [0, 0]
        self._means = self._weights = np.empty(0)
        self._ends = (math.inf, -math.inf)

    def __repr__(self) -> str:
        return f"<colkern.TDigest: {self.count:,} numbers>"

    def update(self, values: object) -> TDigest:
        """Adds numbers, and returns the digest itself.

        Args:
            values: An array or column of numbers, booleans or decimals, of any library, on any device.
                Nulls and NaN do not count.

        Raises:
            TypeError: If it is no column.
            UnsupportedError: If the values are no numbers.
        """
        column = as_columns(values)
        if not isinstance(column, Array | ChunkedArray):
            raise TypeError(f"values: expected a column, got {type(values).__name__}")
        for chunk in column.chunks if isinstance(column, ChunkedArray) else [column]:
            require_valid(chunk)
            numbers = cast(drop_nulls(numbers_of(chunk, "tdigest")), s.float64(), safe=False)
            if numbers.length:
                infinite, ends, *centroids = _summary(numbers, _FINER * self._delta)
                self._join(infinite, ends, *centroids)
        return self

    def merge(self, other: TDigest) -> TDigest:
        """Adds all that another digest has seen, and returns the digest itself."""
        self._join(other._infinite, other._ends, other._means, other._weights)
        return self

    @property
    def count(self) -> int:
        """The numbers so far, without nulls and NaN."""
        return sum(self._infinite) + int(self._weights.sum())

    @overload
    def quantile(self, q: float = 0.5) -> float | None: ...
    @overload
    def quantile(self, q: Sequence[float]) -> list[float | None]: ...
    def quantile(self, q: float | Sequence[float] = 0.5) -> Any:
        """The number below which about a share `q` of all numbers lies; None without numbers.

        It is exact while there are few numbers, and for shares of 0 and 1.

        Args:
            q: The share, from 0 to 1; or several, for a list of results.

        Raises:
            ValueError: If a share is out of its range.
        """
        is_one, shares = checked_shares(q, "linear")
        results = list(map(self._quantile, shares))
        return results[0] if is_one else results

    def _quantile(self, share: float) -> float | None:
        if not self.count:
            return None
        place = share * (self.count - 1) - self._infinite[0]
        last = self._weights.sum() - 1
        if not 0 <= place <= last:
            # Between an infinity and a number, there are only infinities.
            return -math.inf if place < 0 else math.inf
        # A centroid lies in the middle of its numbers.
        places = self._weights.cumsum() - (self._weights + 1) / 2
        places = np.concatenate([[0.0], places, [last]])
        values = np.concatenate([self._ends[:1], self._means, self._ends[1:]])
        high = int(np.searchsorted(places, place).clip(1, len(places) - 1))
        low, high_place = places[high - 1 : high + 1].tolist()
        part = (place - low) / (high_place - low) if high_place > low else 0.0
        least, greatest = values[high - 1 : high + 1].tolist()
        # The difference of two large numbers may be infinite, and the result rounded to beyond them.
        return float(min(max(least * (1 - part) + greatest * part, least), greatest))

    def _join(
        self, infinite: Sequence[int], ends: tuple[float, float], means: Items, weights: Items
    ) -> None:
        """Adds what another summary has; neighbours are merged while the scale function allows it."""
        self._infinite = [own + more for own, more in zip(self._infinite, infinite, strict=True)]
        self._ends = (min(self._ends[0], ends[0]), max(self._ends[1], ends[1]))
        means, weights = np.append(self._means, means), np.append(self._weights, weights)
        order = np.argsort(means, kind="stable")
        merged: list[list[float]] = []
        total, before, limit = weights.sum(), 0.0, -math.inf
        for mean, weight in zip(means[order].tolist(), weights[order].tolist(), strict=True):
            if merged and before + weight <= limit:
                last = merged[-1]
                part = weight / (last[1] + weight)
                # The mean is between both, the smaller of which is first, in spite of rounding.
                last[0] = min(max(last[0] * (1 - part) + mean * part, last[0]), mean)
                last[1] += weight
            else:
                merged.append([mean, weight])
                limit = _limit(before / total, self._delta) * total
            before += weight
        self._means, self._weights = np.array(merged).reshape(-1, 2).T


def _limit(share: float, delta: int) -> float:
    """The share up to which a centroid may reach that begins at a share."""
    angle = math.asin(2 * min(share, 1.0) - 1) + 2 * math.pi / delta
    return 1.0 if angle >= math.pi / 2 else (math.sin(angle) + 1) / 2


@on_its_device
def _summary(
    numbers: Array, most: int
) -> tuple[tuple[int, int], tuple[float, float], Items, Items]:
    """Counts of infinities, the least and greatest of the others, and at most `most` centroids of them.

    Args:
        numbers: Values of float64, not null.
        most: The most centroids; those near the ends are smaller.
    """
    target = target_of(numbers.device)
    items = target.output(numbers.length, np.float64)
    items[:] = numbers.items(Role.DATA)
    # NaN comes last.
    items.sort()
    edges = target.table([-math.inf, math.inf], np.float64)
    behind = np.searchsorted(items, edges, side="right")
    below, count = target.item(behind, 0), target.item(behind, 1)
    first_above = target.item(np.searchsorted(items, edges), 1)
    infinite = (below, count - first_above)
    finite = items[below:first_above]
    if not len(finite):
        return infinite, (math.inf, -math.inf), np.empty(0), np.empty(0)
    shares = (1 - np.cos(np.linspace(0, math.pi, most + 1))) / 2
    starts = np.unique((shares[:-1] * len(finite)).astype(np.int64))
    stops = np.append(starts[1:], len(finite))
    at = target.table(np.concatenate([starts, stops - 1]), np.int64)
    values = _fetched(target, finite[at])
    # Sums of numbers of other sizes may have lost the digits of these, or be infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _fetched(target, finite.cumsum()[at[len(starts) :]])
        means = np.nan_to_num(np.diff(sums, prepend=0.0) / (stops - starts))
    least, greatest = values[: len(starts)], values[len(starts) :]
    ends = (values[0].item(), values[-1].item())
    return infinite, ends, means.clip(least, greatest), (stops - starts).astype(np.float64)


def _fetched(target: Target, items: Items) -> Items:
    """A device's items as an array of NumPy."""
    array = Array.of_valid(s.float64(), len(items), (None, target.buffer(items)))
    return to_host(array).items(Role.DATA)


@overload
def tdigest(
    array: Array,
    q: float = 0.5,
    *,
    delta: int = 100,
    skip_nulls: bool = True,
    min_count: int = 0,
) -> float | None: ...
@overload
def tdigest(
    array: Array,
    q: Sequence[float],
    *,
    delta: int = 100,
    skip_nulls: bool = True,
    min_count: int = 0,
) -> list[float | None]: ...
@operation(kind=Kind.JOINING)
def tdigest(
    array: Array,
    q: float | Sequence[float] = 0.5,
    *,
    delta: int = 100,
    skip_nulls: bool = True,
    min_count: int = 0,
) -> Any:
    """Nearly the value below which a share `q` of the values lies, by a `TDigest`; None without values.

    The chunks of a column are read one after the other, and not joined. Of an array, `quantile` gives
    the exact value in less time.

    Args:
        array, q, skip_nulls, min_count: As for `quantile`, as are errors.
        delta: The most centroids of the digest, 10 or more.
    """
    digest = TDigest(delta).update(array)
    result = digest.quantile(q)
    valid = count(array)
    if valid >= min_count and (skip_nulls or valid == len(array)):
        return result
    return [None] * len(result) if isinstance(result, list) else None


@operation(kind=Kind.JOINING)
def approximate_median(
    array: Array, *, skip_nulls: bool = True, min_count: int = 0
) -> float | None:
    """The `tdigest` for one half."""
    half: float | None = tdigest(array, skip_nulls=skip_nulls, min_count=min_count)
    return half
