"""Compressed buffers, decompressed where they are needed; in host memory, where tests can look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern import InvalidArrowError
from colkern.cuda import memory, stand_in
from colkern.ipc.compression import Budget, Codec, codec_named
from colkern.ipc.device_codecs import DeviceCodec, ExaminedFrame, PlacedFrame, device_codec_of
from colkern.memory import HOST, Buffer, Device

lz4_frame = pytest.importorskip("lz4.frame")

RNG = np.random.default_rng(0)
CONTENTS = [
    b"x",
    np.arange(200_000, dtype="i4").tobytes(),
    bytes(1 << 18),
    RNG.bytes(300_000),
    b"the quick brown fox " * 50_000,
]
GAP = 7
"""Bytes around each frame and each place, and what stands there."""


def lz4_codec() -> tuple[Codec, DeviceCodec]:
    codec = codec_named("lz4", None)
    assert codec is not None
    device_codec = device_codec_of(codec, HOST)
    assert device_codec is not None
    return codec, device_codec


def examined(frame: bytes, size: int) -> ExaminedFrame | None:
    return lz4_codec()[1].examined(memoryview(frame), size)


def decompressed(frames: Sequence[bytes], sizes: Sequence[int]) -> tuple[int, list[bytes]]:
    """The number of frames that are reported right, and what stands in the place of each."""
    staged, place = bytes(GAP), GAP
    placed = []
    for frame, size in zip(frames, sizes, strict=True):
        actual = examined(frame, size)
        assert actual is not None
        placed.append(PlacedFrame(actual, len(staged), place))
        staged += frame + bytes(GAP)
        place += size + GAP
    out = np.full(place, 0xA5, np.uint8)
    done = lz4_codec()[1].decompress(placed, np.frombuffer(staged, np.uint8), out)
    ends = [at.place + at.frame.size for at in placed]
    for begin, end in zip([0, *ends], [at.place for at in placed] + [len(out)], strict=True):
        assert set(out[begin:end].tolist()) == {0xA5}
    return done, [out[at.place :][: at.frame.size].tobytes() for at in placed]


def written(content: bytes) -> bytes:
    """The frame that colkern writes."""
    codec, _ = lz4_codec()
    return bytes(codec.encode(memoryview(content), codec.level))


def test_what_colkern_writes_is_decompressed_at_once() -> None:
    frames = [written(content) for content in CONTENTS]
    assert decompressed(frames, list(map(len, CONTENTS))) == (len(frames), CONTENTS)


def test_no_frames() -> None:
    assert decompressed([], []) == (0, [])


def test_what_pyarrow_writes_is_for_a_device_if_it_has_one_block() -> None:
    compress = pa.Codec("lz4").compress
    taken = [bool(examined(compress(c, asbytes=True), len(c))) for c in CONTENTS]
    assert taken == [len(c) <= 1 << 16 for c in CONTENTS]


def test_frames_up_to_a_damaged_one_are_right() -> None:
    frames = [written(content) for content in CONTENTS]
    # Behind the header (15 bytes) and the size of the first block: its first token.
    frames[2] = frames[2][:19] + b"\x00\x00\x00" + frames[2][22:]
    done, result = decompressed(frames, list(map(len, CONTENTS)))
    assert (done, result[:2]) == (2, CONTENTS[:2])
    with pytest.raises(InvalidArrowError, match="damaged LZ4 frame"):
        on_host(frames[2], len(CONTENTS[2]))


def on_host(frame: bytes, size: int) -> bytes:
    buffer = np.frombuffer(size.to_bytes(8, "little") + frame, np.uint8)
    return lz4_codec()[0].decompress(Buffer(buffer), Budget(1 << 30)).tobytes()


def test_blocks_that_are_not_full_are_left_to_the_host() -> None:
    content = CONTENTS[4][:100_000]
    compressor = lz4_frame.LZ4FrameCompressor(
        block_linked=False, auto_flush=True, block_size=lz4_frame.BLOCKSIZE_MAX64KB
    )
    parts = (compressor.compress(part) for part in (content[:40_000], content[40_000:]))
    frame = compressor.begin() + b"".join(parts) + compressor.flush()
    assert decompressed([frame], [len(content)])[0] == 0
    assert on_host(frame, len(content)) == content


@given(st.data())
def test_what_a_device_takes_is_what_the_host_makes_of_it(data: st.DataObject) -> None:
    content = CONTENTS[4][:70_000]
    frame = bytearray(
        lz4_frame.compress(content, block_linked=False, block_size=lz4_frame.BLOCKSIZE_MAX64KB)
    )
    for _ in range(data.draw(st.integers(1, 2))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    if examined(bytes(frame), len(content)) is not None:
        done, actual = decompressed([bytes(frame)], [len(content)])
        if done:
            assert on_host(bytes(frame), len(content)) == actual[0]


def test_in_the_memory_of_a_device() -> None:
    codec = codec_named("lz4", None)
    assert codec is not None
    content = CONTENTS[1]
    frame = np.frombuffer(written(content), np.uint8)
    device = Device("cuda")
    with stand_in.installed():
        device_codec = device_codec_of(codec, device)
        assert device_codec is not None
        actual = device_codec.examined(frame.data, len(content))
        assert actual is not None
        out = memory.allocate_for_overwrite(len(content), np.uint8)
        assert device_codec.decompress([PlacedFrame(actual, 0, 0)], frame, out) == 1
        assert memory.on_host(out).tobytes() == content


def test_a_frame_must_have_its_place() -> None:
    content = CONTENTS[1]
    frame = written(content)
    actual = examined(frame, len(content))
    assert actual is not None
    staged, out = np.frombuffer(frame, np.uint8), np.zeros(len(content), np.uint8)
    _, codec = lz4_codec()
    for begin, place in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        with pytest.raises(ValueError, match="frames: "):
            codec.decompress([PlacedFrame(actual, begin, place)], staged, out)
    assert not out.any()


def test_zstandard_is_for_the_host() -> None:
    codec = codec_named("zstd", None)
    assert codec is not None
    assert device_codec_of(codec, HOST) is None
