"""Enums, named tuples and data classes, with what people write into them."""

from __future__ import annotations

import copy
import dataclasses
import re
from dataclasses import InitVar, asdict, dataclass, field, replace
from datetime import date
from enum import Enum, Flag, IntEnum, StrEnum, auto
from typing import NamedTuple

from . import values
from .case import case


class Tier(Enum):
    """A plan and its price."""

    FREE = 0
    PRO = 1
    TEAM = 2

    def __lt__(self, other):
        return self.value < other.value

    @property
    def price(self):
        return {Tier.FREE: 0.0, Tier.PRO: 9.5, Tier.TEAM: 20.0}[self]

    @staticmethod
    def parse(s):
        return Tier[s.strip().upper()]


class Weekday(IntEnum):
    """Some days of a week."""

    MON = 0
    TUE = 1
    SAT = 5
    SUN = 6

    @property
    def weekend(self):
        return self >= Weekday.SAT


class Currency(StrEnum):
    """Texts."""

    EUR = auto()
    USD = auto()


class Letter(str, Enum):  # noqa: UP042
    """Texts, in the older spelling."""

    A = "alpha"
    B = "beta"


@dataclass(order=True)
class Version:
    """A version, in order."""

    major: int
    minor: int = 0
    tag: str = ""

    @classmethod
    def parse(cls, s: str) -> "Version":
        m = re.match(r"v?(\d{1,6})(?:\.(\d{1,6}))?(?:-(\w+))?", s)
        if m is None:
            return cls(0)
        return cls(int(m[1]), int(m[2] or 0), m[3] or "")

    def bump(self):
        return replace(self, minor=self.minor + 1)


class Pt(NamedTuple):
    """A point on a grid."""

    x: int
    y: int = 0

    def dist(self, other: "Pt") -> int:
        return abs(self.x - other.x) + abs(self.y - other.y)


@dataclass(frozen=True)
class Money:
    """An amount in cents."""

    cents: int
    currency: str = "EUR"

    def __str__(self):
        return f"{self.cents / 100:.2f} {self.currency}"

    def plus(self, other: "Money") -> "Money":
        return Money(self.cents + other.cents, self.currency)


@case(
    rows=[values.one_of(1, ["free", "pro", " team", "Free", "PRO", "team ", "Pro", "gold"])],
    covers="a static method and a property of an Enum, KeyError",
    raises=True,
)
def tier_price(s: str) -> float:
    return Tier.parse(s).price


@case(rows=[values.between(2, -2, 4)], covers="Enum of a value, None before")
def tier_of(n: int) -> str:
    t = None
    if 0 <= n <= 2:
        t = Tier(n)
    return "none" if t is None else f"{t.name.lower()}={t.value}"


@case(rows=[values.dates(5)], covers="IntEnum of a value, its formats, ValueError")
def day_kind(d: date) -> str:
    try:
        w = Weekday(d.weekday())
    except ValueError:
        return "midweek"
    return ("off " if w.weekend else "on ") + w.name + f" {w:02d} {w!r} {w + 1} {w == 5}"


@case(rows=[values.one_of(6, ["eur", "usd", "gbp", "EUR"])], covers="a dictionary of members")
def symbol(code: str) -> str:
    signs = {Currency.EUR: "€", Currency.USD: "$"}
    try:
        return signs[Currency(code.lower())]
    except ValueError:
        return code


@case(rows=[values.one_of(7, ["eur", "usd", "gbp", "EUR"])], covers="StrEnum beside text")
def is_eur(code: str) -> bool:
    return code == Currency.EUR or code.upper() == Currency.USD.name


@case(
    rows=[values.one_of(9, ["alpha", "beta", "gamma"])], covers="members as values of a dictionary"
)
def lookup_map(s: str) -> str:
    m = {k.value: k for k in Letter}
    k = m.get(s)
    return k.name if k else "?"


@case(rows=[values.versions(11)], covers="a class method, repr of a data class")
def version_repr(s: str) -> str:
    return repr(Version.parse(s))


