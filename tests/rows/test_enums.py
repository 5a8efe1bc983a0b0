"""Members of enums in row functions are Python's."""

from __future__ import annotations

import enum
import http
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import colkern as ck


class Colour(enum.Enum):
    """An enum of texts, with an alias, a method, a property and a way to read it."""

    RED = "red"
    AMBER = "amber"
    GREEN = "green"
    YELLOW = "amber"  # noqa: PIE796

    def goes(self) -> bool:
        return self is not Colour.RED

    @property
    def short(self) -> str:
        return self.value[:1].upper()

    @classmethod
    def of(cls, text: str) -> Colour | None:
        for member in cls:
            if text.lower().startswith(member.value):
                return member
        return None


class Priority(enum.IntEnum):
    """An enum of numbers."""

    LOW = 1
    HIGH = 10


class Rank(enum.IntEnum):
    """An enum whose members stand in another order than their numbers."""

    LAST = 7
    FIRST = 3


class Planet(enum.Enum):
    """An enum whose members have more than a value."""

    EARTH = (5.97, 6378)
    MARS = (0.64, 3397)

    def __init__(self, mass: float, radius: int) -> None:
        self.mass = mass
        self.radius = radius


class Unit(str, enum.Enum):  # noqa: UP042
    """An enum whose members are texts."""

    KILO = "kg"
    POUND = "lb"


class Access(enum.Flag):
    """Flags, with names for combinations."""

    READ = enum.auto()
    WRITE = enum.auto()
    RUN = enum.auto()
    ALL = READ | WRITE | RUN
    NONE = 0

    @property
    def safe(self) -> bool:
        return Access.WRITE not in self


@dataclass
class Signal:
    """A data class with a member, a list that each has, and a text of its own."""

    colour: str
    seen: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        return f"<{self.colour} {self.seen}>"


def by_value(s: str) -> str:
    try:
        return Colour(s).name.title()
    except ValueError:
        return "none"


def access_of(s: str) -> Access:
    access = Access.NONE
    for letter in s:
        match letter:
            case "r":
                access |= Access.READ
            case "e":
                access |= Access["WRITE"]
            case "d":
                access = access ^ Access.RUN
    return access


def flags(s: str) -> str:
    access, other = access_of(s), access_of(s[:2])
    tests = f"{other in access} {access.safe} {access == Access.READ | Access.RUN} {bool(access)}"
    if access & Access.RUN and not other & ~Access.READ:
        tests += " runs"
    names = ",".join(flag.name or "" for flag in Access if flag in access)
    return f"{access} {access!r} {access.value} {access.name} {(~access).value} {tests} {names}"


def flags_by_value(n: int) -> str:
    return f"{Access(n % 8)} {Access(n % 8) is Access.ALL}"


def message(s: str) -> str:
    try:
        return Colour(s).value
    except ValueError as error:
        return str(error)


def by_name(s: str) -> str:
    try:
        colour = Colour[s.upper()]
    except KeyError:
        return "none"
    return f"{colour} {colour.value!r} {colour!r} {colour.goes()} {colour.short}"


def chosen(s: str) -> tuple[str, bool, bool, int]:
    colour = Colour.RED if len(s) < 4 else Colour.GREEN if s[0] == "g" else Colour.YELLOW
    fees = {Colour.RED: 3, Colour.AMBER: 2, Colour.GREEN: 1}
    return colour.name, colour == Colour.RED, colour in (Colour.GREEN, Colour.RED), fees[colour]


def found(s: str) -> str | None:
    colour = Colour.of(s)
    return None if colour is None else colour.value


def matched(s: str) -> str:
    match Colour.of(s):
        case Colour.RED:
            return "stop"
        case Colour.AMBER | Colour.GREEN:
            return "go"
    return "?"


def counted(s: str) -> list[tuple[str, int]]:
    counts: dict[Colour, int] = {}
    for word in s.split():
        colour = Colour.of(word)
        if colour is not None:
            counts[colour] = counts.get(colour, 0) + 1
    return [(colour.name, count) for colour, count in counts.items()]


def known(s: str) -> bool:
    return s in Colour.__members__ or s in [unit.value for unit in Unit]


def priority(n: int) -> str:
    try:
        level = Priority(n)
    except ValueError:
        return "none"
    return f"{level.name} {level + 1} {level > Priority.LOW} {level} {level == n} {level!r}"


