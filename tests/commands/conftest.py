"""Runs the command in this process, and files for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colkern.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Status, standard output and standard error of `colkern` with those words."""

    def run_command(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        return (status, *capsys.readouterr())

    return run_command


@pytest.fixture
def documents(run: Run) -> Callable[..., list[Any]]:
    """The JSON documents that a command prints, one a line."""

    def read(*words: object, status: int = 0) -> list[Any]:
        actual, out, _ = run(*words)
        assert actual == status
        return [json.loads(line) for line in out.splitlines()]

    return read


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a table by pyarrow: a file, or a stream where the name ends with `.arrows`."""

    def write_table(name: str, table: pa.Table, *, rows: int | None = None, **options: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with make(path, table.schema, **options) as writer:
            writer.write_table(table, max_chunksize=rows)
        return path

    return write_table


@pytest.fixture
def bad_text(tmp_path: Path) -> Path:
    """A sound file in which one slot is no UTF-8."""
    path = tmp_path / "bad.arrow"
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    batch = pa.record_batch({"name": text})
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    return path
