"""Arrow's golden files: read as pyarrow reads them, and as their JSON says."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from arrow_oracle import field_of, from_pyarrow
from golden import golden_files

import colkern.ipc
from colkern import Array
from colkern.integration.documents import read_json
from colkern.operations import TypeRule
from colkern.schema import DataType, Extension, Field

STREAMS = golden_files("arrow-ipc-stream/integration/*/*.stream")
FILES = golden_files("arrow-ipc-stream/integration/*/*.arrow_file")


# pyarrow has no Python class for arrays of month and day-time intervals, and renames the fields of
# maps; the JSON of both is compared.
IN_PYARROW = [
    path
    for path in (*STREAMS, *FILES)
    if "generated_interval" not in str(path) and "generated_map_non_canonical" not in str(path)
]


def _with_extension(field: Field) -> Field:
    """pyarrow leaves an extension type that it does not know as keys in the metadata."""
    metadata = dict(field.metadata or {})
    name = metadata.pop(b"ARROW:extension:name", None)
    if name is None:
        return field
    parameters = metadata.pop(b"ARROW:extension:metadata")
    type_ = Extension(field.type, name.decode(), parameters)
    return Field(field.name, type_, field.nullable, metadata)


def _retyped(array: Array, type_: DataType) -> Array:
    return Array(type_, array.length, array.buffers, array.children, array.dictionary, array.offset)


@pytest.mark.parametrize("path", IN_PYARROW)
def test_reads_as_pyarrow_does(path: Path) -> None:
    if path.suffix == ".stream":
        expected = pa.ipc.open_stream(path)
        batches = list(expected)
    else:
        expected = pa.ipc.open_file(path)
        batches = [expected.get_batch(i) for i in range(expected.num_record_batches)]
    with colkern.ipc.open(path) as reader:
        # pyarrow gives an empty dict where the list of pairs is there, but empty.
        assert reader.schema.metadata == (expected.schema.metadata or None)
        expected_fields = [_with_extension(field_of(field)) for field in expected.schema]
        assert list(reader.schema) == expected_fields
        assert [f.metadata for f in reader.schema] == [f.metadata or None for f in expected_fields]
        for ours, theirs in zip(reader.read_all(), batches, strict=True):
            for column, array in zip(ours.columns, theirs.columns, strict=True):
                expected_column = from_pyarrow(array)
                if isinstance(column.type, Extension):
                    expected_column = _retyped(expected_column, column.type)
                assert column.equals(expected_column)


@pytest.mark.parametrize("path", [*STREAMS, *FILES])
def test_reads_what_the_json_says(path: Path) -> None:
    with colkern.ipc.open(path) as reader:
        document = read_json(path.with_suffix(".json.gz"))
        for ours, expected in zip(reader.read_all(), document, strict=True):
            # The fields of maps have other names in a stream than in its JSON.
            assert ours.schema.names == expected.schema.names
            assert all(map(Array.equals, ours.columns, expected.columns))


# The fields of its maps have other names in the stream than in the file.
@pytest.mark.parametrize("path", [path for path in STREAMS if "non_canonical" not in str(path)])
def test_stream_and_file_hold_the_same(path: Path) -> None:
    with (
        colkern.ipc.open(path) as stream,
        colkern.ipc.open(path.with_suffix(".arrow_file")) as file,
    ):
        assert stream.schema == file.schema
        assert stream.read_all() == file.read_all()


# The writers of these filled columns with random numbers, which Arrow's own tests overlook too.
OLD = ("0.14.1", "0.17.1", "1.0.0-")
LOOSE: tuple[TypeRule, ...] = ("dates", "decimals", "times")


@pytest.mark.parametrize("path", [*STREAMS, *FILES])
def test_golden_files_hold_together(path: Path) -> None:
    for batch in colkern.ipc.open(path):
        batch.validate(full=True, skip=LOOSE if path.parent.name.startswith(OLD) else ())
