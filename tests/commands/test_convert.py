"""`colkern convert`: what pyarrow reads from the target is what it reads from the source."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Run = Callable[..., tuple[int, str, str]]
Documents = Callable[..., list[Any]]
Write = Callable[..., Path]

WORDS = pa.array(["x", None, "y", "x", "y", "x", None]).dictionary_encode()
TABLE = pa.table(
    [
        pa.array([1, None, 3, 4, 5, 6, 7]),
        pa.array(["a", None, "ccc", "", "é", "f", "g"]),
        WORDS,
        pa.StructArray.from_arrays([WORDS, pa.array(range(7))], ["word", "n"]),
        pa.array([[1, 2], None, [], [3], [None], [4], [5, 6]]),
        pa.array([True, None] * 3 + [False]),
    ],
    pa.schema(
        [
            pa.field("number", pa.int64(), metadata={"unit": "m"}),
            pa.field("text", pa.string()),
            pa.field("word", WORDS.type),
            pa.field("nested", pa.struct([("word", WORDS.type), ("n", pa.int64())])),
            pa.field("list", pa.list_(pa.int64())),
            pa.field("flag", pa.bool_()),
        ],
        {"made": "by hand"},
    ),
)
# pyarrow does not read nested dictionaries from several row groups.
FLAT = TABLE.select(["number", "text", "word", "list", "flag"])
ARROW = ["t.arrow", "t.arrows"]


def opened(path: Path) -> Any:
    make = pa.ipc.open_stream if path.suffix in (".arrows", ".stream") else pa.ipc.open_file
    return make(pa.memory_map(str(path)))


def same(path: Path, expected: pa.Table) -> None:
    table = opened(path).read_all()
    assert table.schema.equals(expected.schema, check_metadata=True)
    table.validate(full=True)
    assert table.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("source", ARROW)
@pytest.mark.parametrize("target", ["to.arrow", "to.ARROWS", "to.feather", "to.ipc", "to.stream"])
def test_between_arrow_formats(
    source: str, target: str, write: Write, run: Run, tmp_path: Path
) -> None:
    path, actual = write(source, TABLE, rows=3), tmp_path / target
    format_ = "stream" if target.lower().endswith("s") or "stream" in target else "file"
    assert run("convert", path, actual) == (
        0,
        f"{actual}: {format_}; record batches: 3, rows: 7\n",
        "",
    )
    assert (actual.read_bytes()[:6] == b"ARROW1") == (format_ == "file")
    same(actual.rename(tmp_path / f"made.{'arrows' if format_ == 'stream' else 'arrow'}"), TABLE)


@pytest.mark.parametrize(
    ("words", "codec"),
    [("none", None), ("lz4", "lz4"), ("lz4:9", "lz4"), ("zstd", "zstd"), ("zstd:-5", "zstd")],
)
def test_codecs(
    words: str, codec: str | None, write: Write, run: Run, documents: Documents, tmp_path: Path
) -> None:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    path, result = write("t.arrow", TABLE, options=options), tmp_path / "to.arrows"
    assert run("convert", path, result, f"--compression={words}")[0] == 0
    same(result, TABLE)
    (document,) = documents("info", "--json", result)
    assert [batch["compression"] for batch in document["record_batches"]] == [codec]


def test_a_file_in_place_of_itself(write: Write, run: Run, tmp_path: Path) -> None:
    path = write("t.arrow", TABLE)
    assert run("convert", path, path, "--compression", "zstd")[0] == 0
    same(path, TABLE)
    assert list(tmp_path.iterdir()) == [path]


def test_custom_metadata_of_batches_and_footer(
    run: Run, documents: Documents, tmp_path: Path
) -> None:
    source, result = tmp_path / "t.arrow", tmp_path / "to.arrow"
    batch = TABLE.to_batches()[0]
    with pa.ipc.new_file(source, batch.schema, metadata={"foot": "note"}) as writer:
        writer.write_batch(batch, custom_metadata={"k": "1"})
        writer.write_batch(batch)
    assert run("convert", source, result)[0] == 0
    (document,) = documents("info", "--json", result)
    assert document["footer_metadata"] == {"foot": "note"}
    assert [each["metadata"] for each in document["record_batches"]] == [{"k": "1"}, {}]


def test_a_shared_dictionary_stays_shared(
    write: Write, run: Run, documents: Documents, tmp_path: Path
) -> None:
    """pyarrow gives each field its own; colkern's writer is told to share one."""
    import colkern.ipc

    source, result = tmp_path / "t.arrows", tmp_path / "to.arrow"
    batch = colkern.ipc.open_file(
        write("words.arrow", pa.table({"a": WORDS, "b": WORDS}))
    ).get_batch(0)
    colkern.ipc.write_stream(source, [batch], dictionary_ids={"a": 4, "b": 4})
    assert run("convert", source, result)[0] == 0
    (document,) = documents("info", "--json", result)
    assert [(d["id"], d["fields"]) for d in document["dictionaries"]] == [(4, ["a", "b"])]
    same(result, opened(source).read_all())


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize("source", ARROW)
def test_batches_of_so_many_rows(
    source: str, rows: int, write: Write, run: Run, tmp_path: Path
) -> None:
    path, result = write(source, TABLE, rows=3), tmp_path / "to.arrow"
    assert run("convert", path, result, "--batch-rows", rows)[0] == 0
    same(result, TABLE)
    reader = opened(result)
    actual = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    assert actual == [rows] * (7 // rows) + [7 % rows] * (7 % rows > 0)


def test_metadata_of_batches_that_are_cut_and_joined(
    run: Run, documents: Documents, tmp_path: Path
) -> None:
    source, result = tmp_path / "t.arrows", tmp_path / "to.arrows"
    batch = pa.record_batch({"a": [1, 2]})
    with pa.ipc.new_stream(source, batch.schema) as writer:
        for value in ("same", "same", "other", "other"):
            writer.write_batch(batch, custom_metadata={"k": value})
    assert run("convert", source, result, "--batch-rows", 3)[0] == 0
    (document,) = documents("info", "--json", result)
    assert [each["metadata"] for each in document["record_batches"]] == [
        {"k": "same"},
        {},
        {"k": "other"},
    ]


def test_batches_without_columns(run: Run, tmp_path: Path) -> None:
    source, result = tmp_path / "t.arrow", tmp_path / "to.arrow"
    batch = pa.record_batch([pa.array([1, 2, 3])], ["a"]).select([])
    with pa.ipc.new_file(source, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    assert run("convert", source, result, "--batch-rows", 4)[0] == 0
    reader = opened(result)
    assert [reader.get_batch(i).num_rows for i in range(2)] == [4, 2]


def test_an_empty_table(write: Write, run: Run, tmp_path: Path) -> None:
    path, result = write("t.arrows", TABLE.slice(0, 0)), tmp_path / "to.arrow"
    assert run("convert", path, result)[0] == 0
    same(result, TABLE.slice(0, 0))


# Dictionaries that change


def growing(*words: list[str]) -> pa.Table:
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(each)) for each in words]
    return pa.table({"d": pa.chunked_array(chunks)})


