"""Row functions as people are used to writing them: sets with keys, decimals of text, library calls."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal, InvalidOperation

from . import values
from .case import case


@case(rows=[values.words(91)], covers="sorted of a set by a key")
def letters_by_use(s: str) -> str:
    return "".join(sorted(set(s), key=lambda c: (-s.count(c), c)))


@case(rows=[values.words(92)], covers="max of a set by a key, which several items may share")
def commonest_letter(s: str) -> str:
    return max(set(s), key=s.count, default="")


@case(rows=[values.names(91)], covers="re.subn with a function")
def capitals(name: str) -> tuple[str, int]:
    made, count = re.subn(r"\b[a-z]", lambda m: m.group().upper(), name)
    limited, few = re.subn("[aeiou]", "_", made, count=2)
    return limited, count * 10 + few


@case(rows=[values.prices(91)], covers="except InvalidOperation, quantize of any Decimal")
def price_or_none(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip("$ ").replace(",", "")).quantize(Decimal("0.01"))
    except InvalidOperation:
        return None


@case(rows=[values.words(93)], covers="dict.get of None, zip_longest")
def next_weight(s: str) -> int:
    weights = {"e": 1, "t": 2, "r": 4}
    total = 0
    for place in range(len(s)):
        following = s[place + 1] if place + 1 < len(s) else None
        total += weights.get(following, 8) + (weights.get(following) or 0)
    return total


@case(rows=[values.money(91)], covers="divmod of decimals")
def dollars_and_cents(amount: Decimal) -> str:
    dollars, cents = divmod(amount, 1)
    return f"{int(dollars)} and {int(cents * 100)}"


@case(rows=[values.integers(91)], covers="float hint for integers")
def share_of_thousand(x: float) -> float:
    return x / 1000


@case(rows=[values.words(94)], covers="bytes.hex with a separator")
def spelled(s: str) -> str:
    return s.encode().hex("-")


@case(rows=[values.words(95)], covers="a library's function that has no compiled form")
def name_of_name(s: str) -> str:
    if len(s) > 3:
        return s[:3]
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, s))
