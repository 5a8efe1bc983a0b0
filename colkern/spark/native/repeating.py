"""Whether a column may stand in several places of an expression.

Spark computes it in each place. A column has the same value in each if all functions in it are Spark's own
and give one value for a row, or are users' functions that are declared deterministic. Names of functions
in a column's text tell neither: functions in Python have any name, and SQL is text of any form.
"""

from __future__ import annotations

import re
from typing import Any

import pyspark
from pyspark.sql import Column
from pyspark.sql import functions as f

_OTHER_EACH_TIME_NAMES = """
    rand randn randstr uniform shuffle aes_encrypt monotonically_increasing_id java_method reflect
    try_reflect
"""
_OTHER_EACH_TIME = frozenset(_OTHER_EACH_TIME_NAMES.split())
"""Spark's functions that may give another value each time they are computed."""

_NOT_IN_SQL_NAMES = """
    AnalyzeArgument AnalyzeResult ArrowUDFType OrderingColumn PandasUDFType PartitioningColumn
    SelectedColumn SkipRestOfInputTableException UserDefinedFunction UserDefinedTableFunction arrow_udf
    arrow_udtf pandas_udf udf udtf unwrap_udt call_function call_udf expr col column lit asc
    asc_nulls_first asc_nulls_last desc desc_nulls_first desc_nulls_last broadcast bucket days hours
    months years negate product create_map bitwise_not bitwiseNOT count_distinct countDistinct
    sum_distinct sumDistinct listagg_distinct string_agg_distinct timestamp_add timestamp_diff
"""
_NOT_IN_SQL = frozenset(_NOT_IN_SQL_NAMES.split())
"""Names of `pyspark.sql.functions` that are no functions of SQL, so that users may register theirs."""

_OPERATORS = "and or not in map if between ! % & * + - / < << <= <=> = == > >= >> >>> ^ | ~"

REPEATABLE = {name.lower() for name in {*f.__all__} - _OTHER_EACH_TIME - _NOT_IN_SQL} | {
    *_OPERATORS.split()
}
"""The functions of SQL that give one value for a row, in lower case; users' functions have no such name."""

_LONGEST = 4000
"""The characters of an expression with functions in Python up to which it stands in several places."""

_OF_PYTHON = "columnnodeexpression("
"""The text that Spark has for each column that a function in Python takes."""

_CALLED = re.compile(r"'((?:\w|`[^`]*`|\.)+)\(")
"""A call of a function by its name, in the text of an expression of Spark's planner."""


def is_long(text: str) -> bool:
    """Whether Spark would plan too long if the column of a text stood in many places of another
    expression."""
    return len(text) > _LONGEST and _OF_PYTHON in text


def may_be_repeated(column: Column | str, text: str) -> bool:
    """Whether a column, of a text, has the same value in each place of an expression; False where that is
    unknown."""
    if isinstance(column, str) or "(" not in text:
        return True
    # A column has an attribute of any name.
    parts = vars(column)
    return _is_repeatable_tree(parts["_jc"]) if "_jc" in parts else _is_repeatable(parts["_expr"])


def _is_repeatable(expression: Any) -> bool:
    """The same of an expression of Spark Connect."""
    match type(expression).__name__:
        case "UnresolvedFunction":
            is_one = expression._name.lower() in REPEATABLE
        case "CommonInlineUserDefinedFunction":
            is_one = expression._deterministic
        case "SQLExpression":
            is_one = "(" not in expression._expr
        case name:
            is_one = name in _WITHOUT_CALLS
    return is_one and all(map(_is_repeatable, expression.children))


_WITHOUT_CALLS = {
    *("LiteralExpression", "ColumnReference", "ColumnAlias", "CastExpression", "CaseWhen"),
    *("LambdaFunction", "UnresolvedNamedLambdaVariable", "UnresolvedExtractValue", "WithField"),
    *("DropField", "WindowExpression", "SortOrder"),
}
"""Expressions of Spark Connect that call nothing but what their children call."""


def _is_repeatable_tree(column: Any) -> bool:
    """The same of a column of Java's: of the tree that Spark's planner gets."""
    java: Any = pyspark.SparkContext._jvm
    catalyst = "org.apache.spark.sql.catalyst.expressions"
    try:
        convert = getattr(java, "org.apache.spark.sql.classic.ColumnNodeToExpressionConverter$")
        tree = getattr(convert, "MODULE$").apply(column.node())
        # Of a subquery, neither tells.
        if getattr(java, f"{catalyst}.SubqueryExpression").hasSubquery(tree):
            return False
        is_declared, text = tree.deterministic(), tree.toString()
    except (AttributeError, TypeError):
        # Another version of Spark's.
        return False
    # Spark leaves out what is long, and says so.
    return (
        is_declared
        and "more fields" not in text
        and all(name.strip("`").lower() in REPEATABLE for name in _CALLED.findall(text))
    )
