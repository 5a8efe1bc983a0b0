"""Row functions with instances of users' classes, against the plain function over the same rows."""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import numpy
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

    @classmethod
    def times_unit(cls, x: float) -> Point:
        return cls(x * cls.UNIT)

    @staticmethod
    def rounded(x: float) -> int:
        return round(x)


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


class Vector(NamedTuple):
    """A named tuple with operators."""

    x: float
    y: float = 2.0

    def __add__(self, other: Vector) -> Vector:  # type: ignore[override]
        return Vector(self.x + other.x, self.y + other.y)

    def __rsub__(self, other: float) -> Vector:
        return Vector(other - self.x, other - self.y)

    def __mul__(self, by: float) -> Vector:  # type: ignore[override]
        return self._replace(x=self.x * by)


START = Vector(1.0, 1.0)


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


def of_functions_of_its_class(n: int, x: float) -> str:
    point = Point(x)
    return point.times_unit(n).name + f"{point.rounded(x)}"


def added_boxes(n: int, x: float) -> str:
    box = Box(n) + Box(1, x)
    return f"{box} {box.area + x}"


def added_vectors(n: int, x: float) -> str:
    total = sum([Vector(x), Vector(2.0, x)], START)
    total += START
    both = (1, 2) + total  # noqa: RUF005  # the plain tuple's operator
    return f"{total * n} {2.5 - total} {both} {total == (x + 4.0, x + 4.0)} {total + START}"


def by_instance(n: int, x: float) -> str:
    counted = COUNTS[n] + FACTORS.get(n, 1) + FACTORS[max(n, 3)]
    return CLEANER.word(n) + CLEANER(n) + ORDERED.get(n, "") + str(counted)


def described(n: int, x: float) -> Described:
    return Described(n=n, text=joined(str(n), "b", by="/"))


def of_match(n: int, x: float) -> dict[str, str] | None:
    actual = re.match(r"(?P<whole>\d+)\.(?P<part>\d)", str(x))
    return actual.groupdict() if actual else None


def first_of_each(n: int, x: float) -> list[str]:
    return list(dict.fromkeys(letter for letter in str(x * n)))


@pytest.mark.parametrize(
    "function",
    [
        between_points,
        of_functions_of_its_class,
        added_boxes,
        added_vectors,
        by_instance,
        described,
        of_match,
        first_of_each,
    ],
)
def test_instances_are_as_in_python(function: Callable[..., Any]) -> None:
    checked(function)


class Changing(Cleaner):
    """A class whose method changes the instance."""

    def word(self, n: int) -> str:
        self.factor += 1
        return str(self.factor)


CHANGING = Changing(1, {})


class Abstract(abc.ABC):
    """A class that has no instances."""

    def __init__(self, n: int) -> None:
        self.n = n

    @abc.abstractmethod
    def area(self) -> int: ...


class Slotted:
    """A class whose instances have one attribute."""

    __slots__ = ("a",)

    def __init__(self, n: int) -> None:
        self.a = self.b = n  # type: ignore[misc]


class Answer:
    """A descriptor that stands before an instance's own fields."""

    def __get__(self, owner: Any, form: Any) -> int:
        return 42

    def __set__(self, owner: Any, value: int) -> None:
        pass


class Answering:
    n = Answer()

    def __init__(self, n: int) -> None:
        self.n = n


class Private:
    """A class with a private field."""

    def __init__(self, n: int) -> None:
        self.__n = n

    def value(self) -> int:
        return self.__n


class Sized:
    """A class with a special method that is not called by colkern."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __index__(self) -> int:
        return self.n


@pytest.mark.parametrize(
    "function",
    [
        lambda n, x: CHANGING.word(n),
        lambda n, x: Sized(n).n,
        lambda n, x: Abstract(n).n,  # type: ignore[abstract]
        lambda n, x: Slotted(n).a,
        lambda n, x: Answering(n).n,
        lambda n, x: Point(x) == Point(x),
        # It copies what is in the fields, too.
        lambda n, x: copy.deepcopy(Cleaner(n, {n: ""})).factor,
    ],
)
def test_other_classes_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError):
        checked(function)


@dataclasses.dataclass
class Unset:
    """A data class with a field that nothing assigns."""

    n: int
    size: int = dataclasses.field(init=False)


def test_a_field_that_nothing_assigns_is_the_reason() -> None:
    with pytest.raises(ck.CompileError, match="fields that are not its parameters"):
        checked(lambda n, x: Unset(n).n)


class _Hidden(Private):
    """A class with a private field of its own, of the same name, and a private method."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.__n = n * 2
        self.add = [self.__twice(k) for k in range(2)]

    def __twice(self, __by: int) -> int:
        return (lambda k: self.__n * k)(2) + __by

    def shown(self) -> str:
        return f"{self.__n} {self.value()} {self.add} {self.__twice(3)}"


