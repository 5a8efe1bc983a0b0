"""Kernels that operations start side by side: a device runs them as one launch."""

from __future__ import annotations

from colkern.kernels import (
    arithmetic,
    bitmaps,
    comparison,
    decimal_arithmetic,
    filtering,
    ordering,
    selection,
    strings,
)
from colkern.kernels.kernel import Kernel

_OF_TWO = (
    *(arithmetic.add_words, arithmetic.subtract_words, arithmetic.multiply_words),
    *(arithmetic.add_floats, arithmetic.subtract_floats),
    *(arithmetic.multiply_floats, arithmetic.divide_floats),
    *(decimal_arithmetic.add_decimals, decimal_arithmetic.multiply_decimals),
    *(bitmaps.combine_bits, comparison.equal_items, comparison.equal_wide),
    *(ordering.less_integers, ordering.less_floats, ordering.less_decimals),
    *(ordering.less_texts, ordering.less_views, strings.equal_texts, strings.equal_views),
)
"""Kernels of two operands; where both have nulls, their bitmaps are combined as well."""

_OF_KEPT = (filtering.filter_items, filtering.filter_pairs, filtering.filter_offsets)
"""Kernels that write what a filter keeps; where there are nulls, the kept bits are written as well."""

TOGETHER: frozenset[tuple[Kernel, Kernel]] = frozenset(
    [
        *[(bitmaps.and_bits, kernel) for kernel in _OF_TWO],
        *[(filtering.filter_bits, kernel) for kernel in _OF_KEPT],
        *[
            (kernel, bitmaps.choose_bits)
            for kernel in (selection.choose_items, bitmaps.choose_bits)
        ],
    ]
)
"""Pairs that `Target.together` may make one launch, in the order in which operations start them."""

HELD_BACK = frozenset(kernel for pair in TOGETHER for kernel in pair)
"""Those that wait for others; all others are launched at once."""
