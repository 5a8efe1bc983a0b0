"""Matching of texts in row functions, against `difflib`."""

from __future__ import annotations

import difflib

from hypothesis import example, given
from hypothesis import strategies as st

import colkern as ck

NAMES = ["Zürich", "Genève", "Basel", "Bern", "Bern (BE)", ""]


@ck.udf
def ratios(a: str, b: str) -> tuple[float, float, float, float]:
    matcher = difflib.SequenceMatcher(None, a, b)
    exact = difflib.SequenceMatcher(a=a.lower(), b=b.lower(), autojunk=False).ratio()
    return matcher.ratio(), matcher.quick_ratio(), matcher.real_quick_ratio(), exact


@ck.udf
def closest(a: str, b: str) -> tuple[list[str], str | None]:
    near = difflib.get_close_matches(a, NAMES, n=1, cutoff=0.5)
    return difflib.get_close_matches(b, [*NAMES, a]), near[0] if near else None


TEXTS = st.text(st.sampled_from("BbernZü (é"), max_size=9)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
@example([("ab" * 150 + "c", "ab" * 120 + "cd"), ("a" * 300, "b" + "a" * 250)])
def test_ratios_and_close_matches_are_pythons(rows: list[tuple[str, str]]) -> None:
    columns = [ck.array(texts) for texts in zip(*rows, strict=True)]
    for compiled in (ratios, closest):
        actual = [tuple(row.values()) for row in compiled(*columns).to_pylist()]
        assert actual == [compiled.function(*row) for row in rows]
        assert not compiled.report().left


@ck.udf
def in_words(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a.split(), b.split()).ratio()


@ck.udf
def blocks(a: str, b: str) -> int:
    return len(difflib.SequenceMatcher(None, a, b).get_matching_blocks())


def test_words_are_matched_and_blocks_left() -> None:
    rows = [("a b c", "b c d"), ("", ""), ("a", "b"), ("x y", "x y")]
    columns = [ck.array(texts) for texts in zip(*rows, strict=True)]
    for compiled, left in ((in_words, 0), (blocks, 4)):
        assert compiled(*columns).to_pylist() == [compiled.function(*row) for row in rows]
        assert sum(compiled.report().left.values()) == left
