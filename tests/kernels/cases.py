"""The cases of every kernel; see `kernels.case` for what a case is, and the other files for them."""

from __future__ import annotations

from kernels import (
    bitmap_cases,
    extension_cases,
    filtering_cases,
    hidden_cases,
    number_cases,
    run_cases,
    selection_cases,
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
    bitmap_cases,
    extension_cases,
    filtering_cases,
    hidden_cases,
    number_cases,
    run_cases,
    selection_cases,
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
