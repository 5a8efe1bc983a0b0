"""LZ4 frames as the host sees them: where their blocks are, and which frames are not for a device."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern import InvalidArrowError, UnsupportedError
from colkern.ipc.device_codecs import independent_blocks
from colkern.kernels.lz4 import PLAIN

lz4_block = pytest.importorskip("lz4.block")
lz4_frame = pytest.importorskip("lz4.frame")

RNG = np.random.default_rng(0)

BLOCK_SIZES = {
    lz4_frame.BLOCKSIZE_MAX64KB: 1 << 16,
    lz4_frame.BLOCKSIZE_MAX256KB: 1 << 18,
    lz4_frame.BLOCKSIZE_MAX1MB: 1 << 20,
    lz4_frame.BLOCKSIZE_MAX4MB: 1 << 22,
}


# The constants of xxHash32; https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


def header_checksum(descriptor: bytes) -> int:
    """The second byte of the xxHash32 of a frame's descriptor, which has fewer than 16 bytes."""
    mixed = _PRIMES[4] + len(descriptor)
    words = len(descriptor) // 4
    for (word,) in struct.iter_unpack("<I", descriptor[: 4 * words]):
        mixed = _rotated(mixed + word * _PRIMES[2], 17) * _PRIMES[3]
    for byte in descriptor[4 * words :]:
        mixed = _rotated(mixed + byte * _PRIMES[4], 11) * _PRIMES[0]
    mixed &= 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 15) * _PRIMES[1] & 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 13) * _PRIMES[2] & 0xFFFF_FFFF
    return (mixed ^ mixed >> 16) >> 8 & 0xFF


def _rotated(number: int, bits: int) -> int:
    """The lowest 32 bits of a number, rotated to the left."""
    word = number & 0xFFFF_FFFF
    return word << bits | word >> 32 - bits


def frame_of(content: bytes, **options: object) -> bytes:
    result: bytes = lz4_frame.compress(content, **({"block_linked": False} | options))
    return result


def content_of(frame: bytes, size: int) -> bytes:
    """The library's output for the blocks, each by itself."""
    result = b""
    for begin, stored, place, expected in independent_blocks(memoryview(frame), size).tolist():
        assert place == len(result)
        block = frame[begin : begin + (stored & ~PLAIN)]
        if not stored & PLAIN:
            block = lz4_block.decompress(block, uncompressed_size=expected)
        assert len(block) == expected
        result += block
    return result


