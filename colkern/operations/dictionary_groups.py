"""Distinct values by sorting, as devices do it: equal keys are neighbours, and groups get numbers.

The keys are the values, or hashes of their bytes. Should two hashes ever be equal where the bytes are
not, hashes of another seed are taken; bytes can be chosen so that these are equal for each seed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import dictionaries as kernels
from colkern.kernels import hashing, sorting
from colkern.operations.hashing import ViewBytes, byte_values, hashes_of, run_masks
from colkern.operations.number_words import number_words
from colkern.operations.sorting import split_nulls
from colkern.targets import Items, Later, Target, on_its_device, target_of

_SEEDS = 8
"""How many seeds are tried."""


@on_its_device
def numbers_by_sorting(array: Array, counted: bool, dtype: DTypeLike) -> tuple[Items, Items]:
    """As `colkern.operations.dictionary_tables.numbers_by_table`, on any device."""
    target = target_of(array.device)
    nulls = array.null_count
    split = split_nulls(array) if nulls else None
    chosen = None if split is None else split[: array.length - nulls]
    positions, groups, values = _grouped(array, chosen)
    count = values()
    firsts = target.output(count + 1, np.uint64)
    target.map(kernels.group_firsts, len(positions), positions, groups, firsts)
    if split is None or not counted:
        firsts = firsts[:count]
    else:
        firsts[count:] = split[array.length - nulls :][:1]
    order = target.sort_positions(firsts)
    ranks = target.output(len(order), np.uint64)
    target.map(kernels.rank, len(order), order, ranks)
    numbers = target.allocate(array.length, np.uint64)
    target.map(kernels.number_groups, len(positions), positions, groups, ranks, numbers)
    if split is not None and counted:
        numbers[split[array.length - nulls :]] = ranks[count:]
    return numbers.astype(dtype), firsts[order].view(np.int64)


_Groups: TypeAlias = tuple[Items, Items, Later]
"""Positions by value, how many values there are before each of them (one more than those), and in all."""


def _grouped(array: Array, chosen: Items | None) -> _Groups:
    """The groups of equal values."""
    numbers = number_words(array)
    if numbers is not None and numbers.width == 1:
        target = target_of(array.device)
        keys = target.output(array.length, np.uint64)
        words = (numbers.words, 1, 0, 0, 0)
        target.map(sorting.order_integers, array.length, *words, keys)
        return _grouped_by(target, keys, chosen)
    for seed in range(_SEEDS):
        if (grouped := _grouped_bytes(array, chosen, seed)) is not None:
            return grouped
    raise LimitExceededError(
        f"different values of {array.type} on {array.device} have equal hashes for {_SEEDS} seeds; "
        f"colkern.to_host copies the array, and on the host any values are told apart"
    )


def _grouped_bytes(array: Array, chosen: Items | None, seed: int) -> _Groups | None:
    """As `_grouped`; None if different bytes have the same hash."""
    target = target_of(array.device)
    state = hashing.state_of(seed)
    hashes = hashes_of(target, array, state)
    positions, groups, count = _grouped_by(target, hashes, chosen)
    values = byte_values(array)
    pairs = max(len(positions) - 1, 0)
    looks = [run_masks(target)]
    if isinstance(values, ViewBytes):
        kernel = kernels.count_unlike_views
    else:
        kernel = kernels.count_unlike_strings
        looks.append(target.no_bits)
    if pairs and target.reduce(kernel, pairs, positions, groups, *values, *looks):
        return None
    return positions, groups, count


def _grouped_by(target: Target, keys: Items, chosen: Items | None) -> _Groups:
    positions = target.sort_positions(keys, chosen)
    marks = target.output(len(positions), np.int64)
    target.map(kernels.mark_groups, len(positions), keys, positions, marks)
    groups = target.scan(marks, np.int64)
    return positions, groups, target.later_item(groups, len(positions))
