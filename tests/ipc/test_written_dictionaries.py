"""Dictionaries on their way out: once, shared, growing, replaced, nested."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow
from flatbuf import MessageHeader

import colkern.ipc
import colkern.schema as s
from colkern import Array, InvalidArrowError, RecordBatch, Schema
from colkern.ipc.limits import DEFAULT_LIMITS
from colkern.ipc.reading.messages import MessageStream
from colkern.ipc.reading.sources import Memory, MemoryStream
from colkern.memory import Buffer


def encoded(indices: list[int | None], values: list[Any]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))


def batch(**columns: pa.Array) -> RecordBatch:
    return batch_from_pyarrow(pa.record_batch(columns))


def stream(*batches: RecordBatch, **options: Any) -> bytes:
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, batches, **options)
    return sink.getvalue()


def file(*batches: RecordBatch, **options: Any) -> bytes:
    sink = io.BytesIO()
    colkern.ipc.write_file(sink, batches, **options)
    return sink.getvalue()


def messages(data: bytes) -> list[str]:
    """`schema`, `batch`, and for dictionaries their id, how many values, and whether a delta."""
    source = MessageStream(MemoryStream(Memory(Buffer.from_object(data))), DEFAULT_LIMITS)
    results = []
    while (message := source.next()) is not None:
        if message.kind == MessageHeader.DictionaryBatch:
            header = message.header
            mark = "+" if header["isDelta"] else "="
            results.append(f"{header['id']}{mark}{header['data']['length']}")
        else:
            results.append({1: "schema", 3: "batch"}[message.kind])
    return results


def columns(data: bytes) -> list[list[Any]]:
    return [item.column(0).to_pylist() for item in pa.ipc.open_stream(data)]


def test_a_dictionary_is_written_once() -> None:
    data = stream(batch(d=encoded([0, 1], ["a", "b"])), batch(d=encoded([1, None], ["a", "b"])))
    assert messages(data) == ["schema", "0=2", "batch", "batch"]
    assert columns(data) == [["a", "b"], ["b", None]]


def test_another_dictionary_replaces_it_in_a_stream() -> None:
    data = stream(batch(d=encoded([0], ["a", "b"])), batch(d=encoded([0], ["c"])))
    assert messages(data) == ["schema", "0=2", "batch", "0=1", "batch"]
    assert columns(data) == [["a"], ["c"]]


def test_a_dictionary_that_has_grown_is_a_delta_where_deltas_are_wanted() -> None:
    batches = [batch(d=encoded([0], ["a"])), batch(d=encoded([2, 0], ["a", "b", "c"]))]
    data = stream(*batches, dictionary_deltas=True)
    assert messages(data) == ["schema", "0=1", "batch", "0+2", "batch"]
    assert columns(data) == [["a"], ["c", "a"]]
    assert messages(stream(*batches)) == ["schema", "0=1", "batch", "0=3", "batch"]


def test_files_take_deltas_and_refuse_replacements() -> None:
    grown = file(batch(d=encoded([0], ["a"])), batch(d=encoded([1, 0], ["a", "b"])))
    theirs = pa.ipc.open_file(grown)
    assert theirs.get_batch(1).column(0).to_pylist() == ["b", "a"]
    assert theirs.get_batch(0).column(0).to_pylist() == ["a"]

    sink = io.BytesIO()
    first = batch(d=encoded([0], ["a"]))
    with colkern.ipc.new_file(sink, first.schema) as writer:
        writer.write(first)
        with pytest.raises(ValueError, match=r"dictionary 0 of 'd': a file can only add"):
            writer.write(batch(d=encoded([0], ["b"])))
        writer.write(first)
    assert pa.ipc.open_file(sink.getvalue()).num_record_batches == 2


def test_the_dictionaries_of_a_table_become_one_in_a_file() -> None:
    """As of pandas' categories, or of a Parquet file, in several chunks."""
    parts = [
        pa.record_batch({"d": encoded([0, None], ["a", "b"]), "n": [1, 2]}),
        pa.record_batch({"d": encoded([1, 0], ["c", "a"]), "n": [3, 4]}),
    ]
    theirs = pa.Table.from_batches(parts)
    sink = io.BytesIO()
    colkern.table(theirs).write_ipc(sink)
    read = pa.ipc.open_file(sink.getvalue())
    assert read.num_record_batches == 2
    assert read.read_all().to_pydict() == theirs.to_pydict()
    assert messages(sink.getvalue()[8:]) == ["schema", "0=3", "batch", "batch"]