@case(rows=[values.versions(12), values.versions(13)], covers="order of a data class")
def version_lt(a: str, b: str) -> bool:
    return Version.parse(a) < Version.parse(b)


@case(rows=[values.versions(14)], covers="dataclasses.replace")
def version_bump(s: str) -> str:
    w = Version.parse(s).bump()
    return f"{w.major}.{w.minor}"


@dataclass
class Parcel:
    """A parcel, with what its constructor computes."""

    width: int
    height: int
    rate: InitVar[float] = 1.5
    label: str = field(init=False, default="none")
    notes: list[str] = field(init=False, default_factory=list)
    area: int = field(init=False)

    def __post_init__(self, rate):
        self.width += 1
        self.area = self.width * self.height
        if self.area > 100:
            self.label = f"{self.area * rate:.1f}"


@case(
    rows=[values.between(47, -9, 40), values.between(48, -9, 9)],
    covers="dataclasses.replace calls __post_init__; InitVar, field(init=False), copy.copy",
)
def parcel(width: int, height: int) -> str:
    first = Parcel(width, height)
    second = dataclasses.replace(first, height=5, rate=height / 2)
    third = copy.copy(second)
    third.width = -1
    return f"{first.area} {first.label} {second} {third.width} {len(third.notes)}"


@case(rows=[values.versions(15)], covers="dataclasses.asdict")
def version_dict(s: str):
    return asdict(Version.parse(s))


@case(
    rows=[values.between(16, -100, 100), values.between(17, -100, 100)],
    covers="a named tuple: methods, repr, keyword arguments",
)
def pt(a: int, b: int) -> str:
    p, q = Pt(a, b), Pt(y=a, x=b)
    x, y = p
    return f"{p} {p.dist(q)} {p == (a, b)} {p[1]} {x + y} {len(p)} {p._asdict()['x']}"


@case(rows=[values.between(18, -9, 9), values.between(19, -9, 9)], covers="patterns of a class")
def match_pt(a: int, b: int) -> str:
    match Pt(a, b):
        case Pt(x=0, y=0):
            return "origin"
        case Pt(0, y):
            return f"y={y}"
        case Pt(x, 0):
            return f"x={x}"
        case Pt(x, y) if x == y:
            return "diag"
        case (x, y):
            return f"{x},{y}"


@case(
    rows=[values.between(45, 0, 10**6), values.between(46, 0, 10**6)],
    covers="methods and str of a data class",
)
def total(a: int, b: int) -> str:
    return str(Money(a).plus(Money(b)))


class Permission(Flag):
    """Flags."""

    READ = auto()
    WRITE = auto()
    EXECUTE = auto()

    @classmethod
    def parse(cls, text):
        actual = cls(0)
        for member in cls:
            if member.name[0].lower() in text:
                actual |= member
        return actual


@case(rows=[values.words(47)], covers="flags: |=, &, in, name, value")
def permissions(word: str) -> str:
    given = Permission.parse(word)
    if not given & (Permission.READ | Permission.WRITE):
        return f"none, {given.value}"
    letters = "".join(
        letter if flag in given else "-" for letter, flag in zip("rwx", Permission, strict=True)
    )
    return f"{letters} {given.name} {~given}"


@dataclass(order=True)
class Release:
    """A version, whose last parts may be missing."""

    major: int
    minor: int = 0
    patch: int = 0

    @classmethod
    def parse(cls, text):
        return cls(*(int(part) for part in text.split(".")[:3] if part.isdigit()))

    def __str__(self):
        return f"{self.major}.{self.minor}.{self.patch}"


@case(
    rows=[values.versions(48), values.versions(49)],
    covers="sorted by order=True, * of a list, defaults",
    raises=True,
)
def newest_first(one: str, other: str) -> str:
    releases = [Release.parse(text) for text in (one, other, "1.2")]
    return " > ".join(str(release) for release in sorted(releases, reverse=True))
