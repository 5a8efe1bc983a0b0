"""Batches by their metadata: rows, null counts, sizes, codec. No column is decoded.

Columnar format 1.5: "RecordBatch message", "Dictionary messages".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern.ipc.enums import MessageHeader
from colkern.ipc.limits import Limits
from colkern.ipc.reading.batches import BatchColumns
from colkern.ipc.reading.messages import Message
from colkern.ipc.reading.plans import Projection, SchemaPlan


@dataclass(frozen=True, slots=True, eq=False)
class BatchSummary:
    """One record batch, or one dictionary batch, by its metadata.

    Args:
        length: The number of rows, or of values of the dictionary.
        null_counts: int64[columns] of the reader's schema, as the batch states them; -1 where it
            does not, and for columns whose nulls only their values tell (unions, runs). Of a
            dictionary batch, that of the values.
        body_bytes: The size of the body, padding included.
        uncompressed_bytes: The size of all buffers together without compression and padding.
        compression: "lz4", "zstd", or None where buffers are plain.
        metadata: The message's custom metadata.
        dictionary: The id of the dictionary that the values belong to; None for a record batch.
        is_delta: Whether the values come behind those that the dictionary has.
    """

    length: int
    null_counts: NDArray[np.int64]
    body_bytes: int
    uncompressed_bytes: int
    compression: str | None
    metadata: Mapping[bytes, bytes] | None
    dictionary: int | None
    is_delta: bool


def summary_of(
    message: Message, plan: SchemaPlan, projection: Projection, limits: Limits
) -> BatchSummary:
    """The summary of a message, which holds a record batch or a batch of a dictionary of the schema."""
    record, columns, dictionary, is_delta = message.header, plan.columns, None, False
    if message.kind == MessageHeader.DictionaryBatch:
        dictionary, is_delta = record["id"], record["isDelta"]
        record, columns = record["data"], plan.dictionaries[dictionary]
    batch = BatchColumns(record, message, columns, plan.big_endian, limits)
    null_counts = batch.null_counts()
    if dictionary is None:
        null_counts = projection.counts_of(null_counts)
    return BatchSummary(
        batch.length,
        null_counts,
        message.body.size,
        batch.uncompressed_bytes(),
        batch.compression,
        message.metadata,
        dictionary,
        is_delta,
    )
