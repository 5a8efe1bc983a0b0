"""Aggregates of groups of rows, by the kernels in `colkern.kernels.grouping`.

On a CPU, each thread goes through a range of rows, and aggregates it for all groups. On a device, rows
are sorted by group, and each thread aggregates one group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import packed_bits
from colkern.builders import array as build_array
from colkern.cpu.threads import GRAIN, num_threads
from colkern.errors import UnsupportedError, shown
from colkern.forks import cached_property
from colkern.kernels import Kernel
from colkern.kernels import grouping as kernels
from colkern.layouts import Role
from colkern.memory import HOST, Device
from colkern.operations.aggregates.sums import decimal_quotient
from colkern.operations.casting import cast
from colkern.operations.comparison import equal
from colkern.operations.creation import nulls
from colkern.operations.decimal_arithmetic import sum_digits, wide_decimals
from colkern.operations.encodings import decoded
from colkern.operations.grouping import integer_codes, key_groups
from colkern.operations.hashing import sorted_by_number
from colkern.operations.moving import to_device
from colkern.operations.null_filling import coalesce
from colkern.operations.operands import integers, validity_of
from colkern.operations.remedies import instead_of_sum
from colkern.operations.selection import own_words, take, take_positions
from colkern.operations.selection.choosing import if_else
from colkern.operations.sorting import SortKey, dense_ranks, ordered_positions, sort_words
from colkern.targets import Argument, Items, ItemType, Target, filled, on_its_device, target_of

_WORTH_SHARES = 4
"""A thread has its own sums for all groups if it has this many times as many rows as groups."""

_LANES = 8
"""The sums of a group that a thread has, in turn, if there are few groups; a power of two."""

_WORTH_LANES = 64
"""So many rows of a group are worth more than one sum."""

_FEW_GROUPS = 256
"""A cache near the core holds all sums of so many groups."""

_LINE_ITEMS = 16
"""The items of 8 bytes in two lines of a cache: a processor may load both."""


class GroupedRows:
    """Rows with the number of the group that each is in.

    Args:
        target: The target of the numbers.
        numbers: The group of each row (uint32[n], read-only).
    """

    def __init__(self, target: Target, numbers: Items, count: int) -> None:
        self.target = target
        self.numbers = numbers
        self.count = count
        self._known: dict[tuple[Kernel, int], tuple[Array, Items]] = {}

    @cached_property
    @on_its_device
    def by_group(self) -> tuple[Items, Items]:
        """The rows sorted by group (uint64[n]), and the start of each group there (int64[count + 1])."""
        return sorted_by_number(self.target, self.numbers.astype(np.uint64), self.count)

    def run(
        self,
        kernel: Kernel,
        dtype: ItemType,
        *args: Argument,
        width: int = 1,
        fill: int = 0,
        most: int = 1 << 10,
        lanes: int = 1,
    ) -> Items:
        """The kernel's output for each group (dtype[parts, count, width]); one part on a device.

        Args:
            kernel: One of `colkern.kernels.grouping`.
            dtype: The type of its output.
            args: Its arguments after the shares.
            width: The items for each group.
            most: The most shares on a CPU.
            lanes: The most sums that a share has of a group there; each is a part.
        """
        target, rows = self.target, len(self.numbers)
        shares, parts, stride = self.count, 1, self.count
        if target.device == HOST:
            worth = rows // max(GRAIN, _WORTH_SHARES * self.count)
            shares = parts = max(min(num_threads(), worth, most), 1)
            bounds = target.table([rows * k // shares for k in range(shares + 1)], np.int64)
            if parts > 1:
                # Threads that write to one line of a cache wait for each other.
                stride = -(-stride // _LINE_ITEMS) * _LINE_ITEMS
            if self.count > min(_FEW_GROUPS, rows // _WORTH_LANES):
                lanes = 1
            arguments = (target.table([], np.uint64), bounds, self.numbers, lanes, stride)
            parts *= lanes
        else:
            arguments = (*self.by_group, self.numbers, 1, 0)
        size = parts * stride * width
        out = filled(target, size, dtype, fill) if fill else target.allocate(size, dtype)
        target.map(kernel, shares, *arguments, *args, out, work=max(rows / max(shares, 1), 1))
        return out.reshape(parts, stride, width)[:, : self.count]

    @cached_property
    def sizes(self) -> Items:
        """The number of rows of each group (uint64[count])."""
        return self.sums(kernels.count_group_rows, np.uint64, self.target.no_bits, 0)

    def valid_counts(self, array: Array) -> Items:
        """The number of valid rows of each group (uint64[count])."""
        bitmap, offset = validity_of(array, self.target)
        if not len(bitmap):
            return self.sizes
        return self._once(array, kernels.count_group_rows, np.uint64, bitmap, offset)

    def _once(self, array: Array, kernel: Kernel, dtype: ItemType, *args: Argument) -> Items:
        """As `sums`; kept until `forget`, since several aggregates of a column may need them."""
        key = (kernel, id(array))
        if key not in self._known:
            # With the array, so that no other one gets its id.
            self._known[key] = array, self.sums(kernel, dtype, *args)
        return self._known[key][1]

    def forget(self) -> None:
        """Forget the sums that are kept."""
        self._known.clear()

    def sums(self, kernel: Kernel, dtype: ItemType, *args: Argument) -> Items:
        """The sums (dtype[count]) of a kernel that sums by group and lane."""
        parts = self.run(kernel, dtype, *args, lanes=_LANES)[:, :, 0]
        # The sum of infinities of both signs is NaN.
        with np.errstate(invalid="ignore", over="ignore"):
            whole: Items = parts[0] if len(parts) == 1 else parts.sum(axis=0)
        return whole

    def float_sums(self, array: Array) -> Items:
        """The sum of the valid floats of each group (float64[count])."""
        items, validity = array.items(Role.DATA), validity_of(array, self.target)
        return self._once(array, kernels.sum_group_floats, np.float64, items, *validity)

    def integer_sums(self, array: Array) -> Items:
        """The sum of the valid integers of each group, modulo 2^64 (uint64[count])."""
        items, validity = array.items(Role.DATA), validity_of(array, self.target)
        if items.dtype.itemsize == 8:
            items = items.view(np.int64)
        return self._once(array, kernels.sum_group_integers, np.uint64, items, *validity)

    def decimal_sums(self, array: Array) -> Items:
        """The sums of decimals of 128 or 256 bits by group, in words (uint64[count, width])."""
        words, width = own_words(array, Role.DATA)
        arguments = (words, width, *validity_of(array, self.target))
        # Sums of several words cannot be added word by word.
        sums: Items = self.run(kernels.sum_group_words, np.uint64, *arguments, width=width, most=1)[
            0
        ]
        return sums

    def whole_sums(self, array: Array) -> list[int]:
        """The exact sums by group of valid integers, or of unscaled decimals, of any size."""
        words, width = own_words(array, Role.DATA)
        totals, validity = [0] * self.count, validity_of(array, self.target)
        for k in range(2 * width):
            parts = words.view(np.uint32)[k :: 2 * width].copy()
            is_signed = k == 2 * width - 1 and _is_signed(array)
            parts = parts.view(np.int32) if is_signed else parts
            sums = self.sums(kernels.sum_group_integers, np.uint64, parts, *validity)
            own = sums.view(np.int64 if is_signed else np.uint64).tolist()
            totals = [total + (part << 32 * k) for total, part in zip(totals, own, strict=True)]
        return totals

    def least_rows(self, keys: Items, array: Array) -> Items:
        """The first row of each group with the group's least key, of the rows that are valid in `array`.

        `NO_ROW` for a group without one (uint64[count]).
        """
        arguments = (keys, *validity_of(array, self.target))
        none = kernels.NO_ROW
        shares = self.run(kernels.least_group_keys, np.uint64, *arguments, width=2, fill=none)
        least, rows = shares[0, :, 0], shares[0, :, 1].copy()
        for share in shares[1:]:
            # If keys are equal, rows of the first share are kept.
            better = (share[:, 0] < least) | ((rows == none) & (share[:, 1] != none))
            least[better], rows[better] = share[better, 0], share[better, 1]
        return rows

    @property
    def device(self) -> Device:
        """The device of the numbers."""
        return self.target.device

    @on_its_device
    def aggregate(self, function: str, column: Array, **options: object) -> Array:
        """An aggregate of a checked column, with a slot for each group; see `GroupBy.aggregate`."""
        return AGGREGATES[function](self, column, **options)

    @property
    def column(self) -> Array:
        """The numbers as an array."""
        return integers(self.target, self.numbers)


def one_group(array: Array) -> GroupedRows:
    """The slots of an array as the rows of a single group."""
    target = target_of(array.device)
    return GroupedRows(target, target.allocate(array.length, np.uint32), 1)


# Aggregates


def _is_signed(array: Array) -> bool:
    type_ = array.type.storage
    return not isinstance(type_, s.Int) or type_.signed


def _may_reach(array: Array, limit: int) -> bool:
    """Whether sums of integers or decimals may reach a limit, judged by their highest words."""
    words, width = own_words(array, Role.DATA)
    top = words[width - 1 :: width]
    if not len(top):
        return False
    top = top.view(np.int64) if _is_signed(array) else top
    most = 1 + max(int(top.max()), -int(top.min()))
    return most * len(top) << 64 * (width - 1) >= limit


def _result(
    rows: GroupedRows, type_: s.DataType, items: Items, known: Items | None = None
) -> Array:
    """The array of items; null where `known` is false."""
    target = rows.target
    nulls = 0 if known is None else rows.count - int(known.sum())
    validity = packed_bits(target, known) if known is not None and nulls else None
    return Array.of_valid(type_, rows.count, (validity, target.buffer(items.reshape(-1))), nulls)


def _taken(rows: GroupedRows, column: Array, positions: Items) -> Array:
    """The values at `positions`; null for `NO_ROW`."""
    known = positions != np.uint64(kernels.NO_ROW)
    return take(column, _result(rows, s.uint64(), positions, known))


def _count(rows: GroupedRows, column: Array, mode: str = "only_valid") -> Array:
    if mode not in ("only_valid", "only_null", "all"):
        raise ValueError(f"mode: expected 'only_valid', 'only_null' or 'all', got {mode!r}")
    if mode == "all":
        return _result(rows, s.int64(), rows.sizes.view(np.int64))
    valid = rows.valid_counts(integer_codes(column))
    counts = valid if mode == "only_valid" else rows.sizes - valid
    return _result(rows, s.int64(), counts.view(np.int64))


def _count_distinct(rows: GroupedRows, column: Array, mode: str = "only_valid") -> Array:
    firsts = key_groups([rows.column, column]).firsts
    distinct = GroupedRows(rows.target, rows.numbers[firsts], rows.count)
    return _count(distinct, take_positions(column, firsts), mode=mode)


def _values(column: Array, type_: s.DataType) -> Array:
    """The decoded values of a column; nulls without a type are cast to a type that has aggregates."""
    values = decoded(column)
    return cast(values, type_) if isinstance(values.type.storage, s.Null) else values


def _sum(rows: GroupedRows, column: Array) -> Array:
    values = _values(column, s.int64())
    known = rows.valid_counts(values) > 0
    type_ = values.type.storage
    if isinstance(type_, s.FloatingPoint):
        wide = cast(values, s.float32()) if type_.bit_width == 16 else values
        return _result(rows, s.float64(), rows.float_sums(wide), known)
    if isinstance(type_, s.Decimal):
        wide = wide_decimals(values)
        digits = sum_digits(type_)
        most = 10**digits
        if _may_reach(wide, most) and max(map(abs, rows.whole_sums(wide))) >= most:
            raise OverflowError(
                f"sum: a sum of {column.type} has more than {digits} digits"
                + "; cast to decimal256 first" * (type_.bit_width < 256)
            )
        return _result(rows, wide.type, rows.decimal_sums(wide), known)
    if isinstance(type_, s.Int | s.Bool):
        wide = values
        if isinstance(type_, s.Bool) or type_.bit_width < 32:
            wide = cast(values, s.int32())
        unsigned = isinstance(type_, s.Bool) or not type_.signed
        sums = rows.integer_sums(wide)
        return _result(rows, s.uint64() if unsigned else s.int64(), sums, known)
    raise _unsupported("sum", column)


def _product(rows: GroupedRows, column: Array) -> Array:
    values = _values(column, s.int64())
    known = rows.valid_counts(values) > 0
    type_ = values.type.storage
    if not isinstance(type_, s.Int | s.FloatingPoint | s.Bool):
        raise _unsupported("product", column)
    is_signed = isinstance(type_, s.Int) and type_.signed
    integers = s.int64() if is_signed else s.uint64()
    wide = s.float64() if isinstance(type_, s.FloatingPoint) else integers
    order, bounds = rows.by_group
    items = coalesce(cast(values, wide), 1).items(Role.DATA)[order]
    groups = rows.numbers[order]
    distance = 1
    # Each factor is multiplied with those behind it in its group: 1, 2, 4, … of them.
    with np.errstate(over="ignore", invalid="ignore"):
        while distance < len(items) and (own := groups[distance:] == groups[:-distance]).any():
            items[:-distance][own] *= items[distance:][own]
            distance *= 2
    products = items[bounds[:-1]] if len(items) else rows.target.allocate(rows.count, items.dtype)
    return _result(rows, wide, products, known)


def _unsupported(what: str, column: Array) -> UnsupportedError:
    return UnsupportedError(
        f"{what}: no {what} of the values of {column.type}; {instead_of_sum(column.type)}"
    )


def _mean(rows: GroupedRows, column: Array) -> Array:
    column = _values(column, s.int64())
    counts = rows.valid_counts(column)
    type_ = column.type.storage
    if isinstance(type_, s.Decimal):
        wide = wide_decimals(column)
        if _may_reach(wide, 10 ** sum_digits(type_)):
            totals = rows.whole_sums(wide)
        else:
            totals = [
                int.from_bytes(np.array(words, np.uint64).tobytes(), "little", signed=True)
                for words in rows.decimal_sums(wide).tolist()
            ]
        means = [
            decimal_quotient(total, n, type_.scale) if n else None
            for total, n in zip(totals, counts.tolist(), strict=True)
        ]
        return to_device(build_array(means, wide.type), rows.device)
    if isinstance(type_, s.Int) and type_.bit_width == 64 and _may_reach(column, 1 << 63):
        sums = rows.target.table(rows.whole_sums(column), np.float64)
    else:
        sums = _sum(rows, column).items(Role.DATA)
    return _result(rows, s.float64(), _divided(sums, counts), counts > 0)


def _divided(sums: Items, counts: Items) -> Items:
    # The result is null for groups without values.
    with np.errstate(invalid="ignore", divide="ignore"):
        quotients: Items = sums / counts
    return quotients


def numbers_of(column: Array, what: str, keep_decimals: bool = False) -> Array:
    """The numbers of a column, booleans as uint8, decimals as float64 unless they are kept.

    For other values, `UnsupportedError`.
    """
    values = _values(column, s.float64())
    storage = values.type.storage
    if not isinstance(storage, s.Int | s.FloatingPoint | s.Decimal | s.Bool):
        raise _unsupported(what, column)
    if isinstance(storage, s.Bool):
        return cast(values, s.uint8())
    is_cast = isinstance(storage, s.Decimal) and not keep_decimals
    return cast(values, s.float64(), safe=False) if is_cast else values


def floats_of(column: Array, what: str) -> Array:
    """As `numbers_of`, all as float64."""
    return cast(numbers_of(column, what), s.float64(), safe=False)


def _variance(rows: GroupedRows, column: Array, ddof: int = 0) -> Array:
    values = floats_of(column, "variance")
    counts = rows.valid_counts(values)
    means = _divided(rows.float_sums(values), counts)
    arguments = (values.items(Role.DATA), *validity_of(values, rows.target), means)
    squares = rows.sums(kernels.sum_group_squares, np.float64, *arguments)
    return _result(
        rows, s.float64(), _divided(squares, counts.astype(np.float64) - ddof), counts > ddof
    )


def _stddev(rows: GroupedRows, column: Array, ddof: int = 0) -> Array:
    variance = _variance(rows, column, ddof=ddof)
    items = abs(variance.items(Role.DATA)) ** 0.5
    return variance.over(variance.type, [variance.buffers[0], rows.target.buffer(items)], (), None)


def _extreme(rows: GroupedRows, column: Array, greatest: bool) -> Array:
    words = sort_words(rows.target, [SortKey(column, descending=greatest)])
    keys = words[0] if len(words) == 1 else dense_ranks(rows.target, words)[1]
    return _taken(rows, column, rows.least_rows(keys, integer_codes(column)))


def _end(rows: GroupedRows, column: Array, last: bool) -> Array:
    keys = rows.target.positions(column.length).view(np.uint64)
    return _taken(rows, column, rows.least_rows(~keys if last else keys, integer_codes(column)))


def _listed(rows: GroupedRows, column: Array) -> Array:
    order, bounds = rows.by_group
    is_long = column.length >> 31
    offsets = rows.target.buffer(bounds if is_long else bounds.astype(np.int32))
    type_ = (s.large_list if is_long else s.list_)(column.type)
    return Array.of_valid(type_, rows.count, (None, offsets), 0, [take_positions(column, order)])


def _decided(rows: GroupedRows, column: Array, deciding: bool) -> Array:
    values = _values(column, s.bool_())
    if not isinstance(values.type.storage, s.Bool):
        raise TypeError(f"{'any' if deciding else 'all'}: expected booleans, got {column.type}")
    return _extreme(rows, values, deciding)


def _quantile(
    rows: GroupedRows, column: Array, q: float = 0.5, interpolation: str = "linear"
) -> Array:
    q = checked_share(q, interpolation)
    is_one_value = interpolation in ONE_VALUE
    values = numbers_of(column, "quantile", keep_decimals=is_one_value)
    if not column.length:
        return nulls(rows.count, values.type if is_one_value else s.float64(), rows.device)
    is_float = isinstance(values.type.storage, s.FloatingPoint)
    counts = rows.valid_counts(if_else(equal(values, values), values, None) if is_float else values)
    # In each group, NaN and nulls are sorted to the end.
    order = ordered_positions(rows.target, [SortKey(rows.column), SortKey(values)])
    starts = rows.target.scan(rows.sizes.astype(np.int64), np.int64)[:-1]
    most = (counts.astype(np.int64) - 1).clip(0)
    place = most * q
    low = place.astype(np.int64)
    share = INTERPOLATIONS[interpolation](place - low, low)
    first, second = (
        order[(starts + own).clip(None, column.length - 1)]
        for own in (low, (low + 1).clip(None, most))
    )
    if is_one_value:
        positions = np.where(share == 1, second, first).astype(np.uint64)
        return _taken(rows, values, np.where(counts > 0, positions, np.uint64(kernels.NO_ROW)))
    items = cast(values, s.float64(), safe=False).items(Role.DATA)
    quantiles = _between(items[first], items[second], share)
    return _result(rows, s.float64(), quantiles, counts > 0)


def checked_share(q: float, interpolation: str) -> float:
    """A share as a Python float; an error if it is none from 0 to 1, or `interpolation` is unknown."""
    if isinstance(q, bool) or not isinstance(q, (float, int, np.number)):
        raise TypeError(f"q: expected a number from 0 to 1, got {type(q).__name__} {shown(q)}")
    if not 0 <= q <= 1:
        raise ValueError(f"q: expected 0 to 1, got {q}")
    if interpolation not in INTERPOLATIONS:
        raise ValueError(
            f"interpolation: expected one of {tuple(INTERPOLATIONS)}, got {interpolation!r}"
        )
    # Places computed with NumPy's narrow floats would not be precise.
    return float(q)


def checked_shares(q: float | Sequence[float], interpolation: str) -> tuple[bool, list[float]]:
    """Whether `q` is one share, and the shares as `checked_share` has them."""
    is_one = isinstance(q, float | str) or not (isinstance(q, Sequence) or np.ndim(q))
    shares: Any = [q] if is_one else q
    return is_one, list(map(checked_share, shares, repeat(interpolation)))


INTERPOLATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "linear": lambda share, low: share,
    "lower": lambda share, low: share * 0,
    "higher": lambda share, low: (share > 0) * 1.0,
    # If both places are equally near, the even one is taken.
    "nearest": lambda share, low: ((share > 0.5) | (share == 0.5) & (low % 2 == 1)) * 1.0,
    "midpoint": lambda share, low: (share > 0) * 0.5,
}
"""The fraction of the way to the next value, from a quantile's own fraction and its lower place."""


ONE_VALUE = frozenset({"lower", "higher", "nearest"})
"""The interpolations whose result is one of the values."""


def _between(first: Items, second: Items, share: Items) -> Items:
    """The numbers that are a share of the way from one to another."""
    # Between infinities, the difference would be NaN.
    with np.errstate(invalid="ignore"):
        values: Items = np.where(share == 1, second, first * (1 - share) + second * share)
    values[share == 0] = first[share == 0]
    return values


Aggregate: TypeAlias = Callable[..., Array]

AGGREGATES: dict[str, Aggregate] = {
    "count": _count,
    "count_all": partial(_count, mode="all"),
    "count_distinct": _count_distinct,
    "sum": _sum,
    "product": _product,
    "mean": _mean,
    "min": partial(_extreme, greatest=False),
    "max": partial(_extreme, greatest=True),
    "first": partial(_end, last=False),
    "last": partial(_end, last=True),
    "list": _listed,
    "any": partial(_decided, deciding=True),
    "all": partial(_decided, deciding=False),
    "variance": _variance,
    "stddev": _stddev,
    "quantile": _quantile,
    "median": lambda rows, column: _quantile(rows, column),
}
"""Name → a function of grouped rows, a column and options: an array with a slot for each group."""
