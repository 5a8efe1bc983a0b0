"""The readers of queries: they plan partitions on the driver, and read them on the executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from colkern.errors import UnsupportedError
from colkern.spark.source.filters import can_evaluate
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.planning import Plan, SourcePartition
from colkern.spark.source.reading import Request, read_pieces
from colkern.spark.source.spark_types import FileSchema
from colkern.spark.worker_errors import told_plainly


class FileReading:
    """The common part of the readers of queries; all files agree with `first`, unless it is None."""

    def __init__(
        self,
        options: ReadOptions,
        schema: StructType,
        first: FileSchema | None = None,
        files: list[str] | None = None,
    ) -> None:
        self.plan = Plan(options, Request.of(options, schema), first, files)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a partition that pass the filters, a record batch at a time."""
        assert isinstance(partition, SourcePartition)
        return read_pieces(partition.pieces, self.plan.request)


class SourceReader(FileReading, DataSourceReader):
    """Reads the files of one query."""

    @told_plainly()
    def partitions(self) -> list[InputPartition]:
        """Returns groups of record batches; see `colkern.spark.source.planning`."""
        try:
            return list(self.plan.partitions())
        except UnsupportedError as error:
            # This error is a NotImplementedError, which would tell Spark that the reader has no partitions.
            raise TypeError(str(error)) from error


class PushdownReader(SourceReader):
    """A reader that takes filters over from Spark.

    Spark (4.3) keeps the filters of a scan with the DataFrame that was loaded, not with the query: the
    filters of one query also hold for a later one without filters over the same DataFrame, and those
    of one branch of a query for all branches. Hence this is for a DataFrame that is used once.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Takes over the filters that colkern evaluates as Spark would; returns the others."""
        request = self.plan.request
        ours = [filter_ for filter_ in filters if can_evaluate(filter_, request.schema)]
        request = replace(request, filters=(*request.filters, *ours))
        self.plan = replace(self.plan, request=request)
        return [filter_ for filter_ in filters if not any(filter_ is one for one in ours)]
