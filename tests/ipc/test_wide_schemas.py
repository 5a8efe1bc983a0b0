"""Wide schemas, whose fields are read side by side: the same as one by one, right or wrong."""

from __future__ import annotations

import io
import random
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import field_of
from hypothesis import given
from hypothesis import strategies as st

import colkern
import colkern.ipc
from colkern import ColkernError, Field
from colkern.ipc.reading import flat_fields, schemas

KINDS: list[pa.DataType] = [
    pa.int8(),
    pa.int64(),
    pa.uint32(),
    pa.float64(),
    pa.utf8(),
    pa.timestamp("us"),
    pa.timestamp("ns", "UTC"),
    pa.decimal128(10, 2),
    pa.decimal128(12, 2),
    pa.binary(7),
    pa.list_(pa.int8()),
    pa.struct({"x": pa.int8()}),
    pa.dictionary(pa.int8(), pa.utf8()),
    pa.string_view(),
]
NAMES = st.text(st.characters(codec="utf-8"), max_size=5)
FIELDS = st.builds(
    pa.field,
    NAMES,
    st.sampled_from(KINDS[:-4]) | st.sampled_from(KINDS),
    st.booleans(),
    st.none() | st.just({"k": "v"}),
)


def stream(fields: list[pa.Field]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema(fields)):
        pass
    result: bytes = sink.getvalue().to_pybytes()
    return result


def is_wide(reader: Any) -> bool:
    return isinstance(reader._plans.wire.fields, flat_fields.FlatFields)


@given(st.lists(FIELDS, min_size=flat_fields.FEWEST, max_size=flat_fields.FEWEST + 20))
def test_the_fields_are_pyarrows(fields: list[pa.Field]) -> None:
    reader = colkern.ipc.open(stream(fields))
    expected = [field_of(field) for field in fields]
    assert list(reader.schema) == expected
    assert [f.metadata for f in reader.schema] == [f.metadata or None for f in expected]
    assert reader.schema.names == [field.name for field in fields]


def test_a_field_is_made_when_it_is_asked_for() -> None:
    fields = [pa.field(f"ü{i}", KINDS[i % len(KINDS)], i % 3 == 0) for i in range(300)]
    reader = colkern.ipc.open(stream(fields))
    assert is_wide(reader)
    assert reader.schema.field(7) == field_of(fields[7])
    assert reader.schema.field(-1) == field_of(fields[-1])
    assert reader.schema.index("ü200") == 200
    assert len(reader.schema) == 300
    with pytest.raises(IndexError):
        reader.schema.field(300)


def outcome(data: bytes) -> list[tuple[Field, Any]] | str:
    try:
        schema = colkern.ipc.open(data).schema
    except ColkernError as error:
        return f"{type(error).__name__}: {error}"
    return [(field, field.metadata) for field in schema]


def test_every_wrong_byte_has_the_same_outcome_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = [pa.field(f"f{i}", KINDS[i % 10]) for i in range(70)]
    data = stream(fields)
    assert is_wide(colkern.ipc.open(data))
    rng = random.Random(1)
    mutants = []
    for _ in range(1500):
        mutant = bytearray(data)
        mutant[rng.randrange(8, len(data) - 8)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 7, 64))
        mutants.append(bytes(mutant))
    together = [outcome(mutant) for mutant in mutants]
    monkeypatch.setattr(schemas, "FEWEST", 1 << 40)
    assert together == [outcome(mutant) for mutant in mutants]
    # Both kinds of outcome are there.
    assert 100 < sum(isinstance(item, str) for item in together) < 1400


def test_wide_batches_are_read_as_pyarrow_does() -> None:
    columns = {
        f"c{i}": pa.array([i, None, i + 2]) if i % 2 else pa.array(["a", str(i), None])
        for i in range(200)
    }
    batch = pa.record_batch(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    reader = colkern.ipc.open(sink.getvalue())
    assert is_wide(reader)
    (ours,) = reader
    assert ours.column("c150").to_pylist() == batch.column("c150").to_pylist()
    assert ours.to_pydict() == batch.to_pydict()
    for column in ours.columns:
        column._check_shape()


@given(st.lists(FIELDS, max_size=12), st.sampled_from(["stream", "file"]))
def test_pyarrow_reads_the_fields_that_are_written(fields: list[pa.Field], fmt: str) -> None:
    # Tables that are equal, such as types, stand in the metadata once.
    sink = io.BytesIO()
    schema = colkern.Schema([field_of(field) for field in fields], {b"of": b"schema"})
    write = colkern.ipc.new_file if fmt == "file" else colkern.ipc.new_stream
    with write(sink, schema):
        pass
    read = {"stream": pa.ipc.open_stream, "file": pa.ipc.open_file}[fmt]
    expected = pa.schema(fields, {"of": "schema"})
    assert read(sink.getvalue()).schema.equals(expected, check_metadata=True)
    assert colkern.ipc.open(sink.getvalue()).schema == schema


def test_the_fields_of_a_wide_schema_take_little_metadata() -> None:
    fields = [pa.field(f"f{i}", KINDS[i % 10]) for i in range(1000)]
    sink = io.BytesIO()
    colkern.ipc.new_stream(sink, colkern.Schema([field_of(field) for field in fields])).close()
    assert len(sink.getvalue()) < len(stream(fields))
    nanoarrow, polars = map(pytest.importorskip, ("nanoarrow", "polars"))
    theirs = nanoarrow.ArrayStream.from_readable(io.BytesIO(sink.getvalue())).schema
    assert theirs.n_fields == 1000
    assert polars.read_ipc_stream(sink.getvalue()).columns == [field.name for field in fields]