def test_files_without_deltas_refuse_growth_too() -> None:
    with pytest.raises(ValueError, match="a file can only add"):
        file(
            batch(d=encoded([0], ["a"])),
            batch(d=encoded([1], ["a", "b"])),
            dictionary_deltas=False,
        )


def test_negative_zero_is_another_value_than_zero() -> None:
    data = stream(batch(d=encoded([0], [0.0])), batch(d=encoded([0], [-0.0])))
    assert [repr(values[0]) for values in columns(data)] == ["0.0", "-0.0"]


def test_not_a_number_is_the_same_value_again() -> None:
    nan = float("nan")
    data = stream(batch(d=encoded([0], [nan])), batch(d=encoded([0], [nan])))
    assert messages(data) == ["schema", "0=1", "batch", "batch"]


def test_fields_share_a_dictionary_where_they_are_told_to() -> None:
    shared = batch(a=encoded([0], ["x", "y"]), b=encoded([1], ["x", "y"]))
    data = stream(shared, dictionary_ids={"a": 5, "b": 5})
    assert messages(data) == ["schema", "5=2", "batch"]
    (actual,) = pa.ipc.open_stream(data)
    assert actual.to_pydict() == {"a": ["x"], "b": ["y"]}
    assert messages(stream(shared, dictionary_ids={"b": 0})) == ["schema", "1=2", "0=2", "batch"]


def test_fields_that_share_an_id_must_have_one_dictionary() -> None:
    with pytest.raises(ValueError, match="columns that share it have different dictionaries"):
        stream(batch(a=encoded([0], ["x"]), b=encoded([0], ["y"])), dictionary_ids={"a": 1, "b": 1})
    with pytest.raises(ValueError, match="values of string in one field and of int64 in 'b'"):
        stream(batch(a=encoded([0], ["x"]), b=encoded([0], [1])), dictionary_ids={"a": 1, "b": 1})


def nested(outer: list[int], lists: list[list[int]], words: list[str]) -> pa.Array:
    """Dictionary-encoded lists of dictionary-encoded words."""
    offsets = [0]
    for places in lists:
        offsets.append(offsets[-1] + len(places))
    inner = encoded([place for places in lists for place in places], words)
    values = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), inner)
    return pa.DictionaryArray.from_arrays(pa.array(outer, pa.int8()), values)


def test_inner_dictionaries_come_before_outer_ones() -> None:
    data = stream(batch(d=nested([1, 0], [[0], [1, 0]], ["a", "b"])))
    assert messages(data) == ["schema", "1=2", "0=2", "batch"]
    assert columns(data) == [[["b", "a"], ["a"]]]


def test_an_outer_dictionary_is_written_again_when_an_inner_one_is_replaced() -> None:
    data = stream(
        batch(d=nested([0], [[0]], ["a", "b"])),
        # The same lists of words through another dictionary of words.
        batch(d=nested([0], [[1]], ["b", "a"])),
    )
    assert messages(data) == ["schema", "1=2", "0=1", "batch", "1=2", "0=1", "batch"]
    ours = [item.column(0).to_pylist() for item in colkern.ipc.open(data)]
    assert ours == [[["a"]], [["a"]]]


def test_an_outer_dictionary_stays_when_an_inner_one_grows() -> None:
    data = file(
        batch(d=nested([0], [[0]], ["a"])),
        batch(d=nested([0, 1], [[0], [1]], ["a", "b"])),
    )
    ours = [item.column(0).to_pylist() for item in colkern.ipc.open(data)]
    assert ours == [[["a"]], [["a"], ["b"]]]


def test_dictionaries_below_structs_and_lists_are_found_by_their_path() -> None:
    column = pa.StructArray.from_arrays([encoded([0], ["x"])], ["inner"])
    data = stream(batch(s=column), dictionary_ids={"s.inner": 9})
    assert messages(data) == ["schema", "9=1", "batch"]


def test_a_dictionary_with_nulls_and_slices_of_one() -> None:
    column = encoded([0, 1, None, 2], ["a", None, "c"])
    whole = batch(d=column)
    data = stream(whole.slice(0, 2), whole.slice(2))
    assert messages(data) == ["schema", "0=3", "batch", "batch"]
    assert columns(data) == [["a", None], [None, "c"]]


