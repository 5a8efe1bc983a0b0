"""`sort_indices`: the positions that sort values, or rows by several columns; and what follows from them.

`rank`, `select_k`, `top_k`, and `range_partition_indices`, which sorts rows into ranges.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import count_set_bits
from colkern.dispatch import BINARY, TEXT
from colkern.errors import UnsupportedError
from colkern.kernels import sorting
from colkern.memory import HOST
from colkern.operations.arguments import operation
from colkern.operations.devices import one_device
from colkern.operations.dictionaries import ranks_of_few
from colkern.operations.encodings import on_values
from colkern.operations.hashing import sorted_by_number
from colkern.operations.number_words import (
    KeyPart,
    NumberWords,
    key_parts,
    number_words,
    packed_keys,
    word_range,
)
from colkern.operations.operands import integers, validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.remedies import instead_of_order
from colkern.operations.selection.concatenation import concat
from colkern.operations.selection.engine import assemble
from colkern.operations.selection.filtering import Masked
from colkern.operations.selection.taking import take
from colkern.operations.selection.words import take_items
from colkern.operations.string_data import byte_ranks, text_positions
from colkern.operations.validity import split_nulls
from colkern.targets import Items, Target, on_its_device, target_of

if TYPE_CHECKING:
    from colkern.cpu.radix import FewKeys


Order = Literal["ascending", "descending"]
Placement = Literal["at_end", "at_start"]
SortKeys = Sequence[str | int | tuple[str | int, Order] | tuple[str | int, Order, Placement]]


class SortKey(NamedTuple):
    """A column to sort by.

    Attributes:
        values: The column, which is checked.
        descending: Whether the order is descending.
        nulls_first: Whether nulls (and NaNs) come first.
    """

    values: Array
    descending: bool = False
    nulls_first: bool = False


_SAMPLE = 1024


@operation
def sort_indices(
    data: Array | RecordBatch,
    sort_keys: SortKeys | str | None = None,
    *,
    order: Order = "ascending",
    null_placement: Placement = "at_end",
) -> Array:
    """The positions (uint64) that sort `data`, for `take`; stable.

    As in pyarrow, NaNs are put between numbers and nulls in either order, and both zeros are equal.
    Text and bytes are sorted by bytes, which for text is the order of code points; encoded arrays by
    their values.

    Args:
        data: The values: booleans, numbers, decimals, dates, times, text, bytes; or a batch.
        sort_keys: For a batch, the columns to sort by, most significant first: names or positions, or
            tuples of those, an order, and perhaps a null placement; all columns if None.
        order: "ascending" or "descending", for keys without an order of their own.
        null_placement: Whether nulls (and NaNs) come first or last: "at_start" or "at_end"; for keys
            without a placement of their own.

    Raises:
        ValueError: If `order` or `null_placement` is another word, there are keys for an array, or a tuple
            is no key.
        KeyError: If there is no such column.
        UnsupportedError: If the type has no order.
        LimitExceededError: If there are more than 2^32 strings to sort.
    """
    keys = checked_keys(data, sort_keys, order, null_placement)
    target = target_of(one_device([key.values for key in keys]))
    positions = ordered_positions(target, keys)
    return integers(target, positions)


def checked_keys(
    data: Array | RecordBatch,
    sort_keys: SortKeys | str | None,
    order: Order,
    null_placement: Placement,
) -> list[SortKey]:
    """The keys that the arguments of `sort_indices` describe, which are checked."""
    columns: list[tuple[Array, Sequence[str]]]
    if isinstance(data, Array):
        if sort_keys in ("ascending", "descending"):  # As in pyarrow.
            order = "ascending" if sort_keys == "ascending" else "descending"
        elif sort_keys is not None:
            raise ValueError("sort_keys: an array has no columns; pass order=")
        columns = [(data, (order,))]
    else:
        chosen = range(len(data.columns)) if sort_keys is None else sort_keys
        named = [chosen] if isinstance(chosen, str) else chosen
        tuples = [key if isinstance(key, tuple) else (key, order) for key in named]
        columns = [(data.column(key), words) for key, *words in tuples]
        if not columns:
            raise ValueError("sort_keys: expected at least one key, got none")
    keys: list[SortKey] = []
    for column, words in columns:
        if len(words) not in (1, 2):
            raise ValueError(
                "sort_keys: expected a name, (name, order) or (name, order, null placement), got a tuple "
                f"of {1 + len(words)}"
            )
        if words[0] not in ("ascending", "descending"):
            raise ValueError(f"order: expected 'ascending' or 'descending', got {words[0]!r}")
        placement = words[1] if len(words) == 2 else null_placement
        if placement not in ("at_end", "at_start"):
            raise ValueError(f"null_placement: expected 'at_end' or 'at_start', got {placement!r}")
        require_valid(column)
        keys.append(SortKey(column, words[0] == "descending", placement == "at_start"))
    return keys


def ordered_positions(target: Target, keys: Sequence[SortKey]) -> Items:
    """The positions (uint64) of rows in the order of keys, most significant first; stable."""
    if len(keys) == 1:
        ((array, descending, nulls_first),) = keys
        if isinstance(array.type.storage, s.Null):
            return target.positions(array.length).view(np.uint64)
        if (numbers := number_words(array)) is not None:
            return _sorted(array, numbers, descending, nulls_first)
        if is_text(array.type) and (ranks := ranks_of_few(array)) is not None:
            numbers = number_words(ranks)
            assert numbers is not None
            return _sorted(ranks, numbers, descending, nulls_first)
        if is_text(array.type) and not descending:
            split = split_nulls(array) if array.null_count else None
            valid = array.length - array.null_count
            ordered = text_positions(array, None if split is None else split[:valid])[0]
            return ordered if split is None else _joined(target, ordered, split, nulls_first)
    return word_order(target, sort_words(target, keys))


def sort_words(target: Target, keys: Sequence[SortKey]) -> list[Items]:
    """Words (uint64[n]) that sort like the rows, most significant first; as above."""
    parts = (part for key in keys for part in _order_parts(*key))
    return packed_keys(target, keys[0].values.length, parts)


@on_its_device
def dense_ranks(target: Target, words: Sequence[Items]) -> tuple[Items, Items]:
    """Positions in the order of rows by `sort_words`, and the rank of each row (uint64[n]), from 0 on.

    Equal rows have the same rank.
    """
    positions = word_order(target, words)
    ranks = target.output(len(positions), np.uint64)
    ranks[positions] = word_changes(target, words, positions).cumsum()
    return positions, ranks


def word_order(target: Target, words: Sequence[Items]) -> Items:
    """Positions in the order of rows by `sort_words`; stable."""
    positions = None
    for word in reversed(words):
        positions = target.sort_positions(word, positions)
    assert positions is not None
    return positions


def word_changes(target: Target, words: Sequence[Items], positions: Items) -> Items:
    """Whether each row, in order, differs from the one before (bool[n])."""
    changes = target.allocate(len(positions), bool)
    for word in words:
        ordered = take_items(target, word, positions)
        changes[1:] |= ordered[1:] != ordered[:-1]
    return changes


def _order_parts(array: Array, descending: bool, nulls_first: bool) -> list[KeyPart]:
    values = on_values(array, _orderable)
    if isinstance(values.type.storage, s.Null):
        return []
    numbers = number_words(values)
    if numbers is None:
        raise UnsupportedError(
            f"sort_indices: no order of the values of {array.type}; {instead_of_order(array.type)}"
        )
    if numbers.infinity:
        target = target_of(values.device)
        # Nulls have another key beyond that one.
        nan = 0 if nulls_first else (1 << numbers.bits) - 1
        every_bit = (1 << numbers.bits) - 1
        keys = target.output(values.length, np.uint64)
        floats = (numbers.words, numbers.minus, numbers.infinity, nan, every_bit * descending)
        target.map(sorting.order_floats, values.length, *floats, keys)
        return key_parts(values, NumberWords(keys, 1, 64, 0), False, nulls_first)
    return key_parts(values, numbers, descending, nulls_first)


def is_text(type_: s.DataType) -> bool:
    """Whether values are ordered by their bytes."""
    return isinstance(type_.storage, (*TEXT, *BINARY, s.FixedSizeBinary))


def _orderable(array: Array) -> Array:
    """Numbers in the order of the values; for text, its rank among the distinct values."""
    if not is_text(array.type):
        return array
    ranks = ranks_of_few(array)
    return byte_ranks(array) if ranks is None else ranks


def _sorted(array: Array, numbers: NumberWords, descending: bool, nulls_first: bool) -> Items:
    from colkern.cpu.radix import FEW, FEW_BITS, counted_positions

    target = target_of(array.device)
    # Of few slots, it takes longer to find out how many values there are than to sort them.
    is_worth = array.length > FEW or numbers.bits <= FEW_BITS
    few = few_keys(array, descending) if is_worth else None
    if few is not None:
        return counted_positions(target, few)
    nulls = array.null_count
    valid = array.length - nulls
    split = split_nulls(array) if nulls else None
    positions = None if split is None else split[:valid]
    for keys in _keys(array, numbers, descending, nulls_first):
        positions = target.sort_positions(keys, positions)
    assert positions is not None
    return positions if split is None else _joined(target, positions, split, nulls_first)


@on_its_device
def _joined(target: Target, positions: Items, split: Items, nulls_first: bool) -> Items:
    """The sorted positions of valid slots, combined with those of nulls, which end `split`."""
    valid = len(positions)
    nulls = len(split) - valid
    out = target.output(len(split), np.uint64)
    place = nulls if nulls_first else 0
    out[place : place + valid] = positions
    out[0 if nulls_first else valid :][:nulls] = split[valid:]
    return out


def drop_nulls(array: Array) -> Array:
    """The values of a checked array that are not null; copied if there are nulls."""
    if not array.null_count:
        return array
    if array.null_count == array.length:
        # This includes columns of type null, which have no bits.
        return array.slice(0, 0)
    parts = (None, *array.buffers[1:]), 0, array.children, array.dictionary, array.offset
    target = target_of(array.device)
    kept = Masked.of(target, *validity_of(array, target), array.length)
    return assemble(kept, Array.of_valid(array.type, array.length, *parts))


def few_keys(array: Array, descending: bool = False, most_bits: int = 0) -> FewKeys | None:
    """Keys in the order of integers on the host, without nulls, if these have few values; else None.

    Args:
        descending: Whether the greatest value has the least key.
        most_bits: The most bits of a key; 0 for those that pay for a sort.
    """
    from colkern.cpu.radix import FEW_BITS, FewKeys

    if array.null_count or array.device != HOST:
        return None
    numbers = number_words(array)
    if numbers is None or numbers.width > 1 or numbers.infinity:
        return None
    most_bits = most_bits or FEW_BITS
    every_bit = (1 << numbers.bits) - 1
    low, high = 0, every_bit
    if numbers.bits > most_bits:
        # Mostly, the first slots already show that it does not pay to look at all.
        for words in (numbers.words[:_SAMPLE], numbers.words):
            low, high = word_range(target_of(HOST), words, numbers.minus)
            if (high - low).bit_length() > most_bits:
                return None
    flip, least = (
        (numbers.minus ^ every_bit, every_bit - high) if descending else (numbers.minus, low)
    )
    return FewKeys(numbers.words, flip, least, (high - low).bit_length())


def few_counts(array: Array) -> tuple[int, Items] | None:
    """The least of few integers, and how often it and each greater one occur (int64[]); see `few_keys`.

    Booleans are 0 and 1. Counts may be 0.
    """
    from colkern.cpu.radix import key_counts

    target, data = target_of(array.device), array.buffers[1] if array.length else None
    is_bool = isinstance(array.type.storage, s.Bool) and not array.null_count
    if is_bool and data is not None and array.device == HOST:
        true = count_set_bits(data, array.offset, array.length)
        return 0, target.table([array.length - true, true], np.int64)
    few = few_keys(array, most_bits=min(array.length.bit_length(), _MOST_COUNTED_BITS))
    return None if few is None else (few.low - few.flip, key_counts(target, few))


_MOST_COUNTED_BITS = 16
"""So many bits of keys, or fewer, have counts that fit a cache."""


def _keys(array: Array, numbers: NumberWords, descending: bool, nulls_first: bool) -> list[Items]:
    """The keys to sort by, in order; the last one is the most significant."""
    target = target_of(array.device)
    every_bit = (1 << numbers.bits) - 1
    flip = every_bit if descending else 0
    rounds = []
    for part in range(numbers.width):
        keys = target.output(array.length, np.uint64)
        minus = numbers.minus if part == numbers.width - 1 else 0
        if numbers.infinity:
            nan = 0 if nulls_first else every_bit
            floats = (numbers.words, minus, numbers.infinity, nan, flip)
            target.map(sorting.order_floats, array.length, *floats, keys)
        else:
            integers = (numbers.words, numbers.width, part, minus, flip)
            target.map(sorting.order_integers, array.length, *integers, keys)
        rounds.append(keys)
    return rounds


Tiebreaker = Literal["first", "min", "max", "dense"]


@operation
def rank(
    data: Array | RecordBatch,
    sort_keys: SortKeys | str | None = None,
    *,
    order: Order = "ascending",
    null_placement: Placement = "at_end",
    tiebreaker: Tiebreaker = "first",
) -> Array:
    """The rank (uint64, from 1) of each value in the order of `sort_indices`.

    Args:
        data, sort_keys, order, null_placement: As for `sort_indices`.
        tiebreaker: The ranks of equal values: "first" gives each its own, in their order; "min" or
            "max" gives all the least or the greatest of these; "dense" counts equal values once.

    Raises:
        ValueError: If there is no such tiebreaker.
        ValueError, KeyError, UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    if tiebreaker not in get_args(Tiebreaker):
        raise ValueError(f"tiebreaker: expected one of {get_args(Tiebreaker)}, got {tiebreaker!r}")
    keys = checked_keys(data, sort_keys, order, null_placement)
    target = target_of(one_device([key.values for key in keys]))
    places = _ranks(target, keys, tiebreaker)
    return integers(target, places)


