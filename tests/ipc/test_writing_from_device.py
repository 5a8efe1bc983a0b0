"""Columns in device memory are written as the same columns in host memory are, byte for byte.

Over a stand-in for a device, whose fresh memory has no zeros, whose copies are late, and whose slots
are few and soon used again.
"""

from __future__ import annotations

import io
import itertools
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arrow_strategies
import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from ipc.written import CODECS, FORMATS, one_column, written
from operations.samples import buffer, sample, samples
from present import present

import colkern as ck
import colkern.schema as s
from colkern import (
    Array,
    Buffer,
    InvalidArrowError,
    LimitExceededError,
    RecordBatch,
    UnsupportedError,
)
from colkern.cpu.threads import set_num_threads
from colkern.cuda import count_transfers, stand_in
from colkern.integration.documents import document_of
from colkern.ipc.writing import fetching
from colkern.memory import EMPTY, HOST, allocate_for_overwrite


def slots_of(device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """The slots that are made from here on."""
    results: list[np.ndarray] = []
    make = device.page_locked

    def noted(size: int) -> np.ndarray:
        results.append(make(size))
        return results[-1]

    monkeypatch.setattr(device, "page_locked", noted)
    return results


def numbers(count: int) -> Array:
    return Array(s.int64(), count, [None, Buffer(np.arange(count).view(np.uint8))])


# What is written


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", samples())
def test_every_layout_whole_and_sliced(name: str, fmt: str, device: stand_in.StandIn) -> None:
    for start, length in ((0, 12), (3, 7), (5, 0)):
        batch = one_column(ck.to_device(sample(name).slice(start, length)))
        on_host = ck.to_host(batch)
        for codec, alignment in itertools.product(CODECS, (8, 64)):
            options = {"compression": codec, "alignment": alignment}
            assert written(batch, fmt, **options) == written(on_host, fmt, **options)


@settings(max_examples=20)
@given(arrow_strategies.arrays(), st.data())
def test_any_array(theirs: pa.Array, data: st.DataObject) -> None:
    part = from_pyarrow(theirs).slice(data.draw(st.integers(0, len(theirs))))
    codec = data.draw(st.sampled_from(CODECS))
    try:
        expected = written(one_column(part), compression=codec)
    except UnsupportedError:
        # A dictionary of dictionaries: IPC has no form for it.
        reject()
    with stand_in.installed():
        assert written(one_column(ck.to_device(part)), compression=codec) == expected


def test_pyarrow_reads_what_took_many_slots(device: stand_in.StandIn, tmp_path: Path) -> None:
    words = pa.array([None if i % 7 == 0 else f"word {i}" * (i % 5) for i in range(9_000)])
    theirs = pa.record_batch({"i": pa.array(range(9_000)), "w": words})
    for codec in CODECS:
        batch = ck.to_device(batch_from_pyarrow(theirs))
        ck.ipc.write_file(tmp_path / "a.arrow", [batch.slice(1, 8_000)], compression=codec)
        (read,) = pa.ipc.open_file(tmp_path / "a.arrow").read_all().to_batches()
        read.validate(full=True)
        assert read.equals(theirs.slice(1, 8_000))


@pytest.mark.parametrize("codec", CODECS)
def test_columns_of_the_host_and_of_several_devices(
    codec: Any, device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "devices", lambda: 2)
    columns = [sample("utf8"), sample("list"), numbers(12), sample("dictionary"), numbers(12)]
    names = ["a", "b", "c", "d", "e"]
    expected = written(RecordBatch.from_arrays(columns, names), "file", compression=codec)
    places = ["cpu", "cuda:0", "cuda:1", "cuda:0", "cpu"]
    for turn in range(5):
        moved = [
            column if place == "cpu" else ck.to_device(column, place)
            for column, place in zip(columns, places[turn:] + places[:turn], strict=True)
        ]
        mixed = RecordBatch.from_arrays(moved, names)
        assert written(mixed, "file", compression=codec) == expected


def test_indices_and_dictionary_in_two_memories(device: stand_in.StandIn) -> None:
    column = sample("dictionary")
    moved = ck.to_device(column)
    for indices, values in ((column, moved), (moved, column)):
        mixed = Array(column.type, 12, indices.buffers, dictionary=values.dictionary)
        assert written(one_column(mixed)) == written(one_column(column))


def test_a_compressed_batch_of_several_threads(device: stand_in.StandIn) -> None:
    columns = [numbers(1 << 13) for _ in range(8)]
    batch = RecordBatch.from_arrays(columns, list("abcdefgh"))
    set_num_threads(3)
    try:
        actual = written(ck.to_device(batch), compression="lz4")
    finally:
        set_num_threads(0)
    assert actual == written(batch, compression="lz4")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("fmt", FORMATS)
def test_from_a_device_to_a_file_and_back(
    fmt: str, codec: Any, device: stand_in.StandIn, tmp_path: Path
) -> None:
    columns = [sample(name) for name in samples()]
    batches = [RecordBatch.from_arrays(columns, list(samples())).slice(i, 5) for i in (0, 3, 7)]
    path = tmp_path / "a.arrow"
    path.write_bytes(written(map(ck.to_device, batches), fmt, compression=codec))
    with ck.ipc.open(path, device="cuda") as reader:
        read = reader.read_all()
        assert [ck.to_host(batch) for batch in read] == batches
        # And once more, of what the reader has put into device memory.
        assert written(read, fmt, compression=codec) == path.read_bytes()


def test_parts_without_bytes_are_nowhere(device: stand_in.StandIn) -> None:
    whole = sample("struct")
    empty = Array(s.fixed_size_binary(0), 12, [None, EMPTY])
    type_ = s.struct([s.field("e", empty.type), s.field("x", s.int64())])
    column = Array(type_, 12, [whole.buffers[0]], [empty, numbers(12)])
    moved = Array(type_, 12, ck.to_device(whole).buffers, [empty, ck.to_device(numbers(12))])
    assert written(one_column(moved)) == written(one_column(column))


# What is copied


@pytest.mark.parametrize("codec", CODECS)
def test_each_byte_of_a_slice_is_copied_once_and_no_other(
    codec: Any, device: stand_in.StandIn
) -> None:
    moved = ck.to_device(numbers(5_000))
    part = one_column(moved.slice(100, 1_000))
    device.copies.clear()
    with count_transfers() as counted:
        written(part, compression=codec)
    assert (counted.bytes_to_host, counted.bytes_to_device) == (8_000, 0)
    begin = present(moved.buffers[1]).address + 800
    assert device.copies == [
        stand_in.Copy(False, begin, 4_096),
        stand_in.Copy(False, begin + 4_096, 3_904),
    ]


def test_values_under_nulls_stay_on_the_device(device: stand_in.StandIn) -> None:
    validity = buffer([0b101], "u1")
    text = b"S" + b"SECRET__" * 8 + b"E"
    column = Array(s.utf8(), 3, [validity, buffer([0, 1, 65, 66], "i4"), Buffer.from_object(text)])
    batch = one_column(ck.to_device(column))
    with count_transfers() as counted:
        data = written(batch)
    assert b"SECRET" not in data
    # A bitmap of one byte, four offsets, and the bytes of the two values that are seen.
    assert counted.bytes_to_host == 1 + 16 + 2


class Large(io.RawIOBase):
    """Where the large parts stood that it was given."""

    def __init__(self) -> None:
        self.places: list[int] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if memoryview(data).nbytes > 1 << 16:
            self.places.append(np.frombuffer(data, np.uint8).ctypes.data)
        return memoryview(data).nbytes


def test_large_parts_go_from_the_slot_to_the_sink(
    device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.slot_bytes = 1 << 18
    slots = slots_of(device, monkeypatch)
    batch = ck.to_device(one_column(numbers(1 << 20)))
    sink = Large()
    with ck.ipc.new_stream(sink, batch.schema) as writer:
        tracemalloc.start()
        writer.write(batch)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(sink.places) == 32
    assert set(sink.places) <= {slot.ctypes.data for slot in slots}
    # Of 8 MiB; slots may be made meanwhile.
    assert most < 1 << 20


# Dictionaries


def encoded(indices: list[int | None], values: pa.Array) -> Array:
    return from_pyarrow(pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), values))


