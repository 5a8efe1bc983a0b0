"""Sets up Spark's Python workers at their first function of colkern."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from pyspark import TaskContext

from colkern.spark.deployment.archives import unpack_on_executor

if TYPE_CHECKING:
    import pyarrow as pa

READER_VARIABLE = "COLKERN_SPARK_READER"
"""The environment variable with which workers use colkern's reader of Arrow streams, if it is 1."""


def set_up_worker() -> None:
    """Unpack compiled functions that were shipped; use colkern's reader if the environment says so."""
    if TaskContext.get() is None:
        return
    # Unpickling a function imports `colkern.spark`, before the first stream is opened.
    unpack_on_executor()
    if os.environ.get(READER_VARIABLE) == "1":
        use_own_reader()


def use_own_reader() -> None:
    """Make this process's Spark read Arrow streams with colkern."""
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer

    ArrowStreamSerializer.load_stream = read_batches


def read_batches(_: object, stream: IO[bytes]) -> Iterator[pa.RecordBatch]:
    """Yields the batches of one stream, as views of colkern's memory; replaces a method of Spark's
    serializer."""
    # Imported late: other workers need not wait for all of `colkern.ipc`.
    import pyarrow as pa

    from colkern.ipc import open_stream

    # Reads no more from `stream` than the Arrow stream: streams of other groups follow, then Spark's own
    # bytes. Raises InvalidArrowError if the stream is malformed.
    with open_stream(stream) as reader:
        for batch in reader:
            yield pa.record_batch(batch)
