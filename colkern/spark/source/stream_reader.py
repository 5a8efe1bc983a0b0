"""The reader of a streaming query: new files in directories."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from colkern.spark.source.offsets import JsonOffset, Offset, Stamped, stamped_files
from colkern.spark.source.reader import FileReading


class SourceStreamReader(FileReading, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the files of a streaming query, each of them once unless a batch is done again."""

    _all: list[Stamped] | None = None

    def initialOffset(self) -> JsonOffset:
        """The offset before all files."""
        return Offset().as_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """The number of files that the option `maxFilesPerTrigger` gives."""
        most = self._plan.options.max_files
        return ReadMaxFiles(most) if most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Remember the files that are there: those that come later are not read."""
        self._all = stamped_files(self._plan.options)

    def latestOffset(self, start: JsonOffset, limit: ReadLimit) -> JsonOffset:
        """The offset after the new files, or after as many as the limit allows."""
        options = self._plan.options
        files = stamped_files(options) if self._all is None else self._all
        offset = Offset.of_json(start)
        new = offset.new_among(files)
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return offset.after(new, options.late_seconds).as_json() if new else start

    def partitions(self, start: JsonOffset, end: JsonOffset) -> Sequence[InputPartition]:
        """Groups of record batches of the files of the batch that ends there."""
        return [] if start == end else self._plan.partitions(Offset.of_json(end).files)
