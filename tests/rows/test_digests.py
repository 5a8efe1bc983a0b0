"""Digests of byte strings in row functions, against `hashlib`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.kernels import digests
from colkern.rows.digests import OF_MD5, OF_SHA_1, OF_SHA_256

from .bodies import run

FORMS: list[tuple[Callable[..., Any], bytes, int, int]] = [
    (hashlib.md5, OF_MD5, digests.MD5, 4),
    (hashlib.sha1, OF_SHA_1, digests.SHA_1, 5),
    (hashlib.sha256, OF_SHA_256, digests.SHA_256, 8),
]


@pytest.mark.parametrize(("oracle", "constants", "algorithm", "words"), FORMS)
@given(data=st.binary(max_size=200))
def test_bodies(
    oracle: Callable[..., Any], constants: bytes, algorithm: int, words: int, data: bytes
) -> None:
    for by in ("plain", "compiled"):
        result = run(digests.digest, data, constants, algorithm, words, by=by)
        assert result == oracle(data).digest()


@pytest.mark.parametrize(("oracle", "constants", "algorithm", "words"), FORMS)
def test_every_place_of_the_padding(
    oracle: Callable[..., Any], constants: bytes, algorithm: int, words: int
) -> None:
    for size in range(130):
        data = bytes(range(1, size + 1))
        result = run(digests.digest, data, constants, algorithm, words, by="compiled")
        assert result == oracle(data).digest()


TEXTS = ["", "a", "user@example.com", "é" * 40, "x" * 55, "x" * 56, "x" * 64, "y" * 200]
BUCKETS = 1000


def in_parts(text: str) -> str:
    digest = hashlib.sha1(text.encode())
    digest.update(b"salt")
    for part in text.split("x"):
        digest.update(part.encode())
    return digest.hexdigest()


FUNCTIONS: list[Callable[[str], Any]] = [
    in_parts,
    lambda text: hashlib.md5(text.encode(), usedforsecurity=False).digest(),
    lambda text: int(hashlib.md5(text.encode()).hexdigest(), 16) % 100,
    lambda text: int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % BUCKETS,
    lambda text: int.from_bytes(hashlib.sha256(text.encode()).digest()[:9], "little") % 7,
    lambda text: hashlib.sha256(f"{text}|{len(text)}".encode()).hexdigest()[:12],
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_row_functions(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function, strict=True)
    assert compiled(ck.array(TEXTS)).to_pylist() == list(map(function, TEXTS))
    assert not compiled.report().left


@pytest.mark.parametrize("base", [10, 16])
def test_remainders_of_texts_of_any_length(base: int) -> None:
    def remainder(text: str) -> int:
        try:
            return int(text, base) % 97
        except ValueError:
            return -1

    texts = ["", "7", "-7", "fF" * 12, "0x" + "1" * 20, "1_0" * 7, " 12345678901234567 ", "٣" * 20]
    texts += ["9" * size for size in (*range(14, 40), 639, 640, 641, 4300, 4301)]
    assert ck.udf(remainder)(ck.array(texts)).to_pylist() == list(map(remainder, texts))
