"""Functions of columns of text, dates and numbers, as they are called by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

ROWS = (1_000_000, 10_000_000)


class Called(NamedTuple):
    """A function with its options, the same for colkern and pyarrow, and what polars has for it."""

    name: str
    options: tuple[Any, ...] = ()
    polars: Callable[[pl.Series], Any] | None = None

    def case(self, peer: pa.Array) -> Case:
        """The function of a column."""
        ours, series = ck.array(peer), pl.Series(pl.from_arrow(peer))
        own, arrow, polars = getattr(ck, self.name), getattr(pc, self.name), self.polars
        work = {
            "colkern": lambda: own(ours, *self.options),
            "pyarrow": lambda: arrow(peer, *self.options),
        }
        if polars is not None:
            work["polars"] = lambda: polars(series)
        return Case(2 * peer.nbytes, work)


_TEXT = [
    Called("utf8_upper", (), lambda a: a.str.to_uppercase()),
    Called("utf8_capitalize"),
    Called("utf8_title", (), lambda a: a.str.to_titlecase()),
    Called("utf8_trim_whitespace", (), lambda a: a.str.strip_chars()),
    Called("utf8_trim", ("ab",), lambda a: a.str.strip_chars("ab")),
    Called("utf8_lpad", (12, "."), lambda a: a.str.pad_start(12, ".")),
    Called("utf8_rpad", (12, "."), lambda a: a.str.pad_end(12, ".")),
    Called("utf8_slice_codeunits", (1, 5), lambda a: a.str.slice(1, 4)),
    Called("utf8_reverse", (), lambda a: a.str.reverse()),
    Called("replace_substring", ("th", "x"), lambda a: a.str.replace_all("th", "x", literal=True)),
    Called(
        "replace_substring_regex", ("[aeiou]+", "_"), lambda a: a.str.replace_all("[aeiou]+", "_")
    ),
    Called("split_pattern", ("e",), lambda a: a.str.split("e")),
    Called("match_substring", ("th",), lambda a: a.str.contains("th", literal=True)),
    Called("match_substring_regex", ("t[h-k]",), lambda a: a.str.contains("t[h-k]")),
    Called("match_like", ("a%e_",)),
    Called("find_substring", ("th",), lambda a: a.str.find("th", literal=True)),
    Called("count_substring", ("e",), lambda a: a.str.count_matches("e", literal=True)),
    Called("extract_regex", ("(?P<first>[a-m]+)(?P<then>[n-z])",)),
    Called("binary_repeat", (2,)),
    Called("utf8_is_alpha"),
]

_DATES = [
    Called("year", (), lambda a: a.dt.year()),
    Called("month", (), lambda a: a.dt.month()),
    Called("day", (), lambda a: a.dt.day()),
    Called("hour", (), lambda a: a.dt.hour()),
    Called("day_of_week", (), lambda a: a.dt.weekday()),
    Called("day_of_year", (), lambda a: a.dt.ordinal_day()),
    Called("iso_week", (), lambda a: a.dt.week()),
    Called("quarter", (), lambda a: a.dt.quarter()),
    Called("floor_temporal", (1, "hour"), lambda a: a.dt.truncate("1h")),
    Called("floor_temporal", (1, "month"), lambda a: a.dt.truncate("1mo")),
    Called("round_temporal", (15, "minute"), lambda a: a.dt.round("15m")),
    Called("ceil_temporal", (1, "day")),
    Called("strftime", ("%Y-%m-%d",), lambda a: a.dt.strftime("%Y-%m-%d")),
    Called("is_leap_year", (), lambda a: a.dt.is_leap_year()),
]


def _named(calls: list[Called]) -> dict[str, Called]:
    return {" ".join([call.name, *map(str, call.options)]): call for call in calls}


_TEXT_BY_NAME, _DATES_BY_NAME = _named(_TEXT), _named(_DATES)


@compared(target=1.0, rows=ROWS, function=tuple(_TEXT_BY_NAME))
def text_functions(rows: int, function: str) -> Case:
    """Functions of ASCII words of 1 to 23 bytes."""
    return _TEXT_BY_NAME[function].case(data.strings(rows))


@compared(target=1.0, rows=ROWS, function=tuple(_DATES_BY_NAME), zone=("", "Europe/Berlin"))
def date_functions(rows: int, function: str, zone: str) -> Case:
    """Functions of moments in 55 years; with a zone, of what its clocks show."""
    seconds = data.random(94).integers(0, 20_000 * 86_400, rows, np.int64)
    kind = pa.timestamp("us", zone or None)
    return _DATES_BY_NAME[function].case(pa.array(seconds * 1_000_000).cast(kind))


@compared(target=1.0, rows=ROWS, format=("%Y-%m-%d %H:%M:%S", "%d.%m.%Y"))
def strptime(rows: int, format: str) -> Case:
    """Text as moments."""
    seconds = data.random(94).integers(0, 20_000 * 86_400, rows, np.int64)
    peer = pc.strftime(pa.array(seconds).cast(pa.timestamp("s")), format)
    ours, series = ck.array(peer), pl.Series(pl.from_arrow(peer))
    return Case(
        peer.nbytes + 8 * rows,
        {
            "colkern": lambda: ck.strptime(ours, format),
            "pyarrow": lambda: pc.strptime(peer, format, "s"),
            "polars": lambda: series.str.to_datetime(format, time_unit="us"),
        },
    )
