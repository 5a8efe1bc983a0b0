"""Kernels are compiled for the types that they declare."""

from __future__ import annotations

import numpy as np
import pytest

from colkern.cpu.compiler import compile_kernel
from colkern.cpu.target import CpuTarget
from colkern.kernels import bitmaps
from colkern.kernels.arithmetic import add_words

BYTES = np.ones(64, np.uint8)
BYTES.flags.writeable = False


def test_other_types_than_declared_are_an_error() -> None:
    loop = compile_kernel(bitmaps.copy_bits)
    words = np.zeros(1, np.uint64)
    loop(0, 1, BYTES, 0, 64, words)
    assert words[0] == 0x0101010101010101
    # Numba would compile this too, and cut each word down to its lowest byte.
    with pytest.raises(TypeError, match=r"copy_bits: declared for .*uint64.*, called with .*uint8"):
        loop(0, 1, BYTES, 0, 64, np.zeros(8, np.uint8))


def test_inputs_may_be_writable() -> None:
    words = np.zeros(1, np.uint64)
    CpuTarget().map(bitmaps.copy_bits, 1, BYTES.copy(), 0, 64, words)
    assert words[0] == 0x0101010101010101


def test_a_kernel_says_which_array_is_of_another_type() -> None:
    bitmaps.copy_bits.require_types((BYTES, 0, 64, np.zeros(1, np.uint64)))
    with pytest.raises(TypeError, match=r"copy_bits: out is u8\[\], got u1\[\]"):
        bitmaps.copy_bits.require_types((BYTES, 0, 64, BYTES))


def test_arrays_of_one_capital_are_of_one_type() -> None:
    with pytest.raises(TypeError, match=r"add_words: right is T\[\], got u8\[\]"):
        add_words.require_types((BYTES, BYTES.view(np.uint64), BYTES))
    with pytest.raises(TypeError, match=r"add_words: left is T\[\], got f4\[\]"):
        add_words.require_types(3 * (BYTES.view(np.float32),))
