"""colkern's reader of Arrow streams instead of PySpark's, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa
from pyspark.sql.pandas.serializers import ArrowStreamSerializer

from colkern.ipc import open_stream


def read_batches(_: ArrowStreamSerializer, stream: IO[bytes]) -> Iterator[pa.RecordBatch]:
    """Yields the batches of one stream, as views of colkern's memory; replaces a method of Spark's
    serializer."""
    # Reads no more from `stream` than the Arrow stream: streams of other groups follow, then Spark's own
    # bytes. Raises InvalidArrowError if the stream is malformed.
    with open_stream(stream) as reader:
        for batch in reader:
            yield pa.record_batch(batch)


def use_own_reader() -> None:
    """Make this process's Spark read Arrow streams with colkern."""
    ArrowStreamSerializer.load_stream = read_batches
