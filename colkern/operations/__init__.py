"""The functions that callers use: they check arrays, allocate outputs and launch kernels.

An operation runs where the bytes of its inputs live; nothing moves between host and device. All raise
`InvalidArrowError` if an array points outside its own memory.
Importing this package does not import Numba; the first kernel does.
"""

from colkern.bitmaps import count_set_bits
from colkern.operations.aggregates import all, any, count, max, mean, min, min_max, sum
from colkern.operations.arithmetic import abs, add, divide, multiply, negate, subtract
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
from colkern.operations.casting import cast
from colkern.operations.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from colkern.operations.convert import compact_views, offsets_to_views, views_to_offsets
from colkern.operations.creation import nulls
from colkern.operations.dictionaries import dictionary_decode, dictionary_encode, unify_dictionaries
from colkern.operations.digests import TDigest, approximate_median, tdigest
from colkern.operations.distinct import count_distinct, mode, unique, value_counts
from colkern.operations.element_extremes import max_element_wise, min_element_wise
from colkern.operations.group_by import GroupBy, group_by
from colkern.operations.hashing import hash_columns, partition_indices
from colkern.operations.joining import join, join_asof
from colkern.operations.list_conversion import (
    fixed_size_list_to_list,
    list_to_fixed_size_list,
    list_to_list_view,
    list_view_to_list,
    list_with_offsets,
)
from colkern.operations.lists import (
    explode,
    list_element,
    list_flatten,
    list_parent_indices,
    list_value_length,
)
from colkern.operations.membership import between, index, index_in, is_in, search_sorted
from colkern.operations.null_filling import (
    case_when,
    coalesce,
    drop_null,
    fill_null,
    fill_null_backward,
    fill_null_forward,
    is_null,
    is_valid,
    shift,
)
from colkern.operations.position_checks import require_valid
from colkern.operations.running import (
    cumulative_max,
    cumulative_mean,
    cumulative_min,
    cumulative_prod,
    cumulative_sum,
    pairwise_diff,
    rolling_max,
    rolling_mean,
    rolling_min,
    rolling_sum,
)
from colkern.operations.runs import find_runs, run_end_decode, run_end_encode
from colkern.operations.selection.choosing import if_else, interleave
from colkern.operations.selection.concatenation import concat
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.repeating import repeat, reverse
from colkern.operations.selection.taking import take
from colkern.operations.selection.trimming import trim
from colkern.operations.sorting import range_partition_indices, rank, select_k, sort_indices, top_k
from colkern.operations.statistics import (
    describe,
    first,
    kurtosis,
    last,
    median,
    product,
    quantile,
    skew,
    stddev,
    variance,
)
from colkern.operations.strings import (
    binary_length,
    is_ascii,
    string_is_ascii,
    utf8_length,
)
from colkern.operations.structs import make_struct, struct_field, struct_flatten
from colkern.operations.unions import gather_union, select_child, to_dense_union, to_sparse_union
from colkern.operations.validation import validate
from colkern.operations.validity import combine_validity, compact_validity, null_count
from colkern.operations.value_checks import TypeRule

__all__ = [name for name, value in globals().items() if callable(value) and name[0] != "_"]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
