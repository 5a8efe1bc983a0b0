"""The `colkern` command: what it prints, and one line and a status where it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import colkern
from colkern.cli import main
from colkern.commands.failures import BAD_DATA, BAD_USE


@pytest.fixture
def arrow_file(tmp_path: Path) -> Path:
    path = tmp_path / "table.arrow"
    table = pa.table({"id": [1, 2, 3], "name": ["a", None, "[red]c"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return path


Output = pytest.CaptureFixture[str]


def test_version(capsys: Output) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"colkern {colkern.__version__}\n"


def test_info_names_the_versions_and_the_cache(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path))
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert colkern.__version__ in out
    assert str(tmp_path) in out


def test_schema(arrow_file: Path, capsys: Output) -> None:
    assert main(["schema", str(arrow_file)]) == 0
    assert capsys.readouterr().out == "id: int64\nname: string\n"


def test_a_stream_from_standard_input(arrow_file: Path) -> None:
    sink = pa.BufferOutputStream()
    table = pa.ipc.open_file(arrow_file).read_all()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    done = run("validate", "-", stdin=sink.getvalue().to_pybytes())
    assert done.stdout == b"-: valid; record batches: 2, rows: 3\n"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "table.arrow"
    table = pa.table({"a\x1b[2J\nb": ["c\x1b[31m\nd"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    assert main(["schema", str(path)]) == 0
    assert capsys.readouterr().out == "a\\x1b[2J\\nb: string\n"
    assert main(["head", str(path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"a\x1b[2J\nb" in out
    assert r"c\x1b[31m\nd" in out


@pytest.mark.parametrize("stream", ["0<&-", "1>&-"], ids=["input", "output"])
def test_a_standard_stream_that_is_closed(stream: str, arrow_file: Path) -> None:
    file, status, message = {
        "0<&-": ("-", BAD_USE, b"colkern: standard input is closed\n"),
        "1>&-": (str(arrow_file), 0, b""),
    }[stream]
    words = [sys.executable, "-m", "colkern.cli", "schema", file]
    # A shell closes it: subprocess can only leave it open or redirect it.
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}', "sh", *words],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (status, message)


def test_control_characters_do_not_reach_standard_error(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "bad.arrow"
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    batch = pa.record_batch({"a\x1b[2J": text})
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    status, message = fails(capsys, "validate", str(path))
    assert status == BAD_DATA
    assert "\x1b" not in message
    assert r"a\x1b[2J" in message


@pytest.mark.parametrize("command", ["schema", "head"])
def test_an_output_that_cannot_spell_a_name_gets_its_escape(command: str, tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    table = pa.table({"größe": ["ü"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    done = subprocess.run(
        [sys.executable, "-m", "colkern.cli", command, str(path)],
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"gr\xf6\xdfe" in done.stdout


def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "colkern", *words],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )


# What goes wrong


def fails(capsys: Output, *words: str) -> tuple[int, str]:
    status = main(list(words))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("colkern: ")
    assert captured.err.count("\n") == 1
    return status, captured.err


@pytest.mark.parametrize("command", ["schema", "info", "head", "validate"])
def test_a_text_file(command: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no Arrow in here\n")
    status, message = fails(capsys, command, str(path))
    assert status == BAD_DATA
    assert f"{path}: neither an Arrow file nor a stream" in message


@pytest.mark.parametrize("command", ["schema", "info", "head", "validate"])
def test_an_empty_file(command: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "empty.arrow"
    path.touch()
    status, message = fails(capsys, command, str(path))
    assert status == BAD_DATA
    assert "empty" in message


@pytest.mark.parametrize("command", ["schema", "info", "head", "validate"])
def test_a_truncated_file(command: str, arrow_file: Path, capsys: Output) -> None:
    arrow_file.write_bytes(arrow_file.read_bytes()[:-20])
    status, message = fails(capsys, command, str(arrow_file))
    assert status == BAD_DATA
    assert str(arrow_file) in message


def test_a_missing_file_and_a_folder(tmp_path: Path, capsys: Output) -> None:
    missing = tmp_path / "missing.arrow"
    expected = (BAD_DATA, f"colkern: {missing}: No such file or directory\n")
    assert fails(capsys, "schema", str(missing)) == expected
    assert fails(capsys, "schema", str(tmp_path)) == (
        BAD_DATA,
        f"colkern: {tmp_path}: Is a directory\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["frobnicate"],
        ["schema"],
        ["head", "-n", "0", "file"],
        ["validate"],
        ["convert", "only-one"],
        ["convert", "a", "b", "--to", "csv"],
        ["convert", "a", "b", "--batch-rows", "0"],
        ["demo", "--rows", "-1"],
        ["demo", "--scale", "nan"],
        ["demo", "--rows", "1", "--scale", "1"],
    ],
)
def test_bad_use(words: list[str], capsys: Output) -> None:
    status, message = fails(capsys, *words)
    assert status == BAD_USE
    assert "--help" in message


@pytest.mark.parametrize(
    "words", [["schema"], ["info"], ["head"], ["head", "--json"], ["validate"]]
)
def test_a_reader_that_goes_away_is_no_error(words: list[str], arrow_file: Path) -> None:
    command = [sys.executable, "-m", "colkern.cli", *words, str(arrow_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_help_imports_no_numba() -> None:
    code = (
        "import sys; from colkern import cli; cli.command_parser(cli.COMMANDS);"
        "print({'numba', 'rich', 'pyarrow', 'colkern.ipc'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("words", "needless"),
    [
        (["info", "--json"], {"numba", "rich", "pyarrow"}),
        (["info"], {"numba", "pyarrow"}),
        (["schema"], {"numba", "rich", "pyarrow"}),
        (["head", "--json"], {"numba", "rich", "pyarrow"}),
        (["head"], {"numba", "pyarrow"}),
    ],
)
def test_a_command_imports_what_it_needs(
    words: list[str], needless: set[str], arrow_file: Path
) -> None:
    code = (
        "import sys; from colkern.cli import main; status = main(sys.argv[1:]);"
        f"print(status, {needless} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words, str(arrow_file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "0 set()\n"
