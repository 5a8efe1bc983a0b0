"""Bytes through page-locked slots, over a stand-in whose copies are carried out late."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern.cpu.threads import set_num_threads
from colkern.cuda import count_transfers, stand_in
from colkern.cuda.staging import Piece, Upload, download, downloaded
from colkern.errors import LimitExceededError
from colkern.memory import Device

CUDA = Device("cuda")


def piece(at: int, data: bytes) -> Piece:
    source = np.frombuffer(data, np.uint8)

    def read_into(offset: int, view: np.ndarray) -> None:
        view[:] = source[offset : offset + view.size]

    return Piece(at, len(data), read_into)


def sent(pieces: list[Piece], size: int) -> bytes:
    upload = Upload(CUDA, size)
    upload.send_pieces(pieces)
    upload.end()
    upload.hold_current()
    return bytes(upload.block)


def test_bytes_arrive_with_zeros_behind_them(device: stand_in.StandIn) -> None:
    assert sent([piece(0, b"abc"), piece(64, b"d")], 128) == (b"abc" + bytes(61) + b"d" + bytes(63))


def test_a_copy_is_carried_out_when_it_is_waited_for(device: stand_in.StandIn) -> None:
    upload = Upload(CUDA, 64)
    upload.send_pieces([piece(0, b"abc")])
    upload.end()
    assert bytes(upload.block[:3]) == bytes([stand_in.FRESH] * 3)
    upload.hold_current()
    assert bytes(upload.block[:3]) == b"abc"


def test_copies_wait_for_what_the_current_stream_does_with_the_memory(
    device: stand_in.StandIn,
) -> None:
    before = device.waits
    Upload(CUDA, 64)
    assert device.waits == before + 1


@given(st.lists(st.integers(0, 20_000), max_size=6), st.booleans())
def test_each_byte_is_copied_once(sizes: list[int], in_order: bool) -> None:
    random = np.random.default_rng(sum(sizes))
    parts = [random.bytes(size) for size in sizes]
    starts = np.cumsum([0, *(size + -size % 64 for size in sizes)]).tolist()
    pieces = [piece(at, part) for at, part in zip(starts, parts, strict=False)]
    expected = b"".join(part + bytes(-len(part) % 64) for part in parts)
    with stand_in.installed() as device, count_transfers() as counted:
        upload = Upload(CUDA, starts[-1])
        upload.send_pieces(pieces, in_order=in_order)
        upload.end()
        upload.hold_current()
        assert bytes(upload.block) == expected
    assert counted.bytes_to_device == len(expected)
    ranges = sorted((copy.address, copy.address + copy.size) for copy in device.copies)
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


def test_one_thread_reads_a_whole_piece_from_its_begin_to_its_end(
    device: stand_in.StandIn, four_threads: None
) -> None:
    device.slot_bytes = 1 << 20
    size = 3 << 20
    readers: list[list[tuple[int, int]]] = [[] for _ in range(6)]
    upload = Upload(CUDA, 6 * size)

    def noted(number: int) -> Piece:
        def read_into(offset: int, view: np.ndarray) -> None:
            readers[number].append((offset, threading.get_ident()))
            view[:] = number

        return Piece(number * size, size, read_into)

    upload.send_whole(list(map(noted, range(6))))
    upload.end()
    upload.hold_current()
    assert upload.block.reshape(6, size).tolist() == [[number] * size for number in range(6)]
    for calls in readers:
        assert [offset for offset, _ in calls] == [0, 1 << 20, 2 << 20]
        assert len({thread for _, thread in calls}) == 1


def test_small_whole_pieces_share_a_copy_that_leaves_what_stands_between(
    device: stand_in.StandIn,
) -> None:
    upload = Upload(CUDA, 256)
    upload.send_pieces([piece(128, b"kept")])
    upload.send_whole([piece(0, b"abc"), piece(64, b"d"), piece(192, b"e")])
    upload.end()
    upload.hold_current()
    assert bytes(upload.block) == b"".join(
        each.ljust(64, b"\0") for each in (b"abc", b"d", b"kept", b"e")
    )
    assert [copy.size for copy in device.copies] == [64, 128, 64]


@given(st.lists(st.integers(0, 20_000), max_size=6))
def test_what_was_sent_comes_back(sizes: list[int]) -> None:
    parts = [np.random.default_rng(size).bytes(size) for size in sizes]
    with stand_in.installed(), count_transfers() as counted:
        arrays = [np.frombuffer(part, np.uint8) for part in parts]
        result: list[list[bytes]] = [[] for _ in parts]
        for number, bytes_ in downloaded(arrays, CUDA):
            result[number].append(bytes(bytes_))
    assert [b"".join(each) for each in result] == parts
    assert counted.bytes_to_host == sum(sizes)


@pytest.mark.parametrize("slot_bytes", [4096, 8 << 20], ids=["small slots", "parts of a slot"])
def test_several_threads_download_parts_that_begin_and_end_within_arrays(
    device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch, slot_bytes: int
) -> None:
    monkeypatch.setattr(device, "slot_bytes", slot_bytes)
    arrays = [np.arange(n, dtype=np.uint32).view(np.uint8)[3:] for n in (1_500_000, 1, 7, 300_001)]
    outputs = [np.empty_like(array) for array in arrays]
    with count_transfers() as counted:
        download(arrays, outputs, CUDA)
    for array, output in zip(arrays, outputs, strict=True):
        np.testing.assert_array_equal(output, array)
    assert counted.bytes_to_host == sum(array.size for array in arrays)


def test_neighbours_of_one_allocation_are_one_copy(device: stand_in.StandIn) -> None:
    block, other = device.allocated(400), device.allocated(64)
    block[:] = np.arange(400) % 251
    parts = [block[:10], block[64:64], block[64:200], block[264:300], other, block[363:364]]
    outputs = [np.empty_like(part) for part in parts]
    download(parts, outputs, CUDA)
    # 64 bytes or more between two of them stay there.
    assert [copy.size for copy in device.copies] == [200, 36, 64, 1]
    assert list(map(bytes, outputs)) == list(map(bytes, parts))
    assert [(number, bytes(part)) for number, part in downloaded(parts, CUDA)] == [
        (number, bytes(part)) for number, part in enumerate(parts) if part.size
    ]


def test_downloads_within_each_other_do_not_wait_for_each_other(device: stand_in.StandIn) -> None:
    array = np.zeros(5 * device.slot_bytes, np.uint8)
    outer = [downloaded([array], CUDA) for _ in range(2 * device.most_slots)]
    for each in outer:
        next(each)
    assert sum(bytes_.size for each in outer for _, bytes_ in each) > 0


def test_parts_of_one_block_from_several_threads(device: stand_in.StandIn) -> None:
    size = 3 * device.slot_bytes + 5
    upload = Upload(CUDA, 4 * (size + -size % 64))
    step = upload.block.size // 4

    def send(number: int) -> None:
        upload.send_pieces([Piece(number * step, size, lambda _, view: view.fill(number + 1))])

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    upload.end()
    upload.hold_current()
    for number in range(4):
        part = upload.block[number * step : number * step + step]
        assert set(part[:size].tolist()) == {number + 1}
        assert not part[size:].any()


@pytest.mark.parametrize("in_order", [False, True])
def test_slots_are_filled_while_others_are_copied(in_order: bool, device: stand_in.StandIn) -> None:
    size = device.most_slots * device.slot_bytes
    upload = Upload(CUDA, size)
    upload.send_pieces([piece(0, bytes(size))], in_order=in_order)
    # Nobody had to wait for a copy yet.
    assert device.copies == []
    upload.end()
    upload.hold_current()
    assert sum(copy.size for copy in device.copies) == size


def test_downloads_that_are_not_read_on_leave_slots_for_uploads(device: stand_in.StandIn) -> None:
    array = np.zeros(5 * device.slot_bytes, np.uint8)
    held = [downloaded([array], CUDA) for _ in range(device.most_slots)]
    for each in held:
        next(each)
    assert sent([piece(0, b"abc")], 64)[:3] == b"abc"


@pytest.fixture
def four_threads() -> Iterator[None]:
    set_num_threads(4)
    yield
    set_num_threads(0)


@pytest.mark.parametrize(("in_order", "sizes"), [(False, [2 << 20] * 4), (True, [8 << 20])])
def test_all_threads_fill_what_one_slot_would_hold(
    in_order: bool, sizes: list[int], device: stand_in.StandIn, four_threads: None
) -> None:
    device.slot_bytes = 8 << 20
    data = np.arange(8 << 20, dtype=np.uint64).astype(np.uint8).tobytes()
    upload = Upload(CUDA, len(data))
    upload.send_pieces([piece(0, data)], in_order=in_order)
    upload.end()
    upload.hold_current()
    assert bytes(upload.block) == data
    assert [copy.size for copy in device.copies] == sizes


def test_a_download_that_is_given_up_ends_its_copies(device: stand_in.StandIn) -> None:
    array = np.zeros(5 * device.slot_bytes, np.uint8)
    given_up = downloaded([array], CUDA)
    next(given_up)
    # Two are under way, of which one was waited for.
    assert len(device.copies) == 1
    given_up.close()
    # The array may be freed now, and the slots have other bytes.
    assert len(device.copies) == 2


def test_slots_beyond_the_most_are_not_kept(
    device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[weakref.ref[np.ndarray]] = []
    page_locked = device.page_locked

    def noted(size: int) -> np.ndarray:
        slot = page_locked(size)
        locked.append(weakref.ref(slot))
        return slot

    monkeypatch.setattr(device, "page_locked", noted)
    array = np.zeros(5 * device.slot_bytes, np.uint8)
    held = [downloaded([array], CUDA) for _ in range(device.most_slots)]
    for each in held:
        next(each)
    assert len(locked) == 2 * device.most_slots
    for each in held:
        each.close()
    assert sum(slot() is not None for slot in locked) == device.most_slots
    assert sent([piece(0, b"abc")], 64)[:3] == b"abc"


def test_no_host_memory_to_lock(device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(size: int) -> np.ndarray:
        raise MemoryError("all of it is locked")

    with monkeypatch.context() as patched:
        patched.setattr(device, "page_locked", refused)
        with pytest.raises(
            LimitExceededError, match="page-locked host memory: all of it is locked"
        ):
            sent([piece(0, b"abc")], 64)
        with pytest.raises(LimitExceededError, match="page-locked host memory"):
            next(downloaded([np.zeros(64, np.uint8)], CUDA))
    assert sent([piece(0, b"abc")], 64)[:3] == b"abc"


def test_a_source_that_fails_gives_its_slot_back(device: stand_in.StandIn) -> None:
    def fails(offset: int, view: np.ndarray) -> None:
        raise OSError("gone")

    for _ in range(2 * device.most_slots):
        upload = Upload(CUDA, 64)
        with pytest.raises(OSError, match="gone"):
            upload.send_pieces([Piece(0, 3, fails)])
        upload.abandon()


def test_no_memory_left() -> None:
    with stand_in.installed(memory_bytes=100) as device:
        with pytest.raises(LimitExceededError, match=r"device memory: 128 bytes asked for"):
            Upload(CUDA, 128)
        assert device.used_bytes == 0
        assert sent([piece(0, b"abc")], 64)[:3] == b"abc"


def test_a_block_that_nobody_waited_for_is_written_before_it_is_freed(
    device: stand_in.StandIn,
) -> None:
    upload = Upload(CUDA, 64)
    upload.send_pieces([piece(0, b"abc")])
    upload.end()
    del upload
    assert [copy.size for copy in device.copies] == [64]
