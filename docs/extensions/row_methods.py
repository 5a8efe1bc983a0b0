"""Writes `docs/row_methods.md`, what compiles in row functions: `python docs/extensions/row_methods.py`.

The page is made from the compiler's own table of methods (`colkern.rows.table`). It is committed, so that
it can be read without building the site, and a test holds that it is what this file writes.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import inspect
import re
import textwrap
from pathlib import Path

from colkern.rows import builtin_calls, iteration, library, matches
from colkern.rows.kinds import HELD_BY_PYTHON
from colkern.rows.table import NO_DEFAULT, Parameter, Row, table

PAGE = Path(__file__).parents[1] / "row_methods.md"

HEAD = """# What compiles, by kind

<!-- Made from the compiler's table of methods: python docs/extensions/row_methods.py -->

[](row_functions.md) says what row functions may say. This page lists the operators, functions and methods
that they may use, from the table that the compiler itself reads.

- `T`, `K` and `V` stand for any kind. A `const` must be known when the function is compiled. `…` is a
  default without a short name, for no limit or no change.
- An `int` may stand for a `float`, and a `bool` for either. `unsigned` is an `int` from 0 to 2**64 - 1,
  of a mask of 64 bits or a constant; other methods take it below 2**63.
- Python computes the rows that a method does not cover, such as `int()` of digits beyond ASCII, or a sum
  of more than 64 bits.

{special}

{library}

{missing}
"""

OPERATORS = {
    "neg": "-x",
    "pos": "+x",
    "~": "~x",
    "[]": "x[i]",
    "[]=": "x[i] = y",
    "[:]": "x[i:j]",
    "[::]": "x[i:j:k]",
}
"""How operators are written that do not stand between two operands."""

CLASSES = {
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "Decimal": decimal.Decimal,
    "list": list,
    "dict": dict,
    "set": set,
}
"""The kinds that have methods, in the order of the page."""

SPECIAL = ("dict[str, V]", "dict[int, V]", "set[str]", "set[int]")
"""Parameters of rows that are there for speed: another row takes all keys."""


OWN = "colkern."
"""The start of names that only functions of colkern's use, which stand for those of a library."""


def special() -> str:
    """The methods that take more than the table can say."""
    forms = {function.__name__ for function in builtin_calls.FORMS} | set(iteration._MEANINGS)
    functions = ", ".join(f"`{name}`" for name in sorted(forms))
    of_matches = ", ".join(f"`{name}`" for name in sorted(matches._METHODS))
    return textwrap.fill(
        f"These take more than the table can say, such as anything that can be iterated: {functions}. "
        f"A match has {of_matches}, and `match[…]`.",
        120,
    )


def of_library() -> str:
    """The parts of the standard library compiled as plain Python, and those that Python computes."""
    # Private functions are parts of others.
    public = (name for name in library.REPLACED if not re.search(r"\._[a-z]", name))
    compiled = ", ".join(f"`{name}`" for name in sorted(public))
    left = ", ".join(f"`{name}`" for name in sorted(left_to_python()))
    return "\n\n".join(
        textwrap.fill(text, 120, break_on_hyphens=False)
        for text in (
            f"These functions of libraries are compiled in their usual forms: {compiled}. So are those "
            f"that a library has in Python, such as `statistics.median`, if all that they use compiles.",
            f"These may be called, and Python computes the rows that come to one: {left}.",
        )
    )


def left_to_python() -> set[str]:
    """The functions that leave a row in any case."""
    names = {name for name, rows in table().items() if any(row.is_left for row in rows)}
    return {name for name in names if name.partition(".")[0] not in HELD_BY_PYTHON}


def missing() -> str:
    """The methods that loops over columns do not have."""
    from colkern.jit.elements.operations import adapted

    elements = {"str", "bytes", "date", "datetime", "time", "timedelta"}
    names = {
        name
        for name, rows in table().items()
        for row in rows
        if not row.is_left
        and not name.startswith(OWN)
        and name not in adapted()
        and elements & set(re.findall(r"[a-z]+", row.method.signature))
    }
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return textwrap.fill(
        "Elements of columns [in loops](compiled_code.md#text-bytes-dates) have all that is here of "
        f"text, bytes, dates and times, but containers other than lists and these: {listed}.",
        120,
        break_on_hyphens=False,
    )


def placed(name: str, row: Row) -> tuple[str, str, str]:
    """The heading that a row stands under, its name there, and its parameters and result."""
    receiver = row.parameters[0] if row.parameters else None
    owner, _, last = name.rpartition(".")
    form = f"({', '.join(map(parameter, row.parameters))}) -> {ast.unparse(row.returns)}"
    if name in OPERATORS or name == "in" or not name[0].isalpha():
        return "Operators", OPERATORS.get(name, f"x {name} y"), form
    if owner in (*CLASSES, "pattern") and receiver and not receiver.name:
        # A method: all parameters but the receiver.
        form = f"({', '.join(map(parameter, row.parameters[1:]))}) -> {ast.unparse(row.returns)}"
        if inspect.isdatadescriptor(getattr(CLASSES.get(owner), last, None)):
            form = ast.unparse(row.returns)
        is_pattern = owner == "pattern"
        return "re" if is_pattern else owner, f"{'pattern' if is_pattern else ''}.{last}", form
    if owner.partition(".")[0] == "datetime":
        plain = name.removeprefix("datetime.")
        return plain.partition(".")[0], plain, form
    return owner or "Functions", name, form


def parameter(one: Parameter) -> str:
    """One parameter, as in the table."""
    text = ast.unparse(one.kind)
    if one.name:
        text = f"{one.name}: {text}"
    if one.default is NO_DEFAULT:
        return text
    # What stands for no limit or for no change is no number that anybody writes.
    is_mark = type(one.default) is int and abs(one.default) > 1 << 31
    return f"{text} = {'…' if is_mark else repr(one.default)}"


def is_shown(row: Row) -> bool:
    """Whether a row says more than another of its name."""
    kinds = [ast.unparse(one.kind) for one in row.parameters if one.default is NO_DEFAULT]
    return "None" not in kinds and not any(kind in SPECIAL for kind in kinds)


def sections() -> dict[str, list[str]]:
    """The lines of the tables, by heading: names that take the same share a line."""
    forms: dict[str, dict[str, list[str]]] = {"Operators": {}, "Functions": {}}
    forms |= {name: {} for name in CLASSES}
    for name, rows in sorted(table().items()):
        for row in rows:
            # What a match has is asked of its groups, before the table is.
            if is_shown(row) and not row.is_left and not name.startswith(("match.", OWN)):
                heading, shown, form = placed(name, row)
                forms.setdefault(heading, {}).setdefault(shown, []).append(form)
    found: dict[str, list[str]] = {}
    for heading, by_name in forms.items():
        names: dict[tuple[str, ...], list[str]] = {}
        for name, own in by_name.items():
            names.setdefault(tuple(dict.fromkeys(own)), []).append(name)
        found[heading] = [f"| {codes(some)} | {codes(own)} |" for own, some in names.items()]
    return found


def codes(texts: list[str] | tuple[str, ...]) -> str:
    """Texts as code in a table's cell."""
    return ", ".join(f"`{text}`".replace("|", "\\|") for text in texts)


def page() -> str:
    """The page."""
    parts = [HEAD.format(special=special(), library=of_library(), missing=missing())]
    for title, lines in sections().items():
        shown = title if title[0].isupper() else f"`{title}`"
        parts += [f"## {shown}\n", "| Name | Takes, and gives |", "| --- | --- |", *lines, ""]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
