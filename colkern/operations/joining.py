"""`join` and `join_asof`, which put rows of two batches side by side by their keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import inf
from numbers import Integral, Rational, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import expand, packed_bits
from colkern.cpu.threads import GRAIN, run_ranges
from colkern.errors import LimitExceededError, UnsupportedError, shown
from colkern.forks import cached_property
from colkern.kernels import joining as kernels
from colkern.layouts import Role
from colkern.memory import HOST, Buffer
from colkern.operations.arguments import operation
from colkern.operations.devices import device_of
from colkern.operations.encodings import decoded
from colkern.operations.group_aggregates import GroupedRows
from colkern.operations.grouping import Groups, integer_codes, key_groups
from colkern.operations.number_words import number_words
from colkern.operations.operands import integers
from colkern.operations.position_checks import require_valid
from colkern.operations.promotion import cast_alike
from colkern.operations.selection import take
from colkern.operations.selection.choosing import if_else
from colkern.operations.selection.concatenation import concat
from colkern.operations.sorting import SortKey, sort_words, word_changes, word_order
from colkern.operations.time_arithmetic import TIMES
from colkern.operations.validity import combine_validity
from colkern.schema import same_type
from colkern.targets import Items, Target, filled, on_its_device, target_of


class JoinKeys:
    """The keys of both sides.

    Args:
        left: The columns of one side.
        right: The columns of the other side, the same number of them.

    Attributes:
        columns: The values of the right rows, followed by those of the left rows.
        target: The target of their bytes.
        right_rows: The number of right rows.
        validity: The rows of both sides that have no null key; None if no row has one.
    """

    def __init__(self, left: Sequence[Array], right: Sequence[Array]) -> None:
        self.columns = both = [_both(*pair) for pair in zip(left, right, strict=True)]
        self.target: Target = target_of(device_of(both))
        self.right_rows = right[0].length
        self.validity: Buffer | None = combine_validity(list(map(integer_codes, both)))[0]

    @cached_property
    def _groups(self) -> Groups:
        return key_groups(self.columns, self.right_rows)

    @property
    def numbers(self) -> Items:
        """The key numbers of the right rows, then of the left rows (uint32[right + left]).

        Keys are numbered in the order of their first rows.
        """
        return self._groups.numbers

    @cached_property
    def right_keys(self) -> int:
        """The number of distinct keys of the right side; keys of the left side only have higher numbers."""
        return _count_below(self.target, self._groups.firsts, self.right_rows)

    @property
    def left_validity(self) -> tuple[Items, int]:
        """The validity of the keys of left rows, as kernels take it."""
        if self.validity is None:
            return self.target.no_bits, 0
        return self.validity.array, self.right_rows

    def known(self) -> Items | None:
        """Whether each row has no null key (bool[]); None if no row has one."""
        if self.validity is None:
            return None
        return expand(self.target, self.validity, 0, self.columns[0].length).view(bool)


@on_its_device
def _count_below(target: Target, items: Items, limit: int) -> int:
    return int((items < limit).sum())


def key_columns(batch: RecordBatch, keys: Sequence[str | int]) -> list[Array]:
    """The key columns of a batch, checked."""
    columns = [batch.column(key) for key in keys]
    for column in columns:
        require_valid(column)
    return columns


def _both(left: Array, right: Array) -> Array:
    """The values of the right side, then of the left side; one of them may be encoded, or be cast."""
    if not same_type(left.type, right.type):
        left, right = cast_alike([decoded(left), decoded(right)])
        if not same_type(left.type, right.type):
            raise TypeError(
                f"keys: {left.type} on the left, {right.type} on the right; cast one of them"
            )
    return concat([right, left])


JoinType = Literal[
    "inner", "left", "right", "outer", "semi", "anti", "left outer", "right outer", "full outer",
    "left semi", "right semi", "left anti", "right anti", "cross",
]  # fmt: skip
Keys: TypeAlias = str | int | Sequence[str | int]

_MUCH = 8
"""The right side counts as much larger if it has this many times as many rows."""

_MOST = (1 << 64) - 1
"""The greatest distance of two integers."""

_NEAR, _FAR = Decimal("1e-400"), Decimal("1e400")
"""Less than any distance but 0, and more than any: also of floats."""

_SHORT = {
    "left outer": "left",
    "right outer": "right",
    "full outer": "outer",
    "left semi": "semi",
    "left anti": "anti",
}


@operation
def join(
    left: RecordBatch,
    right: RecordBatch,
    keys: Keys = (),
    right_keys: Keys | None = None,
    how: JoinType = "inner",
    *,
    left_suffix: str = "",
    right_suffix: str = "_right",
    coalesce_keys: bool = True,
) -> RecordBatch:
    """The rows of two batches with equal keys, side by side.

    Keys are compared as by `group_by`, but null matches nothing. They may be of any type but unions;
    one of two keys that are compared may be encoded, and numbers or text of two types are cast to a common
    one, as by `if_else`. Rows are in the order of the left rows, and then of the right rows; right rows
    without a match come last.

    ==========================  ================================================================
    how                         rows
    ==========================  ================================================================
    "inner"                     that match
    "left" ("left outer")       and left ones without a match
    "right" ("right outer")     and right ones without a match
    "outer" ("full outer")      and both of these
    "semi" ("left semi")        left ones that have a match, with the left columns alone
    "anti" ("left anti")        left ones that have none
    "right semi", "right anti"  the same of the right ones
    "cross"                     every left row with every right row; there are no keys
    ==========================  ================================================================

    Args:
        left, right: The rows, all on one device.
        keys: The names or positions of the left keys.
        right_keys: The names or positions of the right keys; None if they are those of the left keys.
        how: The rows to return; see above.
        left_suffix, right_suffix: Suffixes for the names of other columns that both sides have.
        coalesce_keys: Whether to drop the right keys, and fill the left ones from them if there is no
            left row; else both are kept.

    Raises:
        ValueError: If `how` is another word, the numbers of keys differ, or two columns have one name.
        KeyError: If there is no such column.
        TypeError: If keys are of types that have no common one.
        UnsupportedError: If there is a union in a key.
        LimitExceededError: If the rows do not fit this machine's memory, or there are 2^32 on both sides.
    """
    kind = _SHORT.get(how, how)
    if kind in ("right semi", "right anti"):
        others = keys if right_keys is None else right_keys
        kind = kind.removeprefix("right ")
        return join(right, left, others, keys, kind)  # type: ignore[arg-type]
    if kind not in ("inner", "left", "right", "outer", "semi", "anti", "cross"):
        raise ValueError(
            f"how: no join {how!r}; expected inner, left, right, outer, semi, anti or cross"
        )
    left_places, right_places = _places(left, right, keys, right_keys, "keys")
    if bool(left_places) == (kind == "cross"):
        expected = "none for a cross join" if left_places else "a column at least, got none"
        raise ValueError(f"keys: expected {expected}")
    parts = [spec for c in (*left.columns, *right.columns) for spec in c.layout.buffers]
    row_bytes = 16 + sum(spec.slot_bits for spec in parts) // 8
    lefts: Items | None
    if kind == "cross":
        target = target_of(device_of([*left.columns, *right.columns]))
        _require_memory(left.length * right.length, row_bytes)
        lefts, rights = _all_pairs(target, left.length, right.length)
    else:
        own, other = key_columns(left, left_places), key_columns(right, right_places)
        # The table of keys is built from the smaller side, since it is then smaller and faster.
        turned = kind == "inner" and _MUCH * left.length < right.length
        sides = JoinKeys(other, own) if turned else JoinKeys(own, other)
        target = sides.target
        if kind in ("semi", "anti"):
            rows = _rows_where(target, _has_match(target, sides), kind == "semi")
            return take(left, _indices(target, rows))
        lefts, rights = _pairs(sides, kind, row_bytes)
        if turned:
            lefts, rights = _by_left(target, rights, lefts)
    columns = _taken(target, left.columns, lefts)
    if coalesce_keys and kind in ("right", "outer") and lefts is not None:
        other_keys = _taken(target, [right.columns[k] for k in right_places], rights)
        for place, values in zip(left_places, other_keys, strict=True):
            columns[place] = _filled(target, columns[place], values, lefts)
    dropped = right_places if coalesce_keys else []
    kept = [k for k in range(len(right.schema)) if k not in dropped]
    more = [right.schema.names[k] for k in kept]
    merged = left_places if coalesce_keys else []
    names = _joined_names(left.schema.names, more, merged, left_suffix, right_suffix)
    columns += _taken(target, [right.columns[k] for k in kept], rights)
    return RecordBatch.from_arrays(columns, names)


def _joined_names(
    left: Sequence[str],
    right: Sequence[str],
    merged: Sequence[int],
    left_suffix: str,
    right_suffix: str,
) -> list[str]:
    """The names of the columns of both sides, with suffixes for those that the other side has, too.

    The left columns at `merged` have none. Raises `ValueError` if two columns have one name.
    """
    names = [
        name + left_suffix * (name in right and k not in merged) for k, name in enumerate(left)
    ]
    names += [name + right_suffix * (name in left) for name in right]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"join: two columns {', '.join(twice)}; rename one, or give suffixes")
    return names


def _filled(target: Target, keys: Array, others: Array, rows: Items) -> Array:
    """The keys of rows; where there is no row, those of the other side."""
    there = _is_row(target, rows)
    if there is None:
        return keys
    if not s.same_type(keys.type, others.type):
        keys, others = decoded(keys), decoded(others)
    bits = packed_bits(target, there)
    return if_else(Array(s.bool_(), len(rows), [None, bits], null_count=0), keys, others)


def _taken(target: Target, columns: Sequence[Array], rows: Items | None) -> list[Array]:
    """The values of columns at rows, null for `NO_MATCH`; the columns themselves if `rows` is None."""
    if rows is None:
        return list(columns)
    indices = _indices(target, rows)
    return [take(column, indices) for column in columns]


def _places(
    left: RecordBatch, right: RecordBatch, keys: Keys, right_keys: Keys | None, argument: str
) -> tuple[list[int], list[int]]:
    """The positions of the key columns on both sides."""
    own = [keys] if isinstance(keys, str | int) else list(keys)
    others = own if right_keys is None else right_keys
    named = [others] if isinstance(others, str | int) else list(others)
    if len(own) != len(named):
        raise ValueError(
            f"right_{argument}: expected as many columns as {argument} has ({len(own)}), "
            f"got {len(named)}"
        )
    return [left.schema.index(k) for k in own], [right.schema.index(k) for k in named]


def _pairs(sides: JoinKeys, kind: str, row_bytes: int) -> tuple[Items | None, Items]:
    """The numbers of the rows on both sides, pair by pair (uint64[]); `NO_MATCH` for no row.

    None stands for all left rows, in order.
    """
    target, least = sides.target, int(kind in ("left", "outer"))
    if sides.right_keys == sides.right_rows:
        left, right = _of_one_each(target, sides, bool(least))
    else:
        own = sides.numbers[: sides.right_rows]
        order, bounds = GroupedRows(target, own, sides.right_keys).by_group
        numbers = sides.numbers[sides.right_rows :]
        left_keys = (numbers, *sides.left_validity, bounds)
        counts = target.output(len(numbers), np.int64)
        target.map(kernels.count_matches, len(numbers), *left_keys, sides.right_keys, least, counts)
        starts, total = target.running_sum(counts, np.int64)
        _require_memory(total, row_bytes)
        left, right = (target.output(total, np.uint64) for _ in range(2))
        target.map(kernels.left_of_matches, len(numbers), starts, left, balance=starts)
        matches = (*left_keys, order, sides.right_keys, starts, right)
        target.map(kernels.right_of_matches, len(numbers), *matches, balance=starts)
    if kind in ("right", "outer"):
        return _with_unmatched(target, sides, left, right)
    return left, right


@on_its_device
def _all_pairs(target: Target, left: int, right: int) -> tuple[Items, Items]:
    """The rows of each pair of a left row and a right one, by the left rows."""
    pairs = target.positions(left * right)
    each = max(right, 1)
    return (pairs // each).astype(np.uint64), (pairs % each).astype(np.uint64)


@on_its_device
def _by_left(target: Target, left: Items, right: Items | None) -> tuple[Items, Items]:
    """Pairs sorted by the left rows, and then by the right ones; None stands for all right rows."""
    order = target.sort_positions(left)
    return left[order], order if right is None else right[order]


def _require_memory(rows: int, row_bytes: int) -> None:
    """Raise `LimitExceededError` for a result that this machine's memory cannot hold."""
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if rows * row_bytes > most:
        raise LimitExceededError(
            f"join: {rows} rows of at least {row_bytes} bytes do not fit {most} bytes of memory; "
            "are the keys those that are meant, or should rows be filtered before?"
        )


