"""Row functions with several results: tuples, named tuples, dictionaries, data classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from . import values
from .case import case


class Person(NamedTuple):
    first: str
    last: str
    middle: str | None = None


class Span(NamedTuple):
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low


@dataclass(frozen=True)
class Reading:
    sensor: str
    value: float
    valid: bool = True


@case(rows=[values.names(1)], covers="NamedTuple with a default")
def person(name: str) -> Person:
    parts = name.split()
    if len(parts) < 2:
        return Person(name.strip(), "")
    return Person(parts[0], parts[-1], " ".join(parts[1:-1]) or None)


@case(
    rows=[values.integers(2), values.integers(3)],
    covers="NamedTuple with a property, attribute access",
)
def width(a: int, b: int) -> int:
    span = Span(min(a, b), max(a, b))
    return span.width if span.low >= 0 else span.high


@case(rows=[values.words(4), values.floats(4)], covers="dataclass result, default, comparison")
def reading(sensor: str, value: float) -> Reading:
    if value != value or abs(value) > 1e6:
        return Reading(sensor.lower(), 0.0, valid=False)
    return Reading(sensor.lower(), value)


@case(rows=[values.integers(5), values.integers(6)], covers="tuple result, swap")
def ordered(a: int, b: int) -> tuple[int, int]:
    if a > b:
        a, b = b, a
    return a, b


@case(rows=[values.dates(7)], covers="dict result of ints and text")
def calendar_parts(day: date):
    return {"year": day.year, "month": day.month, "name": day.strftime("%B"), "late": day.day > 20}


@case(rows=[values.timestamps(8)], covers="nested tuple unpacking of a helper's result")
def date_and_minutes(when: datetime) -> tuple[date, int]:
    def minutes(t):
        return t.hour, t.minute

    h, m = minutes(when)
    return when.date(), h * 60 + m


@case(rows=[values.csv_lines(9)], covers="dict made step by step, then returned")
def fields(line: str) -> dict[str, str]:
    parts = line.split(",")
    result = {"first": parts[0], "last": parts[-1]}
    result["count"] = str(len(parts))
    return result


@case(rows=[values.sentences(10)], covers="tuple of text and numbers, nested conditional")
def text_statistics(text: str) -> tuple[int, float, str]:
    words = text.split()
    if not words:
        return 0, 0.0, ""
    return len(words), sum(len(w) for w in words) / len(words), max(words)


@case(rows=[values.integers(11), values.integers(12)], covers="divmod as a result", raises=True)
def both(a: int, b: int) -> tuple[int, int]:
    return divmod(a, b)


@case(rows=[values.emails(13)], covers="partition as a result")
def split_email(address: str) -> tuple[str, str, str]:
    return address.partition("@")


@case(rows=[values.number_lists(14)], covers="starred unpacking, tuple of list and int")
def head_and_tail(numbers: list[int]) -> tuple[int, list[int]]:
    head, *tail = numbers or [0]
    return head, tail


@case(rows=[values.words(15), values.integers(15)], covers="_replace and _asdict of a NamedTuple")
def replaced(word: str, n: int) -> Person:
    p = Person(word, str(n))
    return p._replace(last=p.last.zfill(5)) if n >= 0 else p


@case(
    rows=[values.reals(16, -50, 50), values.reals(17, -50, 50)],
    covers="tuples in a list, min with key",
)
def closest(x: float, y: float) -> tuple[str, float]:
    places = [("origin", 0.0, 0.0), ("east", 40.0, 0.0), ("north", 0.0, 40.0)]
    name, px, py = min(places, key=lambda p: (p[1] - x) ** 2 + (p[2] - y) ** 2)
    return name, round(((px - x) ** 2 + (py - y) ** 2) ** 0.5, 3)


@case(rows=[values.words(18), values.words(19)], covers="dict of optional values")
def found(word: str, other: str | None):
    return {
        "same": None if other is None else word == other,
        "place": word.find(other) if other else None,
        "word": word,
    }


@case(rows=[values.key_values(20)], covers="list of tuples as a result")
def as_pairs(text: str) -> list[tuple[str, int]]:
    return [(p.partition("=")[0], len(p)) for p in text.split(";")]
