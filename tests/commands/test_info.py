"""`colkern info FILE`: as a document, and as tables that fit the terminal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

Run = Callable[..., tuple[int, str, str]]
Documents = Callable[..., list[Any]]
Write = Callable[..., Path]

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "name": ["a", None, "c"],
        "kind": pa.array(["x", None, "x"]).dictionary_encode(),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int16()), pa.array([None])),
    },
    pa.schema(
        [
            pa.field("id", pa.int32(), nullable=False, metadata={"unit": "m"}),
            pa.field("name", pa.string()),
            pa.field("kind", pa.dictionary(pa.int32(), pa.string())),
            pa.field("runs", pa.run_end_encoded(pa.int16(), pa.null())),
        ],
        {"made": "by hand", b"raw": b"\xff"},
    ),
)


def test_the_document_of_a_file(write: Write, documents: Documents) -> None:
    path = write(
        "t.arrow",
        TABLE,
        rows=2,
        options=pa.ipc.IpcWriteOptions(compression="zstd"),
        metadata={"footer": "note"},
    )
    (document,) = documents("info", "--json", path)
    batches, dictionaries = document.pop("record_batches"), document.pop("dictionaries")
    parts = batches + dictionaries
    assert document == {
        "file": str(path),
        "format": "file",
        "size": path.stat().st_size,
        "rows": 3,
        "body_bytes": sum(part["body_bytes"] for part in parts),
        "uncompressed_bytes": sum(part["uncompressed_bytes"] for part in parts),
        "columns": [
            column("id", "int32", 0, nullable=False, metadata={"unit": "m"}),
            column("name", "string", 1),
            column("kind", "dictionary<values=string, indices=int32, ordered=0>", 1, dictionary=0),
            column("runs", "run_end_encoded<run_ends: int16, values: null>", None),
        ],
        "metadata": {"made": "by hand", "raw": "\\xff"},
        "footer_metadata": {"footer": "note"},
    }
    assert [batch.keys() for batch in batches] == 2 * [
        {"rows", "body_bytes", "uncompressed_bytes", "compression", "metadata"}
    ]
    assert [(batch["rows"], batch["compression"]) for batch in batches] == [
        (2, "zstd"),
        (1, "zstd"),
    ]
    (dictionary,) = dictionaries
    # One value: two offsets and one byte of text.
    assert dictionary.pop("uncompressed_bytes") == 9
    assert dictionary.pop("body_bytes") > 0
    assert dictionary == {
        "id": 0,
        "fields": ["kind"],
        "values": 1,
        "batches": 1,
        "deltas": 0,
        "replacements": 0,
    }


def column(name: str, type_: str, null_count: int | None, **others: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"nullable": True, "dictionary": None, "metadata": {}}
    return {"name": name, "type": type_, "null_count": null_count, **usual, **others}


def test_dictionaries_of_a_stream_grow_and_are_replaced(write: Write, documents: Documents) -> None:
    words = [["a", "b"], ["a", "b", "c"], ["z"]]
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(each)) for each in words]
    table = pa.table({"d": pa.chunked_array(chunks)})
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    (document,) = documents("info", "--json", write("d.arrows", table, options=options))
    (dictionary,) = document["dictionaries"]
    counts = [dictionary[key] for key in ("values", "batches", "deltas", "replacements")]
    assert counts == [1, 3, 1, 1]


def test_a_stream_from_standard_input(write: Write) -> None:
    data = write("t.arrows", TABLE).read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "colkern.cli", "info", "-"],
        input=data,
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"-: Arrow IPC stream, {len(data) / 1024:.1f} KiB\n".encode() in done.stdout


def test_a_bad_file_does_not_hide_the_others(
    write: Write, documents: Documents, run: Run, tmp_path: Path
) -> None:
    good, bad = write("t.arrow", TABLE), tmp_path / "notes.txt"
    bad.write_text("no Arrow in here")
    assert [d["file"] for d in documents("info", "--json", bad, good, status=1)] == [str(good)]
    status, out, err = run("info", good, bad)
    assert status == 1
    assert str(good) in out
    assert err.startswith(f"colkern: {bad}: neither an Arrow file nor a stream")
    assert err.count("\n") == 1


def test_parquet_is_named_as_such_with_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1PAR1")
    assert run("info", path) == (
        1,
        "",
        f"colkern: {path}: Parquet data, not an Arrow IPC file or stream: "
        "colkern.read_parquet reads it, and `colkern convert` makes an Arrow file of it\n",
    )


@pytest.mark.parametrize("width", [80, 60])
def test_tables_fit_the_terminal(
    width: int, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = pa.struct([(f"a_long_name_{i}", pa.int64()) for i in range(20)])
    columns = {"x" * 100: pa.array([1]), "s": pa.nulls(1, long), "n": pa.nulls(1)}
    path = write("t.arrow", pa.table(columns))
    for words in (["info"], ["info", "--all"]):
        status, out, _ = run(*words, path)
        assert status == 0
        tables = [line for line in out.splitlines() if line[0] in "┏┃┡│└"]
        assert max(map(len, tables)) <= width
        assert ("…" in out) == (len(words) == 1)


def test_numbers_are_never_cut(write: Write, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    path = write("t.arrow", pa.table({"a name of some length, it is" * 3: pa.nulls(1234567)}))
    assert "1,234,567" in run("info", path)[1]


def test_a_wide_schema_is_cut_with_a_note(write: Write, run: Run, documents: Documents) -> None:
    path = write("t.arrow", pa.table({f"c{i}": [i] for i in range(10_000)}))
    _, out, _ = run("info", path)
    assert "… 9,960 more columns: --all shows them" in out
    assert "c39" in out
    assert "c40" not in out
    assert len(documents("info", "--json", path)[0]["columns"]) == 10_000


def test_many_batches_are_cut_with_a_note(write: Write, run: Run) -> None:
    path = write("t.arrow", pa.table({"a": range(12)}), rows=1)
    assert "… 2 more batches: --all shows them" in run("info", path)[1]
    _, whole, _ = run("info", "--all", path)
    assert "more batches" not in whole
    assert "│ 11 " in whole


def test_long_metadata_is_cut_but_for_all(write: Write, run: Run) -> None:
    table = pa.table({"a": [1]}).replace_schema_metadata({"k": "v" * 1000, "esc\x1b": "\x1b[2J"})
    path = write("t.arrow", table)
    for words, count in ((["info"], 99), (["info", "--all"], 1000)):
        _, out, _ = run(*words, path)
        assert out.count("v") == count
        assert "\x1b" not in out
        assert r"esc\x1b: \x1b[2J" in out


def test_no_rows_no_columns(write: Write, run: Run, documents: Documents) -> None:
    path = write("t.arrows", pa.table({}))
    status, out, _ = run("info", path)
    assert status == 0
    assert "0 rows, 0 columns, 0 record batches" in out
    assert documents("info", "--json", path)[0]["columns"] == []


def test_without_a_file_the_machine(documents: Documents) -> None:
    (machine,) = documents("info", "--json")
    keys = {"versions", "processor", "cores", "memory_bytes", "system", "cuda", "cache"}
    assert machine.keys() == keys
    assert "numba" in machine["versions"]


@pytest.mark.parametrize("command", ["info", "head", "schema", "validate", "serve"])
def test_names_that_are_no_files(command: str, run: Run) -> None:
    assert run(command, "")[::2] == (2, "colkern: the name of a file is empty\n")
    status, _, error = run(command, "s3://bucket/orders.arrow")
    assert status == 2
    assert error.startswith(
        "colkern: s3://bucket/orders.arrow: a URL, where a local file is expected"
    )


def test_targets_that_are_no_files(write: Write, run: Run) -> None:
    path = write("t.arrow", pa.table({"id": [1]}))
    assert run("convert", path, "s3://bucket/orders.arrow")[0] == 2
    assert run("convert", "", path)[::2] == (2, "colkern: the name of a file is empty\n")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("/dev/null", "the source is empty: there is no schema"),
        ("/dev/zero", "the source starts with the mark of a stream's end: there is no schema"),
    ],
)
def test_character_devices(device: str, message: str, run: Run) -> None:
    assert run("info", device) == (1, "", f"colkern: {device}: {message}\n")
