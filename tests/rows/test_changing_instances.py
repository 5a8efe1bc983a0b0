"""Methods that assign to fields of their instance, against the plain function over the same rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from corpus.brought import Parser

import colkern as ck

ROWS = [[], [1], [3, -5, 50, 2], [4, 4, -60, 9], [2, 2, 7, 41, -1]]


def outcome(function: Callable[..., Any], row: Any) -> Any:
    try:
        return function(row)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


def checked(function: Callable[..., Any], rows: list[Any]) -> Any:
    """Each row's result or exception is Python's; the function's report."""
    compiled = ck.udf(function)
    for row in rows:
        column = ck.array([row], ck.list_(ck.int64()) if isinstance(row, list) else ck.utf8())
        assert outcome(lambda row, c=column: compiled(c).to_pylist()[0], row) == outcome(
            function, row
        )
    return compiled.report()


class Tally:
    """Counts, and keeps the best."""

    LEAST = 0

    def __init__(self, start: int = 0) -> None:
        self.n = start
        self.total = 0.0
        self.best: int | None = None
        self.log: list[str] = []

    def add(self, x: int) -> int:
        if x < -40:
            raise ValueError("low")
        self.n += 1
        self.total += x
        if self.best is None or x > self.best:
            self.best = x
            self.note("best")
        return self.n

    def note(self, what: str) -> None:
        self.log.append(what + str(self.n))

    def reset(self) -> None:
        self.n = self.LEAST

    def twice(self, x: int) -> int:
        self.add(x)
        return self.add(x + 1)

    def shown(self, x: int) -> str:
        return f"{self.n}/{x}"

    def shown_next(self) -> str:
        return self.shown(self.add(1))

    def counts(self) -> Iterator[int]:
        for _ in range(3):
            yield self.n

    def counted(self) -> Tally:
        self.n += 1
        return self


@dataclass
class Account:
    """A data class with methods."""

    balance: float = 0.0
    history: list[float] = field(default_factory=list)

    def pay(self, amount: float) -> bool:
        if amount > self.balance:
            return False
        self.balance -= amount
        self.history.append(amount)
        return True


def in_branches(xs: list[int]) -> str:
    tally = Tally(3)
    for x in xs:
        if x % 2:
            tally.add(x)
        elif x > 40:
            tally.reset()
        else:
            tally.twice(x)
    return f"{tally.n} {tally.total} {tally.best} {tally.log}"


def among_operands(xs: list[int]) -> int:
    tally = Tally()
    result = tally.n + tally.add(1) * 10 + tally.n * 100
    for x in xs:
        result = (result + tally.n * tally.add(abs(x)) + tally.n) % 1009
        if (tally.n > 2 and tally.add(1) > 3) or tally.add(2) > 9:
            result += 1
    return result


def among_arguments(xs: list[int]) -> str:
    tally = Tally()
    for x in xs:
        tally.add(tally.add(abs(x)))
    return tally.shown(tally.add(7)) + tally.shown_next()


def another_among_arguments(xs: list[int]) -> str:
    tally = Tally(len(xs))
    return tally.shown((tally := Tally(3)).n)


def made_anew(xs: list[int]) -> list[int]:
    totals = [Tally(5).add(7)]
    for x in xs:
        tally = Tally(x)
        tally.n += 10
        totals.append(tally.add(abs(x)) + any(tally.add(1) > 13 for _ in xs))
    return totals


def returned(xs: list[int]) -> Any:
    account = Account(9)
    for x in xs:
        account.pay(x)
    return f"{account}"


@pytest.mark.parametrize(
    "function",
    [in_branches, among_operands, among_arguments, another_among_arguments, made_anew, returned],
)
def test_methods_change_the_instance_that_one_variable_has(function: Callable[..., Any]) -> None:
    assert not checked(function, ROWS).left


def test_methods_that_change_an_instance_may_call_each_other_in_turn() -> None:
    def parsed(text: str) -> int:
        parser = Parser(text)
        return parser.total() * 100 + parser.pos

    texts = ["1+2", "(4+(5))+2", "7", "", "(1", "é"]
    assert not checked(parsed, texts).left


