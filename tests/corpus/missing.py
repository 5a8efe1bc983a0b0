"""Row functions about values that are not there."""

from __future__ import annotations

import math
from datetime import date
from typing import Optional

from . import values
from .case import case

DEFAULTS = {"a": 1.5, "b": None, "c": 0.0}


@case(rows=[values.floats(1)], covers="float | None, NaN")
def or_zero(x: float | None) -> float:
    if x is None or math.isnan(x):
        return 0.0
    return x


@case(rows=[values.integers(2), values.integers(3)], covers="Optional hint, both may be None")
def coalesce(a: Optional[int], b: Optional[int]) -> Optional[int]:  # noqa: UP045
    return a if a is not None else b


@case(rows=[values.words(4)], covers="None and empty text are false")
def known(word: str | None) -> bool:
    return not (not word or word.isspace())


@case(
    rows=[values.integers(5), values.floats(6), values.words(7)], covers="count of None by a tuple"
)
def missing_count(a: int | None, b: float | None, c: str | None) -> int:
    return sum(value is None for value in (a, b, c))


@case(rows=[values.floats(8), values.floats(9)], covers="narrowing in a boolean expression")
def both_positive(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a > 0 and b > 0


@case(rows=[values.integers(10)], covers="TypeError from None: int without a check", raises=False)
def next_one(n: int | None) -> int | None:
    try:
        return n + 1  # type: ignore[operator]
    except TypeError:
        return None


@case(
    rows=[values.one_of(11, ["a", "b", "c"], ("d", "", "é"))],
    covers="dict with None among the values",
)
def default_of(key: str) -> float | None:
    value = DEFAULTS.get(key)
    return value if value is None else value + 1


@case(rows=[values.integers(12)], covers="no hints: null gives null")
def doubled(n):
    return n * 2


@case(rows=[values.words(13)], covers="returns nothing on one path")
def only_long(word: str) -> str | None:  # type: ignore[return]
    if len(word) > 5:
        return word


@case(rows=[values.dates(14), values.dates(15)], covers="dates or None, ordering, or")
def first_day(a: date | None, b: date | None) -> date:
    fallback = date(2000, 1, 1)
    return min(a or fallback, b or fallback)


@case(rows=[values.flags(16), values.flags(17)], covers="three-valued and")
def kleene_and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    if a is None or b is None:
        return None
    return True


@case(rows=[values.numerals(18)], covers="sentinels to None")
def cleaned(text: str | None) -> str | None:
    if text is None or text.strip().lower() in ("", "n/a", "nan", "null", "-"):
        return None
    return text.strip()


@case(rows=[values.number_lists(19)], covers="list | None, falsy list")
def size_of(numbers: list[int] | None) -> int:
    return len(numbers) if numbers else -1


@case(rows=[values.integers(20), values.words(20)], covers="== None, != None")
def old_style(n: int | None, word: str | None) -> str:
    if n == None:  # noqa: E711
        return "no number"
    if word != None and n > len(word):  # noqa: E711
        return word
    return str(n)


@case(rows=[values.floats(21)], covers="None through a helper and back")
def via_helper(x: float | None) -> float | None:
    def halved(y: float | None) -> float | None:
        return None if y is None else y / 2

    h = halved(x)
    if h is None:
        return -1.0
    return h if h < 10 else None
