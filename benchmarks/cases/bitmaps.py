"""Bitmaps."""

from __future__ import annotations

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from colkern.layouts import Role


# 2**18 and 2**22 bits are 32 and 512 KiB.
@compared(target=2.0, rows=(1_000, 1 << 18, 1_000_000, 1 << 22, 1 << 26))
def count_set_bits(rows: int) -> Case:
    """pyarrow sums the same bits as booleans."""
    peer = data.mask(rows, 0.5)
    buffer = ck.array(peer).buffer(Role.DATA)
    assert buffer is not None
    return Case(
        rows // 8,
        {
            "colkern": lambda: ck.operations.count_set_bits(buffer, 0, rows),
            "pyarrow": lambda: peer.true_count,
        },
    )
