"""Row functions as people are used to writing them: sets with keys, decimals of text, library calls."""

from __future__ import annotations

import csv
import functools
import operator
import re
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

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
    result, count = re.subn(r"\b[a-z]", lambda m: m.group().upper(), name)
    limited, few = re.subn("[aeiou]", "_", result, count=2)
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


@dataclass
class Basket:
    count: int
    total: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.count


@case(
    rows=[values.number_lists(92), values.floats(93)], covers="fields of a data class that change"
)
def basket_of(counts: list[int], price: float) -> Basket:
    basket = Basket(1)
    for number in counts:
        basket.count += abs(number) % 1000
        if basket.mean < 100:
            basket.total = basket.total + price
    return basket


@case(rows=[values.sentences(94)], covers="a generator expression that has a name")
def word_lengths(line: str) -> dict[str, int]:
    words = (word.strip(".,!?").lower() for word in line.split() if word)
    longest = 12
    return {word: len(word) for word in words if len(word) < longest}


@case(rows=[values.sentences(95)], covers="map and zip that have names")
def alternating(line: str) -> str:
    words = line.split()
    pairs = zip(words, words[1:])
    result = []
    for left, right in pairs:
        result.append(left[:1] + right[-1:])
    return ",".join(result)


@case(rows=[values.words(96)], covers="a table of functions within the function")
def by_first_letter(s: str) -> str:
    forms = {"p": str.upper, "t": lambda text: text[::-1], "s": str.title}
    key = s[:1].lower()
    return forms[key](s) if key in forms else s


@case(rows=[values.integers(94), values.integers(95)], covers="a table of operators, KeyError")
def calculated(a: int, b: int) -> float | None:
    operators = {0: operator.add, 1: operator.sub, 2: operator.truediv}
    try:
        return float(operators[a % 4](a, b))
    except (KeyError, ZeroDivisionError):
        return None


@case(rows=[values.sentences(97)], covers="csv.reader of one line", raises=True)
def csv_fields(line: str) -> list[str]:
    quoted = line.replace(" ", ",").replace("a", '"a,""b"')
    return next(csv.reader([quoted]), [])


@case(rows=[values.log_lines(98)], covers="strptime with %z, astimezone")
def logged_at(line: str) -> datetime | None:
    actual = re.search(r"\[([^\]]+)\]", line)
    if not actual:
        return None
    try:
        moment = datetime.strptime(actual.group(1), "%d/%b/%Y:%H:%M:%S %z")
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None)


@case(
    rows=[values.moment_texts(98), values.between(98, -14, 14)],
    covers="fromisoformat with an offset",
)
def seconds_of(text: str, hours: int) -> float:
    own = text[:10] + "T08:30:00" + (f"{hours:+03d}:30" if hours else "Z")
    try:
        result = datetime.fromisoformat(own.replace("Z", "+00:00"))
        late = result > datetime(2020, 1, 1, tzinfo=UTC)
    except ValueError:
        return -1.0
    return result.timestamp() + late


@case(rows=[values.integers(99)], covers="arguments that a container's own change does not reach")
def as_they_were(x: int) -> tuple[list[int], list[int], list[int]]:
    several = {1}
    several.update([2, x % 3], (len(several) + 100, 7))
    listed = {1}
    listed.update([step + len(listed) for step in (100, 200)])
    try:
        listed.update([5], [10 // (x % 2)])
    except ZeroDivisionError:
        listed.add(-1)
    turned = deque([x % 5], maxlen=9)
    turned += [len(turned) for _ in range(3)]
    turned.extend(len(turned) for _ in range(3))
    return sorted(several), sorted(listed), list(turned)


@case(rows=[values.words(98)], covers="list.extend, set.update and += of what is no list, tuple +=")
def letters_and_more(s: str) -> list[str]:
    result = [s]
    result += s[:2]
    result += "x", s
    result.extend((s, "y"))
    seen = {"z"}
    seen.update(s, [s, "e"], ("a", s))
    ends: tuple[str, ...] = ("<",)
    ends += (">",)
    result += result[-1:]
    return [*result, *sorted(seen), *ends]


def or_default(default: Any) -> Callable[[Any], Any]:
    def decorator(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except (ValueError, IndexError):
                return default

        return wrapper

    return decorator


def repeated(text: str, *times: int, **words: str) -> str:
    return words.get("sep", "/").join([text] * sum(times)) + str(len(words))


@case(
    rows=[values.words(99)],
    covers="a decorator with *args and **kwargs, calls with such parameters",
)
@or_default("?")
def second_letter(s: str) -> str:
    return repeated(s[1], 1, len(s) % 3, sep="-") + repeated(s, 1, other=s) + repeated(s)


SHARES = {"a": 0.5, "b": 1.5}


@case(
    rows=[values.words(100)],
    covers="** of dictionaries in a display, next(iter()), global, dict() of names",
)
def shares(s: str) -> dict[str, float]:
    global SHARES
    own = {letter: float(s.count(letter)) for letter in s[:3]}
    both = {**SHARES, "z": 0, **own, "e": 2}
    own["a"] = 9.0
    return dict(total=sum(both.values()), first=next(iter(both.values())), own=len(own))


@case(
    rows=[values.between(100, -(2**50), 2**51)], covers="/= of an integer in a loop, formats of it"
)
def in_units(size: int) -> str:
    for unit in ("B", "kB", "MB"):
        if abs(size) < 1000:
            return f"{size:8.1f} {unit}|{size:%}|{size:g}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:,.2f} GB"
