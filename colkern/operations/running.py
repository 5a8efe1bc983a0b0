"""Functions of each value and the values before it: cumulative ones, differences, rolling windows.

Sums of windows are made from sums of 1, 2, 4, … values, not from differences of running sums: so NaN
and infinities affect only their own windows, and nothing cancels. NumPy or CuPy does the work, on the
device of the bytes.

Columnar format 1.5: "Fixed-Size Primitive Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import expand, packed_bits
from colkern.kernels import arithmetic
from colkern.layouts import Role
from colkern.memory import allocate_for_overwrite
from colkern.operations.arguments import operation
from colkern.operations.arithmetic import multiply, subtract
from colkern.operations.casting import cast
from colkern.operations.casting.dispatch import fixed_result, retyped
from colkern.operations.decimal_arithmetic import wide_decimals
from colkern.operations.encodings import decoded
from colkern.operations.null_filling import shift
from colkern.operations.operands import number_of, value_type_of
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.taking import take
from colkern.operations.selection.words import own_words
from colkern.operations.sorting import SortKey, dense_ranks, sort_words
from colkern.operations.validity import compact_validity, with_nulls_of
from colkern.targets import Items, Target, filled, on_its_device, target_of

_NUMBERS = (s.Int, s.FloatingPoint)
_SUMMED = (*_NUMBERS, s.Decimal)
_ORDERED = (*_NUMBERS, s.Date, s.Time, s.Timestamp, s.Duration)

How = Literal["sum", "prod", "min", "max"]

_UFUNCS: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "min": np.fmin, "max": np.fmax}
"""NumPy's functions, which call CuPy's own for CuPy arrays."""


@operation
def cumulative_sum(values: Array, start: float | None = None, *, skip_nulls: bool = False) -> Array:
    """The sum of each value and all values before it, in their type; integers wrap around.

    As `pyarrow.compute.cumulative_sum`. Sums of decimals have 38 digits (of decimal256, 76).

    Args:
        values: Integers, floating-point numbers or decimals; encoded ones are decoded.
        start: A number that comes before the first value; not for decimals, dates and other values that
            are no plain numbers.
        skip_nulls: Whether to skip nulls, which stay null themselves. Else all slots from the first
            null on are null.

    Raises:
        TypeError: If the values are no numbers, or take no `start`.
        ValueError: If `start` does not fit their type.
        OverflowError: If a sum of decimals has more digits.
    """
    return _cumulative("sum", values, start, skip_nulls)


@operation
def cumulative_prod(
    values: Array, start: float | None = None, *, skip_nulls: bool = False
) -> Array:
    """The product of each value and all values before it; not for decimals. See `cumulative_sum`."""
    return _cumulative("prod", values, start, skip_nulls)


@operation
def cumulative_min(values: Array, start: float | None = None, *, skip_nulls: bool = False) -> Array:
    """The least of each value and all values before it, of any type with an order; see `cumulative_sum`.

    NaN is ignored if there is a number. (For NaN alone, pyarrow gives an infinity.)
    """
    return _cumulative("min", values, start, skip_nulls)


@operation
def cumulative_max(values: Array, start: float | None = None, *, skip_nulls: bool = False) -> Array:
    """The greatest of each value and all values before it; see `cumulative_min`."""
    return _cumulative("max", values, start, skip_nulls)


@operation
def cumulative_mean(values: Array, *, skip_nulls: bool = False) -> Array:
    """The mean of each value and all values before it: float64; see `cumulative_sum`."""
    return _until_null(_floats(values), skip_nulls, _cumulative_mean)


@operation
def pairwise_diff(values: Array, period: int = 1) -> Array:
    """Each value minus the one `period` slots before it; null if there is none.

    As `pyarrow.compute.pairwise_diff`: numbers keep their type, dates and times give durations.

    Args:
        values: Numbers, dates or times; encoded ones are decoded.
        period: The distance in slots; if negative, later values are subtracted.

    Raises:
        TypeError: If the values are of another type.
    """
    plain = _plain(values, (*_ORDERED, s.Decimal))
    storage = plain.type.storage
    if isinstance(storage, _SUMMED):
        return subtract(plain, shift(plain, period))
    wide = plain.layout.spec(Role.DATA).dtype.itemsize == 8
    numbers = retyped(plain, s.int64() if wide else s.int32())
    if not wide:
        numbers = cast(numbers, s.int64())
    differences = subtract(numbers, shift(numbers, period))
    if isinstance(storage, s.Date):
        unit = "ms" if wide else "s"
        return retyped(differences if wide else multiply(differences, 86_400), s.duration(unit))
    return retyped(differences, s.duration(storage.unit))  # type: ignore[attr-defined]


@operation
def rolling_sum(values: Array, window: int, *, min_periods: int | None = None) -> Array:
    """The sum of the values in a window that ends at each slot; integers as 64 bits, which wrap around.

    Sums of decimals are as for `cumulative_sum`.

    Args:
        values: Integers, floating-point numbers or decimals; encoded ones are decoded.
        window: The number of slots in a window: the slot itself, and those before it.
        min_periods: The least number of values in a window; with fewer, its result is null. `window` if
            None.

    Raises:
        TypeError: If the values are no numbers.
        ValueError: If `window` is not positive, or `min_periods` is not 0 to `window`.
    """
    return _rolling("sum", _plain(values, _SUMMED), window, min_periods)


@operation
def rolling_mean(values: Array, window: int, *, min_periods: int | None = None) -> Array:
    """The mean of the values in a window that ends at each slot: float64; see `rolling_sum`."""
    return _rolling("mean", _floats(values), window, min_periods)


@operation
def rolling_min(values: Array, window: int, *, min_periods: int | None = None) -> Array:
    """The least value in a window that ends at each slot, of any type with an order.

    See `rolling_sum`.

    NaN is ignored if there is a number.
    """
    return _by_order(values, lambda own: _rolling("min", own, window, min_periods))


@operation
def rolling_max(values: Array, window: int, *, min_periods: int | None = None) -> Array:
    """The greatest value in a window that ends at each slot; see `rolling_min`."""
    return _by_order(values, lambda own: _rolling("max", own, window, min_periods))


def _plain(values: Array, types: tuple[type[s.DataType], ...]) -> Array:
    require_valid(values)
    plain = decoded(values)
    if not isinstance(plain.type.storage, types):
        raise TypeError(f"values: expected numbers, got {values.type}")
    return plain


def _floats(values: Array) -> Array:
    """Numbers for a mean: decimals are cast to float64."""
    plain = _plain(values, _SUMMED)
    is_decimal = isinstance(plain.type.storage, s.Decimal)
    return cast(plain, s.float64(), safe=False) if is_decimal else plain


def _by_order(values: Array, running: Callable[[Array], Array]) -> Array:
    """A running function of numbers, applied to values: to their ranks, if they are no numbers."""
    require_valid(values)
    plain = decoded(values)
    return running(plain) if isinstance(plain.type.storage, _ORDERED) else _ranked(plain, running)


@on_its_device
def _ranked(array: Array, running: Callable[[Array], Array]) -> Array:
    target = target_of(array.device)
    positions, ranks = dense_ranks(target, sort_words(target, [SortKey(array)]))
    rows = target.output(array.length, np.uint64)
    rows[ranks[positions]] = positions
    numbers = target.buffer(ranks.view(np.int64))
    order = running(with_nulls_of(array, s.int64(), [numbers]))
    # The item under a null may be any number.
    places = rows[order.items(Role.DATA).clip(0, max(array.length - 1, 0))]
    buffers = order.buffers[0], target.buffer(places)
    return take(array, Array.of_valid(s.uint64(), array.length, buffers))


def _flags(array: Array) -> Items:
    """Whether each slot is valid: bool[]."""
    target = target_of(array.device)
    if not array.null_count:
        return filled(target, array.length, np.bool_, True)
    bits = array.buffer(Role.VALIDITY)
    assert bits is not None
    return expand(target, bits, array.offset, array.length)


def _identity(how: str, dtype: Any) -> Any:
    """The identity element of an aggregate."""
    if how in ("sum", "prod"):
        return dtype.type(how == "prod")
    if dtype.kind == "f":
        return dtype.type(np.nan)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if how == "min" else limits.min)


def _without_nulls(how: str, array: Array) -> Items:
    """The items, with the identity element in place of nulls; copied if there are nulls."""
    items = array.items(Role.DATA)
    if not array.null_count:
        return items
    return np.where(_flags(array), items, _identity(how, items.dtype))


def _running(how: str, items: Items, dtype: Any = None) -> Items:
    """Each item aggregated with all before it, in a dtype."""
    ufunc, dtype = _UFUNCS[how], dtype or items.dtype
    if isinstance(items, np.ndarray):
        out: Items = allocate_for_overwrite(len(items), dtype)
        ufunc.accumulate(items, dtype=dtype, out=out)
        return out
    if how in ("sum", "prod"):
        return (items.cumsum if how == "sum" else items.cumprod)(dtype=dtype)
    distance = 1
    while distance < len(items):
        items = _with_earlier(ufunc, items, items, distance)
        distance *= 2
    return items


def _with_earlier(ufunc: Any, items: Items, others: Items, distance: int) -> Items:
    """Each item combined with another that is `distance` before it, if there is one."""
    combined = items.copy()
    if distance < len(items):
        combined[distance:] = ufunc(items[distance:], others[: len(items) - distance])
    return combined


@on_its_device
def _until_null(array: Array, skip_nulls: bool, running: Callable[[Array], Array]) -> Array:
    """A running function of the slots before the first null, and nulls from there on.

    With `skip_nulls`, it is applied to all slots.
    """
    if skip_nulls or not array.null_count:
        return running(array)
    target, bits = target_of(array.device), compact_validity(array)
    assert bits is not None
    place = int((bits.array != 255).argmax())
    byte = target.item(bits.array, place)
    first = 8 * place + (~byte & (byte + 1)).bit_length() - 1
    before = array.slice(0, first)
    before._null_count = 0
    own = running(before)
    numbers = own.items(Role.DATA)
    items = target.allocate(array.length, numbers.dtype)
    items[:first] = numbers
    shown = target.allocate(array.length + 7 >> 3, np.uint8)
    shown[:place], shown[place] = 255, byte & ~(255 << (first & 7))
    parts = (target.buffer(shown), target.buffer(items))
    return Array.of_valid(own.type, array.length, parts, array.length - first)


def _cumulative(how: How, values: Array, start: float | None, skip_nulls: bool) -> Array:
    if start is not None and not isinstance(value_type_of(values).storage, _NUMBERS):
        raise TypeError(f"start: not of {values.type}; concat puts a value in front")

    def running(own: Array) -> Array:
        return _until_null(own, skip_nulls, lambda part: _cumulated(part, how, start))

    if how in ("min", "max"):
        return _by_order(values, running)
    return running(_plain(values, _SUMMED if how == "sum" else _NUMBERS))


def _decimal_sums(
    array: Array, flags: Items, shown: Items, summed: Callable[[Items], Items]
) -> Array:
    """Sums of wide decimals, by a function that sums their 32-bit parts."""
    type_ = array.type.storage
    assert isinstance(type_, s.Decimal)
    words, width = own_words(array, Role.DATA)
    parts = words.view(np.uint32).reshape(-1, 2 * width)
    sums = np.empty_like(parts)
    carry: Any = 0
    for k in range(2 * width):
        # The highest part is signed.
        own = parts[:, k] if k < 2 * width - 1 else parts.view(np.int32)[:, k]
        part = own.astype(np.int64)
        if array.null_count:
            part[flags == 0] = 0
        total = summed(part) + carry
        sums[:, k] = total & 0xFFFF_FFFF
        carry = total >> 32
    # Mostly, the highest part shows that a sum is not near the limit of digits.
    place = 32 * (2 * width - 1)
    most = 10**type_.precision
    near = ((total >= most >> place) | (total <= -most >> place)) & shown
    highest, parts = total[near], sums[near]
    if bool((_at_least(highest, parts, most) | ~_at_least(highest, parts, 1 - most)).any()):
        raise OverflowError(
            f"values: a sum of {array.type} has more than {type_.precision} digits"
            + "; cast to decimal256 first" * (width == 2)
        )
    return _filled(array, array.type, sums.reshape(-1), shown)


def _at_least(highest: Items, parts: Items, limit: int) -> Items:
    """Whether numbers are `limit` or more, by their parts of 32 bits; `highest` has the last of each."""
    reached: Any = True
    for k in range(parts.shape[1] - 1):
        own = limit >> 32 * k & 0xFFFF_FFFF
        reached = (parts[:, k] > own) | (parts[:, k] == own) & reached
    own = limit >> 32 * (parts.shape[1] - 1)
    is_least: Items = (highest > own) | (highest == own) & reached
    return is_least


@on_its_device
@np.errstate(all="ignore")
def _cumulated(array: Array, how: How, start: float | None) -> Array:
    """Each value aggregated with all before it, of which nulls are skipped."""
    if isinstance(array.type.storage, s.Decimal):
        array, flags = wide_decimals(array), _flags(array)
        return _decimal_sums(array, flags, flags, lambda part: _running("sum", part))
    results = _running(how, _without_nulls(how, array))
    if start is not None:
        storage = array.type.storage
        assert isinstance(storage, _NUMBERS)
        results = _UFUNCS[how](results, number_of(start, storage, "start"))
    return fixed_result(array, array.type, results)


@on_its_device
@np.errstate(all="ignore")
def _cumulative_mean(array: Array) -> Array:
    means = _running("sum", _without_nulls("sum", array), np.float64)
    if array.null_count:
        means /= _flags(array).cumsum(dtype=np.int64)
    else:
        target = target_of(array.device)
        sums, means = means, target.output(array.length, np.float64)
        target.map(arithmetic.running_means, array.length, sums, means)
    return fixed_result(array, s.float64(), means)


@on_its_device
def _filled(array: Array, type_: s.DataType, items: Items, shown: Items) -> Array:
    """Items as an array, null where `shown` is not set."""
    target: Target = target_of(array.device)
    bits = packed_bits(target, shown) if array.null_count or not bool(shown.all()) else None
    return Array.of_valid(type_, array.length, (bits, target.buffer(items)))


def _rolling(how: str, array: Array, window: int, min_periods: int | None) -> Array:
    least = window if min_periods is None else min_periods
    if window < 1:
        raise ValueError(f"window: must be positive, got {window}")
    if not 0 <= least <= window:
        raise ValueError(f"min_periods: expected 0 to {window}, got {least}")
    return _rolled(array, how, window, least)


@on_its_device
def _rolled(array: Array, how: str, window: int, least: int) -> Array:
    flags = _flags(array)
    counts = flags.cumsum(dtype=np.int64)
    counts = _with_earlier(np.subtract, counts, counts, window)
    if isinstance(array.type.storage, s.Decimal):
        array = wide_decimals(array)
        shown = counts >= least
        return _decimal_sums(array, flags, shown, lambda part: _windows(np.add, part, window))
    own, type_ = how, array.type
    dtype: Any = None
    if how == "mean":
        own, type_, dtype = "sum", s.float64(), np.float64
    elif how == "sum" and isinstance(type_.storage, s.Int):
        type_ = s.int64() if type_.storage.signed else s.uint64()
        dtype = np.int64 if type_.signed else np.uint64
    with np.errstate(all="ignore"):
        items = _without_nulls(own, array).astype(dtype or array.items(Role.DATA).dtype, copy=False)
        results = _windows(_UFUNCS[own], items, window)
        if how == "mean":
            results = results / counts
    return _filled(
        array, type_, results, counts >= max(least, 1) if how != "sum" else counts >= least
    )


def _windows(ufunc: object, powers: Items, window: int) -> Items:
    """Each item combined with the others of its window, by windows whose sizes are powers of two."""
    combined, covered, size = None, 0, 1
    window = min(window, len(powers)) or 1
    while True:
        if window & size:
            # The items combined so far are the nearer ones.
            combined = (
                powers if combined is None else _with_earlier(ufunc, combined, powers, covered)
            )
            covered += size
        size *= 2
        if size > window:
            assert combined is not None
            return combined
        powers = _with_earlier(ufunc, powers, powers, size // 2)
