"""Run-end encoded arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks.case import Case, compared


@compared(run=(10, 2, 100, 1000))
def run_end_decode(rows: int, run: int) -> Case:
    """int64 values from runs of equal length."""
    peer = pc.run_end_encode(pa.array(np.repeat(np.arange(rows // run), run)))
    ours = ck.array(peer)
    return Case(
        rows * 8 + rows // run * 12,
        {
            "colkern": lambda: ck.run_end_decode(ours),
            "pyarrow": lambda: pc.run_end_decode(peer),
        },
    )
