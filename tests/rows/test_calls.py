"""Row functions that call generators, and functions that call themselves, against the plain functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import getsource
from itertools import chain, count, takewhile
from typing import Any

import pytest
from corpus.flow import evaluate2

import colkern as ck
from colkern.cpu.embedded import is_kept
from colkern.kernels import text_case
from colkern.rows import functions
from colkern.rows.device_loop import device_source, kernel_function
from colkern.rows.forms import Form
from colkern.rows.methods import Bound, function_of
from colkern.rows.plan import Plan
from colkern.rows.table import Row, call_of, table

AT_ONCE = "an iterator has a compiled form only where its items are read at once"
CHANGES = "a container that changes while an iterator reads it has no compiled form"
CONSTANT = (
    "a constant that changes has no compiled form: an object from outside the function, or a "
    "default, is shared by all rows"
)
NUMBERS = [0, 1, 5, 7, None, 4]


def checked(function: Callable[[int], Any], left: set[str] | None = None) -> None:
    """Check that a function of an integer compiles, gives what Python gives, and why rows are left."""
    compiled = ck.udf(function, strict=left is None)
    got = compiled(ck.array(NUMBERS)).to_pylist()
    want = [None if n is None else function(n) for n in NUMBERS]
    rows = [{f"f{k}": x for k, x in enumerate(w)} if isinstance(w, tuple) else w for w in want]
    assert got == rows
    assert {site.reason for site in compiled.report().sites if site} == (left or set())


# Generators


def squares(n: int) -> Iterator[int]:
    for i in range(n):
        yield i * i


def collatz(n: int) -> Iterator[int]:
    while True:
        yield n
        if n == 1:
            return
        n = n // 2 if n % 2 == 0 else 3 * n + 1


def more(items: list[int]) -> Iterator[int]:
    for item in items:
        yield item + 1


def popped(items: list[int]) -> Iterator[int]:
    while items:
        yield items.pop()


def then_divided(n: int) -> Iterator[int]:
    yield 1
    yield 10 // n


def countdown(n: int) -> Iterator[int]:
    while n != 0:
        yield n
        n -= 2


def nested(n: int) -> Iterator[int]:
    yield from squares(n)
    for item in collatz(n + 1):
        yield -item


def summed(n: int) -> int:
    return sum(squares(n)) + max(squares(n), default=-1)


def listed(n: int) -> tuple[int, str, bool]:
    pairs = list(zip(squares(n), collatz(n + 1), strict=False))
    return len(pairs), ",".join(str(x) for x in nested(n)), any(x > 9 for x in squares(n))


def first(n: int) -> int:
    try:
        return next(squares(n)) + next(collatz(n + 2), 0)
    except StopIteration:
        return -5


def of_own_list(n: int) -> list[int]:
    items, out = [n, n + 1], []
    for item in more(items):
        out.append(item)
    return out


def local(n: int) -> int:
    factor = 3

    def own(most: int) -> Iterator[int]:
        for i in range(most):
            yield i * factor

    return sum(own(n)) + len([x for x in own(n) if x])


@pytest.mark.parametrize("function", [summed, listed, first, of_own_list, local])
def test_what_a_generator_yields_is_gone_over(function: Callable[[int], Any]) -> None:
    checked(function)


def backwards(n: int) -> list[int]:
    items, out = [n, n + 1, 5], []
    for item in reversed(items):
        items[0] = 77
        out.append(item)
    return out


def unpacked(n: int) -> tuple[int, int, bool, list[int]]:
    a, b = map(abs, [n - 3, n])
    c, d = (str(x) for x in (n, 1.5))
    items = [n]
    items.extend(len(items) for _ in range(2))
    return a, b, c in map(str.strip, [" 1", d]), items


def looked_at_once(n: int) -> list[int]:
    items = [1, 2, 3, 4, 5, n]
    actual = [x + 0 for x in [items.pop(), 3]] + [*tuple([items.pop()])]  # noqa: C409
    actual += [sum(x for x in (items.pop(), items.pop())), {1: items.pop()}.get(1, 0)]
    return [*actual, int(items.pop() or items.pop() or 1), *items]


def written_in_order(n: int) -> list[int]:
    pairs = {n: (n := n + 1)}
    return [key * 10 + value for key, value in pairs.items()]


@pytest.mark.parametrize("function", [backwards, unpacked, looked_at_once, written_in_order])
def test_each_item_is_asked_for_once_and_when_python_asks(function: Callable[[int], Any]) -> None:
    checked(function)


def ended_early(n: int) -> int:
    try:
        for item in then_divided(n):
            if item > 0:
                return item
    except ZeroDivisionError:
        return -1
    return 0


def never_asked_for(n: int) -> int:
    return next(countdown(n), 0)


def changed_by_the_loop(n: int) -> int:
    items = [n, n + 1]
    for item in more(items):
        if len(items) < 6:
            items.append(item)
    return len(items)


def grown(items: list[int]) -> int:
    if len(items) < 6:
        items.append(1)
    return len(items)


def changed_by_a_function(n: int) -> int:
    items = [n, n + 1]
    return sum([grown(items) for _ in more(items)]) if n else 0


def changed_under_itertools(n: int) -> int:
    items, other, total = [n, n + 1], [0], 0
    if n > 1:
        other = items
    for item in chain(items, [9]):
        if len(other) < 6:
            other.append(1)
        total += item
    return total


def changed_by_the_generator(n: int) -> int:
    items, total = [n, n + 1], 0
    for _ in popped(items):
        total += len(items)
    return total


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (ended_early, "//"),
        (never_asked_for, "a generator that runs for long"),
        (changed_by_the_loop, CHANGES),
        (changed_under_itertools, CHANGES),
        (changed_by_a_function, CONSTANT),
        (changed_by_the_generator, CONSTANT),
    ],
)
def test_where_the_order_of_steps_shows_the_row_is_pythons(
    function: Callable[[int], Any], reason: str
) -> None:
    checked(function, {reason})


def endless(n: int) -> Iterator[int]:
    while True:
        yield n
        n += 1


def changed_around(n: int) -> int:
    factor = 3

    def own(most: int) -> Iterator[int]:
        for i in range(most):
            yield i * factor

    total = 0
    for item in own(n):
        factor += 1
        total += item
    return total


def listed_and_changed(n: int) -> list[int]:
    items, out = [n, n + 1], []
    for item in chain(items, [9]):
        items.remove(item)
        out.append(item)
    return out


def limit_changed(n: int) -> int:
    limit = 3
    for x in takewhile(lambda x: x < limit, [n, 5]):  # noqa: B023
        limit += x
    return limit


def factor_changed(n: int) -> int:
    for x in chain((n * y for y in [2, 3]), [1]):
        n += x
    return n


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda n: next(endless(n)), "a generator that never ends"),
        (lambda n: next(x) if (x := (k + n for k in count())) else 0, AT_ONCE),
        (changed_around, "factor changes while an iterator reads it"),
        (listed_and_changed, CHANGES),
        (limit_changed, "limit changes while an iterator reads it"),
        (factor_changed, "n changes while an iterator reads it"),
    ],
)
def test_other_uses_of_iterators_are_refused(function: Any, reason: str) -> None:
    with pytest.raises(ck.CompileError, match=reason):
        Plan(function, [ck.int64()], [Form()])


# Functions that call themselves


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def divisor(a: int, b: int) -> int:
    return a if b == 0 else divisor(b, a % b)


def summed_up(n: int, total: int = 0) -> int:
    if n <= 0:
        return total
    return summed_up(n - 1, total + n)


def power(x: float, n: int) -> float:
    if n == 0:
        return 1
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1)


def turned(s: str) -> str:
    return "" if not s else turned(s[1:]) + s[0]


def binary(n: int) -> list[int]:
    if n < 2:
        return [n]
    digits = binary(n // 2)
    digits.append(n % 2)
    return digits


def next_seventh(n: int) -> int | None:
    if n > 20:
        return None
    if n % 7 == 0:
        return n
    return next_seventh(n + 1)


def orders(s: str) -> Iterator[str]:
    if len(s) <= 1:
        yield s
    for place, letter in enumerate(s):
        for rest in orders(s[:place] + s[place + 1 :]):
            yield letter + rest


def depth(n: int) -> int:
    return 0 if n == 0 else 1 + depth(n - 1)


def own_factorial(n: int) -> int:
    def own(k: int) -> int:
        return 1 if k < 2 else k * own(k - 1)

    return own(n)


def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


def circled(n: int) -> tuple[str, float] | None:
    return ("end", 0.5) if n <= 0 else circled_by_two(n - 2)


def circled_by_two(n: int) -> tuple[str, float] | None:
    return ("two", 2.5) if n % 5 == 0 else circled_by_three(n - 3)


def circled_by_three(n: int) -> tuple[str, float] | None:
    result = None if n % 7 == 3 else circled(n - 1)
    return result or circled_by_two(n - 4) if n > 0 else result


@pytest.mark.parametrize(
    "function",
    [
        fibonacci,
        lambda n: factorial(n) + divisor(n * 6, 4) + summed_up(n),
        lambda n: power(1.5, n),
        lambda n: turned("abé" * n),
        binary,
        next_seventh,
        lambda n: ",".join(orders("abcd"[:n])),
        own_factorial,
        even,
        lambda n: str([circled(n * 9 + k) for k in range(9)]),
    ],
)
def test_a_function_that_calls_itself(function: Callable[[int], Any]) -> None:
    checked(function)


def test_functions_that_call_each_other_in_turn_are_written_in_few_rounds() -> None:
    # A parser of three functions, each of which is written for two kinds of arguments.
    assert Plan(evaluate2, [ck.utf8()], [Form()]).program.count < 100


def twice(n: int) -> int:
    return n * 2


def halves(n: int) -> float:
    total = 0
    for part in range(3):
        total = total + twice(n + part) / 2  # type: ignore[assignment]
    return total


def test_a_function_is_not_written_again_with_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = functions._write_body

    def noted(emitter: Any) -> None:
        written.append(emitter.definition.function.__name__)
        write(emitter)

    monkeypatch.setattr(functions, "_write_body", noted)
    checked(halves)
    assert written == ["halves", "twice", "halves"]


def in_list(n: int) -> list[int | None]:
    return [n]


def in_list_of_another(n: int) -> list[int | None]:
    return in_list(n)


def first_in_list(n: int) -> int | None:
    return in_list_of_another(n)[0]


def widened_by_a_caller(n: int) -> list[int | None]:
    items = in_list(n)
    first = first_in_list(n)
    items.append(None)
    return [*items, first, *in_list(n + 1)]


def widened_where_it_is_only_looked_at(n: int) -> str:
    items = in_list_of_another(n)
    word = "none " if in_list(n)[0] is None else "some "
    items.append(None)
    return word + str(items[-1])


@pytest.mark.parametrize("function", [widened_by_a_caller, widened_where_it_is_only_looked_at])
def test_a_function_whose_kinds_change_is_written_again_with_all_that_call_it(
    function: Callable[[int], Any],
) -> None:
    checked(function)


def test_a_row_that_goes_deep_is_pythons() -> None:
    checked(lambda n: depth(n * 100), {"too many calls of itself"})
    with pytest.raises(RecursionError):
        ck.udf(depth)(ck.array([3, -1]))


def ever(n: int) -> int:
    return ever(n) + 1


def ever_odd(n: int) -> int:
    return ever_even(n - 1) + 1


def ever_even(n: int) -> int:
    return ever_odd(n - 1) + 1


@pytest.mark.parametrize("function", [ever, ever_odd])
def test_what_does_not_end_by_itself_is_refused(function: Any) -> None:
    with pytest.raises(ck.CompileError, match="it calls itself in every case"):
        Plan(function, [ck.int64()], [Form()])


def test_a_function_is_named_as_no_variable_of_generated_source() -> None:
    def limited(n: int) -> bool:
        def t(v: bool) -> bool:
            return v

        return t(n > 4) and not t(n > 5)

    checked(limited)


def test_a_device_has_no_room_for_calls_of_itself() -> None:
    plan = Plan(fibonacci, [ck.int64()], [Form()])
    with pytest.raises(ck.UnsupportedError, match="it calls itself"):
        kernel_function(plan, device_source(plan))


# Bodies of the table


def each_body() -> Iterator[tuple[Row, Any]]:
    for row in (row for rows in table().values() for row in rows):
        bodies = (row.method.body, row.method.machine)
        yield from ((row, body) for body in bodies if isinstance(body, Bound))


def test_a_bound_body_takes_what_its_row_does() -> None:
    for row, body in each_body():
        if row.method.maker:
            continue
        form = call_of(function_of(body))
        given = [p for p in row.parameters if getattr(p.kind, "value", "") is not None]
        # Where a body gives a room, the last argument is written there.
        assert len(form.places) == len(given) - (form.result == "room"), row.method


def test_no_two_bound_bodies_are_kept_by_one_name() -> None:
    bodies = {function_of(body) for _, body in each_body()}
    sources = {f"{one.__module__}.{one.__qualname__}": getsource(one) for one in bodies}
    assert len(sources) == len({(one.__module__, getsource(one)) for one in bodies})
    assert all(is_kept(one) for one in bodies)


def test_a_bound_body_refuses_a_name_that_is_no_parameter() -> None:
    with pytest.raises(TypeError, match="turned: has no parameters \\['second'\\]"):
        function_of(Bound(text_case.turned, second=1))


# A list after `*`, of which a function may take several numbers of items


def shown(first: int, second: int = 7, *, unit: str = "m", **words: int) -> str:
    return f"{first}x{second}{unit}{words}"


def area(width: int, height: int = 7, depth: int = 1, *, unit: str = "m") -> str:
    return f"{width}x{height}x{depth}{unit}"


def by_list(n: int) -> str:
    return area(*[n] * (n % 3 + 1))


def by_iterator(n: int) -> str:
    return area(0, *map(abs, range(-n % 3, 0)), unit="cm")


def in_a_loop(n: int) -> str:
    return ";".join(area(*range(k, k + k % 3 + 1)) for k in range(n))


@pytest.mark.parametrize("function", [by_list, by_iterator, in_a_loop])
def test_a_function_takes_a_list_of_as_many_items_as_it_has(function: Callable[..., Any]) -> None:
    checked(function)


def test_a_function_that_takes_fewer_items_raises() -> None:
    def too_many(n: int) -> str:
        try:
            return area(*range(n))
        except TypeError:
            return "none"

    checked(too_many, {"`*` of another length"})


def test_a_function_that_takes_any_number_of_items_is_refused() -> None:
    def open_ended(n: int) -> str:
        return shown(*range(n))

    with pytest.raises(ck.CompileError, match="without a known length"):
        ck.udf(open_ended)


def after_a_call(n: int) -> str:
    lengths = [1, n]

    def longer() -> int:
        lengths.append(7)
        return 0

    return area(longer(), *lengths)


def of_a_dictionary(n: int) -> str:
    lengths = {n: 1, n + 1: 2}
    return area(*lengths)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (after_a_call, "beside a call"),
        (of_a_dictionary, "without a known length"),
        (lambda n: area(len(area(*[n] * (n % 3 + 1))), *[n] * (n % 2 + 1)), "beside a call"),
    ],
)
def test_a_list_that_others_may_change_or_that_has_no_places_is_refused(
    function: Any, reason: str
) -> None:
    with pytest.raises(ck.CompileError, match=reason):
        ck.udf(function)(ck.array([1, 2]))


# Dictionaries with constant keys that change


def fill(row: dict[str, int], n: int) -> None:
    if n > 2:
        row["b"] = n


def filled(n: int) -> int:
    row = {"a": n, "b": 0}
    fill(row, n)
    return row["b"]


def filled_within(n: int) -> int:
    row = {"a": n, "b": 0}

    def fill_own(row: dict[str, int]) -> None:
        row["b"] = n

    fill_own(row)
    return row["b"]


def seen_before(n: int) -> int:
    row = {"a": n}
    items = row.items()
    if n > 2:
        row["b"] = 1
    return len(items)


def seen_after(n: int) -> str:
    row = {"a": n}
    if n > 2:
        row["b"] = 1
    return ", ".join(f"{key}={value}" for key, value in row.items())


def seen_in_turn(n: int) -> int:
    row, total = {"a": n, "b": 0}, 0
    for k in range(n):
        total += sum(row.values())
        row["b"] = k
    return total


CONSTANT_KEYS = "a dictionary with constant keys does not change; make one: {**row, 'key': …}"


@pytest.mark.parametrize(
    ("function", "left"),
    [(filled, {CONSTANT_KEYS}), (seen_after, None), (seen_in_turn, None)],
)
def test_a_dictionary_changes_for_all_who_have_it(
    function: Callable[[int], Any], left: set[str] | None
) -> None:
    checked(function, left)


class Shared:
    count = 0


def counted_for_all(n: int) -> int:
    Shared.count += n
    return Shared.count


SEEN: list[int] = []


def noted_for_all(n: int) -> int:
    if n == 1:
        SEEN.append(n)
    return len(SEEN)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (noted_for_all, CONSTANT),
        (filled_within, CONSTANT_KEYS),
        (counted_for_all, "Shared is shared by all rows, and changes"),
        (seen_before, "items\\(\\) has a compiled form only in a loop"),
    ],
)
def test_what_shows_a_change_of_a_dictionary_or_changes_a_global_is_refused(
    function: Any, reason: str
) -> None:
    with pytest.raises(ck.CompileError, match=reason.replace("{", "\\{").replace("*", "\\*")):
        ck.udf(function)