def test_private_names_are_those_of_their_class() -> None:
    checked(lambda n, x: Private(n).value())
    checked(lambda n, x: _Hidden(n).shown())


@dataclasses.dataclass(order=True)
class Task:
    """A data class with a field that does not count in comparisons."""

    rank: int
    name: str = dataclasses.field(compare=False)
    size: float = 0.0


def test_fields_that_do_not_count_are_not_compared() -> None:
    def compared(n: int, x: float) -> str:
        first, second = Task(n, "first", abs(x)), Task(3, "second", 4.0)
        return f"{first == second} {first < second} {first >= second} {max(first, second).name}"

    checked(compared)


@dataclasses.dataclass(order=True)
class Rank:
    """A data class with an order."""

    n: int


class Reversed(Rank):
    """A data class with one method of the order of its own."""

    def __lt__(self, other: Rank) -> bool:
        return self.n > other.n


def test_each_comparison_is_by_the_method_that_python_asks() -> None:
    def extremes(n: int, x: float) -> str:
        ranks = [Reversed(2), Reversed(n), Reversed(1)]
        tests = ranks[0] < ranks[1], ranks[0] > ranks[1], ranks[0] <= ranks[1]
        least = min(ranks[0], ranks[1]).n, max(ranks[0], ranks[1]).n
        return f"{min(ranks).n} {max(ranks).n} {least} {tests}"

    checked(extremes)
    checked(lambda n, x: sorted([Reversed(n), Reversed(2)])[0].n)


class Rate:
    """A class whose attribute changes."""

    factor = 1

    def __init__(self, n: int) -> None:
        self.n = n

    def value(self) -> int:
        return self.n * self.factor


class OtherRate(Rate):
    pass


@functools.singledispatch
def class_name(value: object) -> str:
    return "object"


def test_what_changes_in_a_class_or_is_registered_is_seen_by_later_calls() -> None:
    function = ck.udf(lambda n: f"{OtherRate(n).value()} {class_name(n)}")
    column = ck.array([7])
    assert function(column).to_pylist() == ["7 object"]
    Rate.factor = 3
    class_name.register(int, lambda value: "int")
    try:
        assert function(column).to_pylist() == ["21 int"]
    finally:
        Rate.factor = 1


class Base:
    """A constructor that is called from others, and calls a method."""

    def __init__(self, n: int, *more: int) -> None:
        self.n = n
        for each in more:
            self.last = each
        self.start()

    def start(self) -> None:
        self.started = self.n * 2
        self.n += 1


class Starting(Base):
    """A constructor with all that a function may have."""

    def __init__(self, n: int, text: str) -> None:
        try:
            super().__init__(n, 10, 11)
            self.value, self.note = int(text), "a number"
        except ValueError:
            self.value = len(text)
            self.note = "a text"
        self.log = [n]
        if n > 5:
            return
        self.start()
        self.log.append(self.n)

    def start(self) -> None:
        super().start()
        self.started += 1

    def shown(self) -> str:
        return f"{self.n} {self.last} {self.value} {self.note} {self.started} {self.log}"


class Unassigned:
    """A constructor that leaves fields without a value in some rows."""

    __slots__ = ("even", "size")

    def __init__(self, n: int) -> None:
        self.size = n
        if n % 2 == 0:
            self.even: int | None = n or None


class Nothing:
    """A constructor that assigns nothing."""

    def __init__(self) -> None:
        super().__init__()

    def two(self) -> int:
        return 2


class Limited:
    """A constructor that assigns by a property."""

    def __init__(self, n: int) -> None:
        self.level = n

    @property
    def level(self) -> int:
        return self._level

    @level.setter
    def level(self, n: int) -> None:
        self._level = min(n, 3)


def tried(n: int) -> int:
    try:
        return Starting(n, "ab" if n else "12").value + sum(Base(k).n for k in range(n))
    except ValueError:
        return -1


