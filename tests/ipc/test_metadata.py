"""Custom metadata of every kind of message, and of fields, is carried unchanged.

Columnar format 1.5: "Custom Application Metadata", "Extension Types".
"""

from __future__ import annotations

import copy
import io
import pickle
import struct
from typing import Any

import pyarrow as pa
import pytest
from fuzz.recording import BATCH, DICTIONARY, END, SCHEMA, as_file, records, take_apart

import colkern
import colkern.ipc
import colkern.schema as s
from colkern import KeyValueMetadata, RecordBatch, Schema
from colkern.cli import main
from colkern.interchange import import_schema
from colkern.ipc.flatbuffer.encoding import encode
from colkern.ipc.wire import MESSAGE

TWICE = KeyValueMetadata([(b"k", b"1"), (b"other", b""), (b"k", b"2"), (b"k", b"1")])


def pairs(metadata: Any) -> list[tuple[bytes, bytes]]:
    return list(getattr(metadata, "pairs", (metadata or {}).items()))


def test_metadata_with_a_key_twice_is_a_mapping_all_the_same() -> None:
    assert TWICE == {b"k": b"1", b"other": b""} == dict(TWICE)
    assert TWICE[b"k"] == b"1"
    assert len(TWICE) == 2
    assert b"missing" not in TWICE
    assert KeyValueMetadata([(b"k", b"1"), (b"other", b"")]) != TWICE
    for other in (pickle.loads(pickle.dumps(TWICE)), copy.copy(TWICE)):
        assert other.pairs == TWICE.pairs
    assert repr(TWICE) == f"KeyValueMetadata({list(TWICE.pairs)})"


SHOWN = Schema([s.field("x", s.int8(), metadata=TWICE)], TWICE)
ONE = RecordBatch(SHOWN, [colkern.array([1], s.int8())], metadata=TWICE)


def stream(*written: RecordBatch, **options: Any) -> bytes:
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, written, **options)
    return sink.getvalue()


def pairs_of(metadata: object) -> object:
    assert isinstance(metadata, colkern.KeyValueMetadata)
    return metadata.pairs


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_keys_that_come_twice_stay_two(fmt: str) -> None:
    sink = io.BytesIO()
    if fmt == "file":
        colkern.ipc.write_file(sink, [ONE], metadata=TWICE)
    else:
        colkern.ipc.write_stream(sink, [ONE])
    reader = colkern.ipc.open(sink.getvalue())
    (batch,) = reader
    result = [reader.schema.metadata, reader.schema.field(0).metadata, batch.metadata]
    if isinstance(reader, colkern.ipc.FileReader):
        result.append(reader.metadata)
    assert len(result) == (4 if fmt == "file" else 3)
    assert [pairs_of(each) for each in result] == [TWICE.pairs] * len(result)
    # pyarrow's own KeyValueMetadata has all of them.
    theirs = (pa.ipc.open_file if fmt == "file" else pa.ipc.open_stream)(sink.getvalue()).schema
    native = pa.KeyValueMetadata(list(TWICE.pairs))
    assert pa.schema([pa.field("x", pa.int8(), metadata=native)], native).equals(
        theirs, check_metadata=True
    )


def test_keys_that_come_twice_pass_the_c_data_interface() -> None:
    native = pa.KeyValueMetadata(list(TWICE.pairs))
    theirs = pa.schema([pa.field("x", pa.int8(), metadata=native)], native)
    ours = import_schema(theirs)
    assert pairs_of(ours.metadata) == pairs_of(ours.field(0).metadata) == TWICE.pairs
    assert pa.schema(ours).equals(theirs, check_metadata=True)


def test_metadata_without_such_keys_is_a_dict() -> None:
    data = stream(RecordBatch(Schema([], {b"a": b"b"}), [], 1, {b"c": b"d"}))
    reader = colkern.ipc.open_stream(data)
    assert type(reader.schema.metadata) is dict
    assert type(next(reader).metadata) is dict


NAME, PARAMETER = b"ARROW:extension:name", b"ARROW:extension:metadata"


@pytest.mark.parametrize(
    "stated",
    [{NAME: b"x"}, {NAME: b"x", PARAMETER: b""}, {NAME: b"x", PARAMETER: b"p"}],
    ids=["absent", "empty", "given"],
)
def test_an_extension_states_what_it_stated(stated: dict[bytes, bytes]) -> None:
    fields = [
        pa.field("plain", pa.int8(), metadata={b"first": b"1", **stated}),
        pa.field("nested", pa.list_(pa.field("item", pa.int8(), metadata=stated))),
    ]
    theirs = pa.schema(fields)
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, theirs).close()
    for ours in (colkern.ipc.open(sink.getvalue()).schema, import_schema(theirs)):
        type_ = ours.field(0).type
        assert isinstance(type_, s.Extension)
        assert type_.has_metadata == (PARAMETER in stated)
        written = io.BytesIO()
        colkern.ipc.new_file(written, ours).close()
        assert pa.ipc.open_file(written.getvalue()).schema.equals(theirs, check_metadata=True)
        assert pa.schema(ours).equals(theirs, check_metadata=True)


