"""Every kernel as plain Python, over any way to cut its range up, against an oracle."""

from __future__ import annotations

import pytest
from kernels.cases import cases, kernels_with_cases, variants
from kernels.running import plain_failures

from colkern.kernels import KERNELS


def test_every_kernel_has_cases() -> None:
    assert kernels_with_cases() == set(KERNELS)


def test_cases_include_an_empty_range_and_a_long_one() -> None:
    for name in variants():
        counts = [case.count for case in cases(name)]
        assert 0 in counts, name
        assert max(counts) > 1, name


# An overflow that NumPy warns of means something else in compiled code, or nothing at all.
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", variants())
def test_plain_python(name: str) -> None:
    assert list(plain_failures(name)) == []
