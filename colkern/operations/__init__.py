"""What callers use: functions on arrays that allocate outputs and launch kernels.

An operation runs where the bytes of its inputs live; nothing moves between host and device.
Importing this package does not import Numba; the first kernel does.
"""

from colkern.operations.comparison import equal, not_equal
from colkern.operations.concatenation import concat
from colkern.operations.convert import offsets_to_views, views_to_offsets
from colkern.operations.creation import nulls
from colkern.operations.runs import find_runs, run_end_decode
from colkern.operations.selection import take
from colkern.operations.strings import (
    binary_length,
    ends_with,
    is_ascii,
    starts_with,
    string_is_ascii,
    utf8_length,
)
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
from colkern.operations.view_compaction import compact_views

__all__ = [
    "TypeRule",
    "binary_length",
    "combine_validity",
    "compact_validity",
    "compact_views",
    "concat",
    "count_set_bits",
    "ends_with",
    "equal",
    "find_runs",
    "gather_union",
    "is_ascii",
    "not_equal",
    "null_count",
    "nulls",
    "offsets_to_views",
    "require_valid",
    "run_end_decode",
    "select_child",
    "starts_with",
    "string_is_ascii",
    "take",
    "trim",
    "utf8_length",
    "validate",
    "views_to_offsets",
]
