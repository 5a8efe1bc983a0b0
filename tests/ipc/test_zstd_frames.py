"""Zstandard frames as the host sees them, and by what decompresses them on a device; nvCOMP's stands in.

What nvCOMP itself does is not tested here: it needs a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from colkern import InvalidArrowError, UnsupportedError
from colkern.cuda import nvcomp, stand_in
from colkern.cuda.memory import padded
from colkern.ipc.compression import codec_named
from colkern.ipc.device_codecs import DeviceCodec, PlacedFrame, device_codec_of, require_one_frame
from colkern.memory import Device

zstandard = pytest.importorskip("zstandard")

CONTENT = b"the quick brown fox jumps over the lazy dog " * 10_000
DEVICE = Device("cuda")


def frame_of(content: bytes, **options: Any) -> bytes:
    result: bytes = zstandard.ZstdCompressor(**options).compress(content)
    return result


FRAME = frame_of(CONTENT)


@pytest.mark.parametrize("content", [b"", b"x", CONTENT, bytes(1 << 20), bytes(range(256)) * 2048])
@pytest.mark.parametrize("level", [-5, 1, 19])
def test_frames_of_the_library(content: bytes, level: int) -> None:
    require_one_frame(memoryview(frame_of(content, level=level)), len(content))


@pytest.mark.parametrize(
    ("frame", "error", "reason"),
    [
        (b"\0" + FRAME[1:], InvalidArrowError, "damaged"),
        (FRAME[:-1], InvalidArrowError, f"not of {len(FRAME) - 1} bytes"),
        (FRAME[:5], InvalidArrowError, "damaged|too early"),
        (FRAME + FRAME, InvalidArrowError, f"not of {2 * len(FRAME)} bytes"),
        (frame_of(CONTENT[:-1]), InvalidArrowError, "439999 bytes where 440000"),
        (frame_of(CONTENT, write_content_size=False), UnsupportedError, "state its size"),
        (frame_of(CONTENT, write_checksum=True), UnsupportedError, "checksum"),
        (
            frame_of(
                CONTENT,
                dict_data=zstandard.train_dictionary(512, [b"ab%d" % n for n in range(999)]),
            ),
            UnsupportedError,
            "dictionary",
        ),
    ],
)
def test_other_frames(frame: bytes, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        require_one_frame(memoryview(frame), len(CONTENT))


def test_every_byte_of_a_block_header_counts() -> None:
    begin = zstandard.frame_header_size(FRAME)
    reserved = FRAME[:begin] + bytes([FRAME[begin] | 6]) + FRAME[begin + 1 :]
    huge = FRAME[: begin + 2] + b"\xff" + FRAME[begin + 3 :]
    for damaged in (reserved, huge):
        with pytest.raises(InvalidArrowError, match="block header"):
            require_one_frame(memoryview(damaged), len(CONTENT))


class Library:
    """The part of nvCOMP's package that colkern calls, over Zstandard's library."""

    BitstreamKind = SimpleNamespace(RAW="plain frames")

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.codecs = 0
        self.makes = zstandard.ZstdDecompressor().decompress
        self.addresses: list[int] = []

    def as_arrays(self, sources: Sequence[Any], stream: int) -> Sequence[Any]:
        self.addresses += [source.ctypes.data for source in sources]
        return sources

    def Codec(self, **options: Any) -> Library:
        self.options = options
        self.codecs += 1
        return self

    def decode(self, sources: Sequence[Any], *, out: Sequence[Any]) -> Any:
        sizes = []
        for source, place in zip(sources, out, strict=True):
            result = self.makes(source.tobytes())
            if len(result) > len(place):
                raise ValueError("too small")
            place[: len(result)] = np.frombuffer(result, np.uint8)
            sizes.append(len(result))
        return SimpleNamespace(buffer_sizes=sizes)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    result = Library()
    monkeypatch.setitem(sys.modules, "nvidia.nvcomp", result)
    nvcomp.is_installed.cache_clear()
    with stand_in.installed():
        yield result
    nvcomp.is_installed.cache_clear()


def trusting() -> DeviceCodec:
    codec = codec_named("zstd", None)
    assert codec is not None
    assert device_codec_of(codec, DEVICE) is None
    actual = device_codec_of(codec, DEVICE, trusted=True)
    assert actual is not None
    return actual


CONTENTS = [b"abc" * 50, CONTENT, b"z"]


def decompressed(sizes: Sequence[int]) -> tuple[int, bytes]:
    """The number of frames that are right, and the output: each at a multiple of 64, ones in between."""
    codec = trusting()
    staged, place, frames = b"", 0, []
    for content, size in zip(CONTENTS, sizes, strict=True):
        frame = frame_of(content)
        examined = codec.examined(memoryview(frame), len(content))
        assert examined is not None
        frames.append(PlacedFrame(examined, len(staged), place))
        staged += frame
        place += padded(size)
    out = np.ones(place, np.uint8)
    return codec.decompress(frames, np.frombuffer(staged, np.uint8), out), out.tobytes()


def test_frames_are_decompressed_at_once(library: Library) -> None:
    expected = b"".join(content.ljust(padded(len(content)), b"\1") for content in CONTENTS)
    assert decompressed(list(map(len, CONTENTS))) == (3, expected)
    assert library.options == {
        "algorithm": "Zstd",
        "bitstream_kind": "plain frames",
        "device_id": 0,
        "cuda_stream": 0,
    }
    assert {address % nvcomp.ALIGNMENT for address in library.addresses} == {0}


def test_a_codec_is_kept(library: Library) -> None:
    for _ in range(3):
        assert decompressed(list(map(len, CONTENTS)))[0] == 3
    assert library.codecs == 1


def test_what_has_another_size_does_not_count(library: Library) -> None:
    makes = library.makes
    library.makes = lambda frame: makes(frame)[:100]
    assert decompressed(list(map(len, CONTENTS)))[0] == 0


def test_what_is_refused_is_left_to_the_host(library: Library) -> None:
    def refuse(frame: bytes) -> bytes:
        raise RuntimeError("no such frame")

    library.makes = refuse
    done, out = decompressed(list(map(len, CONTENTS)))
    assert (done, set(out)) == (0, {1})


def test_no_frames(library: Library) -> None:
    none = np.zeros(0, np.uint8)
    assert trusting().decompress([], none, none) == 0


def test_damaged_frames_are_left_to_the_host(library: Library) -> None:
    assert trusting().examined(memoryview(FRAME[:-1]), len(CONTENT)) is None
    assert trusting().examined(memoryview(FRAME), 1 << 31) is None
