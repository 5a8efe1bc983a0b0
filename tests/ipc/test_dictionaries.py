"""Dictionary batches: first ones, deltas, replacements, nested, shared, late and missing ones."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from flatbuf import Type
from ipc.handmade import EOS, Batch, WireField, int_type, plain_type, schema_message
from present import present

import colkern.ipc
from colkern import InvalidArrowError

UTF8 = plain_type("Utf8")
WORDS = WireField("d", Type.Utf8, UTF8, dictionary=7)


def words(*texts: str) -> Batch:
    """The values of a dictionary of strings."""
    data = "".join(texts).encode()
    ends = [len("".join(texts[:k]).encode()) for k in range(len(texts) + 1)]
    buffers = [b"", struct.pack(f"<{len(ends)}i", *ends), data]
    return Batch(len(texts), [(len(texts), 0)], buffers)


def indices(*places: int | None) -> Batch:
    """A column of indices."""
    nulls = places.count(None)
    bits = sum((place is not None) << k for k, place in enumerate(places))
    data = struct.pack(f"<{len(places)}i", *(place or 0 for place in places))
    validity = bits.to_bytes(8, "little") if nulls else b""
    return Batch(len(places), [(len(places), nulls)], [validity, data])


def columns(data: bytes) -> list[list[object]]:
    return [batch.column(0).to_pylist() for batch in colkern.ipc.open(data)]


def test_a_delta_extends_and_a_second_batch_replaces() -> None:
    # The example of the format's text: A B C, then D E; then, replaced, A C D E.
    data = (
        schema_message([WORDS])
        + words("A", "B", "C").dictionary_message(7)
        + indices(0, 1, 2, 1).message()
        + words("D", "E").dictionary_message(7, delta=True)
        + indices(3, 2, 4, 0).message()
        + words("A", "C", "D", "E").dictionary_message(7)
        + indices(2, 1, 3, 0).message()
        + EOS
    )
    expected = [list("ABCB"), list("DCEA"), list("DCEA")]
    assert columns(data) == expected
    # A batch keeps the dictionary that it was read under, however late its column is asked for.
    batches = list(colkern.ipc.open(data))
    assert [batch.column(0).to_pylist() for batch in reversed(batches)] == expected[::-1]


def test_batches_under_one_dictionary_share_it() -> None:
    data = schema_message([WORDS]) + words("A").dictionary_message(7) + indices(0).message() * 2
    first, second = colkern.ipc.open(data)
    assert first.column(0).dictionary is second.column(0).dictionary


def test_many_deltas_that_nobody_looked_at() -> None:
    data = schema_message([WORDS]) + words("0").dictionary_message(7)
    for k in range(1, 2000):
        data += words(str(k)).dictionary_message(7, delta=True)
    data += indices(0, 1999, 1000).message()
    assert columns(data) == [["0", "1999", "1000"]]


def test_a_dictionary_may_come_late_where_no_slot_needs_it() -> None:
    data = (
        schema_message([WORDS])
        + indices(None, None).message()
        + indices().message()
        + words("A").dictionary_message(7)
        + indices(0, None).message()
    )
    assert columns(data) == [[None, None], [], ["A", None]]


def test_a_missing_dictionary_is_an_error_when_it_is_needed() -> None:
    data = schema_message([WORDS]) + indices(0).message()
    (batch,) = colkern.ipc.open(data)
    with pytest.raises(InvalidArrowError, match="no dictionary 7") as caught:
        batch.column("d")
    assert "column 'd'" in caught.value.place


def test_dictionary_batches_are_those_of_the_schema() -> None:
    with pytest.raises(InvalidArrowError, match="dictionary 8, which no field"):
        columns(schema_message([WORDS]) + words("A").dictionary_message(8))
    with pytest.raises(InvalidArrowError, match="delta for dictionary 7, of which nothing"):
        columns(schema_message([WORDS]) + words("A").dictionary_message(7, delta=True))


def test_encoded_values_of_a_dictionary_are_refused_with_the_column() -> None:
    # pyarrow writes such streams, and cannot read them: the schema has the innermost type alone.
    inner = pa.array(["x", "y"]).dictionary_encode()
    batch = pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([1, 0]), inner)], ["d"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write(batch)
    with pytest.raises(InvalidArrowError, match="2 buffers where the schema has 3") as caught:
        columns(sink.getvalue().to_pybytes())
    assert "dictionary 0 of column 'd'" in caught.value.place


def test_one_id_has_one_type() -> None:
    other = WireField("i", Type.Int, int_type(64, True), dictionary=7)
    data = schema_message([WORDS, other]) + words("A").dictionary_message(7)
    with pytest.raises(InvalidArrowError, match="dictionary 7 has values of string in one field"):
        columns(data)


def test_an_id_that_holds_itself_is_refused() -> None:
    inner = WireField("x", Type.Utf8, UTF8, dictionary=7)
    outer = WireField("s", Type.Struct_, plain_type("Struct_"), [inner], dictionary=7)
    with pytest.raises(InvalidArrowError, match="dictionary 7 has values of"):
        columns(schema_message([outer]) + words("A").dictionary_message(7))


def test_fields_share_a_dictionary() -> None:
    one, two = indices(0, 1), indices(1, 1)
    both = Batch(2, [*one.nodes, *two.nodes], [*one.buffers, *two.buffers])
    fields = [WORDS, WireField("e", Type.Utf8, UTF8, dictionary=7)]
    data = schema_message(fields) + words("A", "B").dictionary_message(7) + both.message()
    (batch,) = colkern.ipc.open(data)
    assert batch.to_pydict() == {"d": ["A", "B"], "e": ["B", "B"]}
    assert batch["d"].dictionary is batch["e"].dictionary


def nested_stream(*order: bytes) -> bytes:
    """A dictionary (1) of lists of dictionary-encoded (2) words."""
    inner = WireField("item", Type.Utf8, UTF8, dictionary=2)
    outer = WireField("d", Type.List, plain_type("List"), [inner], dictionary=1)
    return schema_message([outer]) + b"".join(order)


def lists_of_indices() -> Batch:
    """[[0, 1], [1]]"""
    return Batch(
        2, [(2, 0), (3, 0)], [b"", struct.pack("<3i", 0, 2, 3), b"", b"\0\0\0\0\1\0\0\0\1\0\0\0"]
    )


def test_nested_dictionaries_may_come_in_either_order() -> None:
    outer, inner = lists_of_indices().dictionary_message(1), words("A", "B").dictionary_message(2)
    rows = indices(1, 0).message()
    for order in ([outer, inner], [inner, outer]):
        assert columns(nested_stream(*order, rows)) == [[["B"], ["A", "B"]]]


def test_a_replaced_inner_dictionary_shows_in_later_batches_only() -> None:
    outer, rows = lists_of_indices().dictionary_message(1), indices(1, 0).message()
    data = nested_stream(
        words("A", "B").dictionary_message(2),
        outer,
        rows,
        words("X", "Y").dictionary_message(2),
        rows,
        rows,
    )
    batches = list(colkern.ipc.open(data))
    assert [batch["d"].to_pylist() for batch in batches] == [
        [["B"], ["A", "B"]],
        [["Y"], ["X", "Y"]],
        [["Y"], ["X", "Y"]],
    ]
    assert batches[1]["d"].dictionary is batches[2]["d"].dictionary


def test_values_that_are_decompressed_again_count_once() -> None:
    plain = lists_of_indices()
    buffers = [
        struct.pack("<q", len(buffer)) + pa.Codec("lz4").compress(buffer, asbytes=True)
        if buffer
        else b""
        for buffer in plain.buffers
    ]
    outer = Batch(plain.length, plain.nodes, buffers, codec=0).dictionary_message(1)
    again = [words("A", "B").dictionary_message(2), indices(1, 0).message()]
    data = nested_stream(outer, *again, *again, *again)
    limits = colkern.ipc.Limits(decompressed_bytes=sum(map(len, plain.buffers)))
    read = [batch["d"].to_pylist() for batch in colkern.ipc.open(data, limits=limits)]
    assert read == [[["B"], ["A", "B"]]] * 3


def test_outer_delta_over_inner_delta() -> None:
    data = nested_stream(
        words("A", "B").dictionary_message(2),
        lists_of_indices().dictionary_message(1),
        indices(1, 0).message(),
        words("C").dictionary_message(2, delta=True),
        Batch(
            1, [(1, 0), (1, 0)], [b"", struct.pack("<2i", 0, 1), b"", struct.pack("<i", 2)]
        ).dictionary_message(1, delta=True),
        indices(2, 0).message(),
    )
    assert columns(data) == [[["B"], ["A", "B"]], [["C"], ["A", "B"]]]


ALL_VALUES = {
    "null": pa.nulls(3),
    "bool": pa.array([True, None, False]),
    "int64": pa.array([1, None, 3]),
    "decimal256": pa.array([1, None, 3], pa.decimal256(40, 2)),
    "utf8": pa.array(["a", None, "ccc"]),
    "large_binary": pa.array([b"a", None, b"ccc"], pa.large_binary()),
    "utf8_view": pa.array(["a", None, "more than twelve bytes"], pa.string_view()),
    "fixed_size_binary": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "list": pa.array([[1, 2], None, []]),
    "list_view": pa.array([[1, 2], None, []], pa.list_view(pa.int16())),
    "fixed_size_list": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
    "struct": pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": "d"}]),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
    "run_end": pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 3], pa.int16()), pa.array(["p", "q"])
    ),
    "sparse": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    ),
    "dense": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()),
        pa.array([0, 0, 1], pa.int32()),
        [pa.array([1, 2]), pa.array(["b"])],
    ),
}


@pytest.mark.parametrize("kind", ALL_VALUES)
@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_a_delta_extends_values_of_every_type(kind: str, fmt: str) -> None:
    values = ALL_VALUES[kind]
    grown = pa.concat_arrays([values, values.slice(1)])
    first = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), values)
    second = pa.DictionaryArray.from_arrays(pa.array([4, 1, 3], pa.int8()), grown)
    sink = pa.BufferOutputStream()
    make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, unify_dictionaries=False)
    schema = pa.schema([("d", first.type)])
    with make(sink, schema, options=options) as writer:
        for array in (first, second):
            writer.write_batch(pa.record_batch([array], schema))
    texts = grown.to_pylist()
    expected = [[texts[2], texts[0]], [texts[4], texts[1], texts[3]]]
    assert [batch["d"].to_pylist() for batch in colkern.ipc.open(sink.getvalue())] == expected


def test_a_file_has_its_dictionaries_anywhere() -> None:
    # pyarrow puts the second dictionary behind the first batch; the footer leads to both.
    first = pa.array(["a", "b"]).dictionary_encode()
    second = pa.DictionaryArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a", "b", "c"]))
    schema = pa.schema([("d", first.type)])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        writer.write_batch(pa.record_batch([first], schema))
        writer.write_batch(pa.record_batch([second], schema))
    reader = colkern.ipc.open_file(sink.getvalue())
    assert present(reader.get_batch(0)["d"].dictionary).to_pylist() == ["a", "b", "c"]
    assert [batch["d"].to_pylist() for batch in reader] == [["a", "b"], ["c"]]
