"""The cases of every kernel; see `kernels.case` for what a case is, and the other files for them."""

from __future__ import annotations

from kernels import (
    arithmetic_cases,
    bitmap_cases,
    change_cases,
    comparison_cases,
    dictionary_cases,
    extension_cases,
    hashing_cases,
    hidden_cases,
    list_cases,
    number_cases,
    run_cases,
    run_merging_cases,
    selection_cases,
    sorting_cases,
    string_cases,
    text_cases,
    union_cases,
    value_cases,
)
from kernels.case import (
    Addresses,
    At,
    Case,
    arguments,
    cases,
    combine,
    fetched,
    kernels_with_cases,
    output_before,
    put,
    variants,
)

FILES = (
    arithmetic_cases,
    bitmap_cases,
    dictionary_cases,
    comparison_cases,
    change_cases,
    extension_cases,
    hashing_cases,
    hidden_cases,
    list_cases,
    number_cases,
    run_cases,
    run_merging_cases,
    selection_cases,
    sorting_cases,
    string_cases,
    text_cases,
    union_cases,
    value_cases,
)

__all__ = [
    "FILES",
    "Addresses",
    "At",
    "Case",
    "arguments",
    "cases",
    "combine",
    "fetched",
    "kernels_with_cases",
    "output_before",
    "put",
    "variants",
]
