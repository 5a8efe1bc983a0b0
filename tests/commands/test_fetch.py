"""`colkern fetch`: what pyarrow reads from the target is what was served."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from colkern.dissociated import Server, serve

Run = Callable[..., tuple[int, str, str]]

TABLE = pa.table({"id": [1, 2, 3, 4], "name": ["a", None, "é", ""]})


@pytest.fixture
def server() -> Iterator[Server]:
    sources = {"t": TABLE.to_batches(max_chunksize=3), "words": [words("a", "b"), words("c")]}
    with serve(sources, token="secret") as result:
        yield result


def words(*values: str) -> pa.RecordBatch:
    """A batch with a dictionary of its own."""
    return pa.record_batch({"word": pa.array(values).dictionary_encode()})


def fetched(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    make = pa.ipc.open_stream if path.suffix == ".arrows" else pa.ipc.open_file
    return make(pa.memory_map(str(path))).read_all()


@pytest.mark.parametrize(
    ("name", "format_"), [("o.arrow", "file"), ("o.arrows", "stream"), ("o.parquet", "parquet")]
)
def test_into_a_file(name: str, format_: str, server: Server, run: Run, tmp_path: Path) -> None:
    target = tmp_path / name
    status, out, err = run("fetch", server.uri, "t", "-o", target, "--token", "secret")
    assert (status, err) == (0, "")
    assert out == f"{target}: record batches: 2, rows: 4; 384 B in bodies\n"
    assert fetched(target) == TABLE


def test_some_columns(server: Server, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "o.arrow"
    message = run(
        "fetch", server.uri, "t", "-o", target, "--token", "secret", "--columns", "name,id"
    )
    assert message[0] == 0
    assert fetched(target) == TABLE.select(["name", "id"])


def test_without_a_target_the_schema_and_the_counts(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_TOKEN", "secret")
    service = server.uri.partition("?")[0]
    counts = f"{service}: record batches: 2, rows: 4; 384 B in bodies\n"
    assert run("fetch", server.uri, "t") == (0, f"id: int64\nname: string\n{counts}", "")


@pytest.mark.parametrize("terminal", [True, False])
def test_standard_output_is_a_stream_and_the_line_is_on_a_terminal_alone(
    terminal: bool, server: Server
) -> None:
    ours, theirs = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "colkern.cli", "fetch", server.uri, "t", "-o", "-"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200", "COLKERN_TOKEN": "secret"},
    )
    os.close(theirs)
    out, _ = process.communicate(timeout=60)
    message = os.read(ours, 65536) if terminal else os.fdopen(ours, "rb").read()
    assert process.returncode == 0
    assert pa.ipc.open_stream(out).read_all() == TABLE
    assert bool(message) == terminal


SOUND = ["{uri}", "t", "--token", "secret"]


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["{uri}", "t"], 1, "{service}: the server reports: InvalidArrowError: the client's token"),
        (
            ["{uri}", "u", "--token", "secret"],
            1,
            "{service}: the server reports: KeyError: nothing",
        ),
        (["{closed}", "t"], 1, "tcp://127.0.0.1:{port}: Connection refused"),
        (["tcp://127.0.0.1:1"], 2, "URI 'tcp://127.0.0.1:1': want_data is missing"),
        (["gopher://x?want_data=1"], 2, "uri: scheme 'gopher'; colkern has "),
        ([*SOUND, "--columns", "id,no"], 2, "--columns: "),
        ([*SOUND, "-o", "{folder}/o.txt"], 2, "{folder}/o.txt: the suffix is none of "),
        ([*SOUND, "-o", "{folder}/no/o.arrow"], 1, "{folder}/no/o.arrow: No such file"),
        (
            ["{uri}", "words", "--token", "secret", "-o", "{folder}/o.arrow"],
            1,
            "{folder}/o.arrow: ",
        ),
    ],
)
def test_what_cannot_be_fetched_is_said_in_one_line(
    words: list[str], status: int, complaint: str, server: Server, run: Run, tmp_path: Path
) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        names = {
            "uri": server.uri,
            "service": server.uri.partition("?")[0],
            "port": port,
            "closed": f"tcp://127.0.0.1:{port}?want_data=1",
            "folder": tmp_path,
        }
        result, out, err = run("fetch", *(word.format(**names) for word in words))
    assert (result, out, err.count("\n")) == (status, "", 1)
    assert err.startswith("colkern: " + complaint.format(**names))
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_says_nothing_is_left_after_the_time_out(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        status, out, err = run("fetch", f"{uri}?want_data=1", "--timeout", "0.1")
    assert (status, out) == (1, "")
    assert err.startswith(f"colkern: {uri}: nothing has come for 0.1 s")
