"""Row functions as users write them, `ck.udf` of plain Python, beside what else does the same.

The peers of text are pandas over Arrow, pyarrow and polars; of numbers, loops for Numba by hand, with the
checks that Python's meaning needs; of regular expressions and look-ups, Python and pandas.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

ROWS = (1_000_000,)


# Numbers


@ck.udf
def scaled(a: int) -> int:
    """Overflows are left to Python."""
    return a * 3 + 7


@ck.udf
def compound(price: float, rate: float) -> float:
    """A division that Python may refuse."""
    return price / (1.0 + rate) - rate * price


@ck.udf
def collatz(n: int) -> int:
    """A loop in each row."""
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


MOST = (1 << 63) - 1


@numba.njit(error_model="numpy", nogil=True)
def _scaled(a: Any, out: Any, left: Any) -> None:
    low, high = -(MOST // 3), (MOST - 7) // 3
    for i in range(len(a)):
        out[i] = a[i] * 3 + 7
        left[i] = a[i] < low or a[i] > high


@numba.njit(error_model="numpy", nogil=True)
def _compound(price: Any, rate: Any, out: Any, left: Any) -> None:
    for i in range(len(price)):
        below = 1.0 + rate[i]
        out[i] = price[i] / below - rate[i] * price[i]
        left[i] = below == 0


@numba.njit(error_model="numpy", nogil=True)
def _collatz(n: Any, out: Any, left: Any) -> None:
    for i in range(len(n)):
        value, steps, bad = n[i], 0, False
        while value > 1:
            if value % 2 == 0:
                value //= 2
            elif value > (MOST - 1) // 3:
                bad = True
                break
            else:
                value = 3 * value + 1
            steps += 1
        out[i], left[i] = steps, bad


def _by_hand(loop: Any, dtype: type, *columns: Any) -> Callable[[], Any]:
    """A loop for Numba over buffers, with memory for its results and for the rows that are left."""

    def run() -> Any:
        out: Any = np.empty(len(columns[0]), dtype)
        left = np.empty(len(columns[0]), np.uint8)
        loop(*columns, out, left)
        return out, np.flatnonzero(left)

    return run


@compared(target=0.95, rows=ROWS, function=("scaled", "compound", "collatz"))
def rows_of_numbers(rows: int, function: str) -> Case:
    """Numbers, with Python's checks, beside a loop by hand with the same checks."""
    columns: tuple[Any, ...]
    if function == "compound":
        columns = data.random(91).random(rows), data.random(92).random(rows)
    else:
        columns = (data.random(91).integers(1, 1000, rows),)
    ours = [ck.array(column) for column in columns]
    loops: dict[str, tuple[Any, Any, type]] = {
        "scaled": (scaled, _scaled, np.int64),
        "compound": (compound, _compound, np.float64),
        "collatz": (collatz, _collatz, np.int64),
    }
    udf, loop, dtype = loops[function]
    return Case(
        8 * rows * (len(columns) + 1),
        {"colkern": lambda: udf(*ours), "numba by hand": _by_hand(loop, dtype, *columns)},
    )


# Text


@ck.udf
def upper(text: str) -> str:
    """Case."""
    return text.upper()


@ck.udf
def stripped(text: str) -> str:
    """White space at both ends."""
    return text.strip()


@ck.udf
def replaced(text: str) -> str:
    """Parts for others."""
    return text.replace("a", "xy")


@ck.udf
def first_part(text: str) -> str:
    """An item of a split."""
    return text.split("e")[0]


@ck.udf
def sliced(text: str) -> str:
    """A part by position."""
    return text[1:5]


@ck.udf
def filled(text: str) -> str:
    """Zeros in front."""
    return text.zfill(12)


@ck.udf
def doubled(text: str) -> str:
    """Texts behind each other."""
    return text + "-" + text


@ck.udf
def contains(text: str) -> bool:
    """A search."""
    return "th" in text


_Peers = dict[str, Callable[[Any], Any]]

_TEXT: dict[str, tuple[Any, _Peers]] = {
    "upper": (
        upper,
        {
            "pyarrow": pc.utf8_upper,
            "polars": lambda s: s.str.to_uppercase(),
            "pandas": lambda s: s.str.upper(),
        },
    ),
    "strip": (
        stripped,
        {
            "pyarrow": pc.utf8_trim_whitespace,
            "polars": lambda s: s.str.strip_chars(),
            "pandas": lambda s: s.str.strip(),
        },
    ),
    "replace": (
        replaced,
        {
            "pyarrow": lambda a: pc.replace_substring(a, "a", "xy"),
            "polars": lambda s: s.str.replace_all("a", "xy", literal=True),
            "pandas": lambda s: s.str.replace("a", "xy", regex=False),
        },
    ),
    "split": (
        first_part,
        {
            "pyarrow": lambda a: pc.list_element(pc.split_pattern(a, "e"), 0),
            "polars": lambda s: s.str.split("e").list.first(),
        },
    ),
    "slice": (
        sliced,
        {
            "pyarrow": lambda a: pc.utf8_slice_codeunits(a, 1, 5),
            "polars": lambda s: s.str.slice(1, 4),
            "pandas": lambda s: s.str.slice(1, 5),
        },
    ),
    "zfill": (
        filled,
        {
            "pyarrow": lambda a: pc.utf8_lpad(a, 12, "0"),
            "polars": lambda s: s.str.zfill(12),
        },
    ),
    "concat": (
        doubled,
        {
            "pyarrow": lambda a: pc.binary_join_element_wise(a, a, "-"),
            "polars": lambda s: s + "-" + s,
            "pandas": lambda s: s + "-" + s,
        },
    ),
    "contains": (
        contains,
        {
            "pyarrow": lambda a: pc.match_substring(a, "th"),
            "polars": lambda s: s.str.contains("th", literal=True),
            "pandas": lambda s: s.str.contains("th", regex=False),
        },
    ),
}


