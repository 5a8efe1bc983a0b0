"""The reader of a streaming query: new files in directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from colkern.spark.source.merging import FileSchema
from colkern.spark.source.offsets import Offset, Stamped, stamped_files
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.partitions import SourcePartition
from colkern.spark.source.planning import Plan
from colkern.spark.source.reading import Request, read_pieces


class SourceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the files of a streaming query, each of them once unless a batch is done again.

    Args:
        options: What is read.
        schema: The columns, in Spark's terms.
        first: The file that the schema was taken from, with which the others must agree; None if
            the schema was declared, or made of all files.
    """

    def __init__(
        self, options: ReadOptions, schema: StructType, first: FileSchema | None = None
    ) -> None:
        self._options = options
        self._first = first
        self._request = Request.of(options, schema)
        self._all: list[Stamped] | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Before all files."""
        return Offset().as_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """As many files as the option `maxFilesPerTrigger` says."""
        most = self._options.max_files
        return ReadAllAvailable() if most is None else ReadMaxFiles(most)

    def prepareForTriggerAvailableNow(self) -> None:
        """Remember the files that are there: those that come later are not read."""
        self._all = stamped_files(self._options)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The offset after the new files, or after as many as the limit says."""
        files = stamped_files(self._options) if self._all is None else self._all
        offset = Offset.of_json(start)
        new = offset.new_among(files)
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return offset.after(new, self._options.late_seconds).as_json() if new else start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Groups of record batches of the files of the batch that ends there."""
        if start == end:
            return []
        request = self._request
        plan = Plan(self._options, request.schema, self._first, request.filters)
        return plan.partitions(Offset.of_json(end).files)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition, a record batch at a time."""
        assert isinstance(partition, SourcePartition)
        return read_pieces(partition.pieces, self._request)