def union(places: list[int], numbers: list[int], words: list[str]) -> pa.Array:
    codes, children = pa.array([0, 0, 1], pa.int8()), [pa.array(numbers), pa.array(words)]
    return pa.UnionArray.from_dense(codes, pa.array(places, pa.int32()), children)


WORDS = [pa.array(["a", "b" * 20, None]), pa.array(["a", "b" * 20, None, "c"]), pa.array(["d"])]
DICTIONARIES: dict[str, list[pa.Array]] = {
    "strings": WORDS,
    "views": [words.cast(pa.string_view()) for words in WORDS],
    "lists": [pa.array([list(word or "") for word in words.to_pylist()]) for words in WORDS],
    "dense unions": [
        union([0, 1, 0], [7, 8], ["a"]),
        union([1, 3, 2], [0, 7, 0, 8], ["b", "c", "a"]),
        union([1, 3, 2], [0, 7, 0, 9], ["b", "c", "a"]),
    ],
}
MOVES: list[Callable[[RecordBatch], RecordBatch]] = [ck.to_device, ck.to_host]


@pytest.mark.parametrize("deltas", [False, True])
@pytest.mark.parametrize("kind", DICTIONARIES)
def test_a_dictionary_that_stays_and_grows_and_is_replaced(
    kind: str, deltas: bool, device: stand_in.StandIn
) -> None:
    first, grown, other = (one_column(encoded([0, None], d)) for d in DICTIONARIES[kind])
    batches = [first, one_column(encoded([0], DICTIONARIES[kind][0])), grown, first, other, other]
    expected = written(batches, dictionary_deltas=deltas)
    for moves in itertools.product(MOVES, repeat=2):
        moved = [move(batch) for move, batch in zip(itertools.cycle(moves), batches, strict=False)]
        assert written(moved, dictionary_deltas=deltas) == expected