@compared(target=1.5, rows=ROWS, method=tuple(_TEXT))
def rows_of_text(rows: int, method: str) -> Case:
    """Methods of `str`: ASCII words of 0 to 24 bytes."""
    peer = data.strings(rows)
    forms = {
        "pyarrow": peer,
        "polars": pl.Series(peer),
        "pandas": pd.Series(peer, dtype=pd.ArrowDtype(peer.type)),
    }
    ours = ck.array(peer)
    udf, peers = _TEXT[method]
    contestants: dict[str, Any] = {"colkern": lambda: udf(ours)}
    for library, work in peers.items():
        contestants[library] = lambda work=work, form=forms[library]: work(form)
    return Case(2 * peer.nbytes, contestants)


# Regular expressions

LINE = re.compile(
    r'^(\S+) (\S+) (\S+) \[([\w:/]+\s[+\-]\d{4})\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\d+|-)$'
)


def status_of(line: str) -> int:
    """The status of a line of a web log; -1 of what is none."""
    match = LINE.search(line)
    if match is None:
        return -1
    if match[9] == "-":
        return 0
    return int(match[8]) + len(match[6])


_status_of = ck.udf(status_of)


def _lines(rows: int) -> list[str]:
    random = data.random(93)
    hosts, sizes = random.integers(1, 255, (rows, 2)), random.integers(0, 99_999, rows)
    return [
        f"10.{a}.{b}.7 - - [01/Jul/1995:00:00:{b % 60:02} -0400] "
        f'"GET /history/apollo/page{a}.html HTTP/1.0" 200 {size or "-"}'
        for (a, b), size in zip(hosts.tolist(), sizes.tolist(), strict=True)
    ]


@compared(target=5.0, rows=(100_000,))
def rows_of_web_log(rows: int) -> Case:
    """A pattern of nine groups: beside its search alone, and beside the whole function, in Python."""
    lines = _lines(rows)
    ours = ck.array(lines)
    return Case(
        sum(map(len, lines)) + 8 * rows,
        {
            "colkern": lambda: _status_of(ours),
            "re.search": lambda: [LINE.search(line) for line in lines],
            "Python": lambda: [status_of(line) for line in lines],
        },
    )


# Dates


@ck.udf
def week_day(day: datetime.date) -> int:
    """Monday is 0."""
    return day.weekday()


@ck.udf
def month(day: datetime.date) -> int:
    """A part of a date."""
    return day.month


@ck.udf
def year(day: datetime.date) -> int:
    """A part of a date."""
    return day.year


@ck.udf
def hour(moment: datetime.datetime) -> int:
    """A part of a time."""
    return moment.hour


@ck.udf
def later(moment: datetime.datetime) -> datetime.datetime:
    """A sum."""
    return moment + datetime.timedelta(days=3, hours=7)


@ck.udf
def written(day: datetime.date) -> str:
    """A date as text."""
    return day.strftime("%d.%m.%Y")


_DATES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "weekday": (week_day, pc.day_of_week),
    "month": (month, pc.month),
    "year": (year, pc.year),
    "hour": (hour, pc.hour),
    "sum": (later, lambda a: pc.add(a, pa.scalar(datetime.timedelta(days=3, hours=7)))),
    "strftime": (written, lambda a: pc.strftime(a, "%d.%m.%Y")),
}


@compared(target=1.0, rows=ROWS, part=tuple(_DATES))
def rows_of_dates(rows: int, part: str) -> Case:
    """Parts of dates and times, sums of them and text."""
    days = data.random(94).integers(0, 20_000, rows, np.int32)
    if part in ("hour", "sum"):
        peer = pa.array(days.astype(np.int64) * 86_400_000_000 + 12_345_678_901, pa.timestamp("us"))
    else:
        peer = pa.array(days).cast(pa.date32())
    udf, work = _DATES[part]
    ours = ck.array(peer)
    return Case(
        peer.nbytes + 8 * rows, {"colkern": lambda: udf(ours), "pyarrow": lambda: work(peer)}
    )


# Look-ups

NAMES = {f"code{number}": number * 7 for number in range(500)}
KNOWN = frozenset(list(NAMES)[:250])


@ck.udf
def looked_up(code: str) -> int:
    """A value of a dictionary."""
    return NAMES.get(code, -1)


@ck.udf
def is_known(code: str) -> bool:
    """Whether a set has it."""
    return code in KNOWN


@compared(target=10.0, rows=ROWS, constant=("dict", "set"))
def rows_of_look_ups(rows: int, constant: str) -> Case:
    """Constant dictionaries and sets, beside pandas."""
    codes = [f"code{number}" for number in data.random(95).integers(0, 600, rows).tolist()]
    ours, series = ck.array(codes), pd.Series(codes)
    if constant == "dict":
        return Case(
            16 * rows,
            {"colkern": lambda: looked_up(ours), "pandas": lambda: series.map(NAMES)},
        )
    return Case(
        16 * rows,
        {
            "colkern": lambda: is_known(ours),
            "pandas": lambda: series.map(lambda code: code in KNOWN),
        },
    )
