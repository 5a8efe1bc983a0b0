"""The 32 cases of Arrow's integration tests, with random data: JSON, IPC and pyarrow in a circle."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from integration.generate import CASES, MORE_CASES, generate
from integration.oracle import values_in_arrow, values_in_json

import colkern.ipc
from colkern.integration.comparison import require_equal_batches, require_equal_schemas
from colkern.integration.conversions import json_to_file, stream_to_file, validate
from colkern.integration.documents import JsonDocument, document_of
from colkern.schema import Struct

ALL = [*CASES, *MORE_CASES]
# pyarrow carries them, and has no class in Python that shows them.
UNSEEN = ("interval",)


@pytest.fixture(params=ALL)
def case(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def document(case: str) -> dict[str, Any]:
    return generate(case, seed=len(case))


@pytest.fixture
def json_path(document: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def require_equal(a: Any, b: Any) -> None:
    require_equal_schemas(a.schema, b.schema, "a", "b")
    for x, y in zip(a, b, strict=True):
        require_equal_batches(x, y, "a", "b")


def test_there_are_32_cases() -> None:
    assert len(CASES) == 32


def test_pyarrow_reads_what_the_json_says(
    case: str, document: dict[str, Any], json_path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "case.arrow"
    json_to_file(json_path, file)
    expected = values_in_json(document)
    with pa.ipc.open_file(file) as reader:
        assert reader.schema.names == [f["name"] for f in document["schema"]["fields"]]
        assert reader.num_record_batches == len(document["batches"])
        for position, columns in enumerate(expected):
            batch = reader.get_batch(position)
            assert batch.num_rows == document["batches"][position]["count"]
            if case in UNSEEN:
                continue
            batch.validate(full=True)
            for column, values in zip(batch.columns, columns, strict=True):
                assert values_in_arrow(_storage(column)) == values


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def test_colkern_reads_what_pyarrow_writes_of_it(
    case: str, json_path: Path, tmp_path: Path
) -> None:
    file, stream, back = (tmp_path / name for name in ("case.arrow", "case.stream", "back.arrow"))
    json_to_file(json_path, file)
    with pa.ipc.open_file(file) as reader, pa.ipc.new_stream(stream, reader.schema) as writer:
        for position in range(reader.num_record_batches):
            writer.write_batch(reader.get_batch(position))
    validate(json_path, stream)
    stream_to_file(stream, back)
    validate(json_path, back)


def test_arrays_are_written_as_json_that_says_the_same(case: str, document: dict[str, Any]) -> None:
    read = JsonDocument(document)
    written = json.loads(json.dumps(document_of(read.schema, read), allow_nan=False))
    assert values_in_json(written) == values_in_json(document)
    require_equal(JsonDocument(written), read)
    assert _plain(written["schema"]) == _plain(document["schema"])


def _plain(schema: Any) -> Any:
    """A schema without the ids of dictionaries, and with metadata in order."""

    def plain(entry: dict[str, Any]) -> dict[str, Any]:
        if "metadata" in entry:
            entry["metadata"].sort(key=lambda pair: pair["key"])
        return {key: value for key, value in entry.items() if key != "id"}

    return json.loads(json.dumps(schema), object_hook=plain)


def test_slices_are_written_as_the_arrays_that_they_are(
    case: str, document: dict[str, Any]
) -> None:
    read = JsonDocument(document)
    sliced = [batch.slice(min(3, len(batch)), 4) for batch in read]
    written = document_of(read.schema, sliced)
    expected = [[column[3:7] for column in batch] for batch in values_in_json(document)]
    assert values_in_json(written) == expected
    require_equal_batches_of(JsonDocument(written), sliced)


def require_equal_batches_of(document: JsonDocument, batches: list[Any]) -> None:
    for read, batch in zip(document, batches, strict=True):
        require_equal_batches(read, batch, "the JSON", "the slice")


def test_slices_of_structs_and_lists_of_structs_too(document: dict[str, Any]) -> None:
    """A batch as one column: children that run beside a parent with an offset of its own."""
    from colkern.arrays import Array, RecordBatch

    read = JsonDocument(document)
    for batch, values in zip(read, values_in_json(document), strict=True):
        struct = Array(
            Struct(read.schema.fields), batch.num_rows, [None], batch.columns, null_count=0
        )
        part = RecordBatch.from_arrays([struct.slice(min(2, len(batch)), 5)], ["rows"])
        written = document_of(part.schema, [part])
        rows = list(zip(*values, strict=True))[2:7]
        assert values_in_json(written) == [[rows]]


def test_streams_and_files_hold_the_same(document: dict[str, Any]) -> None:
    read = JsonDocument(document)
    stream = io.BytesIO()
    with colkern.ipc.new_stream(stream, read.schema) as writer:
        for batch in read:
            writer.write(batch)
    require_equal(colkern.ipc.open_stream(stream.getvalue()), read)
