"""Unicode's normal forms are those of this Python."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import colkern as ck

CHARACTERS = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
MARKS = [character for character in CHARACTERS if unicodedata.combining(character)]
COMPOSED = [character for character in CHARACTERS if unicodedata.decomposition(character)]
HANGUL = [*map(chr, range(0x1100, 0x1113)), *map(chr, range(0x1161, 0x1176)), "\u11a7", "\u11a8"]
HANGUL += ["가", "각", "힣"]


def normalized(form: str) -> Callable[[str], str]:
    return lambda text: unicodedata.normalize(form, text)


FORMS = {form: normalized(form) for form in ("NFC", "NFD", "NFKC", "NFKD")}
COMPILED = {form: ck.udf(function) for form, function in FORMS.items()}


@pytest.mark.parametrize("form", FORMS)
def test_each_character(form: str) -> None:
    compiled = COMPILED[form]
    assert compiled(ck.array(CHARACTERS)).to_pylist() == [*map(FORMS[form], CHARACTERS)]
    assert not compiled.report().left


@pytest.mark.parametrize("form", FORMS)
@given(
    st.lists(
        st.text(
            st.sampled_from("aAeo ")
            | st.sampled_from(MARKS)
            | st.sampled_from(COMPOSED)
            | st.sampled_from(HANGUL),
            max_size=8,
        )
    )
)
@example(
    ["\u0301a", "e\u0323\u0302", "e\u0302\u0323", "a\u0345\u0301", "a\u0301\u0301", "가\u11a8"]
)
@example(["\u1112\u1161\u11ab", "\ufdfa", "\u0958", "\u212b", "a\u05b0\u0301", "\u0344"])
def test_marks_in_any_order(form: str, texts: list[str]) -> None:
    assert COMPILED[form](ck.array(texts, "string")).to_pylist() == [*map(FORMS[form], texts)]
