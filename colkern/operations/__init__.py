"""What callers use: functions on arrays that allocate outputs and launch kernels.

An operation runs where the bytes of its inputs live; nothing moves between host and device.
Importing this package does not import Numba; the first kernel does.
"""

from colkern.operations.aggregates import all, any, count, max, mean, min, min_max, sum
from colkern.operations.casting import cast
from colkern.operations.concatenation import concat
from colkern.operations.convert import offsets_to_views, views_to_offsets
from colkern.operations.creation import nulls
from colkern.operations.runs import find_runs, run_end_decode
from colkern.operations.selection import take
from colkern.operations.trimming import trim
from colkern.operations.unions import gather_union, select_child
from colkern.operations.validation import require_valid, validate
from colkern.operations.validity import (
    combine_validity,
    compact_validity,
    count_set_bits,
    null_count,
)
from colkern.operations.value_checks import TypeRule

__all__ = [
    "TypeRule",
    "all",
    "any",
    "cast",
    "combine_validity",
    "compact_validity",
    "concat",
    "count",
    "count_set_bits",
    "find_runs",
    "gather_union",
    "max",
    "mean",
    "min",
    "min_max",
    "null_count",
    "nulls",
    "offsets_to_views",
    "require_valid",
    "run_end_decode",
    "select_child",
    "sum",
    "take",
    "trim",
    "validate",
    "views_to_offsets",
]
