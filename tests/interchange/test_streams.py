"""C Stream interface: batches one by one, errors with their text, released once."""

from __future__ import annotations

import ctypes
import errno
import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from colkern import ColkernError, RecordBatch, RecordBatchStream, array, record_batch
from colkern.errors import InvalidArrowError, StreamError
from colkern.interchange import export_stream, import_array, import_batch, import_stream
from colkern.schema import Schema, extension, int8, int32, int64

TABLE = pa.table({"a": [1, 2, 3, 4], "b": ["x", None, "yy", ""]}, metadata={"k": "v"})
BATCHES = TABLE.to_batches(max_chunksize=3)


def ours() -> RecordBatch:
    return import_batch(BATCHES[0])


def stream_of(batches: Iterator[RecordBatch]) -> RecordBatchStream:
    return RecordBatchStream(ours().schema, batches)


def test_a_stream_goes_both_ways() -> None:
    stream = import_stream(pa.Table.from_batches(BATCHES))
    assert stream.schema.metadata == {b"k": b"v"}
    back = pa.RecordBatchReader.from_stream(stream)
    assert [len(batch) for batch in back] == [3, 1]
    assert pa.table(import_stream(TABLE)).equals(TABLE, check_metadata=True)


def test_a_stream_without_batches_keeps_its_schema() -> None:
    empty = pa.table(import_stream(TABLE.schema.empty_table()))
    assert empty.equals(TABLE.schema.empty_table(), check_metadata=True)
    assert pa.table(stream_of(iter(()))).schema == TABLE.schema


def test_a_batch_of_another_schema_ends_the_stream() -> None:
    """The consumer would read its bytes by the schema of the stream."""
    wider = RecordBatchStream(Schema({"a": int64()}), [record_batch({"a": array([1], int8())})])
    with pytest.raises(pa.ArrowInvalid, match="batch of a: int8 in a stream of a: int64"):
        pa.RecordBatchReader.from_stream(wider).read_all()


def test_batches_are_pulled_when_asked_for() -> None:
    pulled = []

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(3):
            pulled.append(i)
            yield BATCHES[0]

    stream = import_stream(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert pulled == []
    next(stream)
    assert pulled == [0]
    assert len(stream.read_all()) == 2


def test_exported_batches_are_made_when_asked_for() -> None:
    results = []

    def batches() -> Iterator[RecordBatch]:
        for i in range(3):
            results.append(i)
            yield ours()

    reader = pa.RecordBatchReader.from_stream(stream_of(batches()))
    assert results == []
    assert reader.read_next_batch().equals(BATCHES[0])
    assert results == [0]


def test_batches_outlive_their_stream() -> None:
    batches = list(import_stream(TABLE))
    gc.collect()
    assert pa.Table.from_batches([pa.record_batch(batch) for batch in batches]).equals(TABLE)


def test_a_stream_is_consumed_once() -> None:
    stream = import_stream(TABLE)
    assert len(stream.read_all()) == 1
    assert stream.read_all() == []


# Errors


def failing(error: BaseException) -> pa.RecordBatchReader:
    def batches() -> Iterator[RecordBatch]:
        yield ours()
        raise error

    reader = pa.RecordBatchReader.from_stream(stream_of(batches()))
    assert len(reader.read_next_batch()) == 3
    return reader


@pytest.mark.parametrize(
    ("error", "theirs"),
    [
        (ValueError("bad ü"), pa.ArrowInvalid),
        (InvalidArrowError("bad ü", place="here"), pa.ArrowInvalid),
        (TypeError("bad ü"), pa.ArrowInvalid),
        (NotImplementedError("bad ü"), pa.ArrowNotImplementedError),
        (MemoryError("bad ü"), pa.ArrowMemoryError),
        (RuntimeError("bad ü"), OSError),
        (OSError(errno.ENOSPC, "bad ü"), OSError),
    ],
)
def test_an_exception_reaches_the_consumer_with_its_text(
    error: Exception, theirs: type[Exception]
) -> None:
    with pytest.raises(theirs, match="bad ü") as caught:
        failing(error).read_next_batch()
    assert type(error).__name__ in str(caught.value)


def test_an_interrupt_does_not_pass_through_c() -> None:
    with pytest.raises(OSError, match="KeyboardInterrupt"):
        failing(KeyboardInterrupt()).read_next_batch()


def test_a_schema_that_cannot_be_exported_is_an_error() -> None:
    twice = Schema([("a", extension("outer", extension("inner", int32())))])
    with pytest.raises(pa.ArrowNotImplementedError, match="inner"):
        pa.RecordBatchReader.from_stream(RecordBatchStream(twice, []))


def test_what_a_producer_reports_is_raised() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield BATCHES[0]
        raise ValueError("no more today")

    stream = import_stream(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert len(next(stream)) == 3
    with pytest.raises(StreamError, match="no more today") as caught:
        next(stream)
    assert caught.value.errno == errno.EINVAL
    assert isinstance(caught.value, ColkernError)
    # Spent: the producer's stream is released.
    assert stream.read_all() == []


# By hand


FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
TEXT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def hand_made(producer: Any, c: Any, *, schema: Any = None, text: bytes | None = b"broken") -> Any:
    """A stream of batches of three int64 without end; without a schema, it fails at once."""
    message = None if text is None else producer.keep(ctypes.create_string_buffer(text))

    def get_schema(_: int, out: int) -> int:
        if schema is None:
            return errno.EIO
        ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(schema))
        return 0

    def get_next(_: int, out: int) -> int:
        column = producer.array(3, [None, bytes(24)])
        rows = producer.array(3, [None], children=[column])
        ctypes.memmove(out, ctypes.addressof(rows), ctypes.sizeof(rows))
        return 0

    def get_last_error(_: int) -> int | None:
        return None if message is None else ctypes.addressof(message)

    functions = [producer.keep(FILL(get_schema)), producer.keep(FILL(get_next))]
    functions.append(producer.keep(TEXT(get_last_error)))
    pointers = [ctypes.cast(function, ctypes.c_void_p) for function in functions]
    stream = producer.keep(c.Stream(*pointers, producer.release_address(c.Stream), None))
    return c.StreamExporter(producer.capsule(stream))


def batch_schema(producer: Any) -> Any:
    return producer.schema(b"+s", children=[producer.schema(name=b"a")])


def test_a_stream_that_is_dropped_early_is_released(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c, schema=batch_schema(producer))
    stream = import_stream(exporter)
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 0}
    batch = next(stream)
    del stream, exporter
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 1}
    assert pa.array(batch["a"]).to_pylist() == [0, 0, 0]
    del batch
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 1, c.Stream: 1}


