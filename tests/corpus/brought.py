"""Row functions as they are brought: objects that change, queries, fallbacks, small machines."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from functools import singledispatch, total_ordering
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

from . import values
from .case import Column, case


def call_records(seed: int) -> Column:
    """Lines of a switch: caller, kind, start, seconds."""

    def make(random: Any) -> str:
        start = f"2024{random.randint(1, 12):02}{random.randint(1, 28):02}{random.randint(0, 23):02}0559"
        kind = random.choice(("MO", "MT", "SMS", "FAX"))
        return f"{random.randint(1000, 9999)}|{kind}|{start}|{random.randint(0, 999)}"

    odd = ("", "|||", "1|é|20241301000000|5", "1|MO|20240101000000|x", "1|2")
    return values.texts(f"{seed} calls", make, odd)


def sums(seed: int) -> Column:
    """Sums and products of small numbers."""

    def make(random: Any) -> str:
        return random.choice(
            ("1+2*3", "(4+5)*(2-7)", f"{random.randint(1, 99)}-7", "2*(3+(4-1))*2")
        )

    return values.texts(f"{seed} sums", make, ("", "1+", "é", "((1)", "1 + 2"))


class CallKind(Enum):
    MO = "MO"
    MT = "MT"
    SMS = "SMS"


@case(rows=[call_records(1)], covers="a variable of another kind behind try", raises=True)
def end_of_call(line: str) -> tuple[str, str] | None:
    cells = line.split("|")
    if len(cells) != 4:
        return None
    _, kind, start, seconds = cells
    try:
        kind = CallKind(kind)  # type: ignore[assignment]
    except ValueError:
        return None
    begin = datetime.strptime(start, "%Y%m%d%H%M%S")
    return kind.name.lower(), (begin + timedelta(seconds=int(seconds))).isoformat()  # type: ignore[attr-defined]


@case(rows=[values.urls(111)], covers="parse_qs, get with a list of None")
def first_query_value(url: str) -> str | None:
    query = parse_qs(urlsplit(url).query)
    return query.get("page", query.get("q", [None]))[0]


@case(rows=[values.urls(112)], covers="unquote_plus of what is quoted")
def readable(url: str) -> str:
    return unquote_plus(url.replace("/", "%2F").replace("-", "+"))


@case(rows=[values.csv_lines(111)], covers="suppress, a loop's variable that becomes a float")
def total_of_cells(line: str) -> str:
    total, rest = 0.0, 0
    for cell in line.split(","):
        with suppress(ValueError):
            total += float(cell)
        try:
            cell = int(cell)  # type: ignore[assignment]
        except ValueError:
            rest += len(cell)
            continue
        rest -= cell  # type: ignore[operator]
    return f"{total:.2f} {rest}"


@case(
    rows=[values.key_values(111)], covers="dict.update of pairs and names, cells that become lists"
)
def query_of(text: str) -> str:
    fields = {"a": "0"}
    fields.update(part.split("=", 1) for part in text.split(";") if "=" in part)  # type: ignore[misc]
    fields.update(z="9")
    sizes = []
    for part in text.split(";"):
        part = part.split("=")  # type: ignore[assignment]
        sizes.append(len(part))
    return "&".join(f"{key}={fields[key]}" for key in sorted(fields)) + str(sum(sizes))


@case(
    rows=[values.sentences(111), values.sentences(112)],
    covers="Counter -=, subtract, update of counts",
)
def leftover(line: str, other: str) -> str:
    words = Counter(line.lower().split())
    words -= Counter(other.lower().split())
    letters = Counter(line)
    letters.update(Counter("aab"))
    letters.subtract(other)
    return f"{sorted(words.elements())} {max(letters.values())} {letters['a']}"


@case(rows=[values.between(111, 2, 400)], covers="a slice with a step that is assigned to")
def primes_below(n: int) -> int:
    sieve = [True] * n
    sieve[0] = sieve[1] = False
    for i in range(2, math.isqrt(n) + 1):
        if sieve[i]:
            sieve[i * i :: i] = [False] * len(range(i * i, n, i))
    return sum(sieve)


@case(rows=[values.sentences(113)], covers="math.prod of values()")
def variety(line: str) -> int:
    counts = {"a": 1, "e": 1, "o": 1}
    for letter in line:
        if letter in counts:
            counts[letter] += 1
    return math.prod(counts.values())


class Level(IntEnum):
    LOW = 1
    MID = 2
    HIGH = 3


@case(rows=[values.integers(111)], covers="names of IntEnum, and their arithmetic")
def level(x: int) -> str:
    actual = Level.LOW if x < -300 else Level.MID if x < 300 else Level.HIGH
    return (
        f"{actual.name}:{actual + 1}"
        if actual >= Level.MID
        else str(sorted([actual, Level.LOW])[0].value)
    )


class Shape(ABC):
    sides = 0

    def __init__(self, name: str, scale: float = 1.0) -> None:
        self.name = name
        self.scale = scale

    @abstractmethod
    def area(self) -> float: ...

    def described(self) -> str:
        return f"{self.name}/{type(self).__name__}: {self.area() * self.scale:.2f} {self.sides}"


class Disc(Shape):
    def __init__(self, radius: float) -> None:
        super().__init__("disc", scale=2.0)
        self.radius = radius

    def area(self) -> float:
        return math.pi * self.radius**2


class Box(Shape):
    sides = 4

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        super().__init__("box")

    def area(self) -> float:
        return self.width * self.height

    def described(self) -> str:
        return super().described() + "!"


@case(
    rows=[values.reals(111, -9, 9), values.reals(112, -9, 9)], covers="bases, super(), type(self)"
)
def shapes(a: float, b: float) -> str:
    return Disc(a).described() if a > b else Box(a, b).described()


@total_ordering
class Version:
    def __init__(self, text: str) -> None:
        self.parts = [int(part) for part in text.split(".")]

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts  # type: ignore[attr-defined]

    def __lt__(self, other: Any) -> bool:
        return self.parts < other.parts


@case(
    rows=[values.versions(111), values.versions(112)],
    covers="total_ordering, max of instances",
    raises=True,
)
def newer(left: str, right: str) -> str:
    a, b = Version(left), Version(right)
    return f"{a >= b} {a != b} {max(a, b).parts[0]}"


@singledispatch
def shown(x: Any) -> str:
    return str(x)


@shown.register
def _(x: int) -> str:
    return f"int {x}"


@shown.register(type(None))
def _(x: None) -> str:
    return "nothing"


@case(rows=[values.integers(112), values.words(111)], covers="singledispatch")
def shown_both(a: int, text: str | None) -> str:
    return f"{shown(a)}/{shown(text)}/{shown(a > 3)}"


class Machine:
    def __init__(self, text: str) -> None:
        self.text = text
        self.state = "start"
        self.seen: list[str] = []
        self.n = 0

    def step(self, letter: str) -> None:
        match self.state:
            case "start":
                self.state = "word" if letter.isalpha() else "start"
            case "word" if letter == "e":
                self.state = "start"
                self.seen.append(letter + str(self.n))
            case _:
                self.n += 1

    def run(self) -> str:
        for letter in self.text:
            self.step(letter)
        return self.state + "".join(self.seen)


@case(rows=[values.sentences(114)], covers="a machine of states, as a class")
def run_machine(line: str) -> str:
    machine = Machine(line)
    first = machine.run()
    machine.n = 0
    return f"{first} {Machine(line[:5]).run()} {machine.run()}"


class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def peek(self) -> str:
        return self.text[self.pos] if self.pos < len(self.text) else ""

    def eat(self, mark: str) -> None:
        if self.peek() != mark:
            raise ValueError(f"expected {mark} at {self.pos}")
        self.pos += 1

    def total(self) -> int:
        value = self.product()
        while self.peek() in ("+", "-"):
            mark = self.peek()
            self.eat(mark)
            value = value + self.product() if mark == "+" else value - self.product()
        return value

    def product(self) -> int:
        value = self.factor()
        while self.peek() == "*":
            self.eat("*")
            value *= self.factor()
        return value

    def factor(self) -> int:
        if self.peek() == "(":
            self.eat("(")
            value = self.total()
            self.eat(")")
            return value
        start = self.pos
        while self.peek().isdigit():
            self.pos += 1
        return int(self.text[start : self.pos])


@case(rows=[sums(2)], covers="a parser by recursive descent, as a class", raises=True)
def value_of_sum(text: str) -> int:
    parser = Parser(text)
    return parser.total() * 100 + parser.pos


@dataclass
class Account:
    owner: str
    balance: float = 0.0
    history: list[float] = field(default_factory=list)

    def move(self, amount: float) -> bool:
        if amount + self.balance < 0:
            return False
        self.balance += amount
        self.history.append(amount)
        return True


@case(
    rows=[values.names(111), values.score_lists(111)],
    covers="methods of a data class that change it",
)
def account(owner: str, amounts: list[float]) -> str:
    result = Account(owner, 10)
    refused = sum(not result.move(5 - amount) for amount in amounts)
    return f"{result.owner}: {result.balance:.2f}, {len(result.history)} moves, {refused} refused"


class Dice:
    def __init__(self, seed: int) -> None:
        self.state = seed

    def roll(self) -> int:
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return self.state % 6 + 1


@case(rows=[values.between(112, 0, 10**6)], covers="an instance that changes in a condition")
def rolls_to_six(seed: int) -> int:
    dice = Dice(seed)
    count = 0
    while dice.roll() != 6 and count < 50:
        count += 1
    return count * 10 + Dice(seed).roll()


@case(rows=[values.names(112)], covers="float() of words as long as infinity", raises=False)
def number_or_size(text: str) -> float:
    text = re.sub(r"\W", "", text)[:8]
    try:
        return float(text)
    except ValueError:
        return len(text)
