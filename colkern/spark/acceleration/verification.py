"""Whether a compiled function gives what the original gives, on a sample of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_ROWS = 256
"""How many rows are taken from the start and across the batch, and at most with nulls in a column."""


def sample(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Some rows of a batch: from its start, spread over it, and with nulls of each column."""
    length = len(columns[0])
    chosen = [np.arange(min(length, _ROWS)), np.linspace(0, length - 1, _ROWS).astype(np.int64)]
    for column in columns:
        if column.null_count:
            chosen.append(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[:_ROWS])
    rows = pa.array(np.unique(np.concatenate(chosen)))
    return [column.take(rows) for column in columns]


def difference(columns: Sequence[pa.Array], compiled: pa.Array, original: pa.Array) -> str | None:
    """What two results differ in; None if they are the same to the bit.

    Args:
        columns: What they are results for, for the message.
        compiled: Those of compiled code.
        original: Those of the original.
    """
    if compiled.type != original.type or len(compiled) != len(original):
        return f"{len(compiled)} results of {compiled.type}, not {len(original)} of {original.type}"
    same = pc.equal(_bits(compiled), _bits(original))
    nulls = pc.and_(compiled.is_null(), original.is_null())
    agree = pc.or_(same.fill_null(False), nulls).to_numpy(zero_copy_only=False)
    if agree.all():
        return None
    row = int(np.argmin(agree))
    values = ", ".join([repr(column[row].as_py()) for column in columns])
    return f"for ({values}) it is {compiled[row].as_py()!r}, not {original[row].as_py()!r}"


def _bits(array: pa.Array) -> pa.Array:
    """Floats as integers, so that signs of zeros and NaNs count."""
    if pa.types.is_floating(array.type):
        return array.view(pa.int32() if array.type == pa.float32() else pa.int64())
    return array
