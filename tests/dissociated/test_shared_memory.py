"""Bodies in shared memory: what is copied, what is mapped, when it is freed, what is refused."""

from __future__ import annotations

import fcntl
import gc
import itertools
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dissociated.children import wait_until
from present import present

import colkern.ipc
from colkern import Array, RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import Bounds, SharedMemory, connect, serve
from colkern.dissociated.leases import Frees
from colkern.dissociated.messages import BodyLocations, Location
from colkern.dissociated.shared import blocks
from colkern.dissociated.shared.host import ReachedSegments
from colkern.dissociated.shared.segments import Segment
from colkern.dissociated.transports.connection import Frame, FrameKind
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.memory import Buffer
from colkern.schema import Field, Schema, int64

ROWS = 10_000


def batch(first: int = 0, rows: int = ROWS) -> RecordBatch:
    return record_batch({"n": np.arange(first, first + rows), "m": np.ones(rows)})


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def mapped_segments() -> int:
    """The number of mappings of anonymous shared memory that this process has, both sides together."""
    return Path("/proc/self/maps").read_text().count("memfd:colkern")


# What is copied


def test_what_is_in_shared_memory_is_announced_where_it_is() -> None:
    memory = SharedMemory(1 << 20)
    numbers = memory.allocate(ROWS, np.int64)
    numbers[:] = np.arange(ROWS)
    schema = Schema([Field("n", int64(), nullable=False)])
    column = Array(int64(), ROWS, [None, Buffer(numbers.view(np.uint8))])
    with (
        serve(RecordBatch(schema, [column], ROWS), "shm:") as server,
        connect(server.uri) as reader,
    ):
        received = next(reader).column("n")
        assert server.traffic.copied_bytes == reader.traffic.copied_bytes == 0
        assert server.traffic.announced_bytes == reader.traffic.announced_bytes == 8 * ROWS
        # The same memory, seen at two addresses.
        numbers[7] = -1
        assert received[7] == -1


def test_placed_batch_is_served_without_a_copy() -> None:
    memory = SharedMemory(1 << 20)
    data = [memory.place(batch(k)) for k in range(3)]
    with serve(data, "shm:") as server:
        for _ in range(2):
            with connect(server.uri) as reader:
                assert reader.read_all() == [batch(k) for k in range(3)]
        assert server.traffic.copied_bytes == 0


