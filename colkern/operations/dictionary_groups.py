"""Distinct values by sorting, as devices do it: equal keys are neighbours, and groups get numbers.

The keys are the values, or hashes of their bytes. Should two hashes ever be equal where the bytes are
not, the bytes themselves are sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from colkern.arrays import Array
from colkern.kernels import dictionaries as kernels
from colkern.kernels import hashing, sorting
from colkern.operations.dictionary_tables import low_words, unlike_counter
from colkern.operations.hashing import hashes_of
from colkern.operations.number_words import number_words
from colkern.operations.sorting import byte_ranks, split_nulls
from colkern.targets import Items, on_its_device, target_of


@on_its_device
def numbers_by_sorting(array: Array, counted: bool, dtype: DTypeLike) -> tuple[Items, Items]:
    """As `colkern.operations.dictionary_tables.numbers_by_table`, on any device."""
    target = target_of(array.device)
    nulls = array.null_count
    split = split_nulls(array) if nulls else None
    chosen = None if split is None else split[: array.length - nulls]
    words = number_words(array)
    by_hash = words is None or words.width > 1
    if words is None or by_hash:
        keys = hashes_of(target, array, hashing.state_of(0))
    else:
        keys = target.output(array.length, np.uint64)
        target.map(sorting.order_integers, array.length, words.words, 1, 0, 0, 0, keys)
    positions = target.sort_positions(keys, chosen)
    marks = target.output(len(positions), np.int64)
    target.map(kernels.mark_groups, len(positions), keys, positions, marks)
    groups = target.scan(marks, np.int64)
    count = target.item(groups, len(positions))
    firsts = target.output(count + 1, np.uint64)
    target.map(kernels.group_firsts, len(positions), positions, groups, firsts)
    if split is None or not counted:
        firsts = firsts[:count]
    else:
        firsts[count:] = split[array.length - nulls :][:1]
    order = target.sort_positions(firsts)
    entries = target.output(len(order), np.uint64)
    target.map(kernels.rank, len(order), order, firsts, entries)
    numbered = target.allocate(array.length, np.uint64)
    target.map(kernels.number_groups, len(positions), positions, groups, entries, numbered)
    if by_hash and unlike_counter(array)(0, numbered):
        return numbers_by_sorting(byte_ranks(array), counted, dtype)
    if split is not None and counted:
        numbered[split[array.length - nulls :]] = entries[count:]
    return low_words(numbered).astype(dtype), firsts[order].view(np.int64)
