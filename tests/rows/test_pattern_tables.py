"""Loops over many constant patterns, which one body matches, compared with `re`."""

import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import colkern as ck

PATTERNS = [
    r"a",
    r"(a)(b)?",
    r"a|ab",
    r"(a|ab)(c|bcd)(d*)",
    r"^x",
    r"x$",
    r"\bfoo\b",
    r"\Boo",
    r"(?i)\bFoO(\d+)",
    r"[a-c]+?d",
    r"a{2,3}?",
    r"(?:ab)+",
    r"(?:ab){2,}c",
    r"(?:ab|a)*?b",
    r".*b",
    r".+?,",
    r"(\w)\1",
    r"",
    r"x*",
    r"(?m)^\w+$",
    r"[^a]",
    r"é",
    r"(?s).",
    r"(?P<n>\d+)(?P<u>kg|g|lb)",
    r"\A\d*\Z",
    r"(?:a?b?)?c",
    r"a*+b",
    r"(?:x|xy)*z",
    r"(?:\d{3}-){2}\d{4}",
]
COMPILED = list(map(re.compile, PATTERNS))
NAMED = {f"k{number}": pattern for number, pattern in enumerate(COMPILED)}
RULES = [
    (pattern, r"<\1>" if re.compile(pattern).groups else "[") for pattern in PATTERNS if pattern
]

CASELESS = [rule for rule in RULES if rule[0] != r"(\w)\1"]
FIRST = PATTERNS[:20]

some = random.Random(7)
TEXTS = [
    *("", "a", "ab", "aab", "foo", "foo Foo12", "5kg", "x\ny", "aaab", "ababc", "é", "aé", "xyz"),
    *("".join(some.choices("aabbcdxyzfo01- ,\n", k=some.randrange(14))) for _ in range(40)),
]


def found(number: int, text: str) -> tuple[int, int, str] | None:
    match = COMPILED[number].search(text)
    return (match.start(), match.end(), match[0]) if match else None


def first_group(number: int, text: str) -> str | None:
    match = COMPILED[number].match(text)
    if match is None or not match.lastindex:
        return "none"
    return match.group(1)


def names(number: int, text: str) -> list[str]:
    return [name for name, pattern in NAMED.items() if pattern.match(text)]


def replaced_all(number: int, text: str) -> str:
    for pattern, repl in RULES:
        text = re.sub(pattern, repl, text)
    return text


def replaced_without_case(number: int, text: str) -> str:
    for pattern, repl in CASELESS:
        text = re.sub(pattern, repl.upper(), text, flags=re.IGNORECASE)
    return text


def by_a_variable(number: int, text: str) -> str:
    repl = text[:1] * number
    return re.sub(r"[ab]|\d+$", repl, text)


@pytest.mark.parametrize(
    "function",
    [
        found,
        first_group,
        names,
        replaced_all,
        replaced_without_case,
        by_a_variable,
        lambda number, text: COMPILED[number].fullmatch(text) is not None,
        lambda number, text: COMPILED[number].sub("<>", text),
        lambda number, text: any(re.search(pattern, text) for pattern in FIRST),
    ],
)
def test_one_of_many_patterns(function: Callable[[int, str], Any]) -> None:
    rows = [(number, text) for number in range(len(COMPILED)) for text in TEXTS]
    compiled = ck.udf(function)
    results = compiled(*(ck.array(list(column)) for column in zip(*rows, strict=True)))
    assert results.to_pylist() == [
        result if not isinstance(result, tuple) else {f"f{k}": v for k, v in enumerate(result)}
        for result in (function(*row) for row in rows)
    ]
    left = sum(compiled.report().left.values())
    assert left <= sum(not text.isascii() for text in TEXTS) * len(COMPILED)


LONG = [*PATTERNS[:20], "|".join(f"w{number}x" for number in range(1500))]


def test_a_pattern_of_too_many_alternatives_leaves_its_rows() -> None:
    def number_of(text: str) -> int:
        for number, pattern in enumerate(LONG):
            if re.fullmatch(pattern, text):
                return number
        return -1

    texts = ["w1400x", LONG[0], "?"]
    assert ck.udf(number_of)(ck.array(texts)).to_pylist() == list(map(number_of, texts))


REPLACEMENTS = ["plain", r"\1", r"[\1]", r"\\", r"\g<1>", r"\2-", r"\10", r"\n", r"\q", "é", "\\"]


def test_replacements_that_depend_on_the_row() -> None:
    def replaced(text: str, repl: str) -> str:
        return re.sub(r"(a)|x", repl, text)

    compiled = ck.udf(replaced)
    for repl in REPLACEMENTS:
        texts, repls = ck.array(TEXTS), ck.array([repl] * len(TEXTS))
        try:
            expected = [replaced(text, repl) for text in TEXTS]
        except re.error as error:
            with pytest.raises(re.error, match=re.escape(str(error))):
                compiled(texts, repls)
        else:
            assert compiled(texts, repls).to_pylist() == expected


class Marks:
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def around(self, match: re.Match[str]) -> str:
        return self.mark + match[0] + self.mark


def with_mark(mark: str, match: re.Match[str]) -> str:
    return mark + match[0]


MARKS = Marks("!")


@pytest.mark.parametrize(
    "function",
    [
        lambda text: re.sub(r"[ab]+", partial(with_mark, "<"), text),
        lambda text: re.sub(r"[ab]+", MARKS.around, text),
        lambda text: re.sub(
            r"[ab]+", (lambda m: m[0].upper()) if len(text) > 3 else (lambda m: f"({m[0]})"), text
        ),
    ],
)
def test_functions_that_replace(function: Callable[[str], str]) -> None:
    assert ck.udf(function, strict=True)(ck.array(TEXTS)).to_pylist() == list(map(function, TEXTS))