@on_its_device
def _has_match(target: Target, sides: JoinKeys) -> Items:
    """Whether each left row has a match (bool[])."""
    matched: Items = sides.numbers[sides.right_rows :] < sides.right_keys
    known = sides.known()
    return matched if known is None else matched & known[sides.right_rows :]


@on_its_device
def _of_one_each(target: Target, sides: JoinKeys, outer: bool) -> tuple[Items | None, Items]:
    """As `_pairs`, if right rows have distinct keys, so that the number of a key is that of its row."""
    matched = _has_match(target, sides)
    right = sides.numbers[sides.right_rows :].astype(np.uint64)
    if outer:
        right[~matched] = kernels.NO_MATCH
    elif not matched.all():
        return _rows_where(target, matched, True), right[matched]
    return None, right


@on_its_device
def _with_unmatched(
    target: Target, sides: JoinKeys, left: Items | None, right: Items
) -> tuple[Items, Items]:
    """The rows, followed by the right rows without a match."""
    left = target.positions(len(right)).view(np.uint64) if left is None else left
    alone = filled(target, sides.right_rows + 1, bool, True)
    # The last item stands for no match.
    alone[right.clip(None, sides.right_rows).astype(np.int64)] = False
    more = alone[:-1].nonzero()[0].astype(np.uint64)
    lefts, rights = (target.output(len(left) + len(more), np.uint64) for _ in range(2))
    lefts[: len(left)], lefts[len(left) :] = left, kernels.NO_MATCH
    rights[: len(left)], rights[len(left) :] = right, more
    return lefts, rights


