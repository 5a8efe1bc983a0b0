"""Bodies in device memory, over a stand-in: which bytes are copied, where to, and in which order.

A stand-in's fresh memory is full of 0xA5 and its copies are carried out as late as they may be: what is
used before it has come shows it.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from ipc.handmade import Batch, schema_message
from ipc.on_device import BATCHES, INT8, Tap, file_of, padded, socket_with, wanted_bytes
from ipc.test_compression import stated
from ipc.written import written
from present import present

import colkern as ck
from colkern import InvalidArrowError
from colkern.cuda import count_transfers, stand_in


def assert_copied_once(device: stand_in.StandIn) -> None:
    ranges = sorted((copy.address, copy.address + copy.size) for copy in device.copies)
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_each_wanted_byte_is_copied_once_and_no_other(fmt: str, device: stand_in.StandIn) -> None:
    data = written(BATCHES, fmt)
    with count_transfers() as counted:
        reader = ck.ipc.open(data, device="cuda")
        assert counted.bytes_to_device == 0
        batches = list(reader)
        columns = [column for batch in batches for column in batch.columns]
    assert counted.bytes_to_device == wanted_bytes(c for b in BATCHES for c in b.columns)
    assert counted.bytes_to_host == 0
    assert device.allocations == len(BATCHES)
    assert_copied_once(device)
    assert device.used_bytes == sum(copy.size for copy in device.copies)
    assert [ck.to_host(batch) for batch in batches] == BATCHES
    del columns


@pytest.mark.parametrize("alignment", [8, 64])
def test_buffers_stand_at_multiples_of_64_in_one_block(
    alignment: int, device: stand_in.StandIn
) -> None:
    (batch,) = ck.ipc.open(written(BATCHES[0], alignment=alignment), device="cuda")
    assert device.allocations == 1
    buffers = [b for column in batch.columns for b in column.buffers if b is not None and b.size]
    (base,) = {id(buffer.array.base): buffer.array.base for buffer in buffers}.values()
    starts = [buffer.address - base.ctypes.data for buffer in buffers]
    assert all(start % 64 == 0 for start in starts)
    # One after the other, without more between them than their padding.
    assert sorted(starts) == np.cumsum([0, *map(padded, sizes_by(starts, buffers))]).tolist()[:-1]
    assert base.size == sum(padded(buffer.size) for buffer in buffers)


def sizes_by(starts: list[int], buffers: list[ck.Buffer]) -> list[int]:
    """The buffers' sizes, in the order of their places."""
    return [buffer.size for _, buffer in sorted(zip(starts, buffers, strict=True), key=first)]


def first(pair: tuple[int, Any]) -> int:
    return pair[0]


def test_what_stands_between_buffers_is_zero(device: stand_in.StandIn) -> None:
    (batch,) = ck.ipc.open(written(BATCHES[0], alignment=8), device="cuda")
    buffers = [b for column in batch.columns for b in column.buffers if b is not None]
    block = buffers[0].array.base
    seen = np.zeros(block.size, bool)
    for buffer in buffers:
        start = buffer.address - block.ctypes.data
        seen[start : start + buffer.size] = True
    assert not block[~seen].any()


def test_two_of_100_columns_bring_their_own_buffers_alone(device: stand_in.StandIn) -> None:
    wide = ck.record_batch({f"c{k}": ck.array(np.arange(k, k + 500)) for k in range(100)})
    for source in (written(wide), written(wide, "file"), socket_with(written(wide))):
        device.copies.clear()
        with count_transfers() as counted:
            (batch,) = ck.ipc.open(source, columns=["c70", "c3"], device="cuda")
        assert counted.bytes_to_device == 2 * padded(500 * 8)
        assert_copied_once(device)
        assert ck.to_host(batch) == wide.select([70, 3])


def test_neighbours_are_copied_together(device: stand_in.StandIn) -> None:
    wide = ck.record_batch({f"c{k}": ck.array(np.arange(k, k + 8)) for k in range(100)})
    with count_transfers() as counted:
        list(ck.ipc.open(written(wide), device="cuda"))
    # 100 buffers of 64 bytes fill two slots.
    assert counted.copies_to_device == 2


