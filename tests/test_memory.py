"""Buffers: bytes of somebody's that stay alive, never written, never copied without need."""

from __future__ import annotations

import ctypes
import gc
import mmap
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from colkern.memory import ALIGNMENT, EMPTY, HOST, Buffer, Device, allocate, allocate_for_overwrite

INT32 = np.dtype("<i4")


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("dtype", ["u1", "<i4", "<f8", "V16"])
def test_allocations_are_aligned_and_as_large_as_asked(count: int, dtype: str) -> None:
    for make in (allocate, allocate_for_overwrite):
        room = make(count, dtype)
        assert room.ctypes.data % ALIGNMENT == 0 or count == 0
        assert room.shape == (count,)
        assert room.dtype == np.dtype(dtype)
    assert allocate(count, dtype).tobytes() == bytes(count * np.dtype(dtype).itemsize)


@pytest.mark.parametrize(
    "size", [0, 1, 63, 64, 65, 1000, 4095, 4097, 5000, (1 << 17) - 1, (1 << 17) + 1]
)
@pytest.mark.parametrize("make", [allocate, allocate_for_overwrite])
def test_allocations_are_padded_to_64_bytes_with_zeros(make: Any, size: int) -> None:
    # Columnar format 1.5, "Buffer Alignment and Padding": the padding may be read.
    padding = -size % ALIGNMENT
    for whole in (True, False, False):
        if whole:
            # Whatever is there when the block is used again.
            make(size + padding, np.uint8)[:] = 0xFF
        room = make(size, np.uint8)
        behind = ctypes.string_at(room.ctypes.data + size, padding)
        assert behind == bytes(padding)
        room[:] = 0xFF
        del room


def test_any_bytes_like_object_becomes_a_buffer_without_a_copy(tmp_path: Path) -> None:
    array = np.arange(4, dtype="<i4")
    buffer = Buffer.from_object(array)
    assert buffer.address == array.ctypes.data
    assert buffer.size == len(buffer) == 16
    assert buffer.device == HOST

    path = tmp_path / "bytes"
    path.write_bytes(b"abc")
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert Buffer.from_object(mapped).tobytes() == b"abc"
    assert Buffer.from_object(b"").size == 0


@pytest.mark.parametrize("obj", [3, "text", None, np.arange(6)[::2]])
def test_what_has_no_contiguous_bytes_is_refused(obj: Any) -> None:
    with pytest.raises(TypeError, match="obj: expected a contiguous"):
        Buffer.from_object(obj)


def test_a_buffer_is_read_only_and_leaves_its_owner_writable() -> None:
    array = np.zeros(4, np.uint8)
    buffer = Buffer(array)
    with pytest.raises(ValueError, match="read-only"):
        buffer.array[0] = 1
    array[0] = 1
    assert memoryview(buffer.array).readonly


class Owner(bytearray):
    """Memory whose death can be seen."""


def test_a_buffer_keeps_its_owner_alive_and_lets_it_go() -> None:
    owner = Owner(b"12345678")
    seen = weakref.ref(owner)
    part = Buffer.from_object(owner)[2:4]
    items = part.view(np.dtype("u1"))
    del owner, part
    gc.collect()
    assert seen() is not None
    assert bytes(items) == b"34"
    del items
    gc.collect()
    assert seen() is None


def test_foreign_memory_lives_as_long_as_the_buffer() -> None:
    class Memory:
        def __init__(self) -> None:
            self.bytes = ctypes.create_string_buffer(b"foreign", 7)

    owner = Memory()
    seen = weakref.ref(owner)
    buffer = Buffer.from_address(ctypes.addressof(owner.bytes), 7, owner)
    del owner
    gc.collect()
    assert buffer.tobytes() == b"foreign"
    assert seen() is not None
    del buffer
    gc.collect()
    assert seen() is None


def test_no_bytes_at_address_zero_are_an_empty_buffer() -> None:
    assert Buffer.from_address(0, 0, None).size == 0


def test_slices_share_the_bytes() -> None:
    buffer = Buffer.from_object(b"0123456789")
    part = buffer[2:5]
    assert part.tobytes() == b"234"
    assert part.address == buffer.address + 2
    for key in (0, slice(None, None, 2), slice(None, None, -1)):
        with pytest.raises(TypeError, match="step of 1"):
            buffer[key]  # type: ignore[index]


def test_aligned_items_are_viewed_and_misaligned_ones_copied() -> None:
    room = allocate(17, np.uint8)
    room[:] = np.arange(17)
    buffer = Buffer(room)
    aligned = buffer.view(INT32, 2, 4)
    assert aligned.ctypes.data == buffer.address + 4
    shifted = buffer[1:].view(INT32)
    assert shifted.ctypes.data % 4 == 0
    assert not shifted.flags.writeable
    assert shifted.tobytes() == bytes(range(1, 17))


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("dtype", ["u1", "<i4", "V4", "<f8", "V8", "<i8"])
@pytest.mark.parametrize(("count", "byte_offset"), [(None, 0), (6, 0), (5, 0), (3, 0), (2, 8)])
def test_written_items_are_viewed_as_the_same_bytes_elsewhere(
    place: int, dtype: str, count: int | None, byte_offset: int
) -> None:
    memory = np.arange(56, dtype=np.uint8)
    written = memory[place : place + 48].view("V8")
    kind = np.dtype(dtype)
    expected = bytes(range(place, place + 48))[byte_offset:]
    items = Buffer.of_items(written).view(kind, count, byte_offset)
    assert items.tobytes() == expected[: None if count is None else count * kind.itemsize]
    assert items.dtype == kind
    assert items.flags.aligned
    assert not items.flags.writeable


@pytest.mark.parametrize(("count", "byte_offset"), [(5, 0), (4, 4), (-1, 0), (1, -4), (1, 17)])
def test_items_beyond_the_bytes_are_refused(count: int, byte_offset: int) -> None:
    with pytest.raises(ValueError, match="do not fit 16 bytes"):
        Buffer.from_object(bytes(16)).view(INT32, count, byte_offset)


def test_items_of_no_bytes_can_be_any_number() -> None:
    assert EMPTY.view(np.dtype("V0"), 3).shape == (3,)


def test_buffers_offer_the_interface_of_their_device_only() -> None:
    buffer = Buffer.from_object(b"abc")
    assert np.asarray(buffer).tobytes() == b"abc"
    assert not hasattr(buffer, "__cuda_array_interface__")

    class Remote:
        size = 3

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            return {"data": (4096, True), "shape": (3,), "typestr": "|u1", "version": 3}

    there: Any = Remote()
    remote = Buffer(there, Device("cuda", 1))
    assert remote.address == 4096
    assert remote.__cuda_array_interface__["shape"] == (3,)
    assert not hasattr(remote, "__array_interface__")
    assert repr(remote) == "<colkern.Buffer 3 bytes on cuda:1 at 0x1000>"


def test_a_buffer_in_another_process_has_its_own_address() -> None:
    buffer = Buffer.from_object(b"abc")
    assert buffer.address
    copy = pickle.loads(pickle.dumps(buffer))
    assert copy.tobytes() == b"abc"
    assert copy.address == copy.array.ctypes.data
