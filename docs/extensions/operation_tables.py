"""Writes `docs/functions.md`, all row functions of colkern: `python docs/extensions/operation_tables.py`.

The page is made from the table of row functions (`colkern.functions`), and says what polars and cuDF
call them. It is committed, so that it can be read without building the site, and a test holds that it is
what this file writes.
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

polars and cuDF have the functions in the last two columns; names, nulls and results may differ there.

[](operations.md) has the other operations: selection, arithmetic, comparison, aggregates, nulls and sets,
cumulative and rolling functions.
"""

PEERS = {
    "acos": ("arccos", "numpy.arccos"),
    "acosh": ("arccosh", ""),
    "asin": ("arcsin", "numpy.arcsin"),
    "asinh": ("arcsinh", ""),
    "assume_timezone": ("dt.replace_time_zone", "dt.tz_localize"),
    "atan": ("arctan", "numpy.arctan"),
    "atan2": ("arctan2", ""),
    "atanh": ("arctanh", ""),
    "binary_join": ("list.join", "str.join"),
    "binary_join_element_wise": ("concat_str", "str.cat"),
    "binary_repeat": ("", "str.repeat"),
    "bit_wise_and": ("&", "&"),
    "bit_wise_not": ("~", "~"),
    "bit_wise_or": ("|", "|"),
    "bit_wise_xor": ("^", "^"),
    "ceil": ("ceil", "numpy.ceil"),
    "ceil_temporal": ("", "dt.ceil"),
    "clip": ("clip", "clip"),
    "cos": ("cos", "numpy.cos"),
    "cosh": ("cosh", ""),
    "count_substring": ("str.count_matches", ""),
    "count_substring_regex": ("str.count_matches", "str.count"),
    "day": ("dt.day", "dt.day"),
    "day_of_week": ("dt.weekday", "dt.dayofweek"),
    "day_of_year": ("dt.ordinal_day", "dt.dayofyear"),
    "ends_with": ("str.ends_with", "str.endswith"),
    "exp": ("exp", "numpy.exp"),
    "extract_regex": ("str.extract_groups", "str.extract"),
    "find_substring": ("str.find", "str.find"),
    "find_substring_regex": ("str.find", ""),
    "floor": ("floor", "numpy.floor"),
    "floor_divide": ("floordiv", "floordiv"),
    "floor_temporal": ("dt.truncate", "dt.floor"),
    "hour": ("dt.hour", "dt.hour"),
    "is_finite": ("is_finite", ""),
    "is_inf": ("is_infinite", ""),
    "is_leap_year": ("dt.is_leap_year", "dt.is_leap_year"),
    "is_nan": ("is_nan", ""),
    "iso_calendar": ("", "dt.isocalendar"),
    "iso_week": ("dt.week", ""),
    "iso_year": ("dt.iso_year", ""),
    "list_contains": ("list.contains", "list.contains"),
    "list_count_matches": ("list.count_matches", ""),
    "list_max": ("list.max", ""),
    "list_mean": ("list.mean", ""),
    "list_min": ("list.min", ""),
    "list_slice": ("list.slice", ""),
    "list_sort": ("list.sort", "list.sort_values"),
    "list_sum": ("list.sum", ""),
    "list_unique": ("list.unique", "list.unique"),
    "ln": ("log", "numpy.log"),
    "local_timestamp": ("dt.replace_time_zone", "dt.tz_localize"),
    "log10": ("log10", ""),
    "log1p": ("log1p", ""),
    "log2": ("log", ""),
    "logb": ("log", ""),
    "match_like": ("", "str.like"),
    "match_substring": ("str.contains", "str.contains"),
    "match_substring_regex": ("str.contains", "str.contains"),
    "microsecond": ("dt.microsecond", "dt.microsecond"),
    "millisecond": ("dt.millisecond", ""),
    "minute": ("dt.minute", "dt.minute"),
    "mod": ("mod", "mod"),
    "month": ("dt.month", "dt.month"),
    "nanosecond": ("dt.nanosecond", "dt.nanosecond"),
    "power": ("pow", "pow"),
    "quarter": ("dt.quarter", "dt.quarter"),
    "replace_substring": ("str.replace_all", "str.replace"),
    "replace_substring_regex": ("str.replace_all", "str.replace"),
    "round": ("round", "round"),
    "round_temporal": ("dt.round", "dt.round"),
    "second": ("dt.second", "dt.second"),
    "sign": ("sign", ""),
    "sin": ("sin", "numpy.sin"),
    "sinh": ("sinh", ""),
    "split_pattern": ("str.split", "str.split"),
    "split_pattern_regex": ("", "str.split"),
    "sqrt": ("sqrt", "numpy.sqrt"),
    "starts_with": ("str.starts_with", "str.startswith"),
    "strftime": ("dt.strftime", "dt.strftime"),
    "strptime": ("str.to_datetime", "cudf.to_datetime"),
    "struct_with_field": ("struct.with_fields", ""),
    "tan": ("tan", "numpy.tan"),
    "tanh": ("tanh", ""),
    "utf8_capitalize": ("", "str.capitalize"),
    "utf8_center": ("", "str.center"),
    "utf8_is_alnum": ("", "str.isalnum"),
    "utf8_is_alpha": ("", "str.isalpha"),
    "utf8_is_decimal": ("", "str.isdecimal"),
    "utf8_is_digit": ("", "str.isdigit"),
    "utf8_is_lower": ("", "str.islower"),
    "utf8_is_numeric": ("", "str.isnumeric"),
    "utf8_is_space": ("", "str.isspace"),
    "utf8_is_title": ("", "str.istitle"),
    "utf8_is_upper": ("", "str.isupper"),
    "utf8_lower": ("str.to_lowercase", "str.lower"),
    "utf8_lpad": ("str.pad_start", "str.rjust"),
    "utf8_ltrim": ("str.strip_chars_start", "str.lstrip"),
    "utf8_ltrim_whitespace": ("str.strip_chars_start", "str.lstrip"),
    "utf8_normalize": ("str.normalize", ""),
    "utf8_replace_slice": ("", "str.slice_replace"),
    "utf8_reverse": ("str.reverse", ""),
    "utf8_rpad": ("str.pad_end", "str.ljust"),
    "utf8_rtrim": ("str.strip_chars_end", "str.rstrip"),
    "utf8_rtrim_whitespace": ("str.strip_chars_end", "str.rstrip"),
    "utf8_slice_codeunits": ("str.slice", "str.slice"),
    "utf8_split_whitespace": ("", "str.split"),
    "utf8_swapcase": ("", "str.swapcase"),
    "utf8_title": ("str.to_titlecase", "str.title"),
    "utf8_trim": ("str.strip_chars", "str.strip"),
    "utf8_trim_whitespace": ("str.strip_chars", "str.strip"),
    "utf8_upper": ("str.to_uppercase", "str.upper"),
    "utf8_zero_fill": ("str.zfill", "str.zfill"),
    "year": ("dt.year", "dt.year"),
}
"""The names of a function in polars and cuDF: a method of an expression or series, or NumPy's for cuDF."""


def first_sentence(function: object) -> str:
    """The first paragraph of a docstring, as one line."""
    text = (inspect.getdoc(function) or "").split("\n\n")[0]
    return " ".join(text.split()).replace("|", "\\|")


def _as_code(name: str) -> str:
    """A name as code in a cell of a table."""
    return f"`{name}`".replace("|", "\\|") if name else ""


def page() -> str:
    """The page."""
    import pyarrow.compute as pc

    parts, table = [HEAD], all_functions()
    headings = sorted({each.heading for each in table.values()})
    for heading in headings:
        parts += [
            f"## {heading}\n",
            "| Name | Gives | pyarrow | polars | cuDF |",
            "| --- | --- | --- | --- | --- |",
        ]
        for name in sorted(table):
            assert name in functions.__all__
            if table[name].heading != heading:
                continue
            arrow = "the same" if hasattr(pc, name) else ""
            peers = " | ".join(_as_code(peer) for peer in PEERS.get(name, ("", "")))
            parts.append(f"| `{name}` | {first_sentence(table[name].called)} | {arrow} | {peers} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
