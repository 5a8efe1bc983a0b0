"""The data source of `spark.read.format("colkern")` and `.write.format("colkern")`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from colkern.errors import UnsupportedError
from colkern.spark.session import require_session, use_this_python
from colkern.spark.source.listing import list_files
from colkern.spark.source.merging import FileSchema, merged
from colkern.spark.source.options import ReadOptions, WriteOptions, require_known
from colkern.spark.source.planning import file_schemas
from colkern.spark.source.predicates import filters_text
from colkern.spark.source.reader import PushdownReader, SourceReader
from colkern.spark.source.spark_types import as_nullable
from colkern.spark.source.writer import SourceWriter
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSourceStreamReader, DataSourceStreamWriter


def register_source(spark: SparkSession) -> None:
    """Make `spark.read.format("colkern")` and `.write.format("colkern")` work in a session.

    Executors must be able to import colkern.

    Args:
        spark: The session.

    Raises:
        TypeError: If it is no session.
    """
    require_session(spark)
    use_this_python()
    spark.dataSource.register(ColkernDataSource)


def read(
    spark: SparkSession,
    *paths: str,
    columns: Sequence[str] | None = None,
    filters: Sequence[Sequence[object]] | None = None,
    **options: object,
) -> DataFrame:
    """A DataFrame of Arrow IPC files and streams: `format("colkern")` with its options::

        colkern.spark.read(spark, "lineitem/", columns=["l_orderkey"], filters=[("l_tax", ">", 0.05)])

    Spark tells a Python data source neither which columns a query needs nor, safely, which rows; so
    they are given here. Only those columns are decoded, batches whose statistics rule them out are
    skipped, and other rows do not reach Spark.

    Args:
        spark: The session; see `register_source`, which is called for it.
        *paths: Files, directories, globs, `file:` addresses.
        columns: The names of the columns that are read; None for all.
        filters: Conditions on the rows, as `(column, comparison, value)`; see `predicates.COMPARISONS`.
            A column of these must be one of `columns`.
        **options: Other options of the data source.

    Raises:
        TypeError: If `spark` is no session.
        ValueError: If there is no such option, or a filter is malformed.
    """
    require_known(options)
    register_source(spark)
    reader = spark.read.format(ColkernDataSource.name()).options(**options)
    if columns is not None:
        reader = reader.option("columns", json.dumps(list(columns)))
    if filters is not None:
        reader = reader.option("filters", filters_text(list(filters)))
    return reader.load(list(paths))


class ColkernDataSource(DataSource):
    """Arrow IPC files and streams as a data source of Spark; see `register_source`."""

    _first: FileSchema | None = None
    _files: list[str] | None = None

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "colkern"

    @told_plainly()
    def schema(self) -> StructType:
        """The schema of the first file, or that of all together with the option `mergeSchema`.

        Raises:
            FileNotFoundError: If there is nothing at a path.
            ValueError: If there is no file, no such column, or files do not agree.
            UnsupportedError: If Spark has no type for a column; names the file and the column.
        """
        options = ReadOptions.of(self.options)
        # The instance goes on to the reader: the files are listed once.
        self._files = list_files(options)
        files = file_schemas(options, self._files)
        if options.merge_schema:
            schema = merged(files)
            names = options.columns or schema.names
            missing = sorted(set(names) - set(schema.names))
            if missing:
                raise ValueError(f"option columns: no file has a column {missing[0]!r}")
            return StructType([schema[name] for name in names])
        # The reader compares the other files with this one.
        self._first = next(files)
        return self._first.schema

    @told_plainly()
    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a query."""
        options = ReadOptions.of(self.options)
        make = PushdownReader if options.pushdown else SourceReader
        return make(options, as_nullable(schema), self._first, self._files)

    @told_plainly()
    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The writer of a job."""
        _require_columns(schema)
        return SourceWriter(WriteOptions.of(self.options), as_nullable(schema), overwrite)

    @told_plainly()
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """The reader of a streaming query; ImportError if this PySpark is older than 4.2."""
        # Its base classes are newer than those of the rest of the data source.
        from colkern.spark.source.stream_reader import SourceStreamReader

        return SourceStreamReader(ReadOptions.of(self.options), as_nullable(schema), self._first)

    @told_plainly()
    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """The writer of a streaming query."""
        _require_columns(schema)
        from colkern.spark.source.stream_writer import SourceStreamWriter

        return SourceStreamWriter(WriteOptions.of(self.options), as_nullable(schema), overwrite)


def _require_columns(schema: StructType) -> None:
    """Raise ValueError or TypeError unless Spark passes rows of a schema to Python."""
    if not schema.fields:
        raise ValueError(
            "a DataFrame without columns: Spark does not say how many rows it has; add a column"
        )
    try:
        arrow_schema(schema)
    except UnsupportedError as error:
        # Spark takes a NotImplementedError, as this is one, for a data source that cannot write.
        raise TypeError(str(error)) from error