@pytest.mark.parametrize("store_size", [True, False])
@pytest.mark.parametrize("code", BLOCK_SIZES)
def test_each_block_has_a_place(code: int, store_size: bool) -> None:
    most = BLOCK_SIZES[code]
    some = np.repeat(RNG.integers(0, 1 << 16, most // 256, dtype="u2"), 160).tobytes()
    noise = RNG.bytes(most)
    for content in (b"x", some[:most], some[: most + 1], noise, some + noise + some):
        frame = frame_of(content, block_size=code, store_size=store_size)
        assert content_of(frame, len(content)) == content


CONTENT = b"the quick brown fox jumps over the lazy dog " * 100
FRAME = frame_of(CONTENT)
HEADER = 15


def with_header(flags: int, sizes: int = 0x40, more: bytes = b"") -> bytes:
    """The blocks of a frame behind another header, whose checksum is right."""
    descriptor = bytes([flags, sizes]) + more
    return FRAME[:4] + descriptor + bytes([header_checksum(descriptor)]) + FRAME[HEADER:]


INDEPENDENT = 0x60
SIZE = struct.pack("<Q", len(CONTENT))
SMALLEST = with_header(INDEPENDENT)[:7]
"""A header without the size of the content."""

DAMAGED = [
    ("frameType_unknown", b"\0" + FRAME[1:]),
    ("does not begin as one", struct.pack("<II", 0x184D2A50, 4) + b"skip" + FRAME),
    ("headerVersion_wrong", with_header(0x20)),
    ("reservedFlag_set", with_header(INDEPENDENT | 2)),
    ("reservedFlag_set", with_header(INDEPENDENT, 0x41)),
    ("maxBlockSize_invalid", with_header(INDEPENDENT, 0x30)),
    ("headerChecksum_invalid", FRAME[: HEADER - 1] + b"\0" + FRAME[HEADER:]),
    ("4401 bytes where 4400", with_header(INDEPENDENT | 8, 0x40, struct.pack("<Q", 4401))),
    ("4400 bytes before the stated 4400", SMALLEST + bytes(4)),
    ("block of 65537 bytes", SMALLEST + struct.pack("<I", 65537) + bytes(70000)),
]
UNSUPPORTED = [
    ("need those before", with_header(0x40)),
    ("with checksums", frame_of(CONTENT, content_checksum=True)),
    ("with checksums", frame_of(CONTENT, block_checksum=True)),
    ("dictionary", with_header(INDEPENDENT | 1, 0x40, b"dict")),
    ("behind its end", FRAME + FRAME),
    ("are not full", SMALLEST + struct.pack("<I", 1 << 31 | 2) + b"ab"),
]


def test_the_header_by_hand_is_right() -> None:
    assert with_header(INDEPENDENT | 8, 0x40, SIZE) == FRAME
    assert content_of(with_header(INDEPENDENT), len(CONTENT)) == CONTENT


@pytest.mark.parametrize(("reason", "frame"), DAMAGED)
def test_damaged_frames(reason: str, frame: bytes) -> None:
    with pytest.raises(InvalidArrowError, match=reason):
        independent_blocks(memoryview(frame), len(CONTENT))


@pytest.mark.parametrize(("reason", "frame"), UNSUPPORTED)
def test_frames_for_the_host(reason: str, frame: bytes) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        independent_blocks(memoryview(frame), len(CONTENT))


def test_more_blocks_than_full_ones() -> None:
    compressor = lz4_frame.LZ4FrameCompressor(block_linked=False, auto_flush=True)
    frame = compressor.begin() + compressor.compress(CONTENT) * 2 + compressor.flush()
    with pytest.raises(UnsupportedError, match="more blocks"):
        independent_blocks(memoryview(frame), 2 * len(CONTENT))


def test_no_beginning_of_a_frame_is_one() -> None:
    for length in range(len(FRAME)):
        with pytest.raises(InvalidArrowError, match=r"ends too early|Header_incomplete"):
            independent_blocks(memoryview(FRAME[:length]), len(CONTENT))


@given(st.data())
def test_no_block_is_outside_of_any_frame(data: st.DataObject) -> None:
    frame = bytearray(FRAME)
    for _ in range(data.draw(st.integers(1, 3))):
        frame[data.draw(st.integers(HEADER, HEADER + 4))] = data.draw(st.integers(0, 255))
    size = data.draw(st.integers(1, 1 << 40))
    try:
        blocks = independent_blocks(memoryview(SMALLEST + frame[HEADER:]), size)
    except (InvalidArrowError, UnsupportedError):
        return
    for begin, stored, place, expected in blocks.tolist():
        assert begin + (stored & ~PLAIN) <= len(frame)
        assert place + expected <= size


# From the test vectors of xxHash: the whole hashes are 02cc5d05, 550d7456, 32d153ff.
@pytest.mark.parametrize(("data", "byte"), [(b"", 0x5D), (b"a", 0x74), (b"abc", 0x53)])
def test_header_checksums(data: bytes, byte: int) -> None:
    assert header_checksum(data) == byte


@given(st.integers(1, 2**63 - 1), st.sampled_from(list(BLOCK_SIZES)), st.booleans())
def test_header_checksums_of_the_library(size: int, block_size: int, linked: bool) -> None:
    context = lz4_frame.create_compression_context()
    header = lz4_frame.compress_begin(
        context, source_size=size, block_size=block_size, block_linked=linked
    )
    assert header_checksum(header[4:-1]) == header[-1]
