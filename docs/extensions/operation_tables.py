"""Writes `docs/functions.md`, all row functions of colkern: `python docs/extensions/operation_tables.py`.

The page is made from the table of row functions (`colkern.functions`), and says what polars calls them. It
is committed, so that it can be read without building the site, and a test holds that it is what this file
writes.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from colkern import functions
from colkern.functions.row_functions import all_functions

PAGE = Path(__file__).parents[1] / "functions.md"

HEAD = """# Functions of columns, by name

<!-- Made from the table of functions: python docs/extensions/operation_tables.py -->

These functions of arrays are [row functions](row_functions.md): a line or a few of Python each, compiled
for the types that they meet, where the bytes are, and kept for later processes. Their names and their
treatment of nulls are those of `pyarrow.compute`, also where Python means something else. Cases and classes
of characters beyond ASCII are those of Python's Unicode tables; pyarrow's differ at some of them.

A new option compiles nothing, unless it is a regular expression, a format, a unit or a time zone: these are
compiled into the function. Dictionaries and runs are computed by their values; text, numbers and dates of
them stay encoded.

[](operations.md) has the other operations: selection, arithmetic, comparison, aggregates, nulls and sets,
cumulative and rolling functions.
"""

POLARS = {
    "utf8_upper": "str.to_uppercase",
    "utf8_lower": "str.to_lowercase",
    "utf8_title": "str.to_titlecase",
    "utf8_trim": "str.strip_chars",
    "utf8_ltrim": "str.strip_chars_start",
    "utf8_rtrim": "str.strip_chars_end",
    "utf8_trim_whitespace": "str.strip_chars",
    "utf8_ltrim_whitespace": "str.strip_chars_start",
    "utf8_rtrim_whitespace": "str.strip_chars_end",
    "utf8_lpad": "str.pad_start",
    "utf8_rpad": "str.pad_end",
    "utf8_zero_fill": "str.zfill",
    "utf8_slice_codeunits": "str.slice",
    "utf8_reverse": "str.reverse",
    "replace_substring": "str.replace_all",
    "replace_substring_regex": "str.replace_all",
    "match_substring": "str.contains",
    "match_substring_regex": "str.contains",
    "count_substring": "str.count_matches",
    "count_substring_regex": "str.count_matches",
    "find_substring": "str.find",
    "find_substring_regex": "str.find",
    "extract_regex": "str.extract_groups",
    "split_pattern": "str.split",
    "binary_join": "list.join",
    "binary_join_element_wise": "concat_str",
    "strptime": "str.to_datetime",
    "strftime": "dt.strftime",
    "year": "dt.year",
    "month": "dt.month",
    "day": "dt.day",
    "quarter": "dt.quarter",
    "day_of_year": "dt.ordinal_day",
    "day_of_week": "dt.weekday",
    "iso_week": "dt.week",
    "iso_year": "dt.iso_year",
    "is_leap_year": "dt.is_leap_year",
    "hour": "dt.hour",
    "minute": "dt.minute",
    "second": "dt.second",
    "millisecond": "dt.millisecond",
    "microsecond": "dt.microsecond",
    "nanosecond": "dt.nanosecond",
    "floor_temporal": "dt.truncate",
    "round_temporal": "dt.round",
    "assume_timezone": "dt.replace_time_zone",
    "local_timestamp": "dt.replace_time_zone",
    "ln": "log",
    "logb": "log",
    "log10": "log10",
    "log1p": "log1p",
    "power": "pow",
    "mod": "mod",
    "floor_divide": "floordiv",
    "is_inf": "is_infinite",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "struct_with_field": "struct.with_fields",
    "list_contains": "list.contains",
    "list_max": "list.max",
    "list_mean": "list.mean",
    "list_min": "list.min",
    "list_slice": "list.slice",
    "list_sort": "list.sort",
    "list_sum": "list.sum",
    "bit_wise_and": "&",
    "bit_wise_or": "|",
    "bit_wise_xor": "^",
    "bit_wise_not": "~",
}
"""What polars calls a function, as a method of an expression."""

SAME_IN_POLARS = {
    "ceil",
    "clip",
    "cos",
    "cosh",
    "exp",
    "floor",
    "is_finite",
    "is_nan",
    "round",
    "sign",
}
SAME_IN_POLARS |= {"sin", "sinh", "sqrt", "tan", "tanh"}


def first_sentence(function: object) -> str:
    """The first paragraph of a docstring, as one line."""
    text = (inspect.getdoc(function) or "").split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")


def page() -> str:
    """The page."""
    import pyarrow.compute as pc

    parts, table = [HEAD], all_functions()
    headings = sorted({each.heading for each in table.values()})
    for heading in headings:
        parts += [
            f"## {heading}\n",
            "| Name | Gives | pyarrow | polars |",
            "| --- | --- | --- | --- |",
        ]
        for name in sorted(table):
            assert name in functions.__all__
            if table[name].heading != heading:
                continue
            arrow = "the same" if hasattr(pc, name) else ""
            polars = POLARS.get(name) or (name if name in SAME_IN_POLARS else "")
            shown = f"`{polars}`".replace("|", "\\|") if polars else ""
            parts.append(f"| `{name}` | {first_sentence(table[name].called)} | {arrow} | {shown} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
