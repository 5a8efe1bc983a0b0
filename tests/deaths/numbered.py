"""An endless stream whose every value follows from the number of its batch, so that each can be checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from colkern import RecordBatch, Schema, record_batch

MOST_ROWS = 1 << 16


class Numbered:
    """The batches from number 0 on; every iteration begins anew."""

    @property
    def schema(self) -> Schema:
        return made(0).schema

    def __iter__(self) -> Iterator[RecordBatch]:
        return map(made, itertools.count())


def made(number: int) -> RecordBatch:
    """One batch: of few rows or of many, 64 KiB as a rule."""
    values = _values(number)
    return record_batch({"n": values, "half": values.astype(np.float32) / 2})


def check(batch: RecordBatch, number: int) -> None:
    """Raise `AssertionError` unless it is that batch, value by value."""
    values = _values(number)
    for name, expected in (("n", values), ("half", values.astype(np.float32) / 2)):
        result = np.from_dlpack(batch.column(name))
        assert np.array_equal(result, expected), f"batch {number}: wrong data in {name!r}"


def _values(number: int) -> NDArray[np.int64]:
    rows = 1 + number * 7919 % MOST_ROWS
    return np.arange(number, number + rows, dtype=np.int64)
