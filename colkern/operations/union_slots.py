"""Which slots of a union show which child.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.bitmaps import bit_words
from colkern.kernels import unions
from colkern.operations.compaction import Kept
from colkern.targets import Items, Target


def child_numbers(union: s.DataType) -> list[int]:
    """For each type id from 0 to 127 the number of the child that it stands for, or -1."""
    assert isinstance(union, s.Union)
    numbers = [-1] * 128
    for number, code in enumerate(union.type_codes):
        numbers[code] = number
    return numbers


def slots_of(target: Target, type_ids: Items, code: int) -> Items:
    """The slots with a type id (uint64, read-only), increasing."""
    bits = slots_with(target, type_ids, code).view(np.uint8)
    return Kept.of(target, bits, 0, len(type_ids)).positions()


def slots_with(target: Target, type_ids: Items, code: int) -> Items:
    """Which slots have a type id, as the words (uint64) of a bitmap."""
    words: Items = bit_words(target, len(type_ids))
    ids = type_ids.view(np.uint8)
    target.map(unions.mark_slots, len(words), ids, code, len(type_ids), words)
    return words
