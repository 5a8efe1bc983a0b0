"""Unions of two children."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import unions as kernels


def children(data: Data) -> Any:
    """Type id -> child."""
    return data.table([0, 1, *[-1] * 126], "i8")


@launches
def sparse_unions(data: Data) -> Iterator[Launch]:
    count = 8 * data.slots(8 * 25)
    ids, none = data.numbers(count, 2, "i1"), data.table([], "i4")
    slots = (ids, children(data), none)
    values = [data.range(count, "u8") for _ in range(2)]
    out = data.out(count, "u8")
    table = data.addresses(*values)
    yield Launch(kernels.gather_union, "u8", count, *slots, table, 1, out, at=values[:1])
    bases = (data.table([0, count], "i8"), out.view("i8"))
    yield Launch(kernels.rebase_slots, "i8", count, *slots, *bases)
    lengths = data.table([count, count], "i8")
    yield Launch(kernels.first_slot_out_of_bounds, "", count, *slots, lengths)
    bits = [data.bits(count) for _ in range(2)]
    size, first_bits = count // 8, data.table([0, 0], "u8")
    args = (*slots, data.addresses(*bits), first_bits, count, data.out(size, "u1"))
    yield Launch(kernels.gather_union_bits, "", size, *args, at=bits[:1])
