"""Selection from run-end encoded arrays, of which the runs are cut and the values are not repeated.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.kernels import runs
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.patterns import compact_blocks
from colkern.operations.runs import own_runs
from colkern.operations.selection import take_positions
from colkern.operations.targets import target_of


def filter_runs(array: Array, bits: Buffer, bit_offset: int) -> Array:
    """The slots of a checked run-end encoded array whose bit is set, run-end encoded.

    Each run becomes as long as it has such slots, and goes if it has none; neighbours that then have
    the same value stay two runs.

    Args:
        array: The array.
        bits: A bitmap on the same device.
        bit_offset: The bit of the array's first slot; there are as many as slots from there on.
    """
    target = target_of(array.device)
    ends, values = array.children
    first, count = own_runs(array)
    before = _running_bits(target, bits, bit_offset, array.length)
    kept = target.output(count + 1, np.int64)
    target.map(
        runs.kept_before,
        count + 1,
        ends.items(Role.DATA),
        first,
        array.offset,
        array.length,
        bits.array,
        bit_offset,
        before,
        kept,
    )
    kept = target.frozen(kept)
    blocks = (count + (1 << runs.BLOCK_BITS) - 1) >> runs.BLOCK_BITS
    held = compact_blocks(target, runs.count_kept_runs, runs.list_kept_runs, blocks, kept, first)
    held = target.frozen(held)
    made = target.output(len(held), ends.items(Role.DATA).dtype)
    target.map(runs.end_kept_runs, len(held), kept, first, held, made)
    run_ends = Array(ends.type, len(held), [None, target.buffer(made)], null_count=0)
    length = target.item(kept, count)
    filtered = Array(array.type, length, [], [run_ends, take_positions(values, held)])
    filtered._checked = True
    return filtered


def _running_bits(target: Any, bits: Buffer, offset: int, length: int) -> Any:
    """How many bits are set before each 64 of them (int64), and in all."""
    counts = target.output((length + 63) // 64, np.int64)
    target.map(runs.count_word_bits, len(counts), bits.array, offset, length, counts)
    return target.frozen(target.scan(counts, np.int64))