def phrase(n: int) -> str:
    try:
        return http.HTTPStatus(n).phrase
    except ValueError:
        return "unknown"


def sorted_by_value(n: int) -> str:
    level = Priority.HIGH if n % 2 else Priority.LOW
    levels, units = [Priority.HIGH, level], [Unit.POUND, Unit.KILO if n > 3 else Unit.POUND]
    ranks = [Rank.LAST, Rank.FIRST if n > 3 else Rank.LAST]
    levels.sort()
    units.sort()
    ranks.sort()
    pairs = sorted([(Priority.HIGH, 1), (level, 2)])
    return (
        f"{levels[0].name} {units[0].name} {ranks[0].name} {ranks[1]} {pairs[0][1]} {min(levels)}"
    )


def bounds(n: int) -> str:
    rank = Rank.FIRST if n > 3 else Rank.LAST
    return f"{list(reversed(range(rank)))} {[place for place, _ in enumerate('ab', rank)]}"


def number(n: int) -> Any:
    return None if n < 0 else Priority.HIGH if n % 2 else Priority.LOW


def numbers_and_texts(n: int) -> Any:
    level = Priority.HIGH if n % 2 else Priority.LOW
    return {"all": [level, Priority.LOW], "unit": Unit.KILO if n > 3 else Unit.POUND}


def weight(n: int) -> float:
    planet = Planet.MARS if n % 2 else Planet.EARTH
    return round(planet.mass / planet.radius**2 * 1e6, 6) + planet.value[1]


def unit(s: str) -> str:
    try:
        u = Unit(s)
    except ValueError:
        return "?"
    return f"{u == 'kg'} {u.upper()} {u.value} {u!s} {u} {u:>4}"


def signal(s: str) -> str:
    result = Signal(s)
    result.seen.append(len(s))
    return f"{result} {result!r} {Signal(s).seen}"


TEXTS = ["red", "Green ones", "amber", "", "x", "YELLOW", "RED red green", "kg", "lb"]
NUMBERS = [1, 10, 5, -3, 404, 200, 418]


@pytest.mark.parametrize(
    ("function", "values"),
    [
        *((function, TEXTS) for function in (by_value, by_name, chosen, found, matched, counted)),
        *((function, TEXTS) for function in (known, unit, signal, flags, message)),
        *((function, NUMBERS) for function in (priority, phrase, weight)),
        *((function, NUMBERS) for function in (sorted_by_value, bounds, number, flags_by_value)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_members_of_enums_are_python_s(function: Callable[..., Any], values: list[Any]) -> None:
    compiled = ck.udf(function)
    got = compiled(ck.array(values)).to_pylist()
    want = [function(value) for value in values]
    rows = [tuple(row.values()) if isinstance(row, dict) else row for row in got]
    lists = [[tuple(p.values()) for p in row] if isinstance(row, list) else row for row in rows]
    assert lists == want
    assert not sum(compiled.report().left.values())


def test_members_that_are_numbers_or_texts_are_results_as_such() -> None:
    got = ck.udf(numbers_and_texts)(ck.array(NUMBERS)).to_pylist()
    assert got == [numbers_and_texts(value) for value in NUMBERS]


class Apart(enum.Flag):
    """Flags with a gap."""

    LOW = 1
    HIGH = 4


def of_a_gap(n: int) -> str:
    return str(Apart(n))


def flags_with_a_number(s: str) -> str:
    return str(access_of(s) | 1)  # type: ignore[operator]


def unordered(s: str) -> bool:
    colours = [Colour.RED, Colour.AMBER if s else Colour.GREEN]
    return sorted(colours) == colours  # type: ignore[type-var]


def returned(s: str) -> Any:
    return Colour.of(s)


@pytest.mark.parametrize(
    ("function", "values", "reason"),
    [
        (unordered, TEXTS, "members of an enum"),
        (returned, TEXTS, "Colour"),
        (of_a_gap, NUMBERS, "Apart"),
        (flags_with_a_number, TEXTS, "Access"),
    ],
)
def test_what_members_of_enums_do_not_have_is_refused(
    function: Callable[..., Any], values: list[Any], reason: str
) -> None:
    with pytest.raises((ck.CompileError, ck.UnsupportedError), match=reason):
        ck.udf(function)(ck.array(values))
