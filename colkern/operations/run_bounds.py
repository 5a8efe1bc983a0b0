"""Where runs of equal neighbours begin and end.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np

from colkern.errors import LimitExceededError
from colkern.kernels import changes, runs
from colkern.memory import ALIGNMENT
from colkern.targets import Items, Target

_FEW = 8
"""Where fewer than one in so many neighbours are equal, merging positions is not worth it."""


def encode_words(
    target: Target, words: Items, kind: np.dtype[np.signedinteger]
) -> tuple[Items, Items | None]:
    """The run ends of equal neighbours among `words` (uint32/uint64[n]), and where each run begins.

    Both are of the dtype `kind`. Or a run for each word, and None, if hardly any neighbours are equal.
    """
    count = len(words)
    marks = target.output((count + 63) // 64, np.uint64)
    target.map(changes.mark_changes, len(marks), words, 1, count, marks)
    counts, total = _counted(target, marks)
    if total > count - count // _FEW:
        numbers = target.output(count, kind)
        target.map(runs.number_runs, count, numbers)
        return numbers, None
    bounds = _listed(target, marks, counts, total, count, kind)
    return bounds[1:], bounds[:-1]


def require_room(length: int, kind: np.dtype[np.signedinteger]) -> None:
    """Raise `LimitExceededError` if run ends of that dtype are too small for `length` slots."""
    if length.bit_length() >= 8 * kind.itemsize:
        raise LimitExceededError(f"{length} slots do not fit run ends of {kind}")


def run_bounds(
    target: Target, marks: Items, length: int, kind: np.dtype[np.signedinteger]
) -> Items:
    """Where runs begin, by bits set there (words), and, one further, the last ends; read-only."""
    return _listed(target, marks, *_counted(target, marks), length, kind)


def _counted(target: Target, marks: Items) -> tuple[Items, int]:
    """How many marks there are before each block of them (int64), and in all."""
    blocks = -(-len(marks) // changes.BLOCK_WORDS)
    counts = target.output(blocks + 1, np.int64)
    target.map(changes.count_changes, blocks, marks, counts[1:])
    target.accumulate(counts)
    return counts, target.item(counts, blocks)


def _listed(
    target: Target,
    marks: Items,
    counts: Items,
    total: int,
    length: int,
    kind: np.dtype[np.signedinteger],
) -> Items:
    # The ends are a buffer of their own without being copied: they begin one item after the starts, and
    # where a buffer may.
    before = ALIGNMENT // kind.itemsize - 1
    bounds = target.output(before + total + 1, kind)[before:]
    target.map(changes.list_changes, len(counts) - 1, marks, counts, bounds)
    bounds[total] = length
    return bounds
