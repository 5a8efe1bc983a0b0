"""Every kernel as a grid of threads in the CUDA simulator."""

from __future__ import annotations

import pytest
from kernels.cases import variants


@pytest.mark.parametrize("name", variants())
def test_simulated(name: str, simulated: list[str]) -> None:
    assert simulated == []
