"""Every kind of function that Spark runs in Python, as functions of colkern's columns.

Each kind has a module: a function for the driver, and a class whose instances the workers call.
"""

from colkern.spark.functions.aggregates import aggregate
from colkern.spark.functions.batches import map_batches
from colkern.spark.functions.column_functions import udf
from colkern.spark.functions.compiled_groups import map_groups
from colkern.spark.functions.groups import apply_in_groups, cogroup_apply
from colkern.spark.functions.iterators import iterator_udf
from colkern.spark.functions.tables import udtf
from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction

__all__ = [
    "ArrowAggregate",
    "ArrowFunction",
    "aggregate",
    "apply_in_groups",
    "cogroup_apply",
    "iterator_udf",
    "map_batches",
    "map_groups",
    "udf",
    "udtf",
]
