"""What callers use: functions on arrays that allocate outputs and launch kernels.

An operation runs where the bytes of its inputs live; nothing moves between host and device.
Importing this package does not import Numba; the first kernel does.
"""

from colkern.operations.booleans import (
    and_,
    and_kleene,
    and_not,
    and_not_kleene,
    invert,
    or_,
    or_kleene,
    pack_bits,
    unpack_bits,
    xor,
)
from colkern.operations.concatenation import concat
from colkern.operations.convert import offsets_to_views, views_to_offsets
from colkern.operations.creation import nulls
from colkern.operations.filtering import filter
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
    "and_",
    "and_kleene",
    "and_not",
    "and_not_kleene",
    "combine_validity",
    "compact_validity",
    "concat",
    "count_set_bits",
    "filter",
    "find_runs",
    "gather_union",
    "invert",
    "null_count",
    "nulls",
    "offsets_to_views",
    "or_",
    "or_kleene",
    "pack_bits",
    "require_valid",
    "run_end_decode",
    "select_child",
    "take",
    "trim",
    "unpack_bits",
    "validate",
    "views_to_offsets",
    "xor",
]