@on_its_device
def _rows_where(target: Target, mask: Items, wanted: bool) -> Items:
    rows: Items = (mask == wanted).nonzero()[0].astype(np.uint64)
    return rows


def _indices(target: Target, rows: Items) -> Array:
    """Row numbers as an array of indices, null for `NO_MATCH`."""
    known = _is_row(target, rows)
    if known is None:
        return integers(target, rows)
    buffers = packed_bits(target, known), target.buffer(rows)
    return Array.of_valid(s.uint64(), len(rows), buffers, -1)


@on_its_device
def _is_row(target: Target, rows: Items) -> Items | None:
    """Whether each is a row (bool[]); None if all are."""
    known = rows != np.uint64(kernels.NO_MATCH)
    return None if known.all() else known


# As-of joins


@operation
def join_asof(
    left: RecordBatch,
    right: RecordBatch,
    on: str | int,
    by: Keys = (),
    *,
    right_on: str | int | None = None,
    right_by: Keys | None = None,
    strategy: Literal["backward", "forward", "nearest"] = "backward",
    tolerance: float | Decimal | timedelta | np.timedelta64 | None = None,
    right_suffix: str = "_right",
) -> RecordBatch:
    """The left rows, each beside the right row that is valid at its time.

    Of the right rows with the same `by`, that is the last one whose `on` is not greater ("backward"),
    the first one whose `on` is not less ("forward"), or the nearer of the two ("nearest"). Rows may be
    in any order. The right columns are null if there is no such row, or if `on` or `by` is null or `on`
    is NaN.

    Args:
        left, right: The rows, all on one device.
        on: The column to compare by order: integers, floats, decimals of 64 bits, dates, times,
            timestamps, durations.
        by: The columns whose values must be equal, as for `join`.
        right_on, right_by: The columns of the right side, if they have other names.
        strategy: The rule for choosing the right row; see above.
        tolerance: The greatest difference of the two: a number (for times, in the unit of the column)
            or a duration; None for no limit. For decimals, a float counts as the decimal number that it
            is printed as.
        right_suffix: A suffix for the names of right columns that left columns have, too.

    Raises:
        ValueError: If `strategy` is another word, the numbers of columns differ, or the tolerance is
            negative, NaN, NaT, or of months.
        KeyError, TypeError, UnsupportedError, LimitExceededError, InvalidArrowError: As `join`.
    """
    if strategy not in ("backward", "forward", "nearest"):
        raise ValueError(f"strategy: expected backward, forward or nearest, got {strategy!r}")
    left_places, right_places = _places(left, right, by, right_by, "by")
    left_places.append(left.schema.index(on))
    right_places.append(right.schema.index(on if right_on is None else right_on))
    sides = JoinKeys(key_columns(left, left_places), key_columns(right, right_places))
    target, rows = sides.target, sides.right_rows
    time = decoded(sides.columns[-1])
    numbers = number_words(time)
    if numbers is None or numbers.width > 1 or isinstance(time.type.storage, s.Bool):
        raise UnsupportedError(f"on: no distances of the values of {time.type}; cast it to numbers")
    limit = None if tolerance is None else _in_units(tolerance, time.type.storage)
    groups = key_groups(sides.columns[:-1]) if len(left_places) > 1 else None
    matches = _asof(target, time, groups, sides.known(), rows, strategy, limit)
    kept = [k for k in range(len(right.schema)) if k not in right_places]
    columns = _taken(target, [right.columns[k] for k in kept], matches)
    names = [
        n + right_suffix * (n in left.schema.names) for n in (right.schema.names[k] for k in kept)
    ]
    return RecordBatch.from_arrays([*left.columns, *columns], [*left.schema.names, *names])


