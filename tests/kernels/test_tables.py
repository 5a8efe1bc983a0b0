"""Tables of distinct values: steps of their searches, for keys that are chosen to share a home."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy import uint64

from colkern.kernels import dictionaries
from colkern.operations.dictionary_tables import spread_of

BITS, COUNT = 11, 400
KNOWN = 0x1E3779B185EBCA80 | 64 - BITS
OTHER = 0x2545F4914F6CDD00 | 64 - BITS


def keys_with_one_home(spread: int) -> list[int]:
    """Keys below 2^64 whose products with the factor of a table are small."""
    inverse = pow(spread | 1, -1, 1 << 64)
    products = [k * inverse % (1 << 64) for k in range(1, COUNT + 1)]
    return [product ^ product >> 32 for product in products]


def steps(keys: list[int], spread: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of places that the searches for the keys go on to, as the kernel numbers them."""
    taken = []
    next_place = dictionaries.next_place

    def counted(*place: uint64) -> uint64:
        taken.append(place)
        return next_place(*place)

    monkeypatch.setattr(dictionaries, "next_place", counted)
    out = np.zeros(dictionaries.HEAD + 2 * COUNT + (2 << BITS), uint64)
    out[1] = dictionaries.HEAD + COUNT
    bounds, place = map(uint64, (0, COUNT, 1)), map(uint64, (0, COUNT, spread, 0))
    slots = np.array(keys, uint64), np.zeros(0, np.uint8), uint64(0), *place
    with np.errstate(over="ignore"):
        done = dictionaries.number_words(*bounds, *slots, out)
    assert (done, out[0]) == (COUNT, COUNT)
    return len(taken)


def test_keys_chosen_for_one_factor_are_spread_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = keys_with_one_home(KNOWN)
    assert steps(keys, KNOWN, monkeypatch) > COUNT * COUNT // 3
    assert steps(keys, OTHER, monkeypatch) < COUNT


def test_each_process_has_a_factor_of_its_own() -> None:
    assert spread_of(BITS) % 64 == 64 - BITS
    code = (
        "from colkern.operations.dictionary_tables import spread_of; print(spread_of(11), end='')"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) != spread_of(BITS)
