"""Primitives where a processor lacks the instructions that they are made for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from numpy import uint64

from colkern.cpu import primitives, processor
from colkern.kernels import primitives as plain

MASKS = (0, 1, 1 << 63, 2**64 - 1, 0x8000_0000_0000_0001, 0x5555_5555_5555_5555)


def some_words() -> list[tuple[int, int]]:
    rng = random.Random(3)
    masks = [*MASKS, *(rng.getrandbits(64) & rng.getrandbits(64) for _ in range(50))]
    return [(rng.getrandbits(64), mask) for mask in masks]


@pytest.fixture(params=["as the processor is", "without avx512vbmi2", "without extensions"])
def primitive(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A primitive, compiled for this processor and for ones without some or all of its extensions."""
    features = get_host_cpu_features()
    if request.param == "without avx512vbmi2":
        features["avx512vbmi2"] = False
    elif request.param == "without extensions":
        features = {"sse2": True}
    monkeypatch.setattr(processor, "get_host_cpu_features", lambda: features)
    return lambda name: getattr(primitives, name)


def test_extract_bits(primitive: Any) -> None:
    extract = primitive("extract_bits")
    compiled = numba.njit(lambda word, mask: extract(word, mask))
    for word, mask in some_words():
        expected = plain.extract_bits(uint64(word), uint64(mask))
        assert int(compiled(uint64(word), uint64(mask))) == int(expected)


@pytest.mark.parametrize("code", ["i2", "f8"])
def test_store_item_at_any_address(code: str) -> None:
    store = numba.njit(lambda like, address, value: primitives.store_item(like, address, value))
    data = np.zeros(24, np.uint8)
    store(np.zeros(0, code), uint64(data.ctypes.data + 3), np.dtype(code).type(-5))
    plain.store_item(np.zeros(0, code), uint64(data.ctypes.data + 12), np.dtype(code).type(7))
    size = np.dtype(code).itemsize
    assert data[3 : 3 + size].tobytes() == np.array([-5], code).tobytes()
    assert data[12 : 12 + size].tobytes() == np.array([7], code).tobytes()
    assert np.count_nonzero(data[:3]) + np.count_nonzero(data[12 + size :]) == 0


@pytest.mark.parametrize("code", ["u1", "u2", "u4", "u8"])
def test_compress_items(primitive: Any, code: str) -> None:
    compress = primitive("compress_items")
    compiled = numba.njit(lambda *args: compress(*args))
    values = np.array([n * 3 % 251 for n in range(80)], code)
    for _, mask in some_words():
        out, expected = np.zeros(80, code), np.zeros(80, code)
        compiled(out, uint64(5), values, uint64(7), uint64(mask))
        plain.compress_items(expected, uint64(5), values, uint64(7), uint64(mask))
        count = mask.bit_count()
        assert out[5 : 5 + count].tolist() == expected[5 : 5 + count].tolist()
        # It may spill, but no further than that.
        assert not out[:5].any()
        assert not out[5 + 64 :].any()


def pieces() -> Iterator[bytes]:
    """Pieces of 32 bytes: all bytes in order, and any."""
    yield from (bytes(range(first, first + 32)) for first in range(0, 256, 32))
    yield from (random.Random(seed).randbytes(32) for seed in range(20))


@pytest.mark.parametrize("module", [primitives, plain])
def test_range_places(module: Any) -> None:
    places_of = numba.njit(lambda *args: primitives.range_places(*args))
    if module is plain:
        places_of = plain.range_places
    ranges = [(0, 0), (0, 128), (128, 128), (65, 1), (97, 26), (200, 50), (255, 1), (120, 16)]
    for piece in pieces():
        data = np.frombuffer(b"x" + piece, np.uint8)
        for first, count in ranges:
            with np.errstate(over="ignore"):
                places = places_of(data.ctypes.data + 1, first, count)
            wanted = sum((first <= byte < first + count) << k for k, byte in enumerate(piece))
            assert places == wanted, (piece, first, count)


@pytest.mark.parametrize("module", [primitives, plain])
def test_turn_piece(module: Any) -> None:
    turn = numba.njit(lambda *args: primitives.turn_piece(*args))
    if module is plain:
        turn = plain.turn_piece
    for piece in pieces():
        source, out = np.frombuffer(b"x" + piece, np.uint8), np.zeros(40, np.uint8)
        for first, either, method in (
            (0x61, 0, "upper"),
            (0x41, 0, "lower"),
            (0x61, 32, "swapcase"),
        ):
            with np.errstate(over="ignore"):
                turn(out.ctypes.data + 3, source.ctypes.data + 1, first, either)
            # Those of bytes know ASCII alone.
            assert out[3:35].tobytes() == getattr(piece, method)()
            assert not out[:3].any()
            assert not out[35:].any()
