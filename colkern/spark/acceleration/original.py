"""The original function over Arrow columns, with the conversions that Spark's workers make around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from colkern.spark.functions.declarations import function_name

Body: TypeAlias = Callable[..., Any]
"""A user's function of pandas columns, or of an iterator of batches of them."""

Column = TypeVar("Column")

_TIME_ZONE = "spark.sql.session.timeZone"
_SAFELY = "spark.sql.execution.pandas.convertToArrowArraySafely"
_EXTENSION = "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype"


@dataclass(frozen=True, slots=True)
class Settings:
    """Session settings for the conversion to pandas and back; the defaults are Spark 4.3's."""

    timezone: str = "UTC"  #: The time zone of the function's timestamps.
    safely: bool = True  #: Whether results that do not fit their type raise an error.
    extension: bool = False  #: Whether integers have pandas' nullable dtypes.

    @staticmethod
    def of_session() -> Settings:
        """Returns the settings of the active session; Spark's defaults if there is none."""
        session = SparkSession.getActiveSession()
        if session is None:
            return Settings()
        # Spark has a default for a setting without value.
        return Settings()._with(session.conf.get)

    def of_task(self) -> Settings:
        """Returns the settings of this task's query; these settings where the query has none."""
        task = TaskContext.get()
        return self if task is None else self._with(task.getLocalProperty)

    def _with(self, setting: Callable[[str], str | None]) -> Settings:
        zone, safely, extension = map(setting, (_TIME_ZONE, _SAFELY, _EXTENSION))
        return Settings(
            zone or self.timezone,
            self.safely if safely is None else safely.lower() == "true",
            self.extension if extension is None else extension.lower() == "true",
        )


class Original:
    """A function of pandas columns, or `over_batches` of them, that is called with Arrow columns."""

    def __init__(
        self, function: Body, returns: DataType, settings: Settings, *, over_batches: bool = False
    ) -> None:
        self.function = function
        self.settings = settings
        self.over_batches = over_batches
        self.returns = returns
        self._name = function_name(function)
        self.arrow_type = to_arrow_type(returns, timezone=settings.timezone)
        self._schema = StructType([StructField("_0", returns)])

    def __call__(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Returns the results for the rows of a batch; a function of batches gets this one alone."""
        if self.over_batches:
            return pa.concat_arrays(list(self.of_batches(iter([columns]))))
        results = self.function(*self.pandas(columns))
        return self.arrow(results, len(columns[0]))

    def of_batches(self, batches: Iterator[Sequence[pa.Array]]) -> Iterator[pa.Array]:
        """Yields the results of a function of an iterator of batches."""
        return map(self._converted, self.function(map(as_one, map(self.pandas, batches))))

    def pandas(self, columns: Sequence[pa.Array]) -> list[pd.Series]:
        """Returns the columns as Spark passes them to functions of pandas."""
        from pyspark.sql.conversion import ArrowBatchTransformer

        names = [f"_{k}" for k in range(len(columns))]
        series: list[pd.Series] = ArrowBatchTransformer.to_pandas(
            pa.RecordBatch.from_arrays(list(columns), names),
            timezone=self.settings.timezone,
            struct_in_pandas="dict",
            ndarray_as_list=False,
            prefer_int_ext_dtype=self.settings.extension,
            df_for_struct=True,
        )
        return series

    def arrow(self, results: Any, rows: int) -> pa.Array:
        """Returns the results for `rows` rows as Spark takes them; raises the errors that Spark raises."""
        if not hasattr(results, "__len__"):
            raise TypeError(f"{self._name}: expected a pandas.Series, got {type(results).__name__}")
        if len(results) != rows:
            raise ValueError(f"{self._name}: {len(results)} results for {rows} rows")
        return self._converted(results)

    def _converted(self, results: Sized) -> pa.Array:
        from pyspark.sql.conversion import PandasToArrowConversion

        batch = PandasToArrowConversion.convert(
            [results],
            self._schema,
            timezone=self.settings.timezone,
            safecheck=self.settings.safely,
            arrow_cast=True,
        )
        return batch.column(0)


def converts_as_spark() -> bool:
    """Whether this PySpark has the conversions that `Original` calls."""
    from pyspark.sql import conversion

    return hasattr(conversion, "PandasToArrowConversion") and hasattr(
        getattr(conversion, "ArrowBatchTransformer", None), "to_pandas"
    )


def as_one(columns: Sequence[Column]) -> Column | tuple[Column, ...]:
    """Returns the columns of a batch as Spark passes them to functions of batches; several are a tuple."""
    return columns[0] if len(columns) == 1 else tuple(columns)
