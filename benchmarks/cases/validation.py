"""Full validation: of offsets, of text, of lists."""

from __future__ import annotations

import nanoarrow as na
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import colkern as ck
from benchmarks.case import Case, compared
from benchmarks.timing import Work

_DISTINCT = 1_000_000
"""Of more strings, the first ones are repeated: they need many times their size to be made."""


@compared(target=3.0)
def validate_offsets(rows: int) -> Case:
    """Full validation of a binary array with 8-byte rows, which comes down to its offsets."""
    data = pa.py_buffer(bytes(rows * 8))
    starts = np.arange(0, rows * 8 + 1, 8, np.int32)
    peer = pa.BinaryArray.from_buffers(pa.binary(), rows, [None, pa.py_buffer(starts), data])

    return _validation(starts.nbytes, peer, {"nanoarrow": lambda: _assembled(peer)})


@compared(target=4.0)
def validate_ascii(rows: int) -> Case:
    """Full validation of ASCII strings of 4 to 12 bytes."""
    rng = np.random.default_rng(0)
    starts = _running(rng.integers(4, 13, rows))
    data = rng.integers(ord("a"), ord("z") + 1, starts[-1], np.uint8)
    return _text(starts, data)


@compared(target=2.0)
def validate_utf8(rows: int) -> Case:
    """Full validation of strings of 4 to 12 characters, of which a third have 2 or 3 bytes."""
    rng = np.random.default_rng(0)
    distinct = min(rows, _DISTINCT)
    lengths = rng.integers(4, 13, distinct)
    pieces = np.array([list("aé漢"[k].encode().ljust(3, b"\0")) for k in range(3)], np.uint8)
    chosen = rng.choice(3, lengths.sum(), p=(2 / 3, 1 / 6, 1 / 6))
    data = pieces[chosen].reshape(-1)
    # The fill of the shorter ones goes, and with it their width becomes 1 + their number.
    ends = _running(chosen + 1)
    sizes = np.diff(ends[_running(lengths)])
    again = rows // distinct
    return _text(_running(np.tile(sizes, again)), np.tile(data[data != 0], again))


@compared(target=3.0)
def validate_lists(rows: int) -> Case:
    """Full validation of lists of four int64."""
    starts = np.arange(0, rows * 4 + 1, 4, np.int32)
    peer = pa.ListArray.from_arrays(pa.array(starts), pa.array(np.zeros(rows * 4, np.int64)))
    return _validation(starts.nbytes, peer, {"nanoarrow": lambda: _assembled(peer)})


def _running(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _text(starts: NDArray[np.int32], data: NDArray[np.uint8]) -> Case:
    buffers = [pa.py_buffer(starts), pa.py_buffer(data)]
    peer = pa.StringArray.from_buffers(len(starts) - 1, *buffers)
    return _validation(starts.nbytes + data.nbytes, peer)


def _assembled(peer: pa.Array) -> object:
    """By nanoarrow, which looks at every offset of what it is given."""
    buffers = peer.buffers()[: 2 if peer.type.num_fields else 3]
    children = [peer.values] if peer.type.num_fields else []
    return na.c_array_from_buffers(
        peer.type, len(peer), buffers, 0, children=children, validation_level="full"
    )


def _validation(nbytes: int, peer: pa.Array, others: dict[str, Work] | None = None) -> Case:
    """Each time an array that nothing is known of yet: what has been looked at is not looked at again."""
    theirs = ck.array(peer)

    def validated() -> None:
        children = [ck.Array(c.type, c.length, c.buffers, null_count=0) for c in theirs.children]
        array = ck.Array(theirs.type, theirs.length, theirs.buffers, children, null_count=0)
        array.validate(full=True)

    contestants = {"colkern": validated, "pyarrow": lambda: peer.validate(full=True)}
    return Case(nbytes, contestants | (others or {}))