def _in_units(
    tolerance: float | Decimal | timedelta | np.timedelta64, type_: s.DataType
) -> int | float:
    """The tolerance as a difference of two items of a type; for integers, a whole number."""
    from colkern.builders.fixed import NANOS, scalar_nanos, timedelta_nanos

    limit: Any = tolerance
    if isinstance(tolerance, timedelta | np.timedelta64):
        if not isinstance(type_, TIMES):
            raise TypeError(
                f"tolerance: expected a number, as the column has {type_}, got {tolerance!r}"
            )
        if isinstance(tolerance, timedelta):
            limit = timedelta_nanos(tolerance)
        elif np.isnat(tolerance):
            raise ValueError("tolerance: NaT is no duration")
        else:
            limit = scalar_nanos(tolerance)
        limit //= NANOS["D" if type_ == s.date32() else type_.unit]
    elif isinstance(tolerance, bool) or not isinstance(tolerance, Real | Decimal):
        raise TypeError(
            f"tolerance: expected a number or a duration, got {type(tolerance).__name__} "
            f"{shown(tolerance)}"
        )
    elif isinstance(tolerance, Integral):
        limit = int(tolerance)
    elif isinstance(tolerance, Real) and not isinstance(tolerance, Rational):
        limit = Decimal(str(tolerance) if isinstance(type_, s.Decimal) else float(tolerance))
    if isinstance(limit, Decimal) and limit.is_nan():
        raise ValueError("tolerance: expected a number, not NaN")
    if limit < 0:
        raise ValueError(f"tolerance: expected no negative distance, got {tolerance}")
    if isinstance(limit, Decimal):
        # A fraction takes memory for each digit, so large limits are cut.
        limit = Fraction(min(limit, _FAR)) if limit > _NEAR else 0
    if isinstance(type_, s.FloatingPoint):
        return float(limit) if limit <= sys.float_info.max else inf
    if isinstance(type_, s.Decimal):
        limit *= Fraction(10) ** type_.scale
    return min(int(limit), _MOST)


