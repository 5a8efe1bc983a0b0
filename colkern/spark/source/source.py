"""The data source of `spark.read.format("colkern")` and `.write.format("colkern")`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from colkern.errors import UnsupportedError
from colkern.spark.functions.batches import ResultSchema, result_schema
from colkern.spark.session import require_session, use_this_python
from colkern.spark.source.filters import filters_text
from colkern.spark.source.listing import list_files
from colkern.spark.source.options import ReadOptions, WriteOptions, require_known
from colkern.spark.source.planning import Plan, PushdownReader, SourceReader, file_schemas
from colkern.spark.source.spark_types import FileSchema, merged
from colkern.spark.source.writer import SourceWriter
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSourceStreamReader, DataSourceStreamWriter


def register_source(spark: SparkSession) -> None:
    """Make `spark.read.format("colkern")` and `.write.format("colkern")` work in a session.

    Executors must be able to import colkern.

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
    filters: Sequence[Sequence[object] | Callable[..., object]] | None = None,
    compute: Mapping[str, Callable[..., object]] | None = None,
    schema: ResultSchema | None = None,
    **options: object,
) -> DataFrame:
    """A DataFrame of files, `format("colkern")` with its options; and of functions of their rows::

        colkern.spark.read(spark, "lineitem/", columns=["l_orderkey"], filters=[("l_tax", ">", 0.05)])

        def length(value: str) -> int:
            return len(value)

        colkern.spark.read(spark, "logs/*.txt.gz", columns=[], compute={"length": length})

    Spark tells a Python data source neither which columns a query needs nor, safely, which rows; so
    they are given here. Only those columns are decoded, batches whose statistics rule them out are
    skipped, and other rows do not reach Spark.

    With `compute`, functions of a row run in the worker that reads the rows. What only they need never
    goes to the JVM. Their parameters are columns of the files, by name; lines of text are `value`. They
    are compiled here, as those of `udf`, and get the rows that pass all filters.

    Args:
        spark: The session; see `register_source`, which is called for it.
        *paths: Files, directories, globs, `file:` addresses.
        columns: The names of the columns that are handed on; None for all.
        filters: Conditions on the rows, as `(column, comparison, value)`; see `filters.COMPARISONS`.
            Also functions of a row that return a bool, asked after all conditions on columns of the
            files. With functions, conditions may be on columns that are not handed on, or on what is
            computed, whose names come first.
        compute: The columns that follow, by name: what `udf` takes. Or reducers with a `merge`, and no
            `columns`: then there is one row, and tasks send states, not rows.
        schema: The columns of the files and their types, as for `map_batches`; None for what the files
            say, or in CSV suggest.
        **options: Other options of the data source, such as `format`.

    Raises:
        TypeError: If `spark` is no session, or a function does not take its columns.
        ValueError: If there is no such option or column, or a filter is malformed.
        UnsupportedError, CompileError: If Spark has no type for results, or a function does not compile.

    What a function raises fails the query with the function, the row or line, and the file.
    """
    require_known(options)
    register_source(spark)
    texts = {name: _as_text(value) for name, value in options.items() if value is not None}
    declared = None if schema is None else result_schema(schema)
    if compute is None and not any(map(callable, filters or ())):
        if filters is not None:
            texts["filters"] = filters_text(filters)
        if columns is not None:
            texts["columns"] = _as_text(columns)
        reader = spark.read.format(ColkernDataSource.name()).options(**texts)
        if declared is not None:
            reader = reader.schema(_chosen(declared, columns))
        return reader.load(list(paths))

    # Imported late: workers that read files need it only if there are functions.
    from colkern.spark.source.computed import computed

    def plan_of(names: Sequence[str] | None, conditions: Sequence[object]) -> Plan:
        texts.update(paths=_as_text(paths), filters=filters_text(conditions))
        if names is not None:
            texts["columns"] = _as_text(names)
        source = ColkernDataSource(texts)
        known = source.schema() if declared is None else _chosen(declared, names)
        reader = source.reader(known)
        assert isinstance(reader, SourceReader)
        if "partitionbytes" in map(str.lower, options) or not hasattr(spark, "sparkContext"):
            return reader.plan
        return reader.plan.shared(spark.sparkContext.defaultParallelism)

    return computed(spark, plan_of, columns, filters or (), compute or {})


def _as_text(value: object) -> str:
    """Returns the value of an option as Spark passes it."""
    if isinstance(value, list | tuple):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _chosen(schema: StructType, names: Sequence[str] | None) -> StructType:
    """Returns some columns of a declared schema, all for None; ValueError if one is missing."""
    if missing := sorted(set(names or ()) - set(schema.names)):
        raise ValueError(f"schema: no column {missing[0]!r}; it has {', '.join(schema.names)}")
    return StructType([schema[name] for name in (schema.names if names is None else names)])


class ColkernDataSource(DataSource):
    """Files as a data source of Spark; see `register_source`."""

    _first: FileSchema | None = None
    _files: list[str] | None = None

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "colkern"

    @told_plainly()
    def schema(self) -> StructType:
        """Returns the schema of the first file, or of all together with the option `mergeSchema`."""
        options = ReadOptions.of(self.options)
        # Spark passes this instance to the reader, so the files are listed once.
        self._files = list_files(options)
        files = file_schemas(options, self._files)
        if options.merge_schema:
            schema = merged(files)
            names = options.columns or schema.names
            missing = sorted(set(names) - set(schema.names))
            if missing:
                raise ValueError(f"option columns: no file has a column {missing[0]!r}")
            return StructType([schema[name] for name in names])
        # The reader compares the other files with the first one.
        self._first = next(files)
        return self._first.schema

    @told_plainly()
    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns the reader of a query."""
        options = ReadOptions.of(self.options)
        make = PushdownReader if options.pushdown else SourceReader
        return make(options, schema.toNullable(), self._first, self._files)

    @told_plainly()
    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Returns the writer of a job."""
        _require_columns(schema)
        return SourceWriter(WriteOptions.of(self.options), schema.toNullable(), overwrite)

    @told_plainly()
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Returns the reader of a streaming query; ImportError if this PySpark is older than 4.2."""
        # The base classes of streams are newer than those of the rest of the data source.
        from colkern.spark.source.streams import SourceStreamReader

        return SourceStreamReader(ReadOptions.of(self.options), schema.toNullable(), self._first)

    @told_plainly()
    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Returns the writer of a streaming query."""
        _require_columns(schema)
        from colkern.spark.source.streams import SourceStreamWriter

        return SourceStreamWriter(WriteOptions.of(self.options), schema.toNullable(), overwrite)


def _require_columns(schema: StructType) -> None:
    """Raise ValueError or TypeError unless Spark passes rows of a schema to Python."""
    if not schema.fields:
        raise ValueError(
            "a DataFrame without columns: Spark does not say how many rows it has; add a column"
        )
    try:
        arrow_schema(schema)
    except UnsupportedError as error:
        # This error is a NotImplementedError, which would tell Spark that the data source cannot write.
        raise TypeError(str(error)) from error
