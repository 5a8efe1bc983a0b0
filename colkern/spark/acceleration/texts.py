"""Texts of traced columns: operators and `Series.str`, which pandas leaves to Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from colkern.spark.acceleration.nodes import BOOL, TEXT, DType, Node, Whole

if TYPE_CHECKING:
    from colkern.spark.acceleration.columns import TracedColumn
    from colkern.spark.acceleration.recorded import Tracer

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")

_TRANSFORMS = {
    "lower": pc.utf8_lower,
    "upper": pc.utf8_upper,
    "strip": pc.utf8_trim_whitespace,
    "lstrip": pc.utf8_ltrim_whitespace,
    "rstrip": pc.utf8_rtrim_whitespace,
}
"""Methods without parameters from texts to texts."""


class TextMethods:
    """The text methods of a column."""

    def __init__(self, column: TracedColumn) -> None:
        self._column = column
        self._witness = column._witness.str

    def __getattr__(self, name: str) -> Callable[..., TracedColumn]:
        method = getattr(self._witness, name)
        if name not in _TRANSFORMS:
            raise self._column._tracer.refused(f"Series.str.{name} is not compiled")

        def transformed(*args: object, **options: object) -> TracedColumn:
            if args or options:
                raise self._column._tracer.refused(f"Series.str.{name} with arguments")
            return self._column.result(self._whole(name, _TRANSFORMS[name]), method())

        return transformed

    def len(self) -> TracedColumn:
        """The numbers of characters: floats if there are nulls."""
        witness = self._witness.len()
        return self._column.result(self._whole("len", pc.utf8_length, witness.dtype), witness)

    def startswith(self, pat: str) -> TracedColumn:
        """Where texts start with another one."""
        return self._test("startswith", pc.starts_with, pat)

    def endswith(self, pat: str) -> TracedColumn:
        """Where texts end with another one."""
        return self._test("endswith", pc.ends_with, pat)

    def contains(self, pat: str, case: bool = True, regex: bool = True) -> TracedColumn:
        """Where texts contain another one; regular expressions are not compiled."""
        if isinstance(pat, str) and regex and _SPECIAL.search(pat):
            raise self._column._tracer.refused("Series.str.contains with a regular expression")
        if isinstance(pat, str) and not case:
            raise self._column._tracer.refused("Series.str.contains with case=False")
        return self._test("contains", pc.match_substring, pat, regex=regex)

    def _test(
        self, name: str, function: Callable[..., pa.Array], pattern: object, **options: bool
    ) -> TracedColumn:
        if not isinstance(pattern, str):
            raise self._column._tracer.refused("a method of texts with anything but a text")

        def test(texts: pa.Array) -> pa.Array:
            return function(texts, pattern).fill_null(False)

        witness: pd.Series = getattr(self._witness, name)(pattern, **options)
        return self._column.result(self._whole(name, test, BOOL, pattern), witness)

    def _whole(
        self,
        name: str,
        function: Callable[..., pa.Array],
        dtype: DType = TEXT,
        *details: str,
    ) -> Whole:
        return Whole(dtype, name, function, (self._column._node,), details)


# Python's own messages name the class.
TextMethods.__name__ = "StringMethods"


# Operators


def text_fill(texts: pa.Array, value: str | pa.Array) -> pa.Array:
    """`Series.fillna` of texts; `value` is a text, or a column of them."""
    return pc.fill_null(texts, value) if isinstance(value, str) else pc.coalesce(texts, value)


def text_operation(tracer: Tracer, name: str, nodes: tuple[Node, ...]) -> Node:
    """Comparisons and `+` of texts."""
    if any(node.dtype != TEXT for node in nodes):
        raise tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
    if name == "add":
        return Whole(TEXT, name, _joined, nodes)
    if name in _TEXT_COMPARISONS:
        return Whole(BOOL, name, _TEXT_COMPARISONS[name], nodes)
    raise tracer.refused(f"`{name}` of texts")


def _joined(left: str | pa.Array, right: str | pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(left, right, "")


def _comparison(function: Callable[..., pa.Array], of_nulls: bool) -> Callable[..., pa.Array]:
    return lambda left, right: function(left, right).fill_null(of_nulls)


_TEXT_COMPARISONS = {
    "eq": _comparison(pc.equal, False),
    "ne": _comparison(pc.not_equal, True),
    "lt": _comparison(pc.less, False),
    "le": _comparison(pc.less_equal, False),
    "gt": _comparison(pc.greater, False),
    "ge": _comparison(pc.greater_equal, False),
}