def caught(xs: list[int]) -> int:
    tally = Tally()
    for x in xs:
        try:
            tally.twice(x)
        except ValueError:
            tally.n += 1000
    return tally.n


def with_another_name(xs: list[int]) -> int:
    tally = Tally(len(xs))
    other = tally
    if len(xs) < 3:
        return 0
    other.reset()
    return tally.n


def as_a_result(xs: list[int]) -> int:
    tally = Tally(len(xs))
    if len(xs) < 3:
        return 0
    other = tally.counted()
    tally.reset()
    return other.n


def by_a_function_within(xs: list[int]) -> int:
    tally = Tally()

    def more(x: int) -> int:
        return tally.add(x)

    return sum(more(abs(x)) for x in xs) + tally.n if xs else 0


def by_a_generator(xs: list[int]) -> int:
    tally, result = Tally(), 0
    if len(xs) > 2:
        for count in (tally.add(abs(x)) for x in xs):
            tally.n += count
            result = result * 3 + count
    return result


def beside_it_in_a_result(xs: list[int]) -> Any:
    account = Account(9)
    return {"account": f"{account}", "first": (account, account.pay(len(xs)))[0].balance}


def by_a_result_of_a_function_within(xs: list[int]) -> int:
    tally = Tally()

    def own() -> Tally:
        return tally

    other = own()
    tally.add(len(xs))
    return other.n


def by_an_outer_name(xs: list[int]) -> int:
    tally = Tally()
    others = [tally]

    def more() -> None:
        nonlocal tally
        tally.add(len(xs))

    more()
    return others[0].n


def by_two_names_at_once(xs: list[int]) -> int:
    other = (tally := Tally())
    tally.add(len(xs))
    return other.n


def by_a_generator_method(xs: list[int]) -> list[int]:
    tally, result = Tally(len(xs)), []
    for count in tally.counts():
        result.append(count)
        tally.add(1)
    return result


def by_a_loop(xs: list[int]) -> list[int]:
    tallies = [Tally(x) for x in xs]
    for tally in tallies:
        tally.n += 1
    return [tally.n for tally in tallies]


@pytest.mark.parametrize(
    "function",
    [
        *(caught, with_another_name, as_a_result, by_a_function_within, by_a_generator),
        *(beside_it_in_a_result, by_a_result_of_a_function_within, by_an_outer_name),
        *(by_two_names_at_once, by_a_generator_method, by_a_loop),
    ],
)
def test_what_others_see_of_a_change_is_pythons(function: Callable[..., Any]) -> None:
    with contextlib.suppress(ck.CompileError):
        checked(function, ROWS)


class Parts:
    """Containers that have another name, too."""

    def __init__(self, n: int) -> None:
        self.parts = [n]
        self.seen = {n}
        self.by_number = {n: "first"}

    def take(self, x: int) -> None:
        self.parts += [x]
        self.seen |= {x}


def test_containers_of_an_instance_are_changed_in_place() -> None:
    def shared(xs: list[int]) -> str:
        whole = Parts(len(xs))
        parts, seen, names = whole.parts, whole.seen, whole.by_number
        for x in xs:
            whole.take(x)
            whole.parts += (x, x + 1)
            whole.seen ^= {x, 7}
            whole.by_number |= {x: str(x)}
        return f"{parts} {whole.parts} {sorted(seen)} {sorted(whole.seen)} {names}"

    assert not checked(shared, ROWS).left


class Builder:
    """Methods that return their instance."""

    def __init__(self, n: int = 0) -> None:
        self.n = n
        self.parts: list[str] = []

    def add(self, x: int) -> Builder:
        if x < -40:
            raise ValueError("low")
        self.n += x
        self.parts.append(str(self.n))
        return self

    def same(self) -> Builder:
        return self

    def by_another(self) -> Builder:
        return self.same()

    def beside(self) -> tuple[Builder, int]:
        return self.by_another(), 1

    @property
    def me(self) -> Builder:
        return self

    def more(self, x: int) -> int:
        return self.n + x

    def above(self, xs: list[int]) -> int:
        return sum(x > self.n for x in xs) + len(sorted(xs, key=lambda x: x % (self.n * 2 + 99)))

    def later(self, xs: list[int]) -> Iterator[int]:
        return (self.n + x for x in xs)

    def later_by_a_method(self, xs: list[int]) -> Iterator[int]:
        return map(self.more, xs)

    def adding(self) -> Callable[[int], int]:
        return lambda x: self.n + x

    def __iadd__(self, x: int) -> Builder:
        self.n += x
        return self