@pytest.mark.parametrize("write", [colkern.ipc.write_file, colkern.ipc.write_stream])
def test_files_are_mapped_and_announced_where_they_are(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    path = tmp_path / "table.arrow"
    write(path, [batch(k) for k in range(3)])
    with serve(path, "shm:") as server:
        path.unlink()
        with pytest.raises(OSError, match="No such file"):
            connect(server.uri)
    write(path, [batch(k) for k in range(3)])
    with serve(path, "shm:") as server, connect(server.uri) as reader:
        first = next(reader)
        path.unlink()
        assert [first, *reader] == [batch(k) for k in range(3)]
        assert server.traffic.copied_bytes == 0
        assert server.traffic.announced_bytes == 3 * 2 * 8 * ROWS


def test_what_is_elsewhere_is_placed_once() -> None:
    with serve([batch()], "shm:") as server, connect(server.uri) as reader:
        assert reader.read_all() == [batch()]
        assert server.traffic.placed_bytes == server.traffic.announced_bytes == 2 * 8 * ROWS
        assert reader.traffic.copied_bytes == 0


def test_clients_cannot_write() -> None:
    with serve([batch()], "shm:") as server, connect(server.uri) as reader:
        array = present(next(reader).column("n").buffers[1]).array
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_segments_cannot_be_cut_short_or_mapped_for_writing() -> None:
    segment = Segment.anonymous(1000)
    assert segment.size == mmap.PAGESIZE
    with pytest.raises(PermissionError):
        os.ftruncate(segment.descriptor, 0)
    with pytest.raises(PermissionError):
        mmap.mmap(segment.descriptor, segment.size)
    with pytest.raises(PermissionError):
        os.write(segment.descriptor, b"x")
    assert fcntl.fcntl(segment.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK


# When it is freed


def test_memory_is_freed_with_the_last_array_over_it() -> None:
    with serve([batch(), batch()], "shm:") as server:
        with connect(server.uri) as reader:
            received = reader.read_all()
        column = received[0].column("n").slice(5, 2)
        assert server.outstanding_bytes == 4 * 8 * ROWS
        del received
        gc.collect()
        wait_until(lambda: server.outstanding_bytes == 2 * 8 * ROWS)
        assert column.to_pylist() == [5, 6]
        del column
        gc.collect()
        wait_until(lambda: server.num_streams == 0)


def test_blocks_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # One batch fills a segment.
    monkeypatch.setattr(blocks, "_SEGMENT_BYTES", 2 * 8 * ROWS)
    source = RecordBatchStream(batch().schema, (batch(k) for k in range(50)))
    before = mapped_segments()
    three = Bounds(outstanding_bytes=3 * 2 * 8 * ROWS)
    with serve(source, "shm:", bounds=three) as server, connect(server.uri) as reader:
        for k, received in enumerate(reader):
            assert received.column("n")[0] == k
            del received
        # Each is mapped on both sides.
        assert mapped_segments() - before <= 2 * 4


def test_segments_that_are_free_over_the_limit_are_retired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_SEGMENT_BYTES", 2 * 8 * ROWS)
    monkeypatch.setattr(blocks, "_MOST_FREE", 1)
    before = mapped_segments()
    two = Bounds(outstanding_bytes=2 * 2 * 8 * ROWS)
    data = [batch(k) for k in range(20)]
    with serve(data, "shm:", bounds=two) as server, connect(server.uri) as reader:
        for k, received in enumerate(reader):
            assert received == batch(k)
            del received
        assert mapped_segments() - before <= 2 * 4


def test_shared_memory_of_a_user_goes_when_it_has_been_freed() -> None:
    def made() -> Iterator[RecordBatch]:
        for k in range(20):
            yield SharedMemory(1 << 20).place(batch(k))

    before = mapped_segments()
    two = Bounds(outstanding_bytes=2 * 2 * 8 * ROWS)
    source = RecordBatchStream(batch().schema, made())
    with serve(source, "shm:", bounds=two) as server, connect(server.uri) as reader:
        for k, received in enumerate(reader):
            assert received == batch(k)
            del received
            # Each is mapped on both sides.
            assert mapped_segments() - before <= 2 * 4


def test_bodies_share_segments() -> None:
    before = mapped_segments()
    with serve([batch(k) for k in range(50)], "shm:") as server, connect(server.uri) as reader:
        received = reader.read_all()
        assert mapped_segments() - before == 2
        assert received == [batch(k) for k in range(50)]


def read_five() -> None:
    with serve([batch(k) for k in range(5)], "shm:") as server:
        with connect(server.uri) as reader:
            assert len(reader.read_all()) == 5
        gc.collect()
        wait_until(lambda: server.num_streams == 0)


def test_nothing_is_left_behind() -> None:
    gc.collect()
    names, before, mapped = os.listdir("/dev/shm"), descriptors(), mapped_segments()
    for _ in range(3):
        read_five()
    gc.collect()
    wait_until(lambda: descriptors() <= before)
    assert mapped_segments() == mapped
    assert os.listdir("/dev/shm") == names


def test_batches_outlive_their_server() -> None:
    server = serve([batch()], "shm:")
    with connect(server.uri) as reader:
        received = reader.read_all()
    server.close()
    assert received == [batch()]


@pytest.mark.parametrize("ends", ["with its arrays", "by closing"])
def test_forked_child_leaves_the_stream_to_its_parent(ends: str) -> None:
    held = 2 * 8 * ROWS
    with serve([batch(), batch()], "shm:") as server, connect(server.uri) as reader:
        kept = [next(reader)]
        wait_until(lambda: server.outstanding_bytes == 2 * held)
        child = os.fork()
        if not child:
            kept.clear()
            if ends == "by closing":
                reader.close()
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.02)
        assert server.outstanding_bytes == 2 * held
        assert [*kept, *reader] == [batch(), batch()]
        kept.clear()
        wait_until(lambda: server.outstanding_bytes == 0)


def test_shared_memory_that_is_full() -> None:
    memory = SharedMemory(100)
    assert memory.size == memory.free == mmap.PAGESIZE
    assert memory.allocate(3, np.int64).ctypes.data % 64 == 0
    assert memory.allocate(1, np.uint8).ctypes.data % 64 == 0
    assert memory.free == mmap.PAGESIZE - 128
    with pytest.raises(LimitExceededError, match="has 3968 left"):
        memory.allocate(mmap.PAGESIZE, np.uint8)
    with pytest.raises(ValueError, match="size: expected at least 1"):
        SharedMemory(0)


# What a client refuses


HANDLE = b"handle"
PAGE = mmap.PAGESIZE


def segment_frame(base: int, size: int, handle: bytes = HANDLE, real: int = 4 * PAGE) -> Frame:
    descriptor = os.memfd_create("hostile")
    os.ftruncate(descriptor, real)
    data = np.frombuffer(struct.pack("<QQ", base, size) + handle, np.uint8)
    return Frame(FrameKind.SEGMENT, 0, data, descriptor)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ((PAGE, PAGE, b"other"), "not of the URI's remote_handle"),
        ((PAGE, 5 * PAGE), "is announced with"),
        ((5 * PAGE, PAGE), "overlaps"),
        ((PAGE, 4 * PAGE + 1), "overlaps"),
        ((2**64 - PAGE, PAGE), "segment of"),
        ((2**63, PAGE), "segment of"),
    ],
)
def test_hostile_segments(frame: tuple[Any, ...], message: str) -> None:
    before = descriptors()
    reached = ReachedSegments(HANDLE, sealed_only=False)
    if "overlaps" in message:
        reached.take(segment_frame(4 * PAGE, 4 * PAGE))
        before += 1  # Python's mapping keeps a descriptor of its own.
    with pytest.raises(InvalidArrowError, match=message):
        reached.take(segment_frame(*frame))
    assert descriptors() == before