def test_extensions_with_an_empty_parameter_and_with_none_are_equal() -> None:
    absent, empty = s.extension("x", s.int8(), None), s.extension("x", s.int8())
    assert absent == empty
    assert (absent.has_metadata, empty.has_metadata) == (False, True)
    # A file of one after a file of the other: neither takes over what the other stated.
    for type_ in (absent, empty, absent):
        batch = RecordBatch(Schema([("c", type_)]), [colkern.nulls(1, type_)])
        (read,) = colkern.ipc.open(stream(batch))
        actual = read.column(0).type
        assert isinstance(actual, s.Extension)
        assert actual.has_metadata == type_.has_metadata


# Messages


def with_metadata(data: bytes) -> bytes:
    """A stream whose messages all have metadata of their own, twice under one key: their number."""
    written = []
    for number, part in enumerate(take_apart(data)):
        record = records(MESSAGE, part.metadata)
        record["custom_metadata"] = [{"key": b"number", "value": b"%d" % number}] * 2
        written.append(part.with_metadata(encode(MESSAGE, record)).data)
    return b"".join(written) + END


def marks(data: bytes) -> dict[str, list[Any]]:
    """The metadata of each message: of the schema's, of dictionaries', of batches'."""
    results: dict[str, list[Any]] = {}
    for part in take_apart(data):
        kind = {SCHEMA: "schema", DICTIONARY: "dictionary", BATCH: "batch"}[part.kind]
        stated = records(MESSAGE, part.metadata)["custom_metadata"] or []
        results.setdefault(kind, []).append([pair["value"] for pair in stated])
    return results


def marked() -> bytes:
    type_ = pa.dictionary(pa.int8(), pa.utf8())
    columns = {"d": pa.array(["a", "b"], type_), "n": pa.array([1, 2])}
    sink = pa.BufferOutputStream()
    batch = pa.record_batch(columns)
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    return with_metadata(sink.getvalue().to_pybytes())


EXPECTED = {
    "schema": [[b"0", b"0"]],
    "dictionary": [[b"1", b"1"]],
    "batch": [[b"2", b"2"], [b"3", b"3"]],
}


def test_the_metadata_of_messages_is_read() -> None:
    data = marked()
    assert marks(data) == EXPECTED
    parts = take_apart(data)
    for source in (data, as_file(parts, parts[0])):
        reader = colkern.ipc.open(source)
        assert pairs(reader.message_metadata) == [(b"number", b"0")] * 2
        assert [pairs(batch.metadata) for batch in reader] == [
            [(b"number", b"2")] * 2,
            [(b"number", b"3")] * 2,
        ]
        assert {k: pairs(v) for k, v in reader.dictionary_metadata.items()} == {
            0: [(b"number", b"1")] * 2
        }


@pytest.mark.parametrize("source", ["stream", "file"])
@pytest.mark.parametrize("target", ["stream", "file"])
@pytest.mark.parametrize("how", ["function", "command"])
def test_the_metadata_of_messages_is_carried(
    source: str, target: str, how: str, tmp_path: Any
) -> None:
    data = marked()
    parts = take_apart(data)
    given, result = tmp_path / f"given.{source}", tmp_path / "made"
    given.write_bytes(data if source == "stream" else as_file(parts, parts[0]))
    if how == "function":
        write = {"stream": colkern.ipc.write_stream, "file": colkern.ipc.write_file}[target]
        with colkern.ipc.open(given) as reader:
            write(result, reader)
    else:
        assert main(["convert", str(given), str(result), "--to", target]) == 0
    written = result.read_bytes()
    assert marks(written[8:] if target == "file" else written) == EXPECTED


def test_a_file_with_a_damaged_front_is_written_without_its_metadata(tmp_path: Any) -> None:
    """The footer alone says where the batches are; the schema in front is for those who stream."""
    parts = take_apart(marked())
    data = bytearray(as_file(parts, parts[0]))
    data[8:16] = struct.pack("<iI", -1, 1 << 30)
    with colkern.ipc.open_file(bytes(data)) as reader:
        colkern.ipc.write_stream(tmp_path / "made", reader)
    with colkern.ipc.open_stream(tmp_path / "made") as reader:
        assert reader.message_metadata is None
        assert len(reader.read_all()) == 2
        assert {k: pairs(v) for k, v in reader.dictionary_metadata.items()} == {
            0: [(b"number", b"1")] * 2
        }


def test_the_writer_takes_metadata_for_its_messages() -> None:
    dictionary = colkern.dictionary_encode(colkern.array(["a"]))
    batch = RecordBatch(Schema([("d", dictionary.type)]), [dictionary])
    data = stream(
        batch, message_metadata={b"m": b"schema"}, dictionary_metadata={0: {b"m": b"dictionary"}}
    )
    assert marks(data) == {"schema": [[b"schema"]], "dictionary": [[b"dictionary"]], "batch": [[]]}
    with pytest.raises(TypeError, match="message_metadata: expected a mapping"):
        stream(batch, message_metadata=[1])
    with pytest.raises(TypeError, match="dictionary_metadata: expected keys and values of bytes"):
        stream(batch, dictionary_metadata={0: {"m": "text"}})
