"""All cases of the corpus: importing this imports every file that defines some."""

from __future__ import annotations

from . import (
    brought,
    calendar_days,
    classes,
    codes,
    containers,
    conversions,
    finance,
    flights,
    flow,
    formats,
    geography,
    habits,
    invoices,
    json_like,
    lambdas,
    library,
    listings,
    log_lines,
    missing,
    numeric_loops,
    patterns,
    records,
    tables,
    text_algorithms,
    text_cleaning,
)
from .case import CASES, Case, Column

__all__ = ["CASES", "STYLES", "Case", "Column"]

STYLES = (
    brought,
    calendar_days,
    classes,
    codes,
    containers,
    conversions,
    finance,
    flights,
    flow,
    formats,
    geography,
    habits,
    invoices,
    json_like,
    lambdas,
    library,
    listings,
    log_lines,
    missing,
    numeric_loops,
    patterns,
    records,
    tables,
    text_algorithms,
    text_cleaning,
)
