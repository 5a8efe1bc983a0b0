"""Iterators that have a name, against the plain functions: whoever has one reads on from where it is."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import accumulate, cycle, islice, repeat
from pathlib import Path
from typing import Any

import pytest

import colkern as ck


def first_and_rest(text: str) -> str:
    words = iter(text.split())
    first = next(words, "")
    return first + "|" + ",".join(words) + "|" + ",".join(words)


def until_a_word(text: str) -> str:
    words = iter(text.split())
    for word in words:
        if word == "a":
            return next(words, "last")
    return "none"


def skipped_in_a_loop(text: str) -> list[str]:
    words, out = iter(text.split()), []
    for word in words:
        out.append(next(words, "end") if word == "a" else word)
    return out


def at_its_end(text: str) -> str:
    words = iter(text.split())
    try:
        return next(words) + next(words)
    except StopIteration:
        return f"short, {sum(1 for _ in words)} left"


def raised(text: str) -> str:
    words = iter(text.split())
    return next(words)


def pairs(text: str) -> str:
    words = iter(text.split())
    return ";".join(a + b for a, b in zip(words, words))  # noqa: B905


def in_threes(text: str) -> str:
    return ";".join(a + b + c for a, b, c in zip(*[iter(text)] * 3))  # noqa: B905


def beside_a_shorter_one(text: str) -> str:
    words, out = iter(text.split()), ""
    for a, b in zip(words, "xy"):  # noqa: B905
        out += a + b
    return out + "|" + ",".join(words)


def behind_a_shorter_one(text: str) -> str:
    words, out = iter(text.split()), ""
    for i, (a, b) in enumerate(zip("xy", words)):  # noqa: B905
        out += f"{i}{a}{b}"
    return out + "|" + ",".join(words)


def mapped_with_another(text: str) -> str:
    words = iter(text.split())
    sums = list(map(lambda a, b: a + b, words, ["1", "2"]))
    return ",".join(sums) + "|" + ",".join(words)


def left_by_a_break(text: str) -> str:
    words = iter(text.split())
    for _, word in enumerate(words):
        if len(word) > 1:
            break
    return ",".join(words)


def in_chunks(text: str) -> list[str]:
    words, out = iter(text.split()), []
    while chunk := list(islice(words, 2)):
        out.append("+".join(chunk))
    return out


def weights(text: str) -> int:
    weight = cycle((7, 3, 1))
    return sum(ord(c) * next(weight) for c in text) + next(weight)


def cycle_of_nothing(text: str) -> str:
    words = cycle(text.split())
    return next(words, "none") + next(words, "none")


def generated(text: str) -> str:
    sizes = (len(word) for word in text.split())
    return f"{sum(sizes)} {sum(sizes)}"


def totals(text: str) -> str:
    sums = accumulate(map(len, text.split()))
    first, *rest = sums
    return f"{first} {rest} {len(list(sums))}"


def by_two_names(text: str) -> str:
    words = iter(text.split())
    same = words
    return next(same, "") + ",".join(words) + ",".join(same)


def taken(words: Iterator[str], other: str) -> str:
    return next(words, other)


def by_a_function(text: str) -> str:
    words = iter(text.split())
    return taken(words, "-") + taken(words, "-") + ",".join(words)


def inner(characters: Iterator[str]) -> int:
    count = 0
    for c in characters:
        if c == ")":
            break
        count += 1
    return count


def by_functions_in_turn(text: str) -> list[int]:
    characters, out = iter(text), []
    for c in characters:
        out.append(inner(characters) if c == "(" else -1)
    return out


def bound_again(text: str) -> list[str]:
    lines = (line.strip() for line in text.split(","))
    lines = (line for line in lines if line)
    lines = map(str.upper, lines)  # type: ignore[assignment]
    return sorted(lines)


def one_in_each_round(text: str) -> str:
    out = ""
    for word in text.split():
        characters = (c.upper() for c in word)
        out += next(characters, "") + "-" + "".join(characters)
    return out


def repeated(text: str) -> str:
    words, size, out = text.split(), len(text), []
    for word, n in zip(words, repeat(size)):
        size += 1
        out.append(f"{word}{n}{size}")
    return ",".join([*out, *map(str.center, words, repeat(3))])


FUNCTIONS = [
    *(first_and_rest, until_a_word, skipped_in_a_loop, at_its_end, raised, pairs, in_threes),
    *(beside_a_shorter_one, behind_a_shorter_one, mapped_with_another, left_by_a_break, in_chunks),
    *(weights, cycle_of_nothing, generated, totals, by_two_names, by_a_function),
    *(by_functions_in_turn, bound_again, one_in_each_round, repeated),
]
TEXTS = [
    "a",
    "Hello World",
    "a b c",
    "a b c d",
    "(x(y)z)",
    " x, Y ,,z",
    "12 34 5 67 8",
    "ü é a",
    "",
]


def outcome(function: Callable[[str], Any], text: str) -> object:
    try:
        return function(text)
    except (StopIteration, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_iterator(function: Callable[[str], Any]) -> None:
    """Items that one reader has read are gone for all others; exceptions are Python's."""
    compiled = ck.udf(function)
    for text in TEXTS:
        got = outcome(lambda text: compiled(ck.array([text])).to_pylist()[0], text)
        assert got == outcome(function, text), text
    good = [text for text in TEXTS if not isinstance(outcome(function, text), type)]
    compiled = ck.udf(function)
    assert compiled(ck.array(good)).to_pylist() == [function(text) for text in good]
    assert compiled.report().sites.total() == 0