@on_its_device
def _asof(
    target: Target,
    time: Array,
    groups: Groups | None,
    known: Items | None,
    rows: int,
    strategy: str,
    limit: float | None,
) -> Items:
    """The right row of each left row, or `NO_MATCH`; the first `rows` items are those of the right side."""
    times = time.items(Role.DATA)
    # NaN has no distance.
    if times.dtype.kind == "f" and not (are_numbers := times == times).all():
        known = are_numbers if known is None else known & are_numbers
    words = sort_words(target, [SortKey(time)])
    can_go = known is None and len(words) == 1 and (groups is None or time.device == HOST)
    if can_go and _is_in_order(words[0][:rows]) and _is_in_order(words[0][rows:]):
        match = _matched_in_order(target, words[0], groups, rows)
    else:
        if groups is not None:
            group = integers(target, groups.numbers)
            words = sort_words(target, [SortKey(group), SortKey(time)])
        match = _matched_by_sorting(target, words, groups, known, rows)

    none = np.uint64(kernels.NO_MATCH)

    def within(nearest: Items) -> tuple[Items, Items]:
        """The right rows that are near enough, and their distances."""
        there = nearest != none
        far = _distances(times[np.where(there, nearest, np.uint64(0))], times[rows:])
        if limit is not None:
            there &= far <= far.dtype.type(limit)
        return np.where(there, nearest, none), far

    if strategy != "nearest":
        nearest = match(strategy == "forward")
        return nearest if limit is None else within(nearest)[0]
    (before, how_far), (after, beyond) = (within(match(forward)) for forward in (False, True))
    is_before = (before != none) & ((after == none) | (how_far <= beyond))
    return np.where(is_before, before, after)


