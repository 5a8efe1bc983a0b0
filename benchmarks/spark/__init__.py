"""colkern's functions and data source in Spark beside Spark's own: `python -m benchmarks.spark`."""

from __future__ import annotations

from benchmarks.spark.groups import GROUPED
from benchmarks.spark.rows import ROW_BY_ROW
from benchmarks.spark.shapes import SHAPES

CASES = {case.name: case for case in (*SHAPES, *ROW_BY_ROW, *GROUPED)}
"""The functions that are measured, by name."""