def test_a_dictionary_that_grows_becomes_deltas_of_a_file(
    write: Write, run: Run, documents: Documents, tmp_path: Path
) -> None:
    path, result = write("t.arrows", growing(["a"], ["a", "b"])), tmp_path / "to.arrow"
    assert run("convert", path, result)[0] == 0
    (dictionary,) = documents("info", "--json", result)[0]["dictionaries"]
    assert (dictionary["deltas"], dictionary["replacements"]) == (1, 0)


def test_a_dictionary_that_is_replaced_has_no_place_in_a_file(
    write: Write, run: Run, tmp_path: Path
) -> None:
    path, result = write("t.arrows", growing(["a"], ["b"])), tmp_path / "to.arrow"
    status, out, err = run("convert", path, result)
    assert (status, out) == (1, "")
    assert err.startswith(f"colkern: {result}: dictionary 0 of 'd': a file can only add")
    assert "or write a stream" in err
    assert list(tmp_path.iterdir()) == [path]
    assert run("convert", path, result, "--to", "stream")[0] == 0


# Standard input and output


def test_a_pipeline(write: Write) -> None:
    path = write("t.arrow", FLAT, rows=3)
    command = [sys.executable, "-m", "colkern.cli", "convert"]
    result = subprocess.run([*command, path, "-"], capture_output=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, b"")
    table = pa.ipc.open_stream(result.stdout).read_all()
    assert table.to_pylist() == FLAT.to_pylist()
    again = subprocess.run(
        [*command, "-", "-", "--to", "file"], input=result.stdout, capture_output=True, timeout=120
    )
    assert pa.ipc.open_file(again.stdout).read_all().to_pylist() == FLAT.to_pylist()
    parquet = subprocess.run(
        [*command, "-", "-", "--to", "parquet"],
        input=result.stdout,
        capture_output=True,
        timeout=120,
    )
    assert pq.read_table(pa.BufferReader(parquet.stdout)).to_pylist() == FLAT.to_pylist()
    back = subprocess.run(
        [*command, "-", "-"], input=parquet.stdout, capture_output=True, timeout=120
    )
    assert pa.ipc.open_stream(back.stdout).read_all().to_pylist() == FLAT.to_pylist()


