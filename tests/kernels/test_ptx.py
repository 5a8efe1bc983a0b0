"""Every kernel as real PTX, which needs the CUDA compiler but no GPU: for each GPU, and what is in it."""

from __future__ import annotations

import pytest
from kernels.architectures import capabilities_for, ptx_of_each
from kernels.cases import variants
from kernels.ptx_reading import Ptx, opcode

from colkern.kernels import KERNELS, Argument, Kernel

DIVIDES = {
    "repeat_bits": "which bit is repeated there, for each bit",
    "take_fixed_ranges": "which list an element belongs to, for each element",
}
"""Kernels that divide by a number of their arguments again and again, and what for."""

NARROW = {
    "blank_hidden_values": "the bytes of a wide value of no whole words",
    "count_slots": "the type ids of a block",
    "encode_views": "the first bytes of a value",
    "encoding_of": "the three bytes before each, which other threads load as well",
    "first_view_unlike_its_value": "the first bytes of a value",
    "pack_bits": "eight bytes for each byte of bits",
    "repoint_views": "the first bytes of a value",
    "show_views": "the first bytes of a value",
    "take_items": "the bytes of a wide value of no whole words",
}
"""Kernels of which a thread loads neighbouring bytes one by one, and which bytes."""


@pytest.mark.parametrize("name", variants())
def test_ptx(name: str) -> None:
    kernel, variant = variants()[name]
    texts = ptx_of_each(kernel, variant)
    assert list(texts) == capabilities_for(kernel, variant)
    for capability, text in texts.items():
        assert ".target sm_{}{}".format(*capability) in text
        check(kernel, variant, text)


def check(kernel: Kernel, variant: tuple[Argument, ...], text: str) -> None:
    assert ".entry" in text
    ptx = Ptx(text)
    # Where registers are spilled to.
    assert not ptx.has_local_memory
    # What is not inlined is called through memory, and is compiled for a driver that is not there.
    assert not [line for line in ptx.lines if opcode(line).startswith("call")]
    # 64-bit floats come from a signed index that met an unsigned one.
    declared = [kernel.returns, *(argument.item for argument in variant)]
    assert ".f64" not in text or any(item.startswith("f") for item in declared)
    # A load that does not know in which memory asks for it each time.
    assert ptx.generic() == []
    # Dozens of instructions each: let the body divide before its loops, or say in `DIVIDES` what for.
    assert ptx.divisions() == [] or kernel.name in DIVIDES
    # A word is as fast as a byte: let the body load words, or say in `NARROW` what these are.
    assert ptx.neighbours() == [] or kernel.name in NARROW
    if kernel.name == "count_set_bits":
        assert "popc.b64" in text


def test_exceptions_are_of_kernels() -> None:
    assert DIVIDES.keys() | NARROW.keys() <= KERNELS.keys()
