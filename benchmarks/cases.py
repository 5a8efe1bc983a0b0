"""What is compared: one case an operation and size, with colkern and each peer that has it.

Every contestant works on the same buffers, and on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks.timing import Work
from colkern.layouts import Role

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    """One row of the comparison.

    Args:
        name: Operation and data.
        nbytes: The bytes that the operation must read and write, for its share of the bandwidth.
        contestants: Library → the work; all do the same.
        target: The ratio of the peer's time to colkern's that the project promises.
    """

    name: str
    nbytes: int
    contestants: dict[str, Work]
    target: float


def cases(quick: bool) -> Iterator[Callable[[], Case]]:
    """The cases, each made when its turn comes; `quick` leaves out what does not fit a cache."""
    for size in (
        (32 * KIB, 512 * KIB, 8 * MIB) if quick else (32 * KIB, 512 * KIB, 8 * MIB, 256 * MIB)
    ):
        yield lambda size=size: popcount(size)  # type: ignore[misc]
    for values in (100_000,) if quick else (100_000, 10_000_000):
        yield lambda values=values: offsets(values)  # type: ignore[misc]
    for values in (1_000_000,) if quick else (1_000_000, 10_000_000):
        for run in (2, 10, 100, 1000):
            yield lambda values=values, run=run: run_end_decode(values, run)  # type: ignore[misc]


def popcount(size: int) -> Case:
    """The set bits of a bitmap of `size` bytes; pyarrow sums the same bits as booleans."""
    bits = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    peer = pa.BooleanArray.from_buffers(pa.bool_(), size * 8, [None, pa.py_buffer(bits)])
    buffer = ck.array(peer).buffer(Role.DATA)
    assert buffer is not None
    return Case(
        f"popcount, {_size(size)}",
        size,
        {
            "colkern": lambda: ck.operations.count_set_bits(buffer, 0, size * 8),
            "pyarrow": lambda: peer.true_count,
        },
        2.0 if size <= 8 * MIB else 1.0,
    )


def offsets(values: int) -> Case:
    """Full validation of a binary array with 8-byte values, which comes down to its offsets."""
    data = pa.py_buffer(bytes(values * 8))
    starts = np.arange(0, values * 8 + 1, 8, np.int32)
    peer = pa.BinaryArray.from_buffers(pa.binary(), values, [None, pa.py_buffer(starts), data])

    def validated() -> None:
        array = ck.Array(ck.binary(), values, theirs.buffers, null_count=0)
        array.validate(full=True)

    theirs = ck.array(peer)
    return Case(
        f"validate offsets, {values:,} values",
        starts.nbytes,
        {"colkern": validated, "pyarrow": lambda: peer.validate(full=True)},
        3.0,
    )


def run_end_decode(values: int, run: int) -> Case:
    """int64 values from runs of equal length."""
    peer = pc.run_end_encode(pa.array(np.repeat(np.arange(values // run), run)))
    ours = ck.array(peer)
    return Case(
        f"run_end_decode, {values:,} int64, runs of {run}",
        values * 8 + values // run * 12,
        {
            "colkern": lambda: ck.run_end_decode(ours),
            "pyarrow": lambda: pc.run_end_decode(peer),
        },
        1.0,
    )


def _size(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"
