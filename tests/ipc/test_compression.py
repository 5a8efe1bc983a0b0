"""Compressed buffers: frames of both codecs, stored ones, damaged ones, and bombs."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable

import pyarrow as pa
import pytest
from flatbuf import Type
from ipc.handmade import Batch, WireField, int_type, schema_message
from present import present

import colkern.ipc
from colkern import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.ipc import compression

lz4_library = pytest.importorskip("lz4.frame")
zstandard = pytest.importorskip("zstandard")

INT8 = WireField("i", Type.Int, int_type(8, True))
LZ4, ZSTD = 0, 1
DATA = bytes(range(100)) * 10


@pytest.fixture(autouse=True, params=["C functions", "package's functions"])
def lz4_functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds of the package `lz4` may hide the C functions that write into given memory."""
    monkeypatch.setattr(compression, "_local", threading.local())
    if request.param != "C functions":
        monkeypatch.setattr(compression, "_lz4_library", lambda: None)


def lz4_frame(data: bytes, **options: object) -> bytes:
    result: bytes = lz4_library.compress(data, **options)
    return result


def zstd_frame(data: bytes, **options: object) -> bytes:
    result: bytes = zstandard.ZstdCompressor(**options).compress(data)
    return result


FRAMES = {
    "lz4": (LZ4, lz4_frame(DATA)),
    "lz4 with size": (LZ4, lz4_frame(DATA, store_size=True)),
    "lz4 without size": (LZ4, lz4_frame(DATA, store_size=False)),
    "lz4 with checksums": (LZ4, lz4_frame(DATA, content_checksum=True, block_checksum=True)),
    "lz4 independent": (LZ4, lz4_frame(DATA, block_linked=False)),
    "zstd": (ZSTD, zstd_frame(DATA)),
    "zstd without size": (ZSTD, zstd_frame(DATA, write_content_size=False)),
    "zstd with checksum": (ZSTD, zstd_frame(DATA, write_checksum=True)),
}


def read(buffer: bytes, codec: int, length: int = len(DATA), **limits: int) -> bytes:
    batch = Batch(length, [(length, 0)], [b"", buffer], codec=codec)
    data = schema_message([INT8]) + batch.message()
    (read,) = colkern.ipc.open(data, limits=colkern.ipc.Limits(**limits))
    return present(read["i"].buffers[1]).tobytes()


def stated(size: int, frame: bytes) -> bytes:
    return struct.pack("<q", size) + frame


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_behind_their_size(kind: str) -> None:
    codec, frame = FRAMES[kind]
    assert read(stated(len(DATA), frame), codec) == DATA


@pytest.mark.parametrize("codec", [LZ4, ZSTD])
def test_minus_one_says_that_a_buffer_is_stored(codec: int) -> None:
    assert read(stated(-1, DATA), codec) == DATA


@pytest.mark.parametrize("codec", [LZ4, ZSTD])
def test_an_empty_buffer_has_no_size(codec: int) -> None:
    assert read(b"", codec, length=0) == b""
    assert read(stated(0, b""), codec, length=0) == b""


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("wrong", [-2, -(2**63), 1, len(DATA) - 1, len(DATA) + 1, 2**40, 2**63 - 1])
def test_a_wrong_size_is_refused(kind: str, wrong: int) -> None:
    codec, frame = FRAMES[kind]
    with pytest.raises(InvalidArrowError, match="column 'i': "):
        read(stated(wrong, frame), codec)


@pytest.mark.parametrize("kind", FRAMES)
def test_damaged_frames_are_refused(kind: str) -> None:
    codec, frame = FRAMES[kind]
    for damaged in (b"", frame[:-20], b"\0" + frame[1:], b"garbage " * 20):
        with pytest.raises(InvalidArrowError, match=r"damaged|cannot make|does not end|where"):
            read(stated(len(DATA), damaged), codec)
    with pytest.raises(InvalidArrowError, match="is too short for its length"):
        read(b"1234567", codec)


@pytest.mark.parametrize(("codec", "compress"), [(LZ4, lz4_frame), (ZSTD, zstd_frame)])
def test_what_frames_grow_to_has_a_limit(codec: int, compress: Callable[[bytes], bytes]) -> None:
    bomb = stated(1 << 24, compress(bytes(1 << 24)))
    assert len(bomb) < 1 << 17
    with pytest.raises(LimitExceededError, match=r"raise Limits\.decompressed_bytes"):
        read(bomb, codec, decompressed_bytes=(1 << 24) - 1)
    assert read(bomb, codec, decompressed_bytes=1 << 24) == bytes(1 << 24)


def test_the_limit_is_for_all_buffers_of_a_batch() -> None:
    buffer = stated(len(DATA), FRAMES["zstd"][1])
    batch = Batch(1000, [(1000, 0)] * 3, [b"", buffer] * 3, codec=ZSTD)
    limits = colkern.ipc.Limits(decompressed_bytes=2500)
    (read,) = colkern.ipc.open(schema_message([INT8] * 3) + batch.message(), limits=limits)
    assert read.column(2).length == 1000
    assert read.column(0).length == 1000
    with pytest.raises(LimitExceededError):
        read.column(1)


def test_unknown_codecs_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="codec number 2"):
        read(DATA, 2)


HALF = len(DATA) // 2
SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"skip"
COMPRESS = {"lz4": (LZ4, lz4_frame), "zstd": (ZSTD, zstd_frame)}


@pytest.mark.parametrize("behind", [b"", bytes(8), b"garbage!", SKIPPABLE, "empty", "half"])
@pytest.mark.parametrize("before", [b"", SKIPPABLE])
@pytest.mark.parametrize("codec", COMPRESS)
def test_what_is_one_buffer_is_what_arrow_says(
    codec: str, before: bytes, behind: bytes | str
) -> None:
    # The format does not say whether several frames may stand behind one size; Arrow C++ lets Zstandard
    # have several, LZ4 one, and nothing else behind them.
    number, compress = COMPRESS[codec]
    first, last = (DATA[:HALF], DATA[HALF:]) if behind == "half" else (DATA, b"")
    tail = behind if isinstance(behind, bytes) else compress(last)
    buffer = stated(len(DATA), before + compress(first) + tail)
    batch = Batch(len(DATA), [(len(DATA), 0)], [b"", buffer], codec=number)
    data = schema_message([INT8]) + batch.message()
    try:
        (theirs,) = pa.ipc.open_stream(data)
    except OSError:
        with pytest.raises(InvalidArrowError, match="frame"):
            read(buffer, number)
    else:
        assert read(buffer, number) == theirs.column(0).buffers()[1].to_pybytes() == DATA
