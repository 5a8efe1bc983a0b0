"""`columns=`: some columns of a source, by name or position, in host memory and on a device."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow
from arrow_strategies import arrays
from flatbuf import Type
from hypothesis import given
from hypothesis import strategies as st
from ipc.handmade import EOS, Batch, WireField, plain_type, schema_message
from ipc.on_device import INT8, Tap, complaint, file_of
from ipc.test_dictionaries import words
from ipc.written import by_pyarrow, written

import colkern as ck
from colkern import InvalidArrowError, RecordBatch
from colkern.cuda import stand_in

TABLE = pa.record_batch(
    {
        "n": pa.array([1, None, 3], pa.int16()),
        "s": pa.array(["a", "bc", None]),
        "d": pa.array(["p", None, "p"]).dictionary_encode(),
        "l": pa.array([[{"x": 1}], [], None]),
        "e": pa.array(["q", "q", "r"]).dictionary_encode(),
    },
    metadata={b"of": b"the schema"},
)
BATCH = batch_from_pyarrow(TABLE)


def data_of(fmt: str, batches: int = 2) -> bytes:
    """By pyarrow, which puts each batch's columns one behind the other."""
    sink = io.BytesIO()
    make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
    with make(sink, TABLE.schema) as writer:
        for number in range(batches):
            writer.write_batch(TABLE, {b"number": str(number).encode()})
    return sink.getvalue()


@pytest.fixture(params=[None, "cuda"], ids=["host", "device"])
def where(request: pytest.FixtureRequest) -> Iterator[str | None]:
    with stand_in.installed():
        yield request.param


fmts = pytest.mark.parametrize("fmt", ["stream", "file"])


@fmts
@pytest.mark.parametrize(
    "columns",
    [
        ["s"],
        ["l", "n"],
        [3, 0],
        ["e", 2, "s"],
        ["s", "s", 1],
        [-1],
        [],
        ("n", "d"),
        ["n", "s", "d", "l", "e"],
    ],
    ids=str,
)
def test_columns_by_name_and_position_in_the_order_asked_for(
    columns: Any, fmt: str, where: str | None
) -> None:
    expected = [TABLE.schema.names.index(c) if isinstance(c, str) else c % 5 for c in columns]
    with ck.ipc.open(data_of(fmt), columns=columns, device=where) as reader:
        assert reader.schema.names == [TABLE.schema.names[k] for k in expected]
        assert reader.schema.metadata == {b"of": b"the schema"}
        batches = reader.read_all()
    for number, batch in enumerate(batches):
        assert batch.schema == reader.schema
        assert batch.metadata == {b"number": str(number).encode()}
        actual = ck.to_host(batch)
        assert actual.num_rows == 3
        assert [column.to_pylist() for column in actual.columns] == [
            TABLE.column(k).to_pylist() for k in expected
        ]
        actual.validate(full=True)
    assert len(batches) == 2


@fmts
def test_columns_that_are_not_there(fmt: str, where: str | None) -> None:
    data = data_of(fmt)
    for source in (data, Tap(data)):
        with pytest.raises(KeyError, match="x"):
            ck.ipc.open(source, columns=["n", "x"], device=where)
    for position in (5, -6):
        with pytest.raises(IndexError):
            ck.ipc.open(data, columns=[position], device=where)
    with pytest.raises(TypeError, match="columns: expected a list of names or positions, got 'n'"):
        ck.ipc.open(data, columns="n", device=where)


def test_a_name_that_two_columns_have(where: str | None) -> None:
    fields = [INT8, INT8]
    batch = Batch(2, [(2, 0)] * 2, [b"", b"ab", b"", b"cd"])
    data = schema_message(fields) + batch.message()
    with pytest.raises(KeyError, match="i"):
        ck.ipc.open(data, columns=["i"], device=where)
    (result,) = ck.ipc.open(data, columns=[1], device=where)
    assert ck.to_host(result.column(0)).to_pylist() == [99, 100]


@fmts
def test_a_projected_reader_is_an_arrow_stream(fmt: str) -> None:
    reader = ck.ipc.open(data_of(fmt), columns=["e", "n"])
    assert pa.table(reader) == pa.Table.from_batches([TABLE.select(["e", "n"])] * 2)


@fmts
def test_summaries_are_those_of_the_columns(fmt: str, where: str | None) -> None:
    results = list(ck.ipc.open(data_of(fmt), columns=["s", "d", "e"], device=where).summaries())
    whole = list(ck.ipc.open(data_of(fmt)).summaries())
    counts = [s.null_counts.tolist() for s in results if s.dictionary is None]
    assert counts == [[TABLE[name].null_count for name in ("s", "d", "e")]] * 2
    # Messages are what they are.
    assert [s.body_bytes for s in results] == [s.body_bytes for s in whole]
    assert [s.dictionary for s in results] == [s.dictionary for s in whole]


