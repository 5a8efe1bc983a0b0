"""Device memory goes with the last array that is in it, whatever went wrong before."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ipc.handmade import Batch, schema_message
from ipc.on_device import (
    BATCHES,
    INT8,
    VALUES,
    Tap,
    batch_of,
    buffer_sizes,
    file_of,
    padded,
    wanted_bytes,
    written,
)
from ipc.test_compression import DATA, FRAMES, stated
from present import present

import colkern as ck
from colkern import InvalidArrowError, LimitExceededError, StreamError
from colkern.cuda import stand_in
from colkern.ipc.limits import Limits


@pytest.fixture
def counted_references() -> Iterator[None]:
    """Nothing is freed here but what nobody refers to any more."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("counted_references")
class TestLifetime:
    """Device memory goes with the last array, without the help of the garbage collector."""

    @pytest.mark.parametrize("fmt", ["stream", "file"])
    def test_arrays_outlive_their_reader_and_memory_goes_with_them(
        self, fmt: str, device: stand_in.StandIn
    ) -> None:
        with ck.ipc.open(written(BATCHES, fmt), device="cuda") as reader:
            batches = reader.read_all()
        del reader
        column = batches[1].column("text")
        values = [ck.to_host(batch).to_pylist() for batch in batches]
        assert values == VALUES
        del batches
        assert 0 < device.used_bytes < 2 * wanted_bytes(BATCHES[1].columns)
        assert ck.to_host(column).to_pylist() == [row["text"] for row in VALUES[1]]
        del column
        assert device.used_bytes == 0

    @pytest.mark.parametrize("fmt", ["stream", "file"])
    def test_a_batch_that_nobody_looked_at(self, fmt: str, device: stand_in.StandIn) -> None:
        for batch in ck.ipc.open(written(BATCHES, fmt), device="cuda"):
            del batch
        assert device.used_bytes == 0

    def test_a_file_that_was_not_read_to_its_end(self, device: stand_in.StandIn) -> None:
        reader = ck.ipc.open(written(BATCHES, "file"), device="cuda")
        batches = iter(reader)
        first = next(batches)
        batches.close()  # type: ignore[attr-defined]
        assert ck.to_host(first).to_pylist() == VALUES[0]
        del first
        assert device.used_bytes == 0
        # And without being told.
        for _ in reader:
            break
        del _
        assert device.used_bytes == 0

    def test_memory_is_freed_when_its_copies_have_ended(
        self, device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        freed_at = []
        free = device._freed

        def freed(address: int, size: int, ordinal: int) -> None:
            freed_at.append(sum(copy.size for copy in device.copies))
            free(address, size, ordinal)

        monkeypatch.setattr(device, "_freed", freed)
        batches = iter(ck.ipc.open(written(BATCHES, "file"), device="cuda"))
        del_me = next(batches)
        # The second one is on its way, and will never be handed out.
        batches.close()  # type: ignore[attr-defined]
        assert freed_at == [wanted_bytes(c for b in BATCHES[:2] for c in b.columns)]
        del del_me
        assert device.used_bytes == 0

    @pytest.mark.parametrize("where", ["schema", "body"])
    def test_a_stream_that_is_cut_short(self, where: str, device: stand_in.StandIn) -> None:
        data = written(BATCHES)
        reader = ck.ipc.open_stream(Tap(data[: len(data) * 5 // 6]), device="cuda")
        results: list[ck.RecordBatch] = []
        with pytest.raises(InvalidArrowError, match="the source ends after"):
            results.extend(reader)
        del results
        assert device.used_bytes == 0
        with pytest.raises(InvalidArrowError, match="the source ends after"):
            next(reader)
        assert device.used_bytes == 0

    def test_damaged_frames(self, device: stand_in.StandIn) -> None:
        _, frame = FRAMES["zstd with checksum"]
        buffers = [b"", stated(len(DATA), frame), b"", stated(len(DATA), frame[:-1] + b"\0")]
        batch = Batch(len(DATA), [(len(DATA), 0)] * 2, buffers, codec=1)
        (read,) = ck.ipc.open(schema_message([INT8] * 2) + batch.message(), device="cuda")
        for _ in range(3):
            with pytest.raises(InvalidArrowError, match="damaged Zstandard frame"):
                read.column(1)
        assert bytes(present(ck.to_host(read.column(0)).buffers[1]).tobytes()) == DATA
        del read
        assert device.used_bytes == 0

    def test_a_source_that_fails(self, device: stand_in.StandIn) -> None:
        class Fails(Tap):
            def readinto(self, view: Any) -> int:
                if self._data.tell() > len(written(BATCHES[:1])):
                    raise TimeoutError("too slow")
                return super().readinto(view)

        reader = ck.ipc.open_stream(Fails(written(BATCHES)), device="cuda")
        del_me = next(reader)
        del del_me
        with pytest.raises(TimeoutError):
            next(reader)
        assert device.used_bytes == 0
        # Where the next message begins is unknown.
        with pytest.raises(StreamError, match="the source failed before"):
            next(reader)

    def test_an_error_of_the_next_batch_lets_go_of_the_one_before(
        self, device: stand_in.StandIn
    ) -> None:
        good = Batch(64, [(64, 0)], [b"", bytes(64)])
        bad = Batch(64, [(64, 0)] * 2, [b"", bytes(64)])
        data = file_of([INT8], [good, bad, good])
        reader = ck.ipc.open(data, device="cuda")
        with pytest.raises(InvalidArrowError, match=r"record batch 1 .* 2 field nodes"):
            for _ in map(len, reader):
                pass
        assert device.used_bytes == 0

    def test_a_dictionary_goes_with_the_reader_and_its_batches(
        self, device: stand_in.StandIn
    ) -> None:
        batch = ck.record_batch({"word": ck.dictionary_encode(ck.array(["a", "b"]))})
        for fmt in ("stream", "file"):
            reader = ck.ipc.open(written(batch, fmt), device="cuda")
            (result,) = reader
            column = result.column(0)
            del result, reader
            assert ck.to_host(column).to_pylist() == ["a", "b"]
            del column
            assert device.used_bytes == 0


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_a_dictionary_is_there_for_any_stream(
    fmt: str, device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later batches share it, whichever stream is current by then; once waited for is enough."""
    waits: list[int] = []
    monkeypatch.setattr(device, "finish", lambda: waits.append(len(device.copies)))
    words = ck.dictionary_encode(ck.array(["a", "b", "a"]))
    batch = ck.record_batch({"word": words})
    first, second = ck.ipc.open(written([batch, batch], fmt), device="cuda")
    assert waits == []
    assert first.column(0).dictionary is second.column(0).dictionary
    assert len(waits) == 1


def room_for(batches: float) -> int:
    return int(batches * wanted_bytes(BATCHES[0].columns))


@pytest.mark.usefixtures("counted_references")
class TestOutOfMemory:
    """A device without room: an error that leaves nothing behind, and a reader that goes on."""

    def test_a_file_goes_on_with_other_batches_and_fewer_columns(self) -> None:
        small = batch_of(0, 10)
        data = written([BATCHES[0], small], "file")
        with stand_in.installed(room_for(0.5)) as device:
            reader = ck.ipc.open_file(data, device="cuda")
            for _ in range(2):
                with pytest.raises(LimitExceededError, match="device memory: "):
                    reader[0]
                assert device.used_bytes == 0
            assert ck.to_host(reader[1]) == small
            fewer = ck.ipc.open_file(data, columns=["plain"], device="cuda")
            assert ck.to_host(fewer[0]) == BATCHES[0].select(["plain"])
            assert device.used_bytes == 0

    @pytest.mark.parametrize("source", [io.BytesIO, Tap, bytes])
    def test_a_stream_goes_on_with_the_next_batch(self, source: Any) -> None:
        small = batch_of(0, 10)
        data = written([small, BATCHES[0], small])
        with stand_in.installed(room_for(0.5)) as device:
            reader = ck.ipc.open_stream(source(data), device="cuda")
            assert ck.to_host(next(reader)) == small
            with pytest.raises(LimitExceededError, match="device memory: "):
                next(reader)
            assert device.used_bytes == 0
            assert ck.to_host(next(reader)) == small
            assert list(reader) == []

    def test_the_next_batch_waits_for_the_memory_of_the_current_one(self) -> None:
        with stand_in.installed(room_for(1.5)) as device:
            results: list[ck.RecordBatch] = []
            for batch in ck.ipc.open(written(BATCHES, "file"), device="cuda"):
                results.append(ck.to_host(batch))
                del batch
            assert results == BATCHES
            assert device.used_bytes == 0

    def test_memory_that_is_still_used_is_an_error_at_the_batchs_turn(self) -> None:
        with stand_in.installed(room_for(1.5)) as device:
            batches = iter(ck.ipc.open(written(BATCHES, "file"), device="cuda"))
            first = next(batches)
            with pytest.raises(LimitExceededError, match="device memory: "):
                next(batches)
            assert ck.to_host(first) == BATCHES[0]
            del first
            assert device.used_bytes == 0

    def test_a_dictionary_that_finds_no_room_is_brought_later(self) -> None:
        texts = [f"{k:064}" for k in range(100)]
        column = ck.dictionary_encode(ck.array(texts))
        data = written(ck.record_batch({"word": column}), compression="lz4")
        # Text and offsets: not enough for them to be decompressed twice.
        limits = Limits(decompressed_bytes=64 * 100 + 4 * 101)
        with stand_in.installed(padded(4 * 100) + 64 * 100 + padded(4 * 101)) as device:
            (batch,) = ck.ipc.open(data, device="cuda", limits=limits)
            ballast = ck.to_device(ck.array(np.arange(64)))
            with pytest.raises(LimitExceededError, match="device memory: "):
                batch.column(0)
            del ballast
            assert ck.to_host(batch.column(0)).to_pylist() == texts
            del batch
            assert device.used_bytes == 0

    def test_what_was_decompressed_for_nothing_is_not_on_the_bill(self) -> None:
        data = written(BATCHES[0], "file", compression="lz4")
        size = sum(size for column in BATCHES[0].columns for size in buffer_sizes(column))
        with stand_in.installed(room_for(1.5)):
            reader = ck.ipc.open_file(data, device="cuda", limits=Limits(decompressed_bytes=size))
            batch = reader[0]
            with pytest.raises(LimitExceededError, match="device memory: "):
                reader[0]
            del batch
            assert ck.to_host(reader[0]) == BATCHES[0]