def test_dictionaries_of_unwanted_columns_stay_away(device: stand_in.StandIn) -> None:
    batch = ck.record_batch(
        {
            "number": ck.array([1, 2]),
            "word": ck.dictionary_encode(ck.array(["a", "b"])),
        }
    )
    for source in (written(batch), written(batch, "file"), socket_with(written(batch))):
        with count_transfers() as counted:
            (read,) = ck.ipc.open(source, columns=["number"], device="cuda")
            assert read.columns[0].device == ck.Device("cuda")
        assert counted.bytes_to_device == 64
        with count_transfers() as counted:
            (read,) = ck.ipc.open(written(batch), columns=["word"], device="cuda")
            assert counted.bytes_to_device == 64
            assert read.columns[0].device == ck.Device("cuda")
        # Indices, offsets and bytes.
        assert counted.bytes_to_device == 3 * 64


def test_a_validity_bitmap_of_no_nulls_is_copied_for_validation(device: stand_in.StandIn) -> None:
    batch = Batch(8, [(8, 0)], [b"\xff", bytes(range(8))])
    with count_transfers() as counted:
        (read,) = ck.ipc.open(schema_message([INT8]) + batch.message(), device="cuda")
    assert counted.bytes_to_device == 2 * 64
    assert ck.to_host(read.column(0)).to_pylist() == list(range(8))
    read.validate(full=True)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_and_stored_buffers_are_copied_once(
    codec: Any, device: stand_in.StandIn
) -> None:
    random = np.random.default_rng(7)
    batch = ck.record_batch(
        {
            name: ck.array(random.integers(0, 2**63, 2_000) if name < "c" else np.arange(2_000))
            for name in "adbe"
        }
    )
    with count_transfers() as counted:
        (read,) = ck.ipc.open(written(batch, compression=codec), device="cuda")
    if codec == "zstd":
        assert counted.bytes_to_device == 4 * 16_000
    else:
        # Frames cross the bus as they are.
        assert 2 * 16_000 < counted.bytes_to_device < 4 * 16_000
    assert_copied_once(device)
    assert ck.to_host(read) == batch


def test_lengths_in_front_of_stored_buffers_stay_on_the_host(device: stand_in.StandIn) -> None:
    first, second = bytes(range(56)), bytes(range(100, 156))
    buffers = [b"", stated(-1, first), b"", stated(-1, second)]
    batch = Batch(56, [(56, 0)] * 2, buffers, codec=0)
    (read,) = ck.ipc.open(schema_message([INT8] * 2) + batch.message(), device="cuda")
    block = present(read.column(0).buffers[1]).array.base
    assert bytes(block) == first + bytes(8) + second + bytes(8)


def test_summaries_copy_nothing(device: stand_in.StandIn) -> None:
    for fmt in ("stream", "file"):
        data = written(BATCHES, fmt, compression="lz4")
        with count_transfers() as counted:
            read = [
                (s.length, s.null_counts.tolist(), s.body_bytes, s.uncompressed_bytes)
                for s in ck.ipc.open(Tap(data), device="cuda").summaries()
            ]
        assert counted.bytes_to_device == 0
        expected = [
            (s.length, s.null_counts.tolist(), s.body_bytes, s.uncompressed_bytes)
            for s in ck.ipc.open(data).summaries()
        ]
        assert read == expected


def test_what_is_handed_out_has_come(device: stand_in.StandIn) -> None:
    reader = ck.ipc.open_file(written(BATCHES, "file"), device="cuda")
    for position in (2, 0, 1):
        # Kernels over the stand-in do not wait: they would count the nulls of 0xA5.
        column = reader[position].column("nulls")
        column.validate(full=True)
        assert (
            bytes(present(column.buffers[1]).array)
            == present(BATCHES[position].column("nulls").buffers[1]).tobytes()
        )


def test_the_next_batch_is_asked_for_before_the_current_one_is_dropped(
    device: stand_in.StandIn,
) -> None:
    batches = iter(ck.ipc.open(written(BATCHES, "file"), device="cuda"))
    first = next(batches)
    deadline = time.monotonic() + 30
    while device.allocations < 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert device.allocations == 2
    assert ck.to_host(first) == BATCHES[0]
    assert [ck.to_host(batch) for batch in batches] == BATCHES[1:]


def test_a_batch_that_fails_does_so_at_its_turn(device: stand_in.StandIn) -> None:
    good = Batch(3, [(3, 0)], [b"", b"abc"])
    bad = Batch(3, [(3, 0)] * 2, [b"", b"abc"])
    reader = ck.ipc.open_file(file_of([INT8], [good, bad, good]), device="cuda")
    batches = iter(reader)
    assert len(next(batches)) == 3
    with pytest.raises(InvalidArrowError, match=r"record batch 1 at byte .*: 2 field nodes"):
        next(batches)
    assert len(reader[2]) == 3
    with pytest.raises(InvalidArrowError, match=r"record batch 1 at byte .*: 2 field nodes"):
        reader.read_all()
