"""Rows for methods of `str`, except formats and numbers.

If a method has only positional parameters in Python, each number of arguments has a row. `None` has no
value, so the body does not get it.
"""

from __future__ import annotations

import operator
from typing import Any

from colkern.kernels import (
    text_building,
    text_case,
    text_characters,
    text_comparison,
    text_escapes,
    text_parts,
    text_search,
    text_splitting,
    text_tests,
    unicode_data,
)
from colkern.rows.methods import Body, Bound, Method, in_order, raised_by, steps_of

_CHARACTERS = [
    Method("len", "(str) -> int", text_characters.length),
    Method("bool", "(str) -> bool", "{0}.size != 0"),
    Method("str", "(str) -> str", "{0}"),
    Method("repr", "(str) -> str", text_escapes.represented),
    Method("ord", "(str) -> int", text_characters.ord_of),
    Method("chr", "(int) -> str", text_characters.chr_of),
    Method("list", "(str) -> list[str]", text_characters.characters),
]

_COMPARISON = [
    Method("==", "(str, str) -> bool", text_comparison.equal),
    Method("!=", "(str, str) -> bool", Bound(text_comparison.equal, result="not {}")),
    *in_order("str", text_comparison.order),
    Method(
        "min", "(str, str) -> str", Bound(text_comparison.order, result="right if {} > 0 else left")
    ),
    Method(
        "max", "(str, str) -> str", Bound(text_comparison.order, result="right if {} < 0 else left")
    ),
]

_SEARCHES = {
    "find": "int",
    "rfind": "int",
    "index": "int",
    "rindex": "int",
    "count": "int",
    "startswith": "bool",
    "endswith": "bool",
}
"""The result type of methods that search a text, in all of it or between two bounds."""


def _searching(name: str) -> Body:
    """Returns the body of a search; `index` is `find`, of what is there."""
    found = getattr(text_search, name.replace("index", "find"))
    return Bound(found, code="VALUE_ERROR if result < 0 else DONE") if "index" in name else found


_SEARCH = [
    Method("in", "(str, str) -> bool", text_search.is_in),
    *(
        Method(
            f"str.{name}",
            f"(str, str{bounds}) -> {gives}",
            _searching(name + where),
            message=raised_by(str.index, "", "?") if "index" in name else "",
        )
        for name, gives in _SEARCHES.items()
        for where, bounds in (("", ""), ("_between", ", int, int = 9223372036854775807"))
    ),
]

_CASES: dict[str, tuple[Body, int, dict[str, Any]]] = {
    "lower": (text_case.lower, unicode_data.TO_LOWER, {}),
    "upper": (text_case.turned, unicode_data.TO_UPPER, {"first": ord("a"), "either": 0}),
    "swapcase": (text_case.turned, unicode_data.TO_OTHER, {"first": ord("a"), "either": 0x20}),
    "capitalize": (text_case.capitalize, unicode_data.TO_CAPITAL, {}),
}

_CASE = [
    *(
        Method(f"{owner}.{name}", "(str) -> str", Bound(body, way=way | simple, **values))
        for name, (body, way, values) in _CASES.items()
        for owner, simple in (("str", 0), ("colkern.rows.simple_cases", unicode_data.SIMPLE))
    ),
    Method("str.casefold", "(str) -> str", Bound(text_case.lower, way=unicode_data.TO_FOLDED)),
    Method("str.title", "(str) -> str", text_case.title),
]

_CLASSES = {
    "isdigit": (text_tests.DIGITS, unicode_data.DIGIT),
    "isdecimal": (text_tests.DIGITS, unicode_data.DECIMAL),
    "isnumeric": (text_tests.DIGITS, unicode_data.NUMERIC),
    "isalpha": (text_tests.LETTERS, unicode_data.ALPHABETIC),
    "isalnum": (
        text_tests.DIGITS | text_tests.LETTERS,
        unicode_data.WORD,
    ),
    "isspace": (text_tests.SPACES | text_tests.CONTROLS, unicode_data.SPACE),
    "isprintable": (text_tests.PRINTABLE, unicode_data.PRINTABLE),
}
"""For each test, the classes and the properties of which all characters of a text must have one."""