# Parquet


@pytest.mark.parametrize(
    ("words", "codec"),
    [
        ([], "SNAPPY"),
        (["--compression", "none"], "UNCOMPRESSED"),
        (["--compression", "lz4"], "LZ4"),
        (["--compression", "zstd:3"], "ZSTD"),
    ],
)
def test_to_parquet(words: list[str], codec: str, write: Write, run: Run, tmp_path: Path) -> None:
    path, result = write("t.arrow", FLAT, rows=3), tmp_path / "to.parquet"
    assert run("convert", path, result, *words)[:2] == (
        0,
        f"{result}: parquet; record batches: 3, rows: 7\n",
    )
    file = pq.ParquetFile(result)
    assert file.metadata.num_row_groups == 3
    assert file.metadata.row_group(0).column(0).compression == codec
    table = file.read()
    assert table.to_pylist() == FLAT.to_pylist()
    assert table.schema.metadata[b"made"] == b"by hand"
    assert table.schema.field("number").metadata[b"unit"] == b"m"


@pytest.mark.parametrize("target", ["to.arrow", "to.arrows"])
def test_from_parquet(target: str, run: Run, tmp_path: Path) -> None:
    """Each row group has a dictionary of its own; a file's batches share one."""
    source, result = tmp_path / "data", tmp_path / target
    pq.write_table(FLAT, source, row_group_size=2)
    expected = pq.read_table(source)
    assert run("convert", source, result)[0] == 0
    same(result, expected)