def test_fields_that_share_an_outer_dictionary_share_the_inner_ones() -> None:
    a, b = nested([0], [[0], [1, 0]], ["a", "b"]), nested([1], [[0], [1, 0]], ["a", "b"])
    data = stream(batch(a=a, b=b), dictionary_ids={"a": 0, "b": 0})
    assert messages(data) == ["schema", "1=2", "0=2", "batch"]
    ours = colkern.ipc.open(data).read_all()[0]
    assert ours.to_pydict() == {"a": [["a"]], "b": [["b", "a"]]}
    # The same places in other words.
    other = nested([1], [[0], [1, 0]], ["x", "y"])
    with pytest.raises(ValueError, match="columns that share it have different dictionaries"):
        stream(batch(a=a, b=other), dictionary_ids={"a": 0, "b": 0})


def test_ids_of_inner_dictionaries_must_agree_with_the_outer_ones() -> None:
    a = nested([0], [[0]], ["a"])
    ids = {"a": 0, "b": 0, "a.item": 4, "b.item": 4}
    assert messages(stream(batch(a=a, b=a), dictionary_ids=ids))[1:3] == ["4=1", "0=1"]
    with pytest.raises(ValueError, match=r"dictionary_ids: 'b\.item' .* 4, not 5"):
        stream(batch(a=a, b=a), dictionary_ids={**ids, "b.item": 5})


def test_fields_that_share_a_dictionary_keep_their_own_metadata() -> None:
    def column(mark: bytes) -> s.Field:
        inner = s.Field("x", s.dictionary(s.int8(), s.utf8()), True, {b"of": mark})
        return s.field(mark.decode(), s.dictionary(s.int8(), s.struct([inner])))

    sink = io.BytesIO()
    schema = Schema([column(b"a"), column(b"b")])
    colkern.ipc.new_stream(sink, schema, dictionary_ids={"a": 0, "b": 0}).close()
    actual = pa.ipc.open_stream(sink.getvalue()).schema
    for name in ("a", "b"):
        assert actual.field(name).type.value_type.field(0).metadata == {b"of": name.encode()}


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ({"d": 2**63}, ValueError, "dictionary_ids: 'd': .* 64 bits"),
        ({"d": -(2**63) - 1}, ValueError, "dictionary_ids: 'd': .* 64 bits"),
        ({"d": "1"}, TypeError, "dictionary_ids: 'd': expected an int, got str"),
        ({"d": 1.0}, TypeError, "dictionary_ids: 'd': expected an int, got float"),
        ([("d", 1)], TypeError, "dictionary_ids: expected a mapping, got list"),
    ],
)
def test_ids_are_whole_numbers_of_64_bits(ids: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        stream(batch(d=encoded([0], ["x"])), dictionary_ids=ids)
    for id_ in (2**63 - 1, -(2**63)):
        data = stream(batch(d=encoded([0], ["x"])), dictionary_ids={"d": id_})
        assert messages(data) == ["schema", f"{id_}=1", "batch"]


def views(parts: list[bytes], slots: list[tuple[int, bytes, int, int]]) -> Array:
    """Long strings by hand: length, the first bytes, data buffer and offset of each."""
    packed = b"".join(struct.pack("<i4sii", *slot) for slot in slots)
    buffers = [None, *(Buffer.from_object(part) for part in (packed, *parts))]
    return Array(s.utf8_view(), len(slots), buffers)


def test_dictionaries_of_views_are_compared_by_their_strings() -> None:
    x, y = b"x" * 30, b"y" * 30
    together = views([x + y], [(30, b"xxxx", 0, 0), (30, b"yyyy", 0, 30)])
    apart = views([y, x], [(30, b"xxxx", 1, 0), (30, b"yyyy", 0, 0)])
    grown = views([y, x], [(30, b"xxxx", 1, 0), (30, b"yyyy", 0, 0), (30, b"yyyy", 0, 0)])
    other = views([x + y], [(30, b"yyyy", 0, 30), (30, b"xxxx", 0, 0)])
    type_ = s.dictionary(s.int8(), s.utf8_view())

    def of(values: Array) -> RecordBatch:
        index = Buffer.from_object(bytes([1]))
        column = Array(type_, 1, [None, index], dictionary=values)
        return RecordBatch(Schema([("d", type_)]), [column])

    data = file(of(together), of(apart), of(grown))
    assert messages(data[8:]) == ["schema", "0=2", "batch", "batch", "0+1", "batch"]
    assert [item.to_pydict() for item in colkern.ipc.open(data)] == [{"d": [y.decode()]}] * 3
    with pytest.raises(ValueError, match="a file can only add"):
        file(of(together), of(other))


def test_a_batch_that_is_refused_leaves_its_dictionaries_unwritten() -> None:
    good = batch(a=encoded([0], ["x"]), b=encoded([0], ["y"]))
    damaged = Array(s.utf8(), 1, [None, Buffer.from_object(struct.pack("<ii", 0, 9)), None])
    column = Array(good.column(1).type, 1, good.column(1).buffers, dictionary=damaged)
    bad = RecordBatch(good.schema, [good.column(0), column])
    sink = io.BytesIO()
    with colkern.ipc.new_file(sink, good.schema) as writer:
        before = sink.getvalue()
        with pytest.raises(InvalidArrowError):
            writer.write(bad)
        assert sink.getvalue() == before
        writer.write(good)
    assert pa.ipc.open_file(sink.getvalue()).read_all().to_pydict() == {"a": ["x"], "b": ["y"]}


def test_dictionaries_of_dense_unions_are_compared_by_the_slots_they_show() -> None:
    def union(places: list[int], numbers: list[int], words: list[str]) -> pa.UnionArray:
        codes, children = pa.array([0, 0, 1], pa.int8()), [pa.array(numbers), pa.array(words)]
        return pa.UnionArray.from_dense(codes, pa.array(places, pa.int32()), children)

    tight = union([0, 1, 0], [7, 8], ["a"])
    loose = union([1, 3, 2], [0, 7, 0, 8], ["b", "c", "a"])
    other = union([1, 3, 2], [0, 7, 0, 9], ["b", "c", "a"])

    def of(values: pa.Array) -> RecordBatch:
        return batch(d=pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), values))

    data = file(of(tight), of(loose))
    assert messages(data[8:]) == ["schema", "0=3", "batch", "batch"]
    assert [item.to_pydict() for item in colkern.ipc.open(data)] == [{"d": ["a", 7]}] * 2
    with pytest.raises(ValueError, match="a file can only add"):
        file(of(tight), of(other))