@pytest.mark.parametrize(
    ("function", "most_left"),
    [
        (lambda n: Starting(n, str(n) if n % 3 else "none").shown(), 0),
        (lambda n: str(Unassigned(n).even), 4),
        (lambda n: Base(n).last, 9),
        (lambda n: Nothing().two() + n, 0),
        (lambda n: f"{[Base(k).started for k in range(n)]}", 0),
        (lambda n: Limited(n).level, 9),
        (tried, 0),
    ],
)
@pytest.mark.filterwarnings("ignore:.* runs in Python")
def test_constructors_are_functions_as_others(function: Any, most_left: int) -> None:
    compiled = ck.udf(function, fallback=True)
    for n in range(9):
        got = outcome(lambda n: compiled(ck.array([n])).to_pylist()[0], n)
        assert repr(got) == repr(outcome(function, n))
    if not most_left:
        report = compiled.report()
        assert not report.left
        assert not report.reason


def test_a_result_is_no_instance_of_a_class_without_fields() -> None:
    with pytest.raises(ck.UnsupportedError, match="return its fields"):
        checked(lambda n, x: Point(x))


class Link:
    def __init__(self, value: int, behind: Any) -> None:
        self.value, self.behind = value, behind


def test_a_chain_of_instances_is_pythons() -> None:
    def last(n: int) -> int:
        head = Link(n, None)
        for k in range(n):
            head = Link(k, head)
        return head.value

    compiled = ck.udf(last)
    assert compiled(ck.array([0, 3])).to_pylist() == [0, 2]
    assert "nested deeper with each round of a loop" in str(compiled.report())


def test_a_field_of_a_global_that_changes_compiles_anew() -> None:
    cleaner = Cleaner(2, {6: "six", 9: "nine"})
    word = ck.udf(lambda n: cleaner.word(n))
    column = ck.array([3])
    assert word(column).to_pylist() == ["six"]
    cleaner.factor = 3
    assert word(column).to_pylist() == ["nine"]


@dataclasses.dataclass
class Span:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            self.low, self.high = self.high, self.low

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def __len__(self) -> int:
        return self.high - self.low

    def __and__(self, other: Span) -> Span:
        return Span(max(self.low, other.low), min(self.high, other.high))

    def __getitem__(self, place: int) -> int:
        return self.low if place == 0 else self.high

    def __rmul__(self, factor: int) -> Span:
        return Span(self.low * factor, self.high * factor)


class Warmth:
    def __init__(self, degrees: int) -> None:
        self.degrees = degrees

    def __lt__(self, other: Warmth) -> bool:
        return self.degrees < other.degrees

    def __eq__(self, other: object) -> bool:
        return abs(self.degrees - other.degrees) < 2  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        return self.degrees > 0

    def __call__(self, more: int) -> int:
        return self.degrees + more

    def __add__(self, other: Warmth) -> int:
        return self.degrees + other.degrees

    def __str__(self) -> str:
        return f"{self.degrees}C"


class Cold(Warmth):
    """A subclass, which is asked before its base."""

    def __gt__(self, other: Warmth) -> bool:
        return self.degrees + 2 > other.degrees

    def __eq__(self, other: object) -> bool:
        return True

    def __radd__(self, other: Warmth) -> int:
        return other.degrees * 100 + self.degrees


class Colder(Cold):
    def __add__(self, other: Warmth) -> int:
        return self.degrees * 1000 + other.degrees


SPAN = Span(2, 9)


def is_within(a: int, b: int) -> bool:
    return a in Span(b, 5)


def is_in_a_constant(a: int, b: int) -> bool:
    return a in SPAN or b in SPAN


def of_spans(a: int, b: int) -> int:
    span = Span(a, b)
    part = span & Span(1, 4)
    return (1 if span else 0) + len(span) * 10 + part[0] * 100 + (2 * span)[1]


def compared(a: int, b: int) -> str:
    x, y = Warmth(a), Warmth(b)
    text = str(x) if x else "cold"
    for sign, holds in (("<", x < y), (">", x > y), ("=", x == y), ("!", x != y)):
        text += sign if holds else ""
    return text + str(max(x, y)) + str(x(3)) + str(not y)


def of_a_subclass(a: int, b: int) -> str:
    texts = ""
    for x, y in ((Warmth(a), Cold(b)), (Cold(a), Warmth(b)), (Cold(a), Colder(b))):
        texts += f"{x < y} {x == y} {x > y} "
    return f"{texts} {Warmth(a) + Cold(b)} {Warmth(a) + Colder(b)} {Colder(a) + Cold(b)}"