def test_a_stream_that_is_never_pulled_is_released(producer: Any, c: Any) -> None:
    stream = import_stream(hand_made(producer, c, schema=batch_schema(producer)))
    del stream
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 1}


def test_a_capsule_that_nobody_imports_is_released(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c)
    del exporter
    assert producer.released[c.Stream] == 1


def test_a_stream_is_imported_once(producer: Any, c: Any) -> None:
    exporter = hand_made(producer, c, schema=batch_schema(producer))
    stream = import_stream(exporter)
    with pytest.raises(InvalidArrowError, match="released"):
        import_stream(exporter)
    del stream, exporter
    gc.collect()
    assert producer.released[c.Stream] == 1


@pytest.mark.parametrize(("text", "expected"), [(b"broken", "broken"), (None, "no error text")])
def test_a_stream_that_fails_at_once(
    producer: Any, c: Any, text: bytes | None, expected: str
) -> None:
    with pytest.raises(StreamError, match=expected) as caught:
        import_stream(hand_made(producer, c, text=text))
    assert caught.value.errno == errno.EIO
    del caught
    gc.collect()
    assert producer.released[c.Stream] == 1


def test_a_stream_of_numbers_has_no_batches(producer: Any, c: Any) -> None:
    with pytest.raises(TypeError, match="int64"):
        import_stream(hand_made(producer, c, schema=producer.schema()))
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 0, c.Stream: 1}


def test_batches_that_do_not_match_the_schema_are_refused(producer: Any, c: Any) -> None:
    two = producer.schema(b"+s", children=[producer.schema(), producer.schema()])
    stream = import_stream(hand_made(producer, c, schema=two))
    with pytest.raises(InvalidArrowError, match="1 children, not 2"):
        next(stream)
    del stream
    gc.collect()
    assert producer.released == {c.Schema: 1, c.Array: 1, c.Stream: 1}


# Release of what colkern exports


class Batches:
    """An iterator that weak references can point to."""

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> RecordBatch:
        return ours()


def test_an_unused_capsule_frees_the_iterator() -> None:
    batches = Batches()
    alive = weakref.ref(batches)
    capsule = export_stream(stream_of(batches))
    del batches
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


def test_a_consumer_that_stops_early_frees_the_iterator() -> None:
    batches = Batches()
    alive = weakref.ref(batches)
    reader = pa.RecordBatchReader.from_stream(stream_of(batches))
    del batches
    kept = reader.read_next_batch()
    assert alive() is not None
    reader.close()
    del reader
    gc.collect()
    assert alive() is None
    assert kept.equals(BATCHES[0])


def test_a_stream_may_be_pulled_by_another_thread() -> None:
    reader = pa.RecordBatchReader.from_stream(stream_of(iter([ours(), ours()])))
    tables = []
    thread = threading.Thread(target=lambda: tables.append(reader.read_all()))
    thread.start()
    thread.join()
    assert tables[0].num_rows == 6


# One array out of a stream


def test_a_chunked_array_of_one_chunk_is_an_array() -> None:
    chunk = pa.array([1, None, 3])
    assert pa.array(import_array(pa.chunked_array([chunk]))).equals(chunk)
    assert pa.record_batch(import_batch(TABLE)).num_rows == 4


def test_a_chunked_array_without_chunks_is_an_empty_array() -> None:
    for data_type in (pa.int8(), pa.list_(pa.utf8()), pa.dictionary(pa.int8(), pa.utf8())):
        empty = import_array(pa.chunked_array([], data_type))
        assert pa.array(empty).equals(pa.array([], data_type))
    assert pa.record_batch(import_batch(TABLE.schema.empty_table())).num_rows == 0


def test_more_chunks_are_not_an_array() -> None:
    with pytest.raises(ValueError, match="2 arrays"):
        import_array(pa.chunked_array([[1], [2]]))
