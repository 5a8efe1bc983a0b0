"""Arguments by name in calls of row functions, against the plain functions: none of them is dropped."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from itertools import accumulate

import pytest

import colkern as ck

TEXTS = ["ab", "a", "cAbBa", "abb bab aab", "", None]
OPTIONS = {"initial": 3}
FLAGS = {"flags": re.IGNORECASE}


def groups(text: str) -> str:
    match = re.match("(a)?(b)?", text)
    return str(match.groups(default="0")) + str(match.groups("1")) if match else ""


def group_by_name(text: str) -> str:
    match = re.match("(?P<x>a)?(?P<y>b)?", text)
    return match.groupdict(default="0")["x"] + match.groupdict("1")["y"] if match else ""


def missing_groups(text: str) -> bool:
    match = re.match("(a)?(b)?", text)
    return match is not None and match.groups(None)[1] is None


def all_matches(text: str) -> str:
    by_flags = [match.group() for match in re.finditer("A", text, flags=re.IGNORECASE)]
    by_place = [match.group() for match in re.finditer("A", text, re.IGNORECASE)]
    return ",".join(
        by_flags + by_place + [m.group() for m in re.finditer(pattern="a", string=text)]
    )


def commonest(text: str) -> str:
    counts = Counter(text)
    return str(counts.most_common(n=1)) + str(counts.most_common(None)[:2])


def last_two(text: str) -> str:
    return "".join(deque(iterable=text, maxlen=2))


def numbered(text: str) -> str:
    return ",".join(f"{n}{c}" for n, c in enumerate(iterable=text, start=5))


def decoded(text: str) -> str:
    return str(text.encode(), "utf-8") + str(b"abc", encoding="ascii") + str(object=text)


def running(text: str) -> str:
    return str(list(accumulate(iterable=[len(text), 2], func=max, initial=1)))


@pytest.mark.parametrize(
    "function",
    [
        groups,
        group_by_name,
        missing_groups,
        all_matches,
        commonest,
        last_two,
        numbered,
        decoded,
        running,
    ],
)
def test_an_argument_may_have_a_name(function: Callable[[str], object]) -> None:
    expected = [None if text is None else function(text) for text in TEXTS]
    assert ck.udf(function, strict=True)(ck.array(TEXTS)).to_pylist() == expected


def searched_from(text: str) -> bool:
    return re.compile("a").search(text, pos=1) is not None


def all_from(text: str) -> str:
    return ",".join(match.group() for match in re.compile("a").finditer(text, pos=1))


def matches_by_options(text: str) -> str:
    return ",".join(match.group() for match in re.finditer("A", text, **FLAGS))


def running_by_options(text: str) -> str:
    return str(list(accumulate([len(text), 2], **OPTIONS)))  # type: ignore[call-overload]


def filled(text: str) -> int:
    return defaultdict(int, a=len(text))["a"]


def test_searches_from_a_position_leave_texts_beyond_ascii() -> None:
    texts, searched = ["", "a", "ba", "éa"], ck.udf(searched_from)
    assert searched(ck.array(texts)).to_pylist() == [*map(searched_from, texts)]
    assert sum(searched.report().left.values()) == 1


@pytest.mark.parametrize("function", [all_from, matches_by_options, running_by_options, filled])
def test_arguments_without_a_compiled_form_are_refused(function: Callable[[str], object]) -> None:
    with pytest.raises(ck.CompileError, match="compiled form"):
        ck.udf(function)(ck.array(TEXTS))
