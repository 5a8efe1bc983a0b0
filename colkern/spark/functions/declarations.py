"""Declarations of functions for Spark: their names, and the types of their columns and results."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from pyspark.sql import Row

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit.signatures import FORM, Parameter
from colkern.rows.columns import RESULTS_OF_HINTS
from colkern.rows.forms import Form
from colkern.rows.kinds import FieldRow
from colkern.spark.types import arrow_type, spark_type

if TYPE_CHECKING:
    from colkern.jit import Generator, Reducer, Udf

    ColumnFunction: TypeAlias = Udf | Reducer | Generator


FieldRow.register(Row)


class SparkForm(Form):
    """The form of values in PySpark's own functions: maps are dictionaries, structs are rows."""

    def row(self, names: list[str], values: list[Any]) -> Row:
        """Returns a row of values with names."""
        row = Row(*values)
        row.__fields__ = names
        return row


@contextlib.contextmanager
def values_of_spark() -> Iterator[None]:
    """Makes functions of rows that are defined within the context get values as PySpark's functions do."""
    before = FORM.set(SparkForm(maps=dict, structs=Row))
    try:
        yield
    finally:
        FORM.reset(before)


class Options(TypedDict, total=False):
    """The options of `colkern.udf`, `reducer` and `generator`."""

    returns: object
    nulls: Literal["propagate", "pass"]
    signature: str | None


class RowOptions(Options, total=False):
    """The options of `colkern.udf`; generators and reducers have only those of `Options`."""

    arithmetic: Literal["python", "machine"]
    strict: bool
    fallback: bool


MOMENT = s.timestamp("us", "UTC")
"""The type for the hint `datetime.datetime` in Spark: an instant, not a local time without a zone."""


def function_name(function: object) -> str:
    """Returns the name of a user's function for messages."""
    return getattr(function, "__name__", type(function).__name__)


def column_type(parameter: Parameter) -> s.DataType | None:
    """Returns the type of the column that a parameter will most likely get; None if unknown."""
    declared = parameter.type
    if declared is None or isinstance(declared, s.DataType):
        return declared
    return MOMENT if declared is datetime.datetime else RESULTS_OF_HINTS.get(declared)


def column_types(function: ColumnFunction) -> list[s.DataType] | None:
    """Returns the types of the columns that a function will most likely get; None if one is unknown."""
    parameters = function.signature.parameters
    types = [column_type(parameter) for parameter in parameters]
    known = [type_ for type_ in types if type_ is not None]
    if len(known) < len(types):
        return None
    if any(parameter.type is datetime.datetime for parameter in parameters):
        try:
            function.result_type(*known)
        except CompileError:
            # The function is for times without a zone.
            return [s.timestamp("us") if type_ == MOMENT else type_ for type_ in known]
    return known


def result_type(function: ColumnFunction, columns: list[s.DataType] | None) -> s.DataType:
    """Returns the type of a function's results in Spark, for columns of some types, or None if unknown."""
    if function.signature.hint is datetime.datetime:
        returns: s.DataType = MOMENT
    elif function.signature.returns is not None:
        returns = function.signature.returns
    else:
        # A function that runs in Python has no known result type before there are results.
        inferred = s.null() if columns is None else function.result_type(*columns)
        if inferred != s.null():
            return arrow_type(spark_type(inferred))
        raise TypeError(
            f"{function.name}: Spark must know the type of the results: write it as a hint, as in "
            f"`-> float`, or give the types of all parameters, as in `x: float`"
        )
    return arrow_type(spark_type(s.list_(returns) if function.KIND == "generator" else returns))
