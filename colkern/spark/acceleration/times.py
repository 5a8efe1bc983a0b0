"""Parts of the timestamps of traced columns, which Arrow computes without a pandas column."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column as Expression
from pyspark.sql import functions as f

from colkern.spark.acceleration.nodes import OTHER, Whole, dtype_of

if TYPE_CHECKING:
    from colkern.spark.acceleration.columns import TracedColumn
    from colkern.spark.acceleration.forms import Column

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

QUICK: dict[str, Callable[[pa.Array], pa.Array]] = {
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
            return QUICK[name](times.value.cast(pa.timestamp("ns", type_.tz)))
        return getattr(times.pandas.dt, name)

    node = Whole(dtype_of(witness) or OTHER, f"dt.{name}", part, (column.node,), (), ("column",))
    return column.result(node, witness)
