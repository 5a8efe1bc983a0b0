"""Arrow's golden files: checked as its runner checks them, and as JSON that is written anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden import golden_files

import colkern.ipc
from colkern.integration.comparison import require_equal_batches, require_equal_schemas
from colkern.integration.conversions import (
    QUIRKS,
    arrow_to_json,
    file_to_stream,
    json_to_file,
    stream_to_file,
    validate,
)
from colkern.integration.documents import JsonDocument, document_of, read_json

DOCUMENTS = golden_files("arrow-ipc-stream/integration/*/*.json.gz")


def quirks_of(path: Path) -> tuple[str, ...]:
    """The faults of the writers of the time, as Arrow's runner knows it."""
    return () if path.parent.name == "2.0.0-compression" else tuple(QUIRKS)


def sibling(path: Path, suffix: str) -> Path:
    return path.with_name(path.name.removesuffix(".json.gz") + suffix)


@pytest.mark.parametrize("path", DOCUMENTS)
def test_files_and_streams_hold_what_the_json_says(path: Path, tmp_path: Path) -> None:
    validate(path, sibling(path, ".arrow_file"), quirks_of(path))
    stream, file, back = sibling(path, ".stream"), tmp_path / "file", tmp_path / "stream"
    validate(path, stream, quirks_of(path))
    stream_to_file(stream, file)
    validate(path, file, quirks_of(path))
    file_to_stream(file, back)
    validate(path, back, quirks_of(path))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_what_is_written_of_the_json_holds_what_it_says(path: Path, tmp_path: Path) -> None:
    file, back = tmp_path / "file", tmp_path / "back.json.gz"
    json_to_file(path, file)
    validate(path, file, quirks_of(path))
    arrow_to_json(file, back)
    validate(back, sibling(path, ".stream"), quirks_of(path))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_arrow_as_json_says_what_the_json_says(path: Path) -> None:
    expected = read_json(path)
    with colkern.ipc.open(sibling(path, ".arrow_file")) as reader:
        written = JsonDocument(json.loads(json.dumps(document_of(reader.schema, reader))))
    require_equal_schemas(written.schema, expected.schema, "written", "golden")
    for ours, theirs in zip(written, expected, strict=True):
        require_equal_batches(ours, theirs, "written", "golden")
