"""`colkern validate`: files, folders, standard input; 0 all valid, 1 any bad, 2 bad use."""

from __future__ import annotations

import os
import pty
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

TABLE = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})


def test_it_counts_what_it_has_checked(write: Write, run: Run) -> None:
    path = write("t.arrow", TABLE, rows=2)
    assert run("validate", path) == (0, f"{path}: valid; record batches: 2, rows: 3\n", "")


def test_each_bad_file_is_one_line_with_its_place(
    write: Write, run: Run, bad_text: Path, tmp_path: Path
) -> None:
    good, cut, missing = write("t.arrow", TABLE), write("cut.arrow", TABLE), tmp_path / "missing"
    cut.write_bytes(cut.read_bytes()[:-20])
    status, out, err = run("validate", bad_text, good, cut, missing)
    assert status == 1
    assert out == f"{good}: valid; record batches: 1, rows: 3\n"
    text, file, absent = err.splitlines()
    assert text.startswith(f"colkern: {bad_text}, batch 0, name")
    assert file.startswith(f"colkern: {cut}, byte")
    assert absent == f"colkern: {missing}: No such file or directory"


def test_the_documents(write: Write, documents: Documents, bad_text: Path, tmp_path: Path) -> None:
    good, missing = write("t.arrows", TABLE, rows=2), tmp_path / "missing"
    valid, invalid, unreadable = documents("validate", "--json", good, bad_text, missing, status=1)
    assert valid == {
        "file": str(good),
        "status": "valid",
        "format": "stream",
        "record_batches": 2,
        "rows": 3,
        "error": None,
    }
    assert (invalid["status"], invalid["format"], invalid["rows"]) == ("invalid", "file", 0)
    assert invalid["error"].startswith(f"{bad_text}, batch 0, name")
    assert (unreadable["status"], unreadable["format"]) == ("unreadable", None)


def test_a_folder_stands_for_the_arrow_files_below_it(
    write: Write, run: Run, tmp_path: Path
) -> None:
    names = ["b.arrow", "a.arrows", "deep/er/c.feather"]
    for name in names:
        write(f"folder/{name}", TABLE)
    (tmp_path / "folder/notes.txt").write_text("not looked at")
    status, out, err = run("validate", tmp_path / "folder")
    assert (status, err) == (0, "")
    shown = [line.partition(": ")[0] for line in out.splitlines()]
    assert shown == [str(tmp_path / "folder" / name) for name in sorted(names)]


def test_a_folder_without_arrow_files_is_wrong_use(run: Run, tmp_path: Path) -> None:
    status, out, err = run("validate", tmp_path)
    assert (status, out) == (2, "")
    assert (
        err
        == f"colkern: {tmp_path}: no .arrow, .feather, .ipc, .arrows, .stream files in this folder\n"
    )


def test_an_empty_folder_among_others_is_one_that_cannot_be_read(
    write: Write, run: Run, documents: Documents, tmp_path: Path
) -> None:
    path, empty = write("folder/a.arrow", TABLE), tmp_path / "empty"
    empty.mkdir()
    status, out, err = run("validate", empty, path)
    assert (status, out.partition(": ")[0]) == (1, str(path))
    assert (
        err
        == f"colkern: {empty}: no .arrow, .feather, .ipc, .arrows, .stream files in this folder\n"
    )
    read = documents("validate", "--json", empty, path, status=1)
    assert [each["status"] for each in read] == ["unreadable", "valid"]


def test_quick_looks_at_no_content(write: Write, run: Run, bad_text: Path) -> None:
    assert run("validate", "--quick", bad_text)[0] == 0
    assert run("validate", bad_text)[0] == 1
    packed = write("p.arrow", TABLE, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    data = packed.read_bytes()
    # A frame that does not decompress is found all the same.
    packed.write_bytes(data.replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"))
    assert run("validate", "--quick", packed)[0] == 1


def test_quick_needs_no_compiler(write: Write) -> None:
    code = "import sys; from colkern.cli import main; main(sys.argv[1:]); print('numba' in sys.modules)"
    words = [sys.executable, "-c", code, "validate", "--quick", str(write("t.arrow", TABLE))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nFalse\n")


def test_standard_input_beside_a_file(write: Write) -> None:
    path = write("t.arrows", TABLE)
    done = subprocess.run(
        [sys.executable, "-m", "colkern.cli", "validate", "-", path],
        input=path.read_bytes(),
        capture_output=True,
        timeout=120,
    )
    counts = "valid; record batches: 1, rows: 3"
    assert done.stdout.decode() == f"-: {counts}\n{path}: {counts}\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_alone(terminal: bool, write: Write, bad_text: Path) -> None:
    path = write("t.arrow", TABLE, rows=1)
    ours, theirs = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "colkern.cli", "validate", str(path), str(bad_text)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    message = read_all(ours)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    # The lines of standard output do not go through the bar.
    assert out.decode() == f"{path}: valid; record batches: 3, rows: 3\n"
    assert f"colkern: {bad_text}, batch 0, name".encode() in message
    assert ("━".encode() in message) == terminal
    assert (b"\x1b" in message) == terminal


def read_all(descriptor: int) -> bytes:
    if not os.isatty(descriptor):
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            # How Linux says that the other end of a terminal has gone.
            part = b""
        if not part:
            os.close(descriptor)
            return b"".join(parts)
        parts.append(part)


def test_rules_that_old_writers_broke_are_left_out(run: Run, bad_text: Path) -> None:
    assert run("validate", bad_text)[0] == 1
    assert run("validate", "--skip", "utf8", "--skip", "dates", bad_text)[0] == 0
    status, _, err = run("validate", "--skip", "text", bad_text)
    assert status == 2
    assert err.startswith("colkern: --skip: no rule is called 'text'; there are dates, ")