def test_what_parquet_has_no_type_for(write: Write, run: Run, tmp_path: Path) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([1]))
    path, result = write("t.arrow", pa.table({"r": runs})), tmp_path / "to.parquet"
    status, out, err = run("convert", path, result)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"colkern: {result}: Unhandled type")
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_parquet(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.parquet"
    pq.write_table(FLAT, source)
    data = source.read_bytes()
    for bad in (data[:-20], data[:100] + b"\xff" * 100 + data[200:], b"PAR1"):
        source.write_bytes(bad)
        status, out, err = run("convert", source, tmp_path / "to.arrow")
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert err.startswith(f"colkern: {source}: ")
        assert list(tmp_path.iterdir()) == [source]


def test_parquet_without_pyarrow(
    write: Write, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("t.arrow", FLAT)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, out, err = run("convert", path, tmp_path / "to.parquet")
    assert (status, out) == (2, "")
    assert err.startswith("colkern: Parquet: pyarrow is not installed: pip install")
    assert err.endswith("pip install pyarrow\n")
    assert run("convert", path, tmp_path / "to.arrows")[0] == 0


# What goes wrong


@pytest.mark.parametrize("target", ["to.arrow", "to.arrows", "to.parquet"])
def test_a_bad_source_leaves_the_target_as_it_was(
    target: str, write: Write, run: Run, tmp_path: Path
) -> None:
    path, actual = write("t.arrows", TABLE, rows=2), tmp_path / target
    path.write_bytes(path.read_bytes()[:-100])
    actual.write_text("was here before")
    status, out, err = run("convert", path, actual)
    assert (status, out) == (1, "")
    assert err.startswith(f"colkern: {path}, message ")
    assert actual.read_text() == "was here before"
    assert sorted(tmp_path.iterdir()) == sorted([path, actual])


def test_bad_text_is_not_written_on(run: Run, bad_text: Path, tmp_path: Path) -> None:
    """Faults that a reader does not look at pass through; `validate` finds it on either side."""
    result = tmp_path / "to.arrow"
    assert run("convert", bad_text, result)[0] == 0
    assert run("validate", result)[0] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["to.csv"], "to.csv: the suffix is none of .arrow, "),
        (["to"], "to: the suffix is none of"),
        (["to.arrow", "--compression", "gzip"], "--compression: expected none, lz4 or zstd, got"),
        (["to.arrow", "--compression", "zstd:x"], "--compression: the level must be a number"),
        (["to.arrow", "--compression", "zstd:99"], "--compression: compression_level: Zstandard"),
        (["to.arrow", "--compression", "none:1"], "--compression: compression_level: pass"),
        (["to.parquet", "--compression", "lz4:1"], "--compression: lz4 has no levels in Parquet"),
    ],
)
def test_bad_use(
    words: list[str],
    message: str,
    write: Write,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = write("t.arrow", TABLE)
    monkeypatch.chdir(tmp_path)
    status, out, err = run("convert", path, *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"colkern: {message}")
    assert list(tmp_path.iterdir()) == [path]


def test_a_target_that_cannot_be_made(write: Write, run: Run, tmp_path: Path) -> None:
    path = write("t.arrow", TABLE)
    for item in (tmp_path / "no" / "to.arrow", tmp_path / "no" / "to.parquet"):
        status, _, err = run("convert", path, item)
        assert status == 1
        assert "No such file or directory" in err


def test_a_missing_folder_is_said_of_the_target(write: Write, run: Run, tmp_path: Path) -> None:
    path, target = write("t.arrow", TABLE), tmp_path / "no" / "to.arrow"
    assert run("convert", path, target) == (
        1,
        "",
        f"colkern: {target}: No such file or directory\n",
    )
    missing = tmp_path / "missing.arrow"
    assert run("convert", missing, target)[2] == f"colkern: {missing}: No such file or directory\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_said_of_the_target(write: Write, run: Run) -> None:
    path = write("t.arrow", TABLE)
    assert run("convert", path, "/dev/full", "--to", "stream") == (
        1,
        "",
        "colkern: /dev/full: No space left on device\n",
    )


def test_a_read_error_is_said_of_the_source(
    write: Write, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colkern import ipc

    def fail(reader: Any) -> Any:
        raise OSError(5, "Input/output error")

    path = write("t.arrow", TABLE)
    monkeypatch.setattr(ipc.FileReader, "__iter__", lambda reader: iter(lambda: fail(reader), None))
    message = run("convert", path, tmp_path / "to.arrow")[2]
    assert message == f"colkern: {path}: Input/output error\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_reader_of_a_named_pipe_that_leaves(write: Write, run: Run, tmp_path: Path) -> None:
    """Of standard output a reader may leave: `| head`. A target that was named is not whole."""
    path = write("t.arrow", pa.table({"x": range(1_000_000)}))
    target = tmp_path / "pipe"
    os.mkfifo(target)

    def leave() -> None:
        with target.open("rb") as pipe:
            pipe.read(1)

    reader = threading.Thread(target=leave)
    reader.start()
    assert run("convert", path, target, "--to", "stream") == (
        1,
        "",
        f"colkern: {target}: Broken pipe\n",
    )
    reader.join()
