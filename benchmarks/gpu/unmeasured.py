"""Kernels that are not measured on a GPU, with the reason."""

from __future__ import annotations

IN_ORDER = (
    "one thread goes through all slots in order: for a CPU; a device sorts or scans with CuPy"
)
RADIX = "a step of the CPU's radix sort, over one chunk a thread; a device sorts with CuPy"

UNMEASURED = {
    "running_sum": IN_ORDER,
    "sum_in_place": IN_ORDER,
    "join_neighbours": IN_ORDER,
    "merge_in_order": IN_ORDER,
    "list_small_values": IN_ORDER,
    "numbers_of_small_values": "by a table of a small range: a device sorts with CuPy",
    "first_words": IN_ORDER,
    "grow_keys": IN_ORDER,
    "number_words": IN_ORDER,
    "find_words": "by a hash table: a device sorts with CuPy",
    "grow_table": IN_ORDER,
    "match_last_of_group": IN_ORDER,
    "place_numbers": "for values in parts, with a table for each: a device sorts with CuPy",
    "copy_words": "copies past the caches of a CPU",
    "pack_keys": RADIX,
    "count_digits": RADIX,
    "scatter_digits": RADIX,
    "sort_buckets": RADIX,
    "count_few_keys": RADIX,
    "scatter_positions": RADIX,
    "rank_few_keys": RADIX,
    "count_long_ties": RADIX,
    "settle_ties": RADIX,
}
"""By the kernel's name."""