class Fixed(Builder):
    __iadd__ = None  # type: ignore[assignment]

    def __add__(self, x: int) -> Fixed:
        return Fixed(self.n + x)


class Adding(Builder):
    def by_super(self) -> Builder:
        return super().same()


def read_at_once(xs: list[int]) -> int:
    builder = Builder(len(xs))
    above = builder.above(xs)
    builder.n += 1
    return above * 100 + builder.n


def in_chains(xs: list[int]) -> str:
    new = Builder(3).add(1).add(2).more(1)
    builder = Builder(len(xs)).add(4)
    other: Builder = Builder(1)
    for x in xs:
        if x > 2:
            builder.add(abs(x)).add(1).same()
        else:
            builder = builder.add(abs(x))
        other += builder.add(1).n
        other.add(3)
    last = builder.add(1).more(builder.add(2).n)
    return f"{new} {builder.n} {builder.parts} {last} {other.n} {other.add(1).parts}"


def before_an_exception(xs: list[int]) -> int:
    builder = Builder()
    for x in xs:
        try:
            builder.add(1).add(x)
        except ValueError:
            builder += 1000
    return builder.n


@pytest.mark.parametrize("function", [in_chains, before_an_exception, read_at_once])
def test_methods_that_return_their_instance_are_called_in_chains(
    function: Callable[..., Any],
) -> None:
    assert len(checked(function, ROWS).left) == (function is before_an_exception)


def in_a_list(xs: list[int]) -> int:
    builders = [Builder(x) for x in xs] + [Builder(1)]
    builders[0].n += 1
    return builders[0].n


def in_a_tuple(xs: list[int]) -> int:
    pair = Builder(len(xs)), 1
    pair[0].n += 1
    return pair[0].n


def of_a_chain(xs: list[int]) -> int:
    builder = Builder(len(xs))
    other = builder.add(1)
    builder.add(2)
    return other.n


def by_a_method_of_a_method(xs: list[int]) -> int:
    builder = Builder(len(xs))
    other = builder.by_another()
    builder.n += 1
    return other.n


def by_a_method_of_a_base(xs: list[int]) -> int:
    builder = Adding(len(xs))
    other = builder.by_super()
    builder.n += 1
    return other.n


def by_a_property(xs: list[int]) -> int:
    builder = Builder(len(xs))
    other = builder.me
    builder.n += 1
    return other.n


def in_a_result(xs: list[int]) -> int:
    builder = Builder(len(xs))
    other, _ = builder.beside()
    builder.n += 1
    return other.n


def in_place(xs: list[int]) -> int:
    builder = other = Builder(len(xs))
    builder += 1
    return other.n


def in_place_in_a_list(xs: list[int]) -> int:
    builders = [Builder(len(xs))]
    builders[0] += 1
    return builders[0].n


def of_a_class_that_forbids_it(xs: list[int]) -> int:
    fixed = Fixed(len(xs))
    fixed += 1  # type: ignore[misc]
    return fixed.n


def read_later(xs: list[int]) -> list[int]:
    builder = Builder(len(xs))
    sums = builder.later(xs)
    builder.n += 1
    return list(sums)


def read_later_by_a_method(xs: list[int]) -> list[int]:
    builder = Builder(len(xs))
    sums = builder.later_by_a_method(xs)
    builder.n += 1
    return list(sums)


def read_later_by_a_function(xs: list[int]) -> list[int]:
    builder = Builder(len(xs))
    adding = builder.adding()
    builder.n += 1
    return [adding(x) for x in xs]


@pytest.mark.parametrize(
    "function",
    [
        *(of_a_class_that_forbids_it, read_later, read_later_by_a_method, read_later_by_a_function),
        *(in_a_list, in_a_tuple, of_a_chain, by_a_method_of_a_method),
        *(by_a_method_of_a_base, by_a_property, in_a_result, in_place, in_place_in_a_list),
    ],
)
def test_changes_of_an_instance_with_another_name_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError, match="has no compiled form"):
        ck.udf(function)


