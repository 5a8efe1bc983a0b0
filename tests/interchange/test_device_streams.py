"""C Device data interface, "Device Stream Interface": streams of device arrays, both ways."""

from __future__ import annotations

import ctypes
import errno
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colkern as ck
from colkern.arrays.array import empty_array
from colkern.cuda.stand_in import StandIn
from colkern.errors import InvalidArrowError, StreamError, UnsupportedError
from colkern.interchange import import_batch, import_stream

CPU, CUDA = 1, 2
BATCH = ck.record_batch({"a": [1, 2, 3], "t": ["x", None, "yy"]})
ROWS = BATCH.to_pylist()

FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
TEXT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def stream_of(*batches: ck.RecordBatch) -> ck.RecordBatchStream:
    return ck.RecordBatchStream(BATCH.schema, batches)


class Reader:
    """A consumer in C's terms."""

    def __init__(self, capsule: Any, c: Any) -> None:
        self.c = c
        self.stream = c.struct_in(capsule, c.DeviceStream)
        self.address = ctypes.addressof(self.stream)

    def next(self) -> Any:
        """The next structure, which may be released; or the error number and the text."""
        result = self.c.DeviceArray()
        number = FILL(self.stream.get_next)(self.address, ctypes.addressof(result))
        return (number, self.error()) if number else result

    def error(self) -> str:
        text = TEXT(self.stream.get_last_error)(self.address)
        return ctypes.string_at(text).decode()


def test_batches_go_both_ways(device: StandIn) -> None:
    stream = import_stream(stream_of(*[ck.to_device(BATCH)] * 2))
    assert stream.schema == BATCH.schema
    batches = stream.read_all()
    assert [batch["a"].device.kind for batch in batches] == ["cuda", "cuda"]
    assert [ck.to_host(batch).to_pylist() for batch in batches] == [ROWS, ROWS]


def test_the_structure_says_the_kind_of_device(device: StandIn, c: Any) -> None:
    for batch, kind in ((BATCH, CPU), (ck.to_device(BATCH), CUDA)):
        reader = Reader(stream_of(batch).__arrow_c_device_stream__(), c)
        assert reader.stream.device_type == kind
        result = reader.next()
        assert (result.device_type, result.length, result.n_children) == (kind, 3, 2)
        assert bool(result.sync_event) == (kind == CUDA)
        c.release(result)


def test_a_released_array_is_the_end(c: Any) -> None:
    reader = Reader(stream_of(BATCH).__arrow_c_device_stream__(), c)
    c.release(reader.next())
    for _ in range(2):
        assert bytes(reader.next()) == bytes(128)
    empty = import_stream(stream_of())
    assert empty.schema == BATCH.schema
    assert empty.read_all() == []


def test_only_the_first_batch_is_made_ahead() -> None:
    results = []

    def batches() -> Iterator[ck.RecordBatch]:
        for i in range(3):
            results.append(i)
            yield BATCH

    stream = import_stream(ck.RecordBatchStream(BATCH.schema, batches()))
    assert results == [0]
    assert len(stream.read_all()) == 3
    assert results == [0, 1, 2]


def test_nothing_is_made_ahead_where_the_device_is_known(device: StandIn, c: Any) -> None:
    """A first batch without rows has no bytes that would say where it is."""

    def batches() -> Iterator[ck.RecordBatch]:
        yield ck.RecordBatch(BATCH.schema, [empty_array(t) for t in BATCH.schema.types])
        yield ck.to_device(BATCH)

    stream = ck.RecordBatchStream(BATCH.schema, batches(), ck.Device("cuda"))
    capsule = stream.__arrow_c_device_stream__()
    assert c.struct_in(capsule, c.DeviceStream).device_type == CUDA
    read = import_stream(c.DeviceStreamExporter(capsule)).read_all()
    assert [len(batch) for batch in read] == [0, 3]
    assert {batch["a"].device.kind for batch in read} == {"cuda"}


def test_the_first_batch_s_error_is_raised_at_once() -> None:
    def batches() -> Iterator[ck.RecordBatch]:
        raise InvalidArrowError("bad")
        yield BATCH

    with pytest.raises(InvalidArrowError, match="bad"):
        ck.RecordBatchStream(BATCH.schema, batches()).__arrow_c_device_stream__()


def test_a_later_batch_s_error_reaches_the_consumer(c: Any) -> None:
    def batches() -> Iterator[ck.RecordBatch]:
        yield BATCH
        raise InvalidArrowError("bad ü", place="message 2")

    capsule = ck.RecordBatchStream(BATCH.schema, batches()).__arrow_c_device_stream__()
    reader = Reader(capsule, c)
    c.release(reader.next())
    number, text = reader.next()
    assert number == errno.EINVAL
    assert "message 2: bad ü" in text


def test_a_batch_elsewhere_is_an_error(device: StandIn) -> None:
    """A stream is of one kind of device."""
    stream = import_stream(stream_of(ck.to_device(BATCH), BATCH))
    next(stream)
    with pytest.raises(StreamError, match="cpu where others live on cuda:0"):
        next(stream)
    stream = import_stream(stream_of(BATCH, ck.to_device(BATCH)))
    next(stream)
    with pytest.raises(StreamError, match="a batch on cuda:0 in a stream of batches on cpu"):
        next(stream)


def test_keywords_of_later_versions() -> None:
    with pytest.raises(NotImplementedError, match="stream"):
        stream_of(BATCH).__arrow_c_device_stream__(None, stream=1)
    assert stream_of(BATCH).__arrow_c_device_stream__(None, stream=None)


