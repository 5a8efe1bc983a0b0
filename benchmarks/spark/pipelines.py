"""The pipelines of `examples/pipelines`, each as plain functions, with pandas, and with colkern."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.spark.turns import in_turn

EXAMPLES = Path(__file__).parents[2] / "examples" / "pipelines"
NAMES = ("web_logs", "listings", "flights")
DIVISOR = 20
"""Of how many rows the command is told, the pipelines have a part: plain functions are slow."""


def pipeline(session: SparkSession, name: str) -> Any:
    """A pipeline of the examples, whose modules the session's workers can import, too."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    for module in ("common", name):
        session.sparkContext.addPyFile(str(EXAMPLES / f"{module}.py"))
    return importlib.import_module(name).PIPELINE


def measured(
    session: SparkSession, folder: Path, rows: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """The figures of each pipeline, from files to results.

    Args:
        session: The session.
        folder: Where the data go.
        rows: Of how many rows the command was told.
        rounds: How often each way is timed after it has run once.
    """
    count = max(1, rows // DIVISOR)
    for name in NAMES:
        made = pipeline(session, name)
        data = folder / name
        data.mkdir()
        made.write(data, count)
        frames = made.ways(session, data).items()
        figures = in_turn({way: lambda frame=frame: frame for way, frame in frames}, rounds)
        yield {"name": f"pipeline: {name.replace('_', ' ')}", "rows": count} | figures