WORDS = ["a", "b", "c", "d"]
GROWING = {
    "inner": [nested([0], [[0]], ["a"]), nested([0], [[0]], WORDS)],
    "outer": [nested([0], [[0]], WORDS), nested([1, 0], [[0], [3, 2]], WORDS)],
    "both, twice": [
        nested([0], [[0]], ["a"]),
        nested([1], [[0], [1, 0]], ["a", "b"]),
        nested([2, 1], [[0], [1, 0], [3]], WORDS),
    ],
}


@pytest.mark.parametrize("case", GROWING)
def test_arrow_reads_nested_dictionaries_that_grow(case: str) -> None:
    # Arrow C++ takes no delta for values that have a dictionary of their own.
    batches = [batch(d=column) for column in GROWING[case]]
    expected = [column.to_pylist() for column in GROWING[case]]
    data = file(*batches)
    theirs = pa.ipc.open_file(data)
    numbers = range(len(batches))
    assert [theirs.get_batch(k).column(0).to_pylist() for k in numbers] == expected
    assert [theirs.get_batch(k).column(0).to_pylist() for k in reversed(numbers)] == expected[::-1]
    # The same messages, one by one, are a stream.
    assert columns(data[8:]) == columns(stream(*batches)) == expected
    assert [item.column(0).to_pylist() for item in colkern.ipc.open(data)] == expected
    assert [item.column(0).to_pylist() for item in colkern.ipc.open(data[8:])] == expected


def test_a_file_lists_the_last_state_of_a_nested_dictionary_that_grew() -> None:
    batches = [batch(d=column) for column in GROWING["both, twice"]]
    sent = ["schema", "1=1", "0=1", "batch", "1+1", "0=2", "batch", "1+2", "0=3", "batch"]
    assert messages(file(*batches)[8:]) == sent
    listed = [
        (item.dictionary, item.length, item.is_delta)
        for item in colkern.ipc.open(file(*batches)).summaries()
        if item.dictionary is not None
    ]
    assert listed == [(1, 1, False), (1, 1, True), (1, 2, True), (0, 3, False)]


def test_nested_dictionaries_grow_by_deltas_where_these_are_asked_for() -> None:
    batches = [batch(d=column) for column in GROWING["both, twice"]]
    sent = ["schema", "1=1", "0=1", "batch", "1+1", "0+1", "batch", "1+2", "0+1", "batch"]
    for write, start in ((stream, 0), (file, 8)):
        data = write(*batches, dictionary_deltas=True)
        assert messages(data[start:]) == sent
        ours = [item.column(0).to_pylist() for item in colkern.ipc.open(data)]
        assert ours == [column.to_pylist() for column in GROWING["both, twice"]]