_OF_EQUALS: dict[str, Callable[[Any], Any]] = {
    "min": lambda ordered: np.searchsorted(ordered, ordered, side="left") + 1,
    "max": lambda ordered: np.searchsorted(ordered, ordered, side="right"),
    "dense": lambda ordered: ordered + 1,
}
"""Tiebreaker that gives equal rows the same rank → the ranks, from dense ranks in sorted order."""


@on_its_device
def _ranks(target: Target, keys: Sequence[SortKey], tiebreaker: Tiebreaker) -> Items:
    """The rank of each row: uint64[n]."""
    if tiebreaker != "first":
        positions, dense = dense_ranks(target, sort_words(target, keys))
        ranks = target.output(len(positions), np.uint64)
        ranks[positions] = _OF_EQUALS[tiebreaker](dense[positions]).astype(np.uint64, copy=False)
        return ranks
    few = few_keys(keys[0].values, keys[0].descending) if len(keys) == 1 else None
    if few is not None:
        from colkern.cpu.radix import counted_positions

        return counted_positions(target, few, sorting.rank_few_keys)
    positions = ordered_positions(target, keys)
    ranks = target.output(len(positions), np.uint64)
    target.map(sorting.rank_positions, len(positions), positions, ranks)
    return ranks


@operation
def select_k(
    data: Array | RecordBatch,
    k: int,
    sort_keys: SortKeys | str | None = None,
    *,
    order: Order = "ascending",
) -> Array:
    """The positions (uint64) of the first `k` values or rows in order, nulls last.

    Raises:
        ValueError: If `k` is negative.
        ValueError, KeyError, UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    if k < 0:
        raise ValueError(f"k: must not be negative, got {k}")
    keys = checked_keys(data, sort_keys, order, "at_end")
    target = target_of(one_device([key.values for key in keys]))
    positions = _first_rows(target, keys, k)
    return integers(target, positions)


@on_its_device
def _first_rows(target: Target, keys: Sequence[SortKey], k: int) -> Items:
    """The positions (uint64) of the first `k` rows in order, or of all if they are fewer."""
    first = keys[0].values
    is_short = 0 < k < first.length // 8 and target.device == HOST
    if not is_short or number_words(first) is None:
        return ordered_positions(target, keys)[:k]
    # A selection by the first key takes a fraction of the time of a sort; CuPy's would be a sort.
    words = sort_words(target, keys[:1])[0]
    least = np.flatnonzero(words <= np.partition(words, k - 1)[k - 1])
    own = [key._replace(values=take(key.values, integers(target, least))) for key in keys]
    return least.view(np.uint64)[ordered_positions(target, own)[:k]]


@operation
def top_k(data: Array | RecordBatch, k: int, sort_keys: SortKeys | str | None = None) -> Array:
    """The positions (uint64) of the `k` greatest values or rows, the greatest first; as `select_k`."""
    return select_k(data, k, sort_keys, order="descending")


@operation
def range_partition_indices(array: Array, bounds: Array) -> tuple[Array, Array]:
    """The positions (uint64) of values sorted by range, and the start of each range there (int64).

    Range `p` has the values from `bounds[p - 1]` to below `bounds[p]`, in their order: the positions
    `positions[offsets[p] : offsets[p + 1]]`. There is one range more than bounds; the last range also
    has NaN and nulls.

    Args:
        array: Values that have an order, as for `sort_indices`.
        bounds: Values of the same type, in ascending order, without nulls.

    Raises:
        TypeError: If the types differ.
        ValueError: If `bounds` are not in order, or null.
        UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    for each in (array, bounds):
        require_valid(each)
    if bounds.null_count:
        raise ValueError("bounds: must not be null")
    target = target_of(array.device)
    numbers = places_among(target, array, bounds, "right", "bounds")
    positions, starts = sorted_by_number(target, numbers, bounds.length + 1)
    return integers(target, positions), integers(target, starts)


@on_its_device
def places_among(
    target: Target,
    values: Array,
    ordered: Array,
    side: Literal["left", "right"],
    name: str,
    begin: int = 0,
) -> Items:
    """The places of values among those of an array without nulls (uint64), as by NumPy's `searchsorted`.

    Places are counted from `begin` on. Raises `ValueError` with the array's name if it is not in
    ascending order.
    """
    ranks = dense_ranks(target, sort_words(target, [SortKey(concat([values, ordered]))]))[1]
    own, others = ranks[: values.length], ranks[values.length :]
    if len(others) > 1 and bool((others[1:] < others[:-1]).any()):
        raise ValueError(f"{name}: expected ascending order")
    return np.searchsorted(others, own, side=side).astype(np.uint64) + np.uint64(begin)
