"""Cases of `colkern.kernels.lz4`: blocks by hand, and those of the LZ4 library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from kernels.case import NOWHERE, POISON, At, Case, cases_of, numbers

from colkern.kernels.lz4 import PLAIN, decode_lz4_blocks

GAP = 5
"""Bytes before, between and behind blocks, where nothing is to be written."""


LAST = b"123456789abc"
"""Literals behind the last match: it begins 12 bytes before the end, at least."""

FEW = ("literals", "plain", "100 bytes from 3 before", "one after the other")


class Block(NamedTuple):
    """A block and what it stands for.

    Args:
        label: What is special about it.
        stored: Its bytes.
        content: What it stands for; of a damaged one what is written before that is found out.
        size: How many bytes are expected, if not as many as `content` has.
        plain: Whether it is not compressed.
    """

    label: str
    stored: bytes
    content: bytes
    size: int | None = None
    plain: bool = False


def sequence(literals: bytes, distance: int | None = None, count: int = 4) -> bytes:
    """A sequence; without a match, as the last one of a block, if there is no distance."""
    lengths = [len(literals), 0 if distance is None else count - 4]
    token = min(lengths[0], 15) << 4 | min(lengths[1], 15)
    literal_length, match_length = map(long_length, lengths)
    match = b"" if distance is None else distance.to_bytes(2, "little") + match_length
    return bytes([token]) + literal_length + literals + match


def long_length(length: int) -> bytes:
    """The bytes behind a token for a length that does not fit its half: bytes of 255, and the rest."""
    rest = length - 15
    return b"" if rest < 0 else b"\xff" * (rest // 255) + bytes([rest % 255])


def of_library(label: str, content: bytes) -> Block:
    # That of pyarrow: a GPU's machine has it, but need not have the package lz4.
    return Block(label, pa.Codec("lz4_raw").compress(content, asbytes=True), content)


def good_blocks() -> Iterator[Block]:
    rng = numbers("lz4")
    some = rng.randbytes(40)
    last = sequence(LAST)
    yield Block("of nothing", sequence(b""), b"")
    yield Block("literals", sequence(b"abc"), b"abc")
    yield Block("plain", some, some, plain=True)
    for count in (14, 15, 16, 15 + 254, 15 + 255, 15 + 256, 15 + 510):
        literals = rng.randbytes(count)
        yield Block(f"{count} literals", sequence(literals), literals)
    for distance, count in (
        (1, 4),
        (1, 500),
        (2, 9),
        (3, 100),
        (4, 18),
        (5, 19),
        (7, 40),
        (40, 40),
    ):
        # A match of bytes that it writes itself repeats them.
        match = (some[40 - distance :] * count)[:count]
        stored = sequence(some, distance, count) + last
        yield Block(f"{count} bytes from {distance} before", stored, some + match + LAST)
    for count in (18, 19, 20, 4 + 15 + 254, 4 + 15 + 255):
        stored = sequence(b"x", 1, count) + last
        yield Block(f"match of {count} bytes", stored, b"x" * (count + 1) + LAST)
    # Matches of matches, and none but the first literals.
    stored = sequence(b"ab", 2, 6) + sequence(b"", 8, 8) + sequence(b"c", 5, 10) + last
    yield Block("one after the other", stored, b"ab" * 8 + b"c" + b"ababc" * 2 + LAST)
    yield Block(
        "the least behind a match", sequence(b"a", 1, 7) + sequence(b"12345"), b"a" * 8 + b"12345"
    )
    yield of_library("text", b"the quick brown fox jumps over the lazy dog " * 9)
    yield of_library("numbers", np.arange(100, dtype="i4").tobytes())
    yield of_library("zeros", bytes(600))


def damaged_blocks() -> Iterator[Block]:
    """Errors show before anything is written, or behind bytes that are certain."""
    last = sequence(LAST)
    yield Block("no bytes", b"", b"", 3)
    yield Block("match from 0 before", sequence(b"", 0, 4) + last, b"", 16)
    yield Block("match from before the start", sequence(b"ab", 3, 4) + last, b"ab", 18)
    yield Block("match in front of everything", sequence(b"", 1, 4) + last, b"", 16)
    yield Block("literals past the end", sequence(b"abc")[:-1], b"", 3)
    yield Block("no literals", b"\x30", b"", 3)
    yield Block("literals past the output", sequence(b"abc"), b"", 2)
    yield Block("match past the output", sequence(b"a", 1, 13) + last, b"a", 13)
    yield Block("last literals past the output", sequence(b"a", 1, 4) + last, b"a" * 5, 16)
    yield Block("match up to the end", sequence(b"a", 1, 30) + sequence(b""), b"a", 31)
    yield Block("too few literals last", sequence(b"a", 1, 9) + sequence(b"1234"), b"a", 14)
    yield Block("too late a match", sequence(b"ab", 1, 4) + last[:-5], b"ab", 13)
    yield Block("fewer bytes than expected", sequence(b"abc"), b"abc", 4)
    yield Block("ends in a length of literals", b"\xf0\xff\xff", b"", 9)
    yield Block("ends before a length of literals", b"\xf0", b"", 9)
    yield Block("ends in a distance", b"\x10a\x01", b"a", 19)
    yield Block("ends in a length of a match", b"\x1fa\x01\x00" + b"\xff" * 9, b"a", 99)
    yield Block("ends with a match", b"\x14a\x01\x00" + sequence(b"", 1, 4) * 3, b"a" * 13, 30)
    yield Block("a length of much more", b"\xf0" + b"\xff" * 257 + b"\0", b"", 9)
    yield Block("plain, of another size", b"abcd", b"", 3, plain=True)


@cases_of(decode_lz4_blocks)
def decode(_: dict[str, str]) -> Iterator[Case]:
    good = list(good_blocks())
    yield of_blocks("no blocks", [], None)
    yield of_blocks("all that is good", good, None)
    # In each case, so that any of them shows lanes that do not wait for each other.
    few = [block for block in good if block.label in FEW]
    for block in good:
        yield of_blocks(block.label, [block, *few], None)
    for block in damaged_blocks():
        yield of_blocks(block.label, [*few, block, *few, block], len(few))


def of_blocks(label: str, blocks: Sequence[Block], damaged: int | None) -> Case:
    """Blocks one after the other, with gaps on both sides."""
    data, out = b"\xee" * GAP, bytes([POISON]) * GAP
    rows = []
    for block in blocks:
        size = len(block.content) if block.size is None else block.size
        stored = len(block.stored) | (PLAIN if block.plain else 0)
        rows += [len(data), stored, len(out), size]
        data += block.stored + b"\xee" * GAP
        out += block.content.ljust(size, bytes([POISON])) + bytes([POISON]) * GAP
    bytes_ = np.frombuffer(data, np.uint8)
    expected = (NOWHERE if damaged is None else damaged, list(out))
    return Case(label, len(blocks), (rows, bytes_, At(bytes_)), expected)