@pytest.mark.parametrize("size", [0, 15])
def test_truncated_segment_frames(size: int) -> None:
    reached = ReachedSegments(HANDLE, sealed_only=False)
    with pytest.raises(InvalidArrowError, match=f"segment frame of {size} bytes"):
        reached.take(Frame(FrameKind.SEGMENT, 0, np.zeros(size, np.uint8)))


def test_segment_without_a_descriptor_or_unknown() -> None:
    reached = ReachedSegments(HANDLE, sealed_only=False)
    for size, message in ((PAGE, "without a descriptor"), (0, "no segment at")):
        data = np.frombuffer(struct.pack("<QQ", PAGE, size) + HANDLE, np.uint8)
        with pytest.raises(InvalidArrowError, match=message):
            reached.take(Frame(FrameKind.SEGMENT, 0, data))


@pytest.mark.parametrize(
    ("address", "length"),
    [
        (0, 1),
        (PAGE - 1, 1),
        (PAGE - 1, 2),
        (2 * PAGE, 1),
        (2 * PAGE - 1, 2),
        (PAGE, PAGE + 1),
        (2**64 - 1, 1),
        (PAGE, 2**63 - 1),
    ],
)
def test_locations_outside_of_what_was_announced(address: int, length: int) -> None:
    freed: list[bytes] = []

    def send(data: bytes) -> bool:
        freed.append(data)
        return True

    frees = Frees(send, lambda: None)
    reached = ReachedSegments(HANDLE, sealed_only=False)
    reached.take(segment_frame(PAGE, PAGE))
    (buffer,) = reached.buffers(BodyLocations.of([Location(2 * PAGE - 8, 8)]), frees)
    assert buffer.tobytes() == bytes(8)
    with pytest.raises(InvalidArrowError, match="in no segment that has been announced"):
        reached.buffers(BodyLocations.of([Location(address, length)]), frees)
    del buffer
    assert freed == [struct.pack("<Q", 2 * PAGE - 8)]


def test_retired_segment_stays_mapped_while_it_is_used() -> None:
    reached = ReachedSegments(HANDLE, sealed_only=False)
    reached.take(segment_frame(PAGE, PAGE))
    frees = Frees(lambda _: True, lambda: None)
    (buffer,) = reached.buffers(BodyLocations.of([Location(PAGE, 8)]), frees)
    retired = np.frombuffer(struct.pack("<QQ", PAGE, 0) + HANDLE, np.uint8)
    reached.take(Frame(FrameKind.SEGMENT, 0, retired))
    assert buffer.tobytes() == bytes(8)
    with pytest.raises(InvalidArrowError, match="in no segment"):
        reached.buffers(BodyLocations.of([Location(PAGE, 8)]), frees)


def test_only_sealed_segments(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    colkern.ipc.write_file(path, batch())
    with (
        serve({"memory": [batch()], "file": path}, "shm:") as server,
        connect(server.uri, "memory", sealed_only=True) as reader,
    ):
        assert reader.read_all() == [batch()]
        with (
            connect(server.uri, "file", sealed_only=True) as reader,
            pytest.raises(InvalidArrowError, match="its owner can cut short"),
        ):
            next(reader)


def test_descriptor_of_a_segment_that_is_gone() -> None:
    reached = ReachedSegments(HANDLE, sealed_only=False)
    before = descriptors()
    reached.take(segment_frame(PAGE, PAGE))
    with pytest.raises(InvalidArrowError, match="with a descriptor"):
        reached.take(segment_frame(PAGE, 0))
    assert descriptors() == before


def test_segments_are_unmapped_when_the_reader_is_closed() -> None:
    gc.collect()
    before = mapped_segments()
    with serve([batch()], "shm:") as server:
        with connect(server.uri) as reader:
            assert reader.read_all() == [batch()]
        # On both sides, without a garbage collection.
        wait_until(lambda: server.num_streams == 0 and mapped_segments() <= before)


@pytest.mark.parametrize("data_uri", [None, "shm:"])
def test_what_is_in_use_is_kept_when_its_reader_is_closed(data_uri: str | None) -> None:
    source = RecordBatchStream(batch().schema, itertools.repeat(batch()))
    with serve(source, "shm:", data_uri=data_uri) as server:
        with connect(server.uri, data_uri=server.data_uri) as reader:
            kept = next(reader)
        time.sleep(0.02)
        assert server.num_streams == 1
        assert server.outstanding_bytes >= 2 * 8 * ROWS
        del kept
        gc.collect()
        wait_until(lambda: server.num_streams == 0)