@pytest.mark.parametrize("write", [ck.ipc.write_file, ck.ipc.write_stream])
@pytest.mark.parametrize("where", ["cpu", "cuda:0"])
def test_readers_of_files_and_streams(
    write: Any, where: str, tmp_path: Path, device: StandIn, c: Any
) -> None:
    path = tmp_path / "a.arrow"
    write(path, [BATCH.slice(0, 0), BATCH])
    with ck.ipc.open(path, device=where) as reader:
        capsule = reader.__arrow_c_device_stream__()
        read = import_stream(c.DeviceStreamExporter(capsule)).read_all()
    assert str(read[1]["a"].device) == where
    assert [ck.to_host(batch).to_pylist() for batch in read] == [[], ROWS]


def test_a_stream_of_one_batch_is_a_batch(c: Any) -> None:
    exporter = c.DeviceStreamExporter(stream_of(BATCH).__arrow_c_device_stream__())
    assert import_batch(exporter).to_pylist() == ROWS
    exporter = c.DeviceStreamExporter(stream_of().__arrow_c_device_stream__())
    assert ck.array(exporter).to_pylist() == []


# By hand


def hand_made(
    producer: Any, c: Any, device_type: int = CPU, fails_after: int = 9, device_id: int = 0
) -> Any:
    """A stream of batches of three int64, which fails, or ends after three."""
    message = producer.keep(ctypes.create_string_buffer(b"no more today"))
    given = []

    def get_schema(_: int, out: int) -> int:
        schema = producer.schema(b"+s", children=[producer.schema(name=b"a")])
        ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(schema))
        return 0

    def get_next(_: int, out: int) -> int:
        given.append(out)
        if len(given) > fails_after:
            return errno.EIO
        if len(given) > 3:
            ctypes.memset(out, 0, 128)
            return 0
        column = producer.array(3, [None, bytes(24)])
        rows = producer.array(3, [None], children=[column])
        result = producer.device_array(rows, device_type, device_id)
        ctypes.memmove(out, ctypes.addressof(result), ctypes.sizeof(result))
        return 0

    def get_last_error(_: int) -> int:
        return ctypes.addressof(message)

    functions = [producer.keep(FILL(get_schema)), producer.keep(FILL(get_next))]
    functions.append(producer.keep(TEXT(get_last_error)))
    pointers = [ctypes.cast(function, ctypes.c_void_p) for function in functions]
    release = producer.release_address(c.DeviceStream)
    stream = producer.keep(c.DeviceStream(device_type, *pointers, release, None))
    return c.DeviceStreamExporter(producer.capsule(stream))


def test_a_stream_that_ends_is_released(producer: Any, c: Any) -> None:
    stream = import_stream(hand_made(producer, c))
    batches = stream.read_all()
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 1}
    assert [pa.record_batch(batch).to_pydict() for batch in batches] == [{"a": [0, 0, 0]}] * 3
    del batches
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 3, c.Stream: 1}


def test_a_stream_that_fails_is_released(producer: Any, c: Any) -> None:
    stream = import_stream(hand_made(producer, c, fails_after=1))
    assert len(next(stream)) == 3
    with pytest.raises(StreamError, match="no more today") as caught:
        next(stream)
    assert caught.value.errno == errno.EIO
    assert producer.released[c.Stream] == 1
    assert stream.read_all() == []


def test_a_stream_that_is_dropped_early_is_released(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c)
    stream = import_stream(exporter)
    batch = next(stream)
    del stream, exporter
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 1}
    assert batch["a"].to_pylist() == [0, 0, 0]


def test_a_stream_of_an_unknown_device_is_not_pulled(producer: Any, c: Any) -> None:
    with pytest.raises(UnsupportedError, match="ROCm"):
        import_stream(hand_made(producer, c, device_type=10))
    gc.collect()
    assert producer.released == {c.Schema: 0, c.Array: 0, c.Stream: 1}


def test_a_batch_of_another_device_than_its_stream_s_is_released(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c, device_type=10)
    c.struct_in(exporter.capsule, c.DeviceStream).device_type = CPU
    stream = import_stream(exporter)
    with pytest.raises(UnsupportedError, match="ROCm"):
        next(stream)
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 1, c.Stream: 1}


def test_chunks_may_be_on_several_devices_of_a_kind(
    device: StandIn, producer: Any, c: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "devices", lambda: 2)
    batch = next(import_stream(hand_made(producer, c, CUDA, device_id=1)))
    assert batch["a"].device == ck.Device("cuda", 1)


def test_a_stream_is_imported_once(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c)
    stream = import_stream(exporter)
    with pytest.raises(InvalidArrowError, match="arrow_device_array_stream is released"):
        import_stream(exporter)
    assert len(stream.read_all()) == 3


def test_a_capsule_of_the_wrong_kind(c: Any) -> None:
    with pytest.raises(TypeError, match="capsule named 'arrow_device_array_stream'"):
        import_stream(c.DeviceStreamExporter(stream_of(BATCH).__arrow_c_stream__()))


def test_a_capsule_that_nobody_takes_is_released(device: StandIn) -> None:
    moved = ck.to_device(BATCH)
    capsule = stream_of(moved).__arrow_c_device_stream__()
    del moved
    gc.collect()
    assert device.used_bytes > 0
    del capsule
    gc.collect()
    assert device.used_bytes == 0
