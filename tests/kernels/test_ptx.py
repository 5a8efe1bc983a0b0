"""Kernels as real PTX, which needs the CUDA compiler but no GPU: for each GPU, and what is in it."""

from __future__ import annotations

import pytest
from kernels.architectures import capabilities_for, compiled_variants, ptx_of_each
from kernels.cases import variants
from kernels.machine_code import assembler, check_machine_code
from kernels.ptx_rules import DIVIDES, DIVIDES_FLOATS, MAY_BE_NARROW, check_each

from colkern.kernels import KERNELS


@pytest.mark.parametrize("name", compiled_variants())
def test_ptx(name: str) -> None:
    kernel, variant = variants()[name]
    texts = ptx_of_each(kernel, variant, capabilities_for(kernel, variant))
    check_each(kernel, variant, texts)
    check_machine_code(kernel, texts)


SPILLING = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out)
{
    .local .align 8 .b8 kept[64];
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    and.b64 %rd2, %rd1, 56;
    mov.u64 %rd3, kept;
    add.s64 %rd2, %rd3, %rd2;
    st.local.u64 [%rd2], %rd1;
    ld.local.u64 %rd3, [%rd2];
    st.global.u64 [%rd1], %rd3;
    ret;
}
"""


@pytest.mark.skipif(assembler() is None, reason="ptxas is not installed")
def test_memory_of_a_thread_is_found() -> None:
    kernel = KERNELS["copy_bits"]
    with pytest.raises(AssertionError, match="stack=64"):
        check_machine_code(kernel, {(8, 0): SPILLING})


def test_exceptions_are_of_kernels() -> None:
    assert DIVIDES.keys() | DIVIDES_FLOATS | MAY_BE_NARROW <= KERNELS.keys()
