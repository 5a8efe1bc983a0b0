"""Kernels as real PTX, which needs the CUDA compiler but no GPU: for each GPU, and what is in it."""

from __future__ import annotations

import pytest
from kernels.architectures import capabilities_for, compiled_variants, ptx_of_each
from kernels.cases import variants
from kernels.ptx_rules import DIVIDES, DIVIDES_FLOATS, MAY_BE_NARROW, check_each

from colkern.kernels import KERNELS


@pytest.mark.parametrize("name", compiled_variants())
def test_ptx(name: str) -> None:
    kernel, variant = variants()[name]
    texts = ptx_of_each(kernel, variant, capabilities_for(kernel, variant))
    check_each(kernel, variant, texts)


def test_exceptions_are_of_kernels() -> None:
    assert DIVIDES.keys() | DIVIDES_FLOATS | MAY_BE_NARROW <= KERNELS.keys()