def test_a_file_refuses_to_replace_a_dictionary(device: stand_in.StandIn) -> None:
    first, _, other = (ck.to_device(one_column(encoded([0], words))) for words in WORDS)
    with pytest.raises(ValueError, match="dictionary 0 of 'x': a file can only add"):
        written([first, other], "file")


@pytest.mark.parametrize("kind", DICTIONARIES)
def test_a_dictionary_that_is_known_is_not_fetched_again(
    kind: str, device: stand_in.StandIn
) -> None:
    values = DICTIONARIES[kind][0]
    batch = ck.to_device(one_column(encoded([0, 1], values)))
    again = ck.to_device(one_column(encoded([1, 1], values)))
    with ck.ipc.new_stream(io.BytesIO(), batch.schema) as writer:
        writer.write(batch)
        for known in (batch, again):
            with count_transfers() as counted:
                writer.write(known)
            # The two indices, and one byte for each buffer that is compared on the device.
            compared = counted.copies_to_host - 1
            assert counted.bytes_to_host == 2 + compared
            assert known is again or not compared


def test_fields_that_share_a_dictionary_in_two_memories(device: stand_in.StandIn) -> None:
    a, b = encoded([0], WORDS[0]), encoded([1], WORDS[0])
    ids = {"a": 5, "b": 5}
    batch = RecordBatch.from_arrays([a, b], ["a", "b"])
    mixed = RecordBatch.from_arrays([a, ck.to_device(b)], ["a", "b"])
    expected = written(batch, dictionary_ids=ids)
    assert written(mixed, dictionary_ids=ids) == expected
    assert written(ck.to_device(batch), dictionary_ids=ids) == expected


# What goes wrong


class Full(io.BytesIO):
    """Has room for the start of a batch."""

    def write(self, data: Any) -> int:
        if self.tell() > 100_000:
            raise OSError("no space left")
        return super().write(data)