@fmts
def test_dictionary_ids_are_those_to_write_the_columns_with(fmt: str, where: str | None) -> None:
    data = written(BATCH, fmt, dictionary_ids={"d": 5, "e": 7})
    reader = ck.ipc.open(data, columns=["e", "n"], device=where)
    assert reader.dictionary_ids == {"e": 7}
    copied = [ck.to_host(batch) for batch in reader]
    again = written(copied, fmt, dictionary_ids=reader.dictionary_ids)
    assert ck.ipc.open(again).dictionary_ids == {"e": 7}


@fmts
def test_damage_of_other_columns_is_not_looked_at(fmt: str, where: str | None) -> None:
    # The second column's buffer is not in the body, and its dictionary never came.
    fields = [INT8, WireField("d", Type.Utf8, plain_type("Utf8"), dictionary=7)]
    batch = Batch(2, [(2, 0)] * 2, [b"ab"], places=[(0, 0), (0, 2), (0, 0), (1 << 40, 8)])
    data = schema_message(fields) + batch.message() + EOS
    if fmt == "file":
        data = file_of(fields, [batch])
    (result,) = ck.ipc.open(data, columns=["i"], device=where)
    assert ck.to_host(result.column(0)).to_pylist() == [97, 98]
    (result,) = ck.ipc.open(data, columns=["d", "i"], device=where)
    with pytest.raises(InvalidArrowError, match="column 'd': "):
        result.column(0)


def test_a_stream_goes_on_behind_what_is_not_wanted(where: str | None) -> None:
    fields = [INT8, WireField("d", Type.Utf8, plain_type("Utf8"), dictionary=7)]
    batch = Batch(1, [(1, 0)] * 2, [b"", b"a", b"", b"\0\0\0\0"])
    data = (
        schema_message(fields)
        + words("x" * 5000).dictionary_message(7)
        + batch.message()
        + words("y" * 5000).dictionary_message(7, delta=True)
        + batch.message()
        + EOS
    )
    for source in (data, Tap(data), io.BytesIO(data)):
        reader = ck.ipc.open_stream(source, columns=["i"], device=where)
        assert [ck.to_host(batch).to_pylist() for batch in reader] == [[{"i": 97}]] * 2
        assert reader.position == len(data)


# What is read into device memory is what is read into the host's


def has_ipc_form(type_: pa.DataType) -> bool:
    """Fields have one encoding: the values of a dictionary cannot be a dictionary."""
    if pa.types.is_dictionary(type_):
        values = type_.value_type
        return not pa.types.is_dictionary(values) and has_ipc_form(values)
    if pa.types.is_run_end_encoded(type_):
        return has_ipc_form(type_.value_type)
    return all(has_ipc_form(type_.field(k).type) for k in range(type_.num_fields))


@st.composite
def batches(draw: st.DrawFn) -> list[pa.RecordBatch]:
    """Batches of one schema: slices of a wider one."""
    length = draw(st.integers(0, 8))
    column = arrays(length).filter(lambda array: has_ipc_form(array.type))
    columns = draw(st.lists(column, max_size=4))
    names = [f"c{k}" for k in range(len(columns))]
    schema = pa.schema([(n, c.type) for n, c in zip(names, columns, strict=True)])
    whole = pa.record_batch(columns, schema)
    if not columns:
        return [whole]
    cut = draw(st.integers(0, length))
    return draw(st.sampled_from([[whole], [whole.slice(0, cut), whole.slice(cut)]]))


def theirs(batches: list[pa.RecordBatch], fmt: str, codec: str | None, alignment: int) -> bytes:
    return by_pyarrow(batches, fmt, compression=codec, unify_dictionaries=fmt == "file")


def by_colkern(batches: list[pa.RecordBatch], fmt: str, codec: str | None, alignment: int) -> bytes:
    whole = [batch_from_pyarrow(batch) for batch in batches]
    return written(whole, fmt, compression=codec, alignment=alignment)


def read(source: Any, **options: Any) -> list[RecordBatch]:
    return [ck.to_host(batch) for batch in ck.ipc.open(source, **options)]


@given(
    batches=batches(),
    write=st.sampled_from([theirs, by_colkern]),
    fmt=st.sampled_from(["stream", "file"]),
    codec=st.sampled_from([None, "lz4", "zstd"]),
    alignment=st.sampled_from([8, 64]),
    data=st.data(),
)
def test_any_columns_of_any_batches(
    batches: list[pa.RecordBatch],
    write: Any,
    fmt: str,
    codec: str | None,
    alignment: int,
    data: st.DataObject,
) -> None:
    source = write(batches, fmt, codec, alignment)
    width = len(batches[0].schema)
    positions = st.lists(st.integers(0, width - 1), max_size=5) if width else st.just([])
    columns = data.draw(st.none() | positions)
    with stand_in.installed() as device:
        expected = read(source, columns=columns)
        assert expected == [
            batch if columns is None else batch.select(columns) for batch in read(source)
        ]
        assert device.allocations == 0
        assert read(source, columns=columns, device="cuda") == expected
        assert read(Tap(source), columns=columns, device="cuda") == expected
        # pyarrow may write an offset without elements, of which both say the same.
        there = ck.ipc.open(source, columns=columns, device="cuda")
        assert list(map(complaint, there)) == list(map(complaint, expected))