@pytest.mark.parametrize(
    "function", [is_within, is_in_a_constant, of_spans, compared, of_a_subclass]
)
def test_special_methods_are_those_of_the_class(function: Any) -> None:
    columns = [1, 2, 3, -4, 5, 9, 0], [3, 2, 9, 0, 5, 7, 5]
    compiled = ck.udf(function)
    wanted = [function(*row) for row in zip(*columns, strict=True)]
    assert compiled(*map(ck.array, columns)).to_pylist() == wanted
    assert not compiled.report().left


class Odd:
    """Its special methods give what Python refuses, or passes on as it is."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __bool__(self) -> Any:
        return self.value

    def __len__(self) -> int:
        return self.value - 2

    def __str__(self) -> Any:
        return self.value

    def __eq__(self, other: object) -> Any:
        return self.value % 3

    def __lt__(self, other: Odd) -> Any:
        return self.value % 3

    def __rmod__(self, other: object) -> str:
        return "no"


class Unequal:
    """Unequal to a value, and perhaps equal to it as well."""

    def __eq__(self, other: object) -> bool:
        return other != 1

    def __ne__(self, other: object) -> bool:
        return other != 2


UNEQUAL = Unequal()


class Copied:
    """Special methods that only copies, `!=` and classes call."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Copied) and self.n == other.n

    def __ne__(self, other: object) -> bool:
        return True

    def __getstate__(self) -> int:
        return self.n

    def __class_getitem__(cls, item: object) -> str:
        return "item"


def test_special_methods_that_nothing_calls_may_be_there() -> None:
    checked(lambda n, x: Copied(n) == Copied(2))
    for unequal in (
        lambda n: Copied(n) != Copied(2),
        lambda n: (Copied(n), 1) != (Copied(2), 1),
        lambda n: [Copied(n)] != [Copied(2)],
        lambda n: copy.copy(Copied(n)).n,
    ):
        with pytest.raises(ck.CompileError, match=r"own !=|copy\.copy"):
            ck.udf(unequal)(ck.array([1]))


class Length:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __len__(self) -> Any:
        return self.value

    def __bool__(self) -> Any:
        return numpy.int64(self.value) > 2

    def __str__(self) -> str:
        return "length"

    def __rmod__(self, other: int) -> int:
        return other + 1


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __str__(self) -> str:
        return "money"

    def __format__(self, specification: str) -> str:
        return f"{self.cents} as {specification}"


def test_a_class_with_formats_of_its_own_has_them_in_every_format() -> None:
    checked(lambda n, x: f"{Money(n)} {Money(n):x} {format(Money(n), 'y')} {Money(n)!s}")
    checked(lambda n, x: "{} {!s}".format(Money(n), Money(n)))  # noqa: UP032


def test_one_of_several_classes_is_compared_by_identity_in_python_alone() -> None:
    def is_money(n: int) -> bool:
        kind = Money if n > 0 else Length
        return kind is Money

    with pytest.raises(ck.CompileError, match="`is` of one of several functions or classes"):
        ck.udf(is_money)(ck.array([1]))


def test_none_is_an_instance_of_its_type() -> None:
    def classes(n: int | None) -> str:
        one = isinstance(n, int), isinstance(n, str)
        several = isinstance(n, (int, type(None))), isinstance(n, str | None)
        return f"{one} {several}"

    rows = [1, None]
    assert ck.udf(classes)(ck.array(rows, "int64")).to_pylist() == list(map(classes, rows))


