"""`summaries`: what metadata says of batches, against pyarrow's and against messages made by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import Type
from ipc.handmade import EOS, Batch, WireField, int_type, plain_type, schema_message
from ipc.written import FORMATS, Counting, by_pyarrow

import colkern.ipc
from colkern import InvalidArrowError

BATCHES = [
    pa.record_batch(
        {
            "number": pa.array([1, None, 3][:rows], pa.int64()),
            "text": pa.array([None, None, "long" * 200][:rows], pa.string()),
            "list": pa.array([[1, None], None, []][:rows], pa.list_(pa.int8())),
            "null": pa.nulls(rows),
            "union": pa.UnionArray.from_sparse(
                pa.array([0] * rows, pa.int8()), [pa.array([1, None, 3][:rows], pa.int8())]
            ),
        }
    )
    for rows in (3, 2, 0)
]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_rows_null_counts_sizes_and_codec(fmt: str, codec: str | None) -> None:
    data = by_pyarrow(BATCHES, fmt, compression=codec)
    plain = by_pyarrow(BATCHES, fmt)
    summaries = list(colkern.ipc.open(data).summaries())
    assert [summary.length for summary in summaries] == [3, 2, 0]
    assert [s.null_counts.tolist() for s in summaries] == [
        [1, 2, 1, 3, -1],
        [1, 2, 1, 2, -1],
        [0, 0, 0, 0, -1],
    ]
    # With compression, sizes are those of the same batches without.
    expected = [s.uncompressed_bytes for s in colkern.ipc.open(plain).summaries()]
    assert [s.uncompressed_bytes for s in summaries] == expected
    assert {s.compression for s in summaries} == {codec}
    assert all(s.dictionary is None and not s.is_delta for s in summaries)
    assert [s.body_bytes for s in summaries] == body_sizes(by_pyarrow(BATCHES, compression=codec))


def body_sizes(stream: bytes) -> list[int]:
    messages = pa.ipc.MessageReader.open_stream(stream)
    return [message.body.size for message in messages if message.type == "record batch"]


def test_bytes_are_those_of_the_buffers() -> None:
    batch = pa.record_batch({"a": np.arange(5, dtype=np.int32), "b": ["x", "yy", "", "z", "é"]})
    (summary,) = colkern.ipc.open(by_pyarrow([batch])).summaries()
    # Five int32; six int32 offsets and six bytes of text; no validity bitmaps.
    assert summary.uncompressed_bytes == 20 + 24 + 6


def test_dictionary_batches_and_what_becomes_of_them() -> None:
    words = [["a", "b"], ["a", "b", "c"], ["z"]]
    batches = [
        pa.record_batch({"d": pa.DictionaryArray.from_arrays(pa.array([0, None]), pa.array(w))})
        for w in words
    ]
    reader = colkern.ipc.open_stream(by_pyarrow(batches, emit_dictionary_deltas=True))
    seen = [(s.dictionary, s.is_delta, s.length) for s in reader.summaries()]
    assert seen == [
        (0, False, 2),
        (None, False, 2),
        (0, True, 1),
        (None, False, 2),
        (0, False, 1),
        (None, False, 2),
    ]
    file = colkern.ipc.open_file(by_pyarrow(batches[:2], "file", emit_dictionary_deltas=True))
    seen = [(s.dictionary, s.is_delta, s.length) for s in file.summaries()]
    assert seen == [(0, False, 2), (0, True, 1), (None, False, 2), (None, False, 2)]
    # Unlike a stream's, those of a file can be asked for again.
    assert len(list(file.summaries())) == 4


def test_a_stream_goes_on_where_its_summaries_stopped() -> None:
    numbered = [pa.record_batch({"a": [k]}) for k in range(3)]
    data = by_pyarrow(numbered)
    reader = colkern.ipc.open_stream(data)
    next(reader.summaries())
    assert [batch["a"].to_pylist() for batch in reader] == [[1], [2]]
    assert list(reader.summaries()) == []
    assert reader.position == len(data)


def test_custom_metadata_of_batches() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, BATCHES[0].schema) as writer:
        writer.write_batch(BATCHES[0], custom_metadata={"k": "v"})
    (summary,) = colkern.ipc.open(sink.getvalue()).summaries()
    assert summary.metadata == {b"k": b"v"}


@pytest.mark.parametrize("codec", [None, "zstd"])
def test_no_column_is_read(codec: str | None) -> None:
    noise = np.random.default_rng(0).integers(0, 256, 1_000_000, np.uint8)
    batch = pa.record_batch({"a": noise, "b": noise})
    source = Counting(by_pyarrow([batch], "file", compression=codec))
    (summary,) = colkern.ipc.open(source).summaries()
    assert summary.uncompressed_bytes == 2_000_000
    assert source.count < 4096


def test_dictionary_ids_by_path() -> None:
    word = pa.array(["x"]).dictionary_encode()
    nested = pa.StructArray.from_arrays([word, pa.array([1])], ["word", "n"])
    batch = pa.record_batch([word, nested, word, word], ["a", "b", "twice", "twice"])
    for fmt in FORMATS:
        # pyarrow numbers in the order of the fields; a path of two dictionaries has no id.
        assert colkern.ipc.open(by_pyarrow([batch], fmt)).dictionary_ids == {"a": 0, "b.word": 1}


# What cannot be

NUMBER = WireField("n", Type.Int, int_type(32, True))
TEXT = WireField("t", Type.Utf8, plain_type("Utf8"))
LZ4 = 0


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (Batch(1, [(1, 2)], [b"", bytes(4)]), "column 'n': node with 2 nulls in 1 slots"),
        (Batch(1, [(1, -2)], [b"", bytes(4)]), "column 'n': node with -2 nulls in 1 slots"),
        (Batch(2, [(1, 0)], [b"", bytes(4)]), "column 'n': 1 values in 2 rows"),
        (Batch(1, [(1, 0)], [b"", bytes(4)], places=[(0, 0), (0, 99)]), "buffer of 99 bytes at 0"),
        (Batch(1, [(1, 0)], [b"", bytes(4)], places=[(0, 0), (-8, 4)]), "buffer of 4 bytes at -8"),
        (Batch(1, [(1, 0)], [b"", bytes(4)], places=[(0, 0), (0, -(2**63))]), "buffer of -"),
        (Batch(1, [(1, 0)], [b"", bytes(4)], codec=LZ4), "compressed buffer of 4 bytes"),
        (
            Batch(1, [(1, 0)], [b"", (2**40).to_bytes(8, "little") + bytes(8)], codec=LZ4),
            "states 1099511627776 bytes; LZ4 cannot make them of 8",
        ),
    ],
)
def test_numbers_that_cannot_be(batch: Batch, message: str) -> None:
    stream = schema_message([NUMBER]) + batch.message() + EOS
    reader = colkern.ipc.open_stream(stream)
    for _ in range(2):
        # The same error comes again: where the next message starts is unknown.
        with pytest.raises(InvalidArrowError, match=message) as caught:
            list(reader.summaries())
        assert caught.value.place.startswith("message 1 at byte")


def test_plain_buffers_within_a_compressed_batch() -> None:
    """A length of -1 says that the bytes behind it are not compressed."""
    buffer = (-1).to_bytes(8, "little", signed=True) + bytes(4)
    batch = Batch(1, [(1, 0)], [b"", buffer], codec=LZ4)
    stream = schema_message([NUMBER]) + batch.message() + EOS
    (summary,) = colkern.ipc.open_stream(stream).summaries()
    assert (summary.uncompressed_bytes, summary.compression) == (4, "lz4")


def test_a_dictionary_that_no_field_has() -> None:
    batch = Batch(0, [(0, 0)], [b"", b"", b""])
    stream = schema_message([TEXT]) + batch.dictionary_message(7) + EOS
    with pytest.raises(InvalidArrowError, match="dictionary 7, which no field"):
        list(colkern.ipc.open_stream(stream).summaries())