def test_a_sink_that_fails_amid_a_body_takes_no_slots_with_it(
    device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = slots_of(device, monkeypatch)
    batch = ck.to_device(one_column(numbers(50_000)))
    # Whoever keeps an error keeps the frames that it went through.
    kept = []
    for _ in range(4):
        writer = ck.ipc.new_stream(Full(), batch.schema)
        with pytest.raises(OSError, match="no space left") as caught:
            writer.write(batch)
        kept.append(caught)
        with pytest.raises(ValueError, match="the writer is closed"):
            writer.write(batch)
    assert len(slots) <= device.most_slots
    assert written(batch) == written(ck.to_host(batch))


@pytest.mark.parametrize("codec", CODECS)
def test_an_array_that_points_outside_its_memory(codec: Any, device: stand_in.StandIn) -> None:
    text = Buffer.from_object(b"abc")
    good = Array(s.utf8(), 2, [None, Buffer.from_object(struct.pack("<iii", 0, 1, 3)), text])
    bad = Array(s.utf8(), 2, [None, Buffer.from_object(struct.pack("<iii", 0, 1, 9)), text])
    sink = io.BytesIO()
    with ck.ipc.new_stream(sink, one_column(good).schema, compression=codec) as writer:
        before = sink.getvalue()
        for array in (bad, ck.to_device(bad)):
            with pytest.raises(InvalidArrowError, match="the last offset is 9, past the end at 3"):
                writer.write(one_column(array))
        assert sink.getvalue() == before
        writer.write(one_column(ck.to_device(good)))
    assert sink.getvalue() == written(one_column(good), compression=codec)


@pytest.mark.parametrize("as_dictionary", [False, True])
def test_one_column_in_two_memories(as_dictionary: bool, device: stand_in.StandIn) -> None:
    whole = sample("list")
    child = ck.to_device(whole.children[0])
    column = Array(whole.type, 12, whole.buffers, [child])
    if as_dictionary:
        type_ = s.dictionary(s.int8(), column.type)
        column = Array(type_, 1, [None, buffer([0], "i1")], dictionary=column)
    what = "its bytes live on cpu and cuda:0; copy them to one place with colkern.to_host"
    with pytest.raises(ValueError, match=f"^column 'x': {what}"):
        written(one_column(column))
    expected = written(ck.to_host(one_column(column)))
    assert written(one_column(ck.to_device(column))) == expected


def test_a_device_without_room_for_what_is_trimmed() -> None:
    with stand_in.installed(memory_bytes=10_000) as device:
        # Zeros take the place of the values under the nulls, in new memory.
        validity = Buffer(np.full(125, 0b01010101, np.uint8))
        column = Array(s.int64(), 1_000, [validity, numbers(1_000).buffers[1]])
        batch = ck.to_device(one_column(column))
        used = device.used_bytes
        sink = io.BytesIO()
        with ck.ipc.new_stream(sink, batch.schema) as writer:
            with pytest.raises(LimitExceededError, match="device memory"):
                writer.write(batch)
            assert device.used_bytes == used
            device.memory_bytes = None
            writer.write(batch)
        assert sink.getvalue() == written(one_column(column))


def test_a_buffer_that_cannot_be_fetched_to_be_compressed(
    device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [numbers(1 << 13) for _ in range(8)]
    batch = ck.to_device(RecordBatch.from_arrays(columns, list("abcdefgh")))
    make, left = allocate_for_overwrite, [3]

    def scarce(count: int, dtype: Any) -> np.ndarray:
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError("no host memory")
        return make(count, dtype)

    sink = io.BytesIO()
    set_num_threads(3)
    try:
        with ck.ipc.new_stream(sink, batch.schema, compression="lz4") as writer:
            with monkeypatch.context() as patch:
                patch.setattr(fetching, "allocate_for_overwrite", scarce)
                with pytest.raises(MemoryError, match="no host memory"):
                    writer.write(batch)
            writer.write(batch)
    finally:
        set_num_threads(0)
    assert sink.getvalue() == written(ck.to_host(batch), compression="lz4")


def test_what_reads_host_memory_says_how_to_get_there(device: stand_in.StandIn) -> None:
    column = ck.to_device(numbers(3))
    message = "live on cuda:0; copy it to the host first, with colkern.to_host"
    with pytest.raises(ValueError, match=message):
        column.to_pylist()
    batch = one_column(column)
    with pytest.raises(ValueError, match=f"column 'x': its bytes {message}"):
        document_of(batch.schema, [batch])
    assert ck.to_host(batch)["x"].device == HOST