def outcome(function: Any, *arguments: Any) -> Any:
    """The result of a function, or the class of the exception that it raises."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 1 if Odd(x) else 0,
        lambda x: bool(Length(x)),
        lambda x: len(Odd(x)),
        lambda x: UNEQUAL != x,  # noqa: SIM300
        lambda x: x == UNEQUAL,
        lambda x: len(Length(x / 2)),
        lambda x: str(len(Length(x > 2))),
        lambda x: str(Odd(x)),
        lambda x: Odd(x) == Odd(1),
        lambda x: Odd(x) < Odd(1),
        lambda x: 5 if Odd(x) == Odd(1) else 6,
        lambda x: "%s" % Length(x),  # noqa: UP031
        lambda x: f"{5 % Length(x)}",
    ],
)
@pytest.mark.filterwarnings("ignore:.* runs in Python")
def test_special_methods_give_what_python_has_of_their_results(function: Any) -> None:
    compiled = ck.udf(function, fallback=True)
    for x in range(1, 5):
        got = outcome(lambda x: compiled(ck.array([x])).to_pylist()[0], x)
        assert repr(got) == repr(outcome(function, x))


def halved(n: int) -> int:
    return n // 2


def negated(n: int) -> int:
    return -n


class Registry(dict[str, Callable[[int], int]]):
    """A dictionary with a method of its own that reads nothing."""

    def register(self, function: Callable[[int], int]) -> None:
        self[function.__name__] = function


REGISTRY = Registry(halved=halved, negated=negated)


def test_a_dictionary_of_functions_may_have_a_class_of_its_own() -> None:
    def by_name(name: str, n: int) -> int:
        return REGISTRY[name](n) + REGISTRY.get(name, negated)(n) if name in REGISTRY else n

    names, numbers = ["halved", "negated", "other"], [7, 8, 9]
    wanted = list(map(by_name, names, numbers))
    assert ck.udf(by_name)(ck.array(names), ck.array(numbers)).to_pylist() == wanted


@pytest.mark.parametrize(
    ("base", "method"),
    [
        (dict, "get"),
        (dict, "values"),
        (dict, "__missing__"),
        (defaultdict, "get"),
        (list, "__iter__"),
    ],
)
def test_functions_of_a_class_that_reads_by_itself_are_refused(base: type, method: str) -> None:
    def read(self: Any, *_: Any) -> Any:
        return iter([negated]) if method in ("values", "__iter__") else negated

    functions: Any = type("Reading", (base,), {method: read})()
    key: Any = "halved" if issubclass(base, dict) else 0
    if isinstance(functions, dict):
        functions[key] = halved
    else:
        functions.append(halved)

    def by_item(key: Any, n: int) -> Any:
        return functions[key](n)

    def by_get(key: Any, n: int) -> Any:
        return functions.get(key, halved)(n)

    with pytest.raises(ck.CompileError):
        ck.udf(by_get if method == "get" else by_item)(ck.array([key]), ck.array([7]))


@dataclasses.dataclass(order=True)
class Version:
    """Parts of a version, of which the last may be missing."""

    major: float
    minor: float = 0
    name: str = dataclasses.field(default="", compare=False)

    def __matmul__(self, other: Version) -> float:
        return self.major * other.major + self.minor * other.minor


class Card:
    """A class with an order of its own, in which different cards are equal."""

    def __init__(self, text: str) -> None:
        self.rank, self.suit = text[0], text[1:]

    def __lt__(self, other: Card) -> bool:
        return "23TJQKA".index(self.rank) < "23TJQKA".index(other.rank)


def cards(x: int, y: float) -> str:
    given = [Card(text) for text in ("Ks", "2h", f"T{x}", "Kd", "2s", f"A{y}", "Th")]
    ordered = sorted(given)
    given.sort(reverse=True)
    return " ".join(card.rank + card.suit for card in (*ordered[:7], *given[:7]))


def versions(x: int, y: float) -> str:
    every = [
        Version(x, y, "a"),
        Version(1, 2, "b"),
        Version(float(x), y, "c"),
        Version(y, name="d"),
    ]
    by_key = sorted("cab", key=lambda name: Version(ord(name) % 3, x))
    names = "".join(version.name for version in sorted(every, reverse=True))
    return f"{names} {by_key} {every[0] @ every[1]:.3f}"


def lists(x: int, y: float) -> list[list[float]]:
    return sorted([[y, 1.0], [float(x)], [], [y], [float(x), y]])


@pytest.mark.parametrize("function", [cards, versions, lists])
def test_values_are_sorted_by_their_own_order(function: Callable[..., Any]) -> None:
    checked(function)
    columns = [ck.array(list(column)) for column in zip(*ROWS, strict=True)]
    compiled = ck.udf(function)
    compiled(*columns)
    assert not compiled.report().left


class Moody:
    """A class whose `<` is no order."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __lt__(self, other: Moody) -> bool:
        return (self.n * 7 + other.n) % 3 == 0


@pytest.mark.parametrize("number", [math.nan, 1.0])
def test_what_is_no_order_sorts_as_in_python(number: float) -> None:
    def of_python(x: int, y: float) -> list[int]:
        moods = [moody.n for moody in sorted(Moody((n * x) % 11) for n in range(9))]
        return moods + [int(v.minor) for v in sorted(Version(n * number, -n) for n in range(5))]

    checked(of_python)
