"""What is compared: one case an operation and size, with colkern and each peer that has it.

Every contestant works on the same buffers, with the same number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import colkern as ck
from benchmarks.case import Case
from benchmarks.ipc_cases import ipc_cases
from colkern.layouts import Role

KIB, MIB = 1 << 10, 1 << 20


def cases(quick: bool) -> Iterator[Callable[[], Case]]:
    """The cases, each made when its turn comes; `quick` leaves out what does not fit a cache."""
    for size in (
        (32 * KIB, 512 * KIB, 8 * MIB) if quick else (32 * KIB, 512 * KIB, 8 * MIB, 256 * MIB)
    ):
        yield lambda size=size: popcount(size)  # type: ignore[misc]
    for values in (100_000,) if quick else (100_000, 10_000_000):
        yield lambda values=values: offsets(values)  # type: ignore[misc]
    for values in (500_000,) if quick else (500_000, 5_000_000):
        for make in (ascii_text, mixed_text, lists):
            yield lambda values=values, make=make: make(values)  # type: ignore[misc]
    for values in (1_000_000,) if quick else (1_000_000, 10_000_000):
        for run in (2, 10, 100, 1000):
            yield lambda values=values, run=run: run_end_decode(values, run)  # type: ignore[misc]
    yield from ipc_cases(quick)


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

    return _validation(f"validate offsets, {values:,} values", starts.nbytes, peer, 3.0)


def ascii_text(values: int) -> Case:
    """Full validation of ASCII strings of 4 to 12 bytes."""
    rng = np.random.default_rng(0)
    starts = _running(rng.integers(4, 13, values))
    data = rng.integers(ord("a"), ord("z") + 1, starts[-1], np.uint8)
    return _text(f"validate ASCII text, {values:,} strings", starts, data, 4.0)


def mixed_text(values: int) -> Case:
    """Full validation of strings of 4 to 12 characters, of which a third have 2 or 3 bytes."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 13, values)
    pieces = np.array([list("aé漢"[k].encode().ljust(3, b"\0")) for k in range(3)], np.uint8)
    chosen = rng.choice(3, lengths.sum(), p=(2 / 3, 1 / 6, 1 / 6))
    data = pieces[chosen].reshape(-1)
    # The fill of the shorter ones goes, and with it their width becomes 1 + their number.
    ends = _running(chosen + 1)
    starts = ends[_running(lengths)]
    return _text(f"validate mixed text, {values:,} strings", starts, data[data != 0], 2.0)


def lists(values: int) -> Case:
    """Full validation of lists of four int64."""
    starts = np.arange(0, values * 4 + 1, 4, np.int32)
    peer = pa.ListArray.from_arrays(pa.array(starts), pa.array(np.zeros(values * 4, np.int64)))
    return _validation(f"validate lists, {values:,} of int64", starts.nbytes, peer, 3.0)


def _running(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _text(name: str, starts: NDArray[np.int32], data: NDArray[np.uint8], target: float) -> Case:
    buffers = [pa.py_buffer(starts), pa.py_buffer(data)]
    peer = pa.StringArray.from_buffers(len(starts) - 1, *buffers)
    return _validation(name, starts.nbytes + data.nbytes, peer, target)


def _validation(name: str, nbytes: int, peer: pa.Array, target: float) -> Case:
    """Each time an array that nothing is known of yet: what has been looked at is not looked at again."""
    theirs = ck.array(peer)

    def validated() -> None:
        children = [ck.Array(c.type, c.length, c.buffers, null_count=0) for c in theirs.children]
        array = ck.Array(theirs.type, theirs.length, theirs.buffers, children, null_count=0)
        array.validate(full=True)

    contestants = {"colkern": validated, "pyarrow": lambda: peer.validate(full=True)}
    return Case(name, nbytes, contestants, target)


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
