"""Row functions with instances of users' classes, against the plain function over the same rows."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, TypedDict

import pytest

import colkern as ck

ROWS = [(3, 4.0), (-1, 0.5), (0, -2.0)]


def checked(function: Callable[..., Any]) -> None:
    columns = [ck.array(list(column)) for column in zip(*ROWS, strict=True)]
    assert ck.udf(function)(*columns).to_pylist() == [function(*row) for row in ROWS]


class Point:
    """A class with a constructor that computes."""

    UNIT = 2.0

    def __init__(self, x: float, y: float = 1.0) -> None:
        self.x, self.y = x, y
        self.scaled = self.x * self.UNIT
        if self.scaled > 5:
            self.y += 1

    def distance(self, other: Point) -> float:
        return math.hypot(self.x - other.x, self.y - other.y)

    @property
    def name(self) -> str:
        return f"{self.x:.1f}/{self.y}"


@dataclasses.dataclass
class Box:
    """A data class that completes itself, and has operators."""

    width: int
    height: float = 2.0
    area: float = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width * self.height

    def __add__(self, other: Box) -> Box:
        return Box(self.width + other.width, self.height)

    def __str__(self) -> str:
        return f"{self.width}x{self.height}={self.area}"


class Cleaner:
    """A class whose instance is a global."""

    def __init__(self, factor: int, words: dict[int, str]) -> None:
        self.factor = factor
        self.words = words

    def word(self, n: int) -> str:
        return self.words.get(n * self.factor, "?")

    def __call__(self, n: int) -> str:
        return self.word(n) * 2


CLEANER = Cleaner(2, {6: "six", 0: "none"})

ORDERED = OrderedDict([(3, "three"), (0, "zero")])

COUNTS = Counter({3: 2, 0: 5})

FACTORS = defaultdict(lambda: 9, {3: 4})


class Described(TypedDict):
    """A dictionary with known keys."""

    n: int
    text: str


def joined(*parts: str, by: str = "-") -> str:
    return by.join(parts) + str(len(parts))


def between_points(n: int, x: float) -> str:
    point = Point(float(n))
    return f"{point.name} {point.distance(Point(x, 2.0)):.3f}"


def added_boxes(n: int, x: float) -> str:
    box = Box(n) + Box(1, x)
    return f"{box} {box.area + x}"


def by_instance(n: int, x: float) -> str:
    counted = COUNTS[n] + FACTORS.get(n, 1) + FACTORS[max(n, 3)]
    return CLEANER.word(n) + CLEANER(n) + ORDERED.get(n, "") + str(counted)


def described(n: int, x: float) -> Described:
    return Described(n=n, text=joined(str(n), "b", by="/"))


def of_match(n: int, x: float) -> dict[str, str] | None:
    found = re.match(r"(?P<whole>\d+)\.(?P<part>\d)", str(x))
    return found.groupdict() if found else None


def first_of_each(n: int, x: float) -> list[str]:
    return list(dict.fromkeys(letter for letter in str(x * n)))


@pytest.mark.parametrize(
    "function",
    [between_points, added_boxes, by_instance, described, of_match, first_of_each],
)
def test_instances_are_as_in_python(function: Callable[..., Any]) -> None:
    checked(function)


class Changing(Cleaner):
    """A class whose method changes the instance."""

    def word(self, n: int) -> str:
        self.factor += 1
        return str(self.factor)


CHANGING = Changing(1, {})


class Starting:
    """A class whose constructor calls a method."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.start()

    def start(self) -> None:
        self.n += 1


class Sized:
    """A class with a special method that is not called by colkern."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n


@pytest.mark.parametrize(
    "function",
    [
        lambda n, x: CHANGING.word(n),
        lambda n, x: Starting(n).n,
        lambda n, x: Sized(n).n,
        lambda n, x: Point(x) == Point(x),
    ],
)
def test_other_classes_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError):
        checked(function)


def test_a_result_is_no_instance_of_a_class_without_fields() -> None:
    with pytest.raises(ck.UnsupportedError, match="return its fields"):
        checked(lambda n, x: Point(x))


def test_a_field_of_a_global_that_changes_compiles_anew() -> None:
    cleaner = Cleaner(2, {6: "six", 9: "nine"})
    word = ck.udf(lambda n: cleaner.word(n))
    column = ck.array([3])
    assert word(column).to_pylist() == ["six"]
    cleaner.factor = 3
    assert word(column).to_pylist() == ["nine"]
