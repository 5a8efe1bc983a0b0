"""Streaming launches that ask memory for more sectors than their bytes need, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.gpu.case import STREAMING

MOST = 1.3
"""The sectors of a streaming kernel, of those that it needs."""

IN_A_ROW = "a thread has several items in a row, for a word of bits: a cache keeps their sector"

WIDE = "an item is read as several words: a cache keeps their sector"

PART = "a part of each item is read"

SKIPS = "threads skip items, so that requests of several rounds are counted together"

MAY_ASK_FOR_MORE = {
    "least_word, 128 bits": WIDE,
    "add_decimals, 128 bits": WIDE,
    "multiply_decimals, 128 bits": WIDE,
    "divide_decimals, 128 bits": WIDE,
    "scale_up, 64 to 128 bits": WIDE,
    "scale_down, 64 to 128 bits": WIDE,
    "mark_changes, u1": IN_A_ROW,
    "equal_items, u1": IN_A_ROW,
    "equal_item, u1": IN_A_ROW,
    "equal_wide, 128 bits": IN_A_ROW,
    "equal_halves": IN_A_ROW,
    "hash_fixed_bytes, 16 bytes": WIDE,
    "hash_nulls, half null": SKIPS,
    "number_partitions": PART,
    "first_hidden_value, u1": IN_A_ROW,
    "blank_hidden_values, u1": IN_A_ROW,
    "first_hidden_length": IN_A_ROW,
    "count_elements, half null": IN_A_ROW,
    "first_list_of_another_length": IN_A_ROW,
    "find_stand_ins": IN_A_ROW,
    "first_tensor_unlike_its_shape, two dimensions": WIDE,
    "has_inline_high_bit": WIDE,
    "sum_integers, i4, half null": SKIPS,
    "sum_integers, i8, half null": SKIPS,
    "element_starts, half null": SKIPS,
    "sum_words, 128 bits": WIDE,
    "first_decimal_out_of_precision, 128 bits": WIDE,
    "decimals_to_floats, 128 bits": WIDE,
    "less_integers, u1, two arrays": IN_A_ROW,
    "less_floats, f4, two arrays": IN_A_ROW,
    "less_decimals, 128 bits": IN_A_ROW,
    "take_fixed_ranges, 4 elements": PART,
    "short_view_keys": PART,
    "count_bytes_in_buffers": PART,
    "first_view_out_of_bounds": PART,
    "view_lengths": PART,
    "long_lengths": PART,
    "move_views": PART,
    "renumber_views": PART,
}
"""Launches that do, and why; other launches of their kernels may do so as well."""


def reasons(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The reason of each streaming launch that asks for more than `MOST`; empty if none is known."""
    over = [
        row
        for row in rows
        if row["kind"] == STREAMING and row["sectors"] > MOST * row["sectors_needed"]
    ]
    cases = {row["case"]: row["kernel"] for row in over}
    known = {kernel: MAY_ASK_FOR_MORE[c] for c, kernel in cases.items() if c in MAY_ASK_FOR_MORE}
    return {case: known.get(kernel, "") for case, kernel in cases.items()}