_TESTS = [
    *(
        Method(
            f"str.{name}",
            "(str) -> bool",
            Bound(
                text_tests.all_of,
                classes=classes,
                wanted=wanted,
                empty=name == "isprintable",
            ),
        )
        for name, (classes, wanted) in _CLASSES.items()
    ),
    Method("str.isidentifier", "(str) -> bool", text_tests.isidentifier),
    Method("str.isascii", "(str) -> bool", text_tests.isascii),
    *(
        Method(
            f"str.{name}",
            "(str) -> bool",
            Bound(
                text_tests.has_case,
                wanted=ord(letter),
                own=own,
                other=unicode_data.CASED & ~own,
            ),
        )
        for name, letter, own in (
            ("islower", "a", unicode_data.LOWER),
            ("isupper", "A", unicode_data.UPPER),
        )
    ),
    Method("str.istitle", "(str) -> bool", text_tests.istitle),
]

STRIPS: dict[str, dict[str, Any]] = {
    "strip": {"left": 1, "right": 1},
    "lstrip": {"left": 1, "right": 0},
    "rstrip": {"left": 0, "right": 1},
}
"""The ends that methods strip."""

_PARTS = [
    Method("[]", "(str, int) -> str", text_parts.item, message=raised_by(operator.getitem, "", 0)),
    Method("[:]", "(str, int, int) -> str", text_parts.slice_between),
    Method("[:]", "(str, int, None) -> str", text_parts.slice_from),
    Method("[:]", "(str, None, int) -> str", text_parts.slice_to),
    Method("[:]", "(str, None, None) -> str", "{0}"),
    *steps_of("str", text_parts.slice_step),
    *(
        Method(f"str.{name}", f"(str{given}) -> str", body)
        for name, ends in STRIPS.items()
        for given, body in (
            ("", Bound(text_parts.strip, spaces=text_parts.TEXT_SPACES, **ends)),
            (", None", Bound(text_parts.strip, spaces=text_parts.TEXT_SPACES, **ends)),
            (", str", Bound(text_parts.strip_of, **ends)),
        )
    ),
    Method("str.removeprefix", "(str, str) -> str", text_parts.removeprefix),
    Method("str.removesuffix", "(str, str) -> str", text_parts.removesuffix),
]

_BUILDING = [
    Method("+", "(str, str) -> str", text_building.concat),
    Method("*", "(str, int) -> str", text_building.repeat),
    Method("*", "(int, str) -> str", Bound(text_building.repeat, "arena", "times", "text")),
    Method("str.join", "(str, list[str]) -> str", Bound(text_building.join_items, places=1)),
    Method("str.replace", "(str, str, str) -> str", text_building.replace),
    Method("str.replace", "(str, str, str, int) -> str", text_building.replace_some),
    Method("str.zfill", "(str, int) -> str", text_building.zfill),
    *(
        Method(f"str.{name}", f"(str, int{given}) -> str", body)
        for name, share in (("ljust", 0), ("center", 1), ("rjust", 2))
        for given, body in (
            ("", Bound(text_building.justified, share=share, word=ord(" "), size=1)),
            (", str", Bound(text_building.justified_with, share=share)),
        )
    ),
    Method("str.expandtabs", "(str, tabsize: int = 8) -> str", text_building.expandtabs),
]

_SPACES: dict[str, Any] = {"spaces": text_parts.TEXT_SPACES, "form": "form_of(text)"}

SPLITS = {
    "split": (text_splitting.split_by_space, text_splitting.split_by),
    "rsplit": (text_splitting.rsplit_by_space, text_splitting.rsplit_by),
}
"""The bodies that split at white space, and at a separator, by the method."""

_SPLITTING = [
    *(
        Method(f"str.{name}", f"(str, sep: {sep}, maxsplit: int = -1) -> list[str]", body)
        for name, (by_space, by) in SPLITS.items()
        for sep, body in (
            ("None = None", Bound(by_space, **_SPACES)),
            ("str", Bound(by, form="form_of(text)")),
        )
    ),
    Method(
        "str.splitlines", "(str, keepends: bool = False) -> list[str]", text_splitting.splitlines
    ),
    Method("str.partition", "(str, str) -> tuple[str, str, str]", text_splitting.partition),
    Method("str.rpartition", "(str, str) -> tuple[str, str, str]", text_splitting.rpartition),
]

METHODS: list[Method] = [
    *_CHARACTERS,
    *_COMPARISON,
    *_SEARCH,
    *_CASE,
    *_TESTS,
    *_PARTS,
    *_BUILDING,
    *_SPLITTING,
]
