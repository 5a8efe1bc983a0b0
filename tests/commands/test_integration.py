"""`colkern integration`: its modes, its files and standard streams, its exit status."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from integration.generate import generate
from integration.oracle import values_in_arrow, values_in_json

from colkern.cli import main
from colkern.commands.failures import BAD_DATA, BAD_USE
from colkern.commands.integration import add_command
from colkern.integration.conversions import QUIRKS, json_to_file

Output = pytest.CaptureFixture[str]


@pytest.fixture
def document() -> dict[str, Any]:
    return generate("nested", 0)


@pytest.fixture
def json_path(document: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def arrow_path(json_path: Path, tmp_path: Path) -> Path:
    path = tmp_path / "case.arrow"
    json_to_file(json_path, path)
    return path


def integration(*words: object) -> int:
    return main(["integration", *map(str, words)])


def run(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "colkern.cli", "integration", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


def values_of(reader: Any) -> list[Any]:
    return [[values_in_arrow(column) for column in batch.columns] for batch in reader]


def batches_of(reader: pa.RecordBatchFileReader) -> list[pa.RecordBatch]:
    return [reader.get_batch(i) for i in range(reader.num_record_batches)]


def test_json_to_arrow_writes_a_file(
    json_path: Path, document: dict[str, Any], tmp_path: Path, capsys: Output
) -> None:
    zipped, file = tmp_path / "case.json.gz", tmp_path / "out.arrow"
    zipped.write_bytes(gzip.compress(json_path.read_bytes()))
    assert integration("--mode", "json-to-arrow", "--json", zipped, "--arrow", file) == 0
    with pa.ipc.open_file(file) as reader:
        assert values_of(batches_of(reader)) == values_in_json(document)
    assert capsys.readouterr() == ("", "")


def test_without_a_path_bytes_go_through_the_standard_streams(
    json_path: Path, document: dict[str, Any]
) -> None:
    file = run("--mode", "json-to-arrow", "--json", json_path).stdout
    stream = run("--mode", "file-to-stream", stdin=file).stdout
    expected = values_in_json(document)
    assert values_of(pa.ipc.open_stream(stream)) == expected
    back = run("--mode", "stream-to-file", stdin=stream).stdout
    assert values_of(batches_of(pa.ipc.open_file(io.BytesIO(back)))) == expected
    done = run("--mode", "validate", "--json", json_path, stdin=stream)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    written = run("--mode", "arrow-to-json", stdin=back).stdout
    assert values_in_json(json.loads(written)) == expected


class Standard:
    """A standard stream of bytes."""

    def __init__(self, data: bytes = b"") -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False


def test_the_path_is_that_of_the_file(
    arrow_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, back = Standard(), tmp_path / "back.arrow"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        conversion: Any = argparse.ArgumentParser()
        add_command(conversion.add_subparsers())
        words = ["integration", "--mode", "file-to-stream", "--arrow", str(arrow_path)]
        options = conversion.parse_args(words)
        options.run(options)
    monkeypatch.setattr(sys, "stdin", Standard(out.buffer.getvalue()))
    assert integration("--mode", "stream-to-file", "--arrow", back) == 0
    with pa.ipc.open_file(back) as a, pa.ipc.open_file(arrow_path) as b:
        assert a.read_all().equals(b.read_all())


def test_every_quirk_is_one_of_the_command(json_path: Path, arrow_path: Path) -> None:
    quirks = [word for quirk in QUIRKS for word in ("--quirk", quirk)]
    assert (
        integration("--mode", "validate", "--json", json_path, "--arrow", arrow_path, *quirks) == 0
    )


def test_arrow_to_json(arrow_path: Path, document: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert integration("--mode", "arrow-to-json", "--arrow", arrow_path, "--json", out) == 0
    assert values_in_json(json.loads(out.read_bytes())) == values_in_json(document)


# What is different


def test_a_difference_is_one_line_with_its_place(
    arrow_path: Path, document: dict[str, Any], tmp_path: Path, capsys: Output
) -> None:
    column = document["batches"][1]["columns"][2]
    column["VALIDITY"] = [1] * 10
    column["children"][0]["VALIDITY"] = [1] * 10
    column["children"][0]["DATA"] = list(range(10))
    json_path, arrow = tmp_path / "a.json", tmp_path / "a.arrow"
    json_path.write_text(json.dumps(document))
    json_to_file(json_path, arrow)
    column["children"][0]["DATA"][7] = -1
    json_path.write_text(json.dumps(document))
    assert integration("--mode", "validate", "--json", json_path, "--arrow", arrow) == BAD_DATA
    assert capsys.readouterr().err == (
        "colkern: batch 1, column 'struct_nullable.f1', row 7: "
        "-1 in the JSON, 7 in the Arrow data\n"
    )


def test_another_number_of_batches(
    arrow_path: Path, document: dict[str, Any], tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "other.json"
    batches = document["batches"]
    for count, others in ((1, batches[:1]), (3, [*batches, batches[0]])):
        path.write_text(json.dumps(document | {"batches": others}))
        assert integration("--mode", "validate", "--json", path, "--arrow", arrow_path) == BAD_DATA
        errors = capsys.readouterr().err
        assert errors == f"colkern: {count} batches in the JSON, 2 in the Arrow data\n"


def test_data_that_is_invalid_although_it_says_the_same(tmp_path: Path, capsys: Output) -> None:
    """A null count is no value: only validation sees that it is wrong."""
    type_ = {"name": "int", "bitWidth": 8, "isSigned": True}
    field = {"name": "n", "nullable": True, "type": type_, "children": []}
    column = {"name": "n", "count": 2, "VALIDITY": [1, 0], "DATA": [1, 0]}
    batches = [{"count": 2, "columns": [column]}]
    document = {"schema": {"fields": [field]}, "batches": batches}
    json_path, arrow = tmp_path / "a.json", tmp_path / "a.arrow"
    json_path.write_text(json.dumps(document))
    bitmap, data = pa.py_buffer(b"\x01"), pa.py_buffer(b"\1\0")
    array = pa.Array.from_buffers(pa.int8(), 2, [bitmap, data], null_count=2)
    batch = pa.record_batch({"n": array})
    with pa.ipc.new_file(arrow, batch.schema) as writer:
        writer.write_batch(batch)
    assert integration("--mode", "validate", "--json", json_path, "--arrow", arrow) == BAD_DATA
    errors = capsys.readouterr().err
    assert errors == f"colkern: {arrow}, batch 0, n: null count 2, the bitmap has 1\n"


def test_bad_data_names_the_file(arrow_path: Path, json_path: Path, capsys: Output) -> None:
    assert integration("--mode", "json-to-arrow", "--json", arrow_path) == BAD_DATA
    assert capsys.readouterr().err.startswith(f"colkern: {arrow_path}: not a JSON file")
    assert integration("--mode", "file-to-stream", "--arrow", json_path) == BAD_DATA
    assert capsys.readouterr().err.startswith(f"colkern: {json_path}: neither an Arrow file")
    assert integration("--mode", "validate", "--json", "no", "--arrow", arrow_path) == BAD_DATA
    assert capsys.readouterr().err == "colkern: no: No such file or directory\n"


def test_a_stream_that_a_file_cannot_hold() -> None:
    stream = io.BytesIO()
    batches = [pa.record_batch({"d": pa.array([v]).dictionary_encode()}) for v in ("a", "b")]
    with pa.ipc.new_stream(stream, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    done = run("--mode", "stream-to-file", stdin=stream.getvalue())
    assert done.returncode == BAD_DATA
    assert b"dictionary" in done.stderr
    assert done.stderr.count(b"\n") == 1


# Wrong use


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--mode"),
        (["--mode", "x"], "invalid choice: 'x'"),
        (["--mode", "validate"], "--mode validate needs --json"),
        (["--mode", "json-to-arrow"], "--mode json-to-arrow needs --json"),
        (["--mode", "stream-to-file", "--json", "x"], "--mode stream-to-file takes no --json"),
        (
            ["--mode", "json-to-arrow", "--json", "x", "--quirk", "no_times_validate"],
            "--quirk goes with --mode validate",
        ),
        (["--mode", "validate", "--json", "x", "--quirk", "y"], "invalid choice: 'y'"),
    ],
)
def test_wrong_use(words: list[str], message: str, capsys: Output) -> None:
    assert integration(*words) == BAD_USE
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("stream", ["0<&-", "1>&-"], ids=["input", "output"])
def test_a_standard_stream_that_is_closed(stream: str, json_path: Path) -> None:
    mode = "file-to-stream" if stream == "0<&-" else "json-to-arrow"
    words = [sys.executable, "-m", "colkern.cli", "integration", "--mode", mode]
    if mode == "json-to-arrow":
        words += ["--json", str(json_path)]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}', "sh", *words],
        capture_output=True,
        timeout=120,
        check=False,
    )
    which = b"input" if stream == "0<&-" else b"output"
    assert (done.returncode, done.stdout) == (BAD_USE, b"")
    assert done.stderr.startswith(b"colkern: standard %s is closed" % which)


# Start-up


def test_reading_either_side_compiles_nothing(arrow_path: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from colkern.cli import main; status = main(sys.argv[1:]);"
        "print(status, [m for m in ('numba', 'llvmlite', 'pyarrow', 'rich') if m in sys.modules])"
    )
    words = ["--mode", "arrow-to-json", "--arrow", arrow_path, "--json", tmp_path / "out.json"]
    done = subprocess.run(
        [sys.executable, "-c", code, "integration", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "0 []\n"


# Files and standard streams as of the other commands


def test_a_dash_stands_for_the_standard_streams(
    json_path: Path, arrow_path: Path, document: dict[str, Any]
) -> None:
    expected = values_in_json(document)
    raw = json_path.read_bytes()
    file = run("--mode", "json-to-arrow", "--json", "-", "--arrow", "-", stdin=raw).stdout
    assert values_of(batches_of(pa.ipc.open_file(io.BytesIO(file)))) == expected
    written = run("--mode", "arrow-to-json", "--arrow", arrow_path, "--json", "-").stdout
    assert values_in_json(json.loads(written)) == expected
    words = ["--mode", "validate", "--json", "-", "--arrow", arrow_path]
    assert run(*words, stdin=raw).returncode == 0
    done = run("--mode", "validate", "--json", "-", stdin=raw)
    assert done.returncode == BAD_USE
    assert b"only one of them can be standard input" in done.stderr


def test_no_bytes_for_a_terminal(json_path: Path) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    words = ["integration", "--mode", "json-to-arrow", "--json", str(json_path)]
    done = subprocess.run(
        [sys.executable, "-m", "colkern.cli", *words],
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == BAD_USE
    assert b"standard output is a terminal" in done.stderr


def test_errors_name_what_the_user_named(
    json_path: Path, arrow_path: Path, tmp_path: Path, capsys: Output
) -> None:
    target = tmp_path / "no" / "to.arrow"
    words = ["--mode", "json-to-arrow", "--json", json_path, "--arrow", target]
    assert integration(*words) == BAD_DATA
    assert capsys.readouterr().err == f"colkern: {target}: No such file or directory\n"
    target = tmp_path / "no" / "to.json"
    words = ["--mode", "arrow-to-json", "--arrow", arrow_path, "--json", target]
    assert integration(*words) == BAD_DATA
    assert capsys.readouterr().err == f"colkern: {target}: No such file or directory\n"
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert integration("--mode", "json-to-arrow", "--json", deep, "--arrow", "no") == BAD_DATA
    assert capsys.readouterr().err.startswith(f"colkern: {deep}: the JSON nests deeper")


def test_the_quirks_of_the_command_are_those_of_the_conversions(capsys: Output) -> None:
    assert integration("--mode", "validate", "--json", "x", "--quirk", "y") == BAD_USE
    assert set(re.findall(r"no_\w+", capsys.readouterr().err)) == set(QUIRKS)
