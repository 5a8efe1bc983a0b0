"""Which slots of a union show which child.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

from typing import Any

from colkern import schema as s
from colkern.kernels import unions
from colkern.operations.patterns import compact


def child_numbers(union: s.DataType) -> list[int]:
    """For each type id from 0 to 127 the number of the child that it stands for, or -1."""
    assert isinstance(union, s.Union)
    numbers = [-1] * 128
    for number, code in enumerate(union.type_codes):
        numbers[code] = number
    return numbers


def slots_of(target: Any, type_ids: Any, code: int) -> Any:
    """The slots with a type id (int64), increasing."""
    blocks = (len(type_ids) + (1 << unions.BLOCK_BITS) - 1) >> unions.BLOCK_BITS
    ids = target.frozen(type_ids)
    return compact(target, unions.count_slots, unions.select_slots, blocks, ids, code)
