"""All cases: importing this imports every module that has some."""

from __future__ import annotations

from . import arrays, days, finance, loops, native, numeric, tables, texts
from .case import CASES

__all__ = ["CASES", "arrays", "days", "finance", "loops", "native", "numeric", "tables", "texts"]
