"""Row functions whose variables have instances of one of several classes, against the plain function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import colkern as ck

ROWS = [0, 1, 2, 3, 4, 5, -1]


class Shape:
    """A base whose methods and constants others have of their own."""

    SIDES = 0

    def __init__(self, n: int) -> None:
        self.n = n

    def area(self) -> float:
        return 0.0

    def shown(self) -> str:
        return f"{type(self).__name__} {self.area():.1f} {self.SIDES}"

    def __str__(self) -> str:
        return f"<{self.n}>"


class Circle(Shape):
    def area(self) -> float:
        return 3.0 * self.n**2


class Square(Shape):
    SIDES = 4

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.name = f"square {n}"

    def area(self) -> float:
        return float(self.n * self.n)

    def __len__(self) -> int:
        return self.n % 3

    def grow(self) -> None:
        self.n += 1


@dataclasses.dataclass
class Dog:
    """A data class without a base."""

    name: str

    def speak(self) -> str:
        return f"{self.name} barks"


@dataclasses.dataclass
class Cat:
    """A data class with other fields, of other kinds."""

    lives: int
    name: str = "tom"

    def speak(self) -> str:
        return f"{self.name} sleeps {self.lives}"


ANIMALS: list[Dog | Cat] = [Dog("rex"), Cat(7), Dog("fido")]

BY_NUMBER: dict[int, Dog | Cat] = {1: Dog("one"), 2: Cat(2)}


def animal(n: int) -> Dog | Cat | None:
    if n < 0:
        return None
    return Dog(str(n)) if n > 2 else Cat(n)


def by_condition(n: int) -> str:
    shape = Circle(n) if n % 2 else Square(n)
    return f"{shape.shown()} {shape.n} {shape.SIDES} {shape} {'some' if shape else 'none'}"


def by_branches(n: int) -> str:
    if n % 3 == 0:
        shape: Shape = Circle(n)
    elif n % 3 == 1:
        shape = Square(n)
    else:
        shape = Shape(1)
    return shape.shown()


def in_a_list(n: int) -> str:
    shapes: list[Shape] = []
    for k in range(n):
        shapes.append(Square(k) if k % 2 else Circle(k))
    largest = max(shapes, key=lambda shape: shape.area(), default=Shape(0))
    return " ".join(shape.shown() for shape in shapes) + largest.shown()


def in_a_dictionary(n: int) -> str:
    by_key = {k: Square(k) if k % 2 else Circle(k) for k in range(n)}
    return " ".join(f"{k} {shape}" for k, shape in by_key.items())


def by_a_loop(n: int) -> str:
    shape = None
    before = Circle(n) if n > 2 else Square(n)
    for k in range(n):
        shape = Square(k) if k % 2 else Circle(k)
    return f"{shape.shown() if shape is not None else '-'} {before.shown()}"


def of_constants(n: int) -> str:
    found = BY_NUMBER.get(n)
    return ANIMALS[n % 3].speak() + (found.speak() if found is not None else "none")


def by_a_function(n: int) -> str:
    own = animal(n)
    if isinstance(own, Dog):
        return f"dog {own.name}"
    return f"cat {own.lives}" if own else f"none {own!r}"


def by_isinstance(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    if not isinstance(shape, Square) or shape.name == "square 5":
        return f"no {isinstance(shape, Shape)} {isinstance(shape, (Dog, str))}"
    return shape.name


def by_pattern(n: int) -> str:
    match animal(n):
        case Dog(name=name):
            return f"dog {name}"
        case Cat(lives=lives, name=name):
            return f"cat {lives} {name}"
        case None:
            return "none"
    return "other"


def by_class(n: int) -> str:
    form = Circle if n % 2 else Square
    return form(n).shown()


def of_none(n: int) -> str:
    return animal(n).speak()  # type: ignore[union-attr]


def in_a_handler(n: int) -> str:
    shape: Shape = Circle(n)
    try:
        if n > 2:
            shape = Square(n)
        [0, 1][n - 1]
    except IndexError:
        return f"none {shape.shown()}"
    return shape.shown()


def outcome(function: Callable[..., Any], row: int) -> Any:
    try:
        return function(row)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


@pytest.mark.parametrize(
    "function",
    [
        *(by_condition, by_branches, in_a_list, in_a_dictionary, by_a_loop, of_constants),
        *(by_a_function, by_isinstance, by_pattern, by_class, of_none, in_a_handler),
    ],
)
def test_an_instance_is_used_as_one_of_its_class(function: Callable[[int], str]) -> None:
    compiled = ck.udf(function)
    for row in ROWS:
        got = outcome(lambda row: compiled(ck.array([row])).to_pylist()[0], row)
        assert got == outcome(function, row)
    assert not compiled.report().left


def changed(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    shape.n += 1
    return shape.shown()


def changed_by_a_method(n: int) -> str:
    shape = Square(n) if n % 2 else Square(n) if n else Circle(n)
    shape.grow()  # type: ignore[union-attr]
    return shape.shown()


def compared(n: int) -> bool:
    return Dog("2") == animal(n)


def returned(n: int) -> Any:
    return Dog("a") if n % 2 else Cat(n)


def lacking(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    return shape.name  # type: ignore[union-attr]


@pytest.mark.parametrize("function", [changed, changed_by_a_method, compared, returned, lacking])
def test_what_needs_to_know_the_class_is_refused(function: Callable[[int], Any]) -> None:
    with pytest.raises((ck.CompileError, ck.UnsupportedError)):
        ck.udf(function)(ck.array(ROWS))
