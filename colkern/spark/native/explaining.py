"""`explain`: the plan of each row function in a column or frame, and why it is not native."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from colkern.spark.functions.declarations import function_name
from colkern.spark.native.functions import KNOWN, PlannedFunction


def explain(subject: Column | DataFrame | Callable[..., Column]) -> str:
    """The plan of each row function in a column, a frame, or of a function alone, a line each::

        >>> print(colkern.spark.explain(frame.select(net("price", "discount"))))  # doctest: +SKIP
        net: native: Spark computes it, without a Python worker
        >>> print(colkern.spark.explain(slug))  # doctest: +SKIP
        slug: arrow, in a Python worker: str.upper(str) has no native form: Java has another version of
        Unicode (line 12 of job.py); a batch: 0.12 ms of Python, 1 column there, 1 back

    A batch costs its columns' way to Python and back, some Python whatever its rows, which is measured here
    and now, and the work on its rows.

    Args:
        subject: The column, the frame, or what `colkern.spark.udf` or `accelerate` returns.

    Returns:
        The lines; none for what has no function of colkern. Of a frame, those functions are listed whose
        names its plan shows.

    Raises:
        TypeError: If it is anything else, as a plain function is.
    """
    if isinstance(subject, PlannedFunction):
        return subject.explanation()
    if isinstance(subject, Column | DataFrame):
        text = _text(subject)
    elif hasattr(subject, "returnType"):
        text = f"{function_name(subject)}("
    else:
        raise TypeError(
            "subject: expected a column, a data frame, or a function from colkern.spark.udf or accelerate, "
            f"got {function_name(subject)}, of type {type(subject).__name__}"
        )
    # Spark shows the name of an expression after AS where it has a function of the same name.
    return "\n".join(
        each.explanation(_is_in_worker(name, text, isinstance(subject, Column)))
        for name, each in sorted(KNOWN.items())
        if f"{'AS ' * hasattr(f, name)}{name}(" in text
    )


def _is_in_worker(name: str, text: str, is_column: bool) -> bool:
    """Whether the text of a column or frame has a call in Python of a function.

    Spark knows the types of columns in the physical plan of a frame. A column's text ends with the name of
    the function if it has a native plan.
    """
    if is_column:
        return f"AS {name}(" not in text
    call = re.compile(rf"EvalPython \[.*(?<!\w){re.escape(name)}\(")
    return call.search(text.partition("== Physical Plan ==")[2]) is not None


def _text(subject: Column | DataFrame) -> str:
    """Returns a text that names the functions in a column or frame."""
    # A column returns something for any attribute name.
    if isinstance(subject, Column):
        return repr(subject)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        subject.explain(extended=True)
    return shown.getvalue()
