"""`explain`: the plan of each row function in a column or frame, and why it is not native."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import Column

from colkern.spark.functions.declarations import function_name
from colkern.spark.native.functions import KNOWN, PlannedFunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    """
    if isinstance(subject, PlannedFunction):
        return subject.explanation()
    if callable(getattr(subject, "func", None)) and not isinstance(subject, Column):
        text = f"{function_name(subject)}("
    else:
        text = _text(subject)
    return "\n".join(
        each.explanation() for name, each in sorted(KNOWN.items()) if f"{name}(" in text
    )


def _text(subject: Column | DataFrame) -> str:
    """A text that names the functions in a column or frame."""
    # A column has an attribute of any name.
    if isinstance(subject, Column):
        return repr(subject)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        subject.explain(extended=True)
    return shown.getvalue()
