"""Arrays made from a type and a length alone.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import ChildLength, LayoutKind, layout
from colkern.memory import HOST, Device
from colkern.operations.arguments import operation
from colkern.operations.run_search import require_run_ends
from colkern.targets import filled, target_of


@operation
def nulls(length: int, type: s.TypeLike, device: Device = HOST) -> Array:
    """An array of `length` nulls; in a union they are in the first child, in runs in the one value.

    Raises:
        ValueError: If the length is negative, or a union without children is to have slots.
        LimitExceededError: If the length does not fit the type's run ends.
    """
    if length < 0:
        raise ValueError(f"length: must not be negative, got {length}")
    type = s.as_type(type)
    target = target_of(device)
    rule = layout(type)
    buffers = [
        target.buffer(target.allocate(spec.min_bytes(length), np.uint8)) for spec in rule.buffers
    ]
    storage = type.storage
    if isinstance(storage, s.Union):
        # Type ids of zero would be wrong, since 0 need not be the code of a child.
        if length and not storage.type_codes:
            raise ValueError(f"length: {type} has no child that could hold a null")
        code = storage.type_codes[0] if length else 0
        buffers[0] = target.buffer(filled(target, length, np.int8, code))
    if isinstance(storage, s.RunEndEncoded):
        children = [
            _one_run(length, storage, device),
            nulls(min(length, 1), storage.value_type, device),
        ]
    else:
        sizes = _child_lengths(rule.child_length, storage, length)
        children = [
            nulls(size, field.type, device)
            for field, size in zip(storage.fields, sizes, strict=True)
        ]
    dictionary = nulls(0, storage.value_type, device) if isinstance(storage, s.Dictionary) else None
    has_nulls = rule.has_validity or rule.kind is LayoutKind.NULL
    return Array(type, length, buffers, children, dictionary, null_count=length if has_nulls else 0)


def _child_lengths(rule: ChildLength, storage: s.DataType, length: int) -> list[int]:
    if rule is ChildLength.SAME:
        return [length] * len(storage.fields)
    if isinstance(storage, s.FixedSizeList):
        return [length * storage.list_size]
    if rule is ChildLength.SLOT_OFFSETS:
        return [min(length, 1), *[0] * (len(storage.fields) - 1)][: len(storage.fields)]
    return [0] * len(storage.fields)


def _one_run(length: int, storage: s.RunEndEncoded, device: Device) -> Array:
    target = target_of(device)
    kind = layout(storage.run_ends_field.type).buffers[1].dtype
    require_run_ends(length, kind)
    ends = target.table([length][:length], kind)
    return Array(storage.run_ends_field.type, len(ends), [None, target.buffer(ends)], null_count=0)
