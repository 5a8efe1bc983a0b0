"""`Series.str` of columns that are traced: what pandas has Arrow do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colkern.spark.acceleration.nodes import TEXT, Whole

if TYPE_CHECKING:
    from colkern.spark.acceleration.columns import TracedColumn

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")


class TextMethods:
    """The methods of texts of a column.

    Args:
        column: The column.
    """

    def __init__(self, column: TracedColumn) -> None:
        self._column = column

    def __getattr__(self, name: str) -> Any:
        getattr(self._column._witness.str, name)
        raise self._column._tracer.refused(f"Series.str.{name} is not compiled")

    def len(self) -> TracedColumn:
        """The numbers of characters: floats if there are nulls."""
        witness = self._column._witness.str.len()
        return self._made("len", pc.utf8_length, witness, dtype=witness.dtype)

    def upper(self) -> TracedColumn:
        """In upper case."""
        return self._made("upper", pc.utf8_upper, self._column._witness.str.upper())

    def lower(self) -> TracedColumn:
        """In lower case."""
        return self._made("lower", pc.utf8_lower, self._column._witness.str.lower())

    def strip(self) -> TracedColumn:
        """Without white space at both ends."""
        return self._made("strip", pc.utf8_trim_whitespace, self._column._witness.str.strip())

    def lstrip(self) -> TracedColumn:
        """Without white space at the start."""
        return self._made("lstrip", pc.utf8_ltrim_whitespace, self._column._witness.str.lstrip())

    def rstrip(self) -> TracedColumn:
        """Without white space at the end."""
        return self._made("rstrip", pc.utf8_rtrim_whitespace, self._column._witness.str.rstrip())

    def startswith(self, pat: str) -> TracedColumn:
        """Where they start with a text."""
        self._require_text(pat)
        witness = self._column._witness.str.startswith(pat)
        return self._test("startswith", lambda texts: pc.starts_with(texts, pat), witness, pat)

    def endswith(self, pat: str) -> TracedColumn:
        """Where they end with a text."""
        self._require_text(pat)
        witness = self._column._witness.str.endswith(pat)
        return self._test("endswith", lambda texts: pc.ends_with(texts, pat), witness, pat)

    def contains(self, pat: str, case: bool = True, regex: bool = True) -> TracedColumn:
        """Where they contain a text; regular expressions are not compiled."""
        self._require_text(pat)
        if regex and _SPECIAL.search(pat):
            raise self._column._tracer.refused("Series.str.contains with a regular expression")
        if not case:
            raise self._column._tracer.refused("Series.str.contains with case=False")
        witness = self._column._witness.str.contains(pat, regex=regex)
        return self._test("contains", lambda texts: pc.match_substring(texts, pat), witness, pat)

    def _require_text(self, pattern: Any) -> None:
        if not isinstance(pattern, str):
            raise self._column._tracer.refused("a method of texts with anything but a text")

    def _test(
        self, name: str, function: Callable[[Any], pa.Array], witness: Any, pattern: str
    ) -> TracedColumn:
        def test(texts: Any) -> pa.Array:
            return function(texts).fill_null(False)

        return self._made(name, test, witness, np.dtype(bool), (pattern,))

    def _made(
        self,
        name: str,
        function: Callable[[Any], pa.Array],
        witness: Any,
        dtype: Any = TEXT,
        details: tuple[Any, ...] = (),
    ) -> TracedColumn:
        node = Whole(dtype, name, function, (self._column._node,), details)
        return self._column.made(node, witness)


# As Python's messages have it.
TextMethods.__name__ = "StringMethods"