def bound_late(text: str) -> str:
    suffix = "x"
    words = (word + suffix for word in text.split())
    first = next(words, "")
    suffix = "y"
    return first + ",".join(words)


def bound_late_in_a_loop(text: str) -> str:
    before, out = None, ""
    for word in text.split():
        if before is not None:
            out += "".join(before)
        before = (c + word for c in "ab")
    return out


def of_a_list_that_grows(text: str) -> str:
    items = text.split()
    words = iter(items)
    first = next(words, "")
    items.append("new")
    return first + ",".join(words)


def read_by_another(text: str) -> str:
    words = iter(text.split())
    sizes = map(len, words)
    return next(words, "") + str(next(sizes, 0)) + str(list(sizes))


def test_variables_of_a_loop_are_read_late() -> None:
    """The rows in which an iterator may outlive the round that made it are left to Python."""
    texts = ["a b", "x yz w"]
    compiled = ck.udf(bound_late_in_a_loop)
    assert compiled(ck.array(texts)).to_pylist() == [bound_late_in_a_loop(text) for text in texts]
    assert compiled.report().sites.total() == 2


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (bound_late, "suffix changes while an iterator reads it"),
        (of_a_list_that_grows, "a container that changes while an iterator reads it"),
        (read_by_another, "an iterator that another one reads"),
        (lambda text: [iter(text)], "an iterator in a container"),
        (lambda text: len(iter(text)), r"len\(Iterator\)"),
        (lambda text: reversed([text]), "results that are iterators"),
        (lambda text: type(iter(text)).__name__, "the type of an iterator"),
    ],
)
def test_uses_that_are_refused(function: Callable[[str], Any], reason: str) -> None:
    with pytest.raises((ck.CompileError, ck.UnsupportedError), match=reason):
        ck.udf(function)(ck.array(["a"]))


NUMBERS = ["1,0,x", "6,3", "0,0,x", "x", "4"]


@pytest.mark.parametrize(
    "result",
    [
        lambda text: reduce(lambda a, b: a // b, [int(c) for c in text.split(",")]),
        lambda text: reduce(lambda a, b: a // b, [int(c) for c in text.split(",")], 7),
        lambda text: reduce(lambda a, b: a // b, (int(c) for c in text.split(",")), 7),
        lambda text: sum([int(c) for c in text.split(",")], 10 // (len(text) - 5)),
        lambda text: max([int(c) for c in text.split(",")], key=lambda x: 10 // x),
        lambda text: max((int(c) for c in text.split(",")), key=lambda x: 10 // x),
        lambda text: sorted([int(c) for c in text.split(",")], key=lambda x: 10 // x)[0],
        lambda text: sorted((int(c) for c in text.split(",")), key=lambda x: 10 // x)[0],
        lambda text: reduce(lambda a, b: a + b, [len(text)], initial=5),  # type: ignore[call-overload]
    ],
)
def test_a_list_is_evaluated_before_functions_take_its_items(result: Callable[[str], int]) -> None:
    def caught(text: str) -> int:
        try:
            return result(text)
        except ZeroDivisionError:
            return -1
        except ValueError:
            return -2
        except TypeError:
            return -3

    assert ck.udf(caught)(ck.array(NUMBERS)).to_pylist() == [*map(caught, NUMBERS)]


@pytest.mark.parametrize("count", [100, 400])
def test_branches_that_are_nested_too_deeply_are_refused(tmp_path: Path, count: int) -> None:
    lines = ["def of(n: int) -> int:", "    if n == 0: return 0"]
    lines += [f"    elif n == {k}: return {k}" for k in range(1, count)]
    module = tmp_path / "deep.py"
    module.write_text("\n".join(lines))
    with pytest.raises(ck.CompileError, match="so many branches or operators within each other"):
        ck.udf(runpy.run_path(str(module))["of"])
