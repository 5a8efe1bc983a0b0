"""Texts and times of traced columns: operators, `Series.str` and `dt`, as far as Arrow computes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column as Expression
from pyspark.sql import functions as f

from colkern.spark.acceleration import graph as g

if TYPE_CHECKING:
    from colkern.spark.acceleration.columns import TracedColumn
    from colkern.spark.acceleration.forms import Column
    from colkern.spark.acceleration.recorded import Recorded, Tracer

SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
"""Characters that are special in regular expressions."""


def _quick(
    name: str, function: Callable[..., pa.Array], dtype: g.DType | None = g.TEXT
) -> Callable[..., TracedColumn]:
    """Returns a method of texts as Arrow computes it; `dtype` is None where nulls decide the dtype."""

    def method(column: TracedColumn, *arguments: str, **options: bool) -> TracedColumn:
        witness: pd.Series = getattr(column._witness.str, name)(*arguments, **options)
        if not all(isinstance(argument, str) for argument in arguments):
            raise column._tracer.refused("a method of texts with anything but a text")
        is_filled = options.get("na", False) is False
        if len(arguments) != (dtype == g.BOOL) or options.keys() - {"na", "regex"} or not is_filled:
            raise column._tracer.refused(f"Series.str.{name} with other arguments")
        if name == "contains" and options.get("regex", True) and SPECIAL.search(arguments[0]):
            raise column._tracer.refused("Series.str.contains with a regular expression")

        def whole(texts: pa.Array) -> pa.Array:
            results = function(texts, *arguments)
            return results.fill_null(False) if dtype == g.BOOL else results

        node = g.Whole(dtype or witness.dtype, name, whole, (column._node,), arguments)
        return column.result(node, witness)

    return method


def _slice(
    column: TracedColumn, start: int | None = None, stop: int | None = None, step: int | None = None
) -> TracedColumn:
    bounds = (start, stop)
    if step not in (None, 1) or not all(each is None or type(each) is int for each in bounds):
        raise column._tracer.refused("Series.str.slice with steps, or with other bounds")
    witness: pd.Series = column._witness.str.slice(*bounds)
    sliced = partial(pc.utf8_slice_codeunits, start=start or 0, stop=stop)
    return column.result(g.Whole(g.TEXT, "slice", sliced, (column._node,), bounds), witness)


def _replace(
    column: TracedColumn, pat: object, repl: object, n: int = -1, *, regex: bool = False
) -> TracedColumn:
    if (
        not (isinstance(pat, str) and pat and isinstance(repl, str))
        or n != -1
        or regex is not False
    ):
        raise column._tracer.refused("Series.str.replace with a regular expression, or of nothing")
    witness: pd.Series = column._witness.str.replace(pat, repl, regex=False)
    replaced = partial(pc.replace_substring, pattern=pat, replacement=repl)
    return column.result(
        g.Whole(g.TEXT, "replace", replaced, (column._node,), (pat, repl)), witness
    )


QUICK: dict[str, Callable[..., TracedColumn]] = {
    "slice": _slice,
    "replace": _replace,
    "lower": _quick("lower", pc.utf8_lower),
    "upper": _quick("upper", pc.utf8_upper),
    "strip": _quick("strip", pc.utf8_trim_whitespace),
    "lstrip": _quick("lstrip", pc.utf8_ltrim_whitespace),
    "rstrip": _quick("rstrip", pc.utf8_rtrim_whitespace),
    "len": _quick("len", pc.utf8_length, None),
    "startswith": _quick("startswith", pc.starts_with, g.BOOL),
    "endswith": _quick("endswith", pc.ends_with, g.BOOL),
    "contains": _quick("contains", pc.match_substring, g.BOOL),
}
"""Methods of texts that need no pandas column."""

# Choices


def text_choice(parts: tuple[g.Node, g.Node, g.Node]) -> g.Node:
    """Returns the node of a choice between two texts; between constants, a loop chooses their places."""
    condition, *both = parts
    known = [each for each in map(_places, both) if each is not None]
    if len(known) < len(both):
        return g.Whole(g.TEXT, "choice", pc.if_else, parts)
    (chosen, first), (other, second) = known
    expression = f"{{1}} if {{0}} else {{2}} + {len(first)}"
    place = g.Fused(_PLACE, expression, (condition, chosen, other), (g.BOOL, _PLACE, _PLACE))
    constants = (*first, *second)

    def texts_at(places: npt.NDArray[np.int32]) -> pa.Array:
        return pa.array(constants).take(pa.array(places))

    return g.Whole(g.TEXT, BY_PLACE, texts_at, (place,), constants)


_PLACE = np.dtype(np.int32)
BY_PLACE = "texts at places"


def _places(node: g.Node) -> tuple[g.Node, tuple[object, ...]] | None:
    """Returns the places of a column's texts among constants, and the constants; None for other columns."""
    if isinstance(node, g.Constant):
        # NumPy's arrays of texts drop zero characters at the end.
        return g.Constant(_PLACE, 0), (str(node.value).rstrip("\0"),)
    if isinstance(node, g.Whole) and node.name == BY_PLACE:
        return node.operands[0], node.details
    return None


