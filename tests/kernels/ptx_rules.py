"""Rules for the PTX of every kernel, and the kernels that may break them, and why."""

from __future__ import annotations

from kernels.architectures import Capability
from kernels.ptx_reading import Ptx, opcode

from colkern.kernels import Argument, Kernel

DIVIDES = {
    "decimals_to_floats": "a number by powers of five, where floats are not exact",
    "divide_decimals": "a number of one word by another, or the inverse of a divisor, for each value",
    "divide_words": "a word by another, for each value",
    "repeat_values": "which item of a value comes first, for each list",
    "take_fixed_ranges": "which list an element belongs to, for each element",
}
"""Kernels that divide by a number of their arguments again and again, and what for."""

NARROW = {
    "the bytes of a wide value of no whole words": {
        "decode_items",
        "equal_wide",
        "first_hidden_value",
        "blank_hidden_values",
        "take_items",
    },
    "the last bytes of a bitmap, beyond which nothing may be read": {
        "and_bits",
        "choose_bits",
        "combine_bits",
        "copy_bits",
        "count_common_bits",
        "count_kept",
        "count_valid",
        "decode_bits",
        "decoded_block_bytes",
        "decoded_offsets",
        "expand_bits",
        "filter_bits",
        "filter_bytes",
        "filter_items",
        "filter_offsets",
        "filter_pairs",
        "filter_values",
        "first_hidden_length",
        "has_bit",
        "hash_floats",
        "hash_integers",
        "join_bits",
        "kept_positions",
        "kleene_bits",
        "sum_kept_lengths",
        "sum_words",
        "take_bits",
    },
    "items of one byte, eight for each byte of bits": {
        "equal_item",
        "equal_items",
        "less_integers",
        "mark_changes",
    },
    "items of one byte, several at a time": {
        "choose_items",
        "count_few_keys",
        "decode_items",
        "extremes",
        "rank_few_keys",
        "scatter_positions",
        "transpose_indices",
    },
    "the bytes of a value around its whole words": {
        "hash_fixed_bytes",
        "hash_strings",
        "hash_views",
        "place_evenly",
    },
    "the first bytes of a value": {
        "encode_views",
        "first_odd_view",
        "first_view_unlike_its_value",
        "show_views",
    },
    "the bytes of two values that are compared": {
        "count_unlike_strings",
        "mark_binary_changes",
        "mark_view_changes",
    },
    "a copy past the caches of a CPU, which is not for a GPU": {"copy_words"},
    "the three bytes before each, which other threads load as well": {"encoding_of"},
}
"""Which neighbouring bytes a thread loads one by one, and in which kernels."""

DIVIDES_FLOATS = {"divide_words"}
"""Which kernels of integers divide them as floating-point numbers."""

MAY_BE_NARROW = {name for names in NARROW.values() for name in names}


def check_each(kernel: Kernel, variant: tuple[Argument, ...], texts: dict[Capability, str]) -> None:
    """The rules that the PTX of a kernel keeps, for each GPU."""
    for capability, text in texts.items():
        assert ".target sm_{}{}".format(*capability) in text
        _check(kernel, variant, text)


def _check(kernel: Kernel, variant: tuple[Argument, ...], text: str) -> None:
    assert ".entry" in text
    ptx = Ptx(text)
    # Where registers are spilled to.
    assert not ptx.has_local_memory
    # What is not inlined is called through memory, and is compiled for a driver that is not there.
    assert not [line for line in ptx.lines if opcode(line).startswith("call")]
    # 64-bit floats come from a signed index that met an unsigned one.
    declared = [kernel.returns, *(argument.item for argument in variant)]
    may_be_float = kernel.name in DIVIDES_FLOATS or any(i.startswith("f") for i in declared)
    assert ".f64" not in text or may_be_float
    # A load that does not know in which memory asks for it each time.
    assert ptx.generic() == []
    # Dozens of instructions each: let the body divide before its loops, or say in `DIVIDES` what for.
    assert ptx.divisions() == [] or kernel.name in DIVIDES
    # A word is as fast as a byte: let the body load words, or say in `NARROW` what these are.
    assert ptx.neighbours() == [] or kernel.name in MAY_BE_NARROW
    if kernel.name == "count_set_bits":
        assert "popc.b64" in text