def _is_in_order(words: Items) -> bool:
    def ascend(start: int, stop: int) -> bool:
        return bool((words[start + 1 : stop + 1] >= words[start:stop]).all())

    count = max(len(words) - 1, 0)
    # A device compares all of them at once.
    return all(run_ranges(ascend, count, (), GRAIN if isinstance(words, np.ndarray) else count + 1))


_Match: TypeAlias = Callable[[bool], Items]
"""The last right row that is not later than each left row; with True, the first that is not earlier."""


def _matched_in_order(target: Target, words: Items, groups: Groups | None, rows: int) -> _Match:
    """Matches rows in one pass over both sides, which must be in order."""
    count = len(words) - rows
    sides = [words[rows:], words[:rows]]
    if groups is not None:
        sides += [groups.numbers[rows:], groups.numbers[:rows]]

    def match(forward: bool) -> Items:
        own = sides
        if forward:
            # In reverse order, the first match is the last one.
            left, right, *others = (side[::-1].copy() for side in sides)
            own = [~left, ~right, *others]
        if groups is None:
            places = target.output(count, np.uint64)
            target.map(kernels.match_last, count, *own, places)
        else:
            several = len(groups.firsts)
            out = target.output(count + several + 1, np.uint64)
            out[count:] = kernels.NO_MATCH
            target.map(kernels.match_last_of_group, count, *own, several, out)
            places = out[:count]
        if not forward:
            return places
        none = np.uint64(kernels.NO_MATCH)
        return np.where(places == none, none, np.uint64(max(rows, 1) - 1) - places)[::-1].copy()

    return match


def _matched_by_sorting(
    target: Target,
    words: Sequence[Items],
    groups: Groups | None,
    known: Items | None,
    rows: int,
) -> _Match:
    """Matches rows by sorting both sides together, by groups and times."""
    # Of equal rows, those of the right side come first.
    order = word_order(target, words)
    on_right = order < rows
    if known is not None:
        on_right &= known[order]
    right = order[on_right]
    counts = np.cumsum(on_right)

    def match(forward: bool) -> Items:
        before = counts - 1
        if forward:
            # The number of right rows before the first of equal rows.
            changes = word_changes(target, words, order)
            changes[:1] = True
            less: Items = (counts - on_right)[changes]
            before = less[np.cumsum(changes) - 1]
        places = target.output(len(order), np.int64)
        places[order] = before
        place = places[rows:]
        inside = (place >= 0) & (place < len(right))
        if known is not None:
            inside &= known[rows:]
        row = right[np.where(inside, place, 0)] if len(right) else (place * 0).view(np.uint64)
        if groups is not None:
            inside &= groups.numbers[row] == groups.numbers[rows:]
        return np.where(inside, row, np.uint64(kernels.NO_MATCH))

    return match


def _distances(left: Items, right: Items) -> Items:
    """The absolute differences of numbers: float64 for floats, uint64 for integers."""
    if left.dtype.kind == "f":
        left, right = left.astype(np.float64), right.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # The difference of equal infinities would be NaN.
            return np.where(left == right, 0, abs(left - right))
    less = left < right
    low, high = np.where(less, left, right), np.where(less, right, left)
    return high.astype(np.uint64) - low.astype(np.uint64)