class Temperature:
    """Two names for one field."""

    def __init__(self, celsius: float) -> None:
        self.celsius = celsius

    @property
    def fahrenheit(self) -> float:
        return self.celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value: float) -> None:
        self.celsius = (value - 32) * 5 / 9


def test_properties_may_have_setters() -> None:
    def warmed(values: list[int]) -> float:
        temperature = Temperature(20.0)
        for value in values:
            if value > 2:
                temperature.fahrenheit = temperature.fahrenheit + value
        temperature.fahrenheit += 1
        return temperature.celsius

    checked(warmed, ROWS)


def test_a_property_of_an_instance_with_two_names_is_not_assigned_to() -> None:
    def shared(text: str) -> float:
        temperature = other = Temperature(1.0)
        other.fahrenheit = 3
        return temperature.celsius

    with pytest.raises(ck.CompileError, match="may have other names"):
        ck.udf(shared)


class Visit:
    """A context manager that counts."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = [1]

    def __enter__(self) -> Visit:
        self.count += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.count += 100
        self.seen.append(self.count)

    def add(self, n: int) -> int:
        self.count += n
        return self.count


class Quiet(Visit):
    """A context manager that ends exceptions."""

    def __exit__(self, *error: object) -> bool:  # type: ignore[override]
        return True


class Asking(Visit):
    """A context manager that reads the exception."""

    def __exit__(self, kind: object, *rest: object) -> None:  # type: ignore[override]
        self.count += kind is None


class Lending(Visit):
    """A context manager that gives something else."""

    def __enter__(self) -> int:  # type: ignore[override]
        return self.count


def left_by_an_exception(text: str) -> int:
    try:
        with Visit() as outer, Visit() as visit:
            visit.add(int(text))
            return outer.add(visit.count) + visit.add(int(text[1:]))
    except ValueError:
        return -1


def left_in_a_loop(text: str) -> int:
    total = 0
    for letter in text:
        with Visit(), Visit() as visit:
            if letter == "1":
                continue
            if letter == "x":
                break
            total += visit.add(2)
        total += visit.count
    return total


def left_by_a_result(text: str) -> list[int]:
    with Visit() as visit:
        visit.add(len(text))
        return visit.seen


def changed_at_last(text: str) -> int:
    visit = Visit()
    try:
        try:
            visit.add(int(text))
        finally:
            visit.add(10)
    except ValueError:
        return -visit.count
    return visit.count


CONTEXTS = [left_by_an_exception, left_in_a_loop, left_by_a_result, changed_at_last]


@pytest.mark.parametrize("function", CONTEXTS)
def test_instances_are_entered_and_left_in_the_end(function: Callable[..., Any]) -> None:
    checked(function, ["12", "x", "7", "", "2x3", "213", "999"])
    compiled = ck.udf(function, strict=True)
    assert compiled(ck.array(["12", "7"])).to_pylist() == [function("12"), function("7")]


def ended(text: str) -> int:
    with Quiet() as visit:
        visit.add(int(text))
    return visit.count


def asked(text: str) -> int:
    with Asking() as visit:
        visit.add(int(text))
    return visit.count


def lent(text: str) -> int:
    with Lending() as count:
        pass
    return count


def another_in_its_place(text: str) -> int:
    with Visit() as visit:
        visit = Visit()
    return visit.count


def changed_after_its_return(n: int) -> Visit:
    visit = Visit()
    try:
        return visit
    finally:
        visit.add(n)


def returned_before_the_end(text: str) -> int:
    return changed_after_its_return(int(text)).count


@pytest.mark.parametrize("function", [ended, asked, lent, another_in_its_place])
def test_what_a_with_means_besides_is_pythons(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError, match=r"`with`|other names"):
        ck.udf(function)(ck.array(["12"]))


def test_an_instance_that_changes_after_its_return_is_pythons() -> None:
    assert sum(checked(returned_before_the_end, ["12"]).left.values()) == 1
