"""Dictionary-encoded values: decoding them, and finding the distinct ones as a device does."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other
from benchmarks.gpu.data import Data
from benchmarks.gpu.hashing import masks
from colkern.kernels import dictionaries as kernels

SIZES = {"of 1,000 values": 1000, "of 1,000,000 values": 1_000_000}
MEAN = 12
LETTERS = range(97, 121)


def decode_items(d: Data, size: int) -> tuple[Any, ...]:
    return d.n, d.numbers("u4", size), size, d.words("u8", size), 1, d.out("u8")


def decode_bits(d: Data) -> tuple[Any, ...]:
    indices = d.numbers("u4", 1000)
    return d.n // 8, indices, 1000, d.bits(1000), 0, d.none, 0, d.out("u1", d.n // 8)


def measured(d: Data, size: int) -> tuple[Any, ...]:
    """The bytes of each block of strings."""
    blocks = d.blocks(kernels.BLOCK)
    strings = d.numbers("u4", size), size, d.offsets("i4", MEAN, size)
    return blocks, *strings, d.none, 0, d.out("i8", blocks)


def decoded_offsets(d: Data, size: int) -> tuple[Any, ...]:
    *strings, lengths = measured(d, size)
    starts = d.scan(d.computed(kernels.decoded_block_bytes, *strings, lengths))
    d.check(d.last(starts), "i4")
    return *strings, starts, d.out("i4", d.n + 1)


def decode_strings(d: Data, size: int) -> tuple[Any, ...]:
    args = decoded_offsets(d, size)
    indices, _, offsets = args[1:4]
    starts = d.computed(kernels.decoded_offsets, *args)
    text = d.text(MEAN * size)
    values = (indices, size, offsets, d.address(text), text.nbytes)
    return d.n, *values, starts, d.out("u1", d.last(starts))


def transpose_indices(d: Data, size: int) -> tuple[Any, ...]:
    moved = d.numbers("u4", size, size)
    return d.n, d.numbers("u4", size), size, moved, 0, d.out("u4")


def sorted_keys(d: Data) -> tuple[Any, Any]:
    """Keys, four slots each on average, and their positions in order."""
    keys = d.numbers("u8", d.n // 4)
    return keys, d.target.sort_positions(keys)


def groups(d: Data) -> tuple[Any, Any]:
    """Positions by their group, and how many groups have begun before each."""
    keys, positions = sorted_keys(d)
    return positions, d.scan(d.computed(kernels.mark_groups, d.n, keys, positions, d.out("i8")))


def group_firsts(d: Data) -> tuple[Any, ...]:
    positions, begun = groups(d)
    return d.n, positions, begun, d.out("u8", d.last(begun))


def number_groups(d: Data) -> tuple[Any, ...]:
    positions, begun = groups(d)
    return d.n, positions, begun, d.range("u8", count=d.last(begun)), d.out("u8")


def rank(d: Data) -> tuple[Any, ...]:
    keys, positions = sorted_keys(d)
    return d.n, positions, keys, d.out("u8")


def pairs(d: Data) -> Any:
    """A first slot for each two neighbours, above their number."""
    numbered = d.range("u8")
    numbered >>= 1
    numbered <<= 33
    return numbered


def count_unlike_strings(d: Data) -> tuple[Any, ...]:
    size = len(LETTERS)
    text = d.text(size * d.n, LETTERS)
    strings = (d.range("i4", size, count=d.n + 1), d.address(text), text.nbytes, 0)
    return d.n, pairs(d), *strings, masks(d), d.none, 0, 0


def count_unlike_views(d: Data) -> tuple[Any, ...]:
    views = d.views(len(LETTERS), LETTERS)
    return d.n, pairs(d), views.words, views.addresses, masks(d), d.none, 0, 0


gather(kernels.decode_items, decode_items, each=SIZES)
gather(kernels.decode_bits, decode_bits, label="of 1,000 values")
gather(kernels.decoded_block_bytes, measured, each=SIZES)
gather(kernels.decoded_offsets, decoded_offsets, each=SIZES)
gather(kernels.decode_strings, decode_strings, each=SIZES)
gather(kernels.transpose_indices, transpose_indices, each=SIZES)
other(kernels.mark_groups, lambda d: (d.n, *sorted_keys(d), d.out("i8")))
other(kernels.group_firsts, group_firsts)
other(kernels.rank, rank)
other(kernels.number_groups, number_groups)
gather(kernels.count_unlike_strings, count_unlike_strings, label="24 bytes")
gather(kernels.count_unlike_views, count_unlike_views, label="24 bytes")