# Look-ups


def text_isin(column: Recorded, values: list[str]) -> tuple[g.Node, pd.Series]:
    """Returns the node and the witness of `Series.isin` of texts."""
    among = pa.array(values, pa.string())

    def isin(texts: pa.Array) -> pa.Array:
        return pc.is_in(texts, among)

    node = g.Whole(g.BOOL, "isin", isin, (column.node,), tuple(values))
    return node, column._witness.isin(values)


def text_map(column: Recorded, table: dict[str, str] | dict[str, float]) -> Recorded:
    """Records `Series.map` of texts by a dictionary of texts or of floats."""
    keys, entries = pa.array(table.keys(), pa.string()), pa.array(table.values())
    dtype = g.TEXT if pa.types.is_string(entries.type) else g.FLOAT

    def mapped(texts: pa.Array) -> pa.Array:
        return entries.take(pc.index_in(texts, keys))

    details = tuple(table.items())
    node = g.Whole(dtype, "map", mapped, (column._node,), details)
    return column.result(node, column._witness.map(table))


def is_table(value: object) -> TypeGuard[dict[str, str] | dict[str, float]]:
    """Whether `text_map` takes a value as its dictionary."""
    if type(value) is not dict or not value or not all(type(key) is str for key in value):
        return False
    kinds = {type(entry) for entry in value.values()}
    is_missing = any(entry != entry for entry in value.values())
    return kinds in ({str}, {float}) and not is_missing


# Operators


def text_fill(texts: pa.Array, value: str | pa.Array) -> pa.Array:
    """`Series.fillna` of texts; `value` is a text, or a column of them."""
    return pc.fill_null(texts, value) if isinstance(value, str) else pc.coalesce(texts, value)


def text_operation(tracer: Tracer, name: str, nodes: tuple[g.Node, ...]) -> g.Node:
    """Returns the node of a comparison of texts, or of their concatenation."""
    if any(node.dtype != g.TEXT for node in nodes):
        raise tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
    if name == "add":
        return g.Whole(g.TEXT, name, lambda x, y: pc.binary_join_element_wise(x, y, ""), nodes)
    if name in _TEXT_COMPARISONS:
        return g.Whole(g.BOOL, name, _TEXT_COMPARISONS[name], nodes)
    raise tracer.refused(f"`{name}` of texts")


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


# Times


Part: TypeAlias = tuple[Callable[[pa.Array], pa.Array], Callable[[Expression], Expression]]

CLOCK: dict[str, Part] = {
    "hour": (pc.hour, f.hour),
    "minute": (pc.minute, f.minute),
    "second": (pc.second, f.second),
}
NUMBERS: dict[str, Part] = CLOCK | {
    "year": (pc.year, f.year),
    "quarter": (pc.quarter, f.quarter),
    "month": (pc.month, f.month),
    "day": (pc.day, f.dayofmonth),
    **dict.fromkeys(("day_of_year", "dayofyear"), (pc.day_of_year, f.dayofyear)),
    **dict.fromkeys(("day_of_week", "dayofweek", "weekday"), (pc.day_of_week, f.weekday)),
}
"""Members of `Series.dt` that are numbers, by their names: as Arrow and as Spark computes them."""

QUICK_PARTS: dict[str, Callable[[pa.Array], pa.Array]] = {
    **{name: part for name, (part, _) in NUMBERS.items()},
    "is_leap_year": lambda times: pc.is_leap_year(times).fill_null(False),
    "is_month_start": lambda times: pc.equal(pc.day(times), 1).fill_null(False),
}
"""Members of `Series.dt` that Arrow computes."""


def part_of(column: TracedColumn, name: str) -> TracedColumn:
    """Returns a part of an input's timestamps: by Arrow in UTC or without a zone, else by pandas."""
    witness = getattr(column._witness.dt, name)

    def part(times: Column) -> object:
        type_ = times.value.type
        if pa.types.is_timestamp(type_) and type_.tz in (None, "UTC"):
            # Raises for years that pandas' nanoseconds do not hold, as pandas does.
            return QUICK_PARTS[name](times.value.cast(pa.timestamp("ns", type_.tz)))
        return getattr(times.pandas.dt, name)

    node = g.Whole(
        g.dtype_of(witness) or g.OTHER, f"dt.{name}", part, (column.node,), (), ("column",)
    )
    return column.result(node, witness)
