"""`colkern serve`: what a client gets from it, and how it ends."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colkern.dissociated import connect

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]

TABLE = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
OTHER = pa.table({"id": [4, 5]})


@contextlib.contextmanager
def serving(*words: object, **options: Any) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server's process, and the URIs it has printed: one, or two with `--data-uri`."""
    command = [sys.executable, "-m", "colkern.cli", "serve", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as process:
        assert process.stdout is not None
        try:
            lines = 2 if "--data-uri" in words else 1
            yield process, [process.stdout.readline().rstrip("\n") for _ in range(lines)]
        finally:
            process.kill()


def stopped(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str, str]:
    """Status, and the rest of what it prints."""
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def rows_of(uri: str, identifier: str = "", **options: Any) -> list[dict[str, Any]]:
    with connect(uri, identifier, **options) as reader:
        rows: list[dict[str, Any]] = pa.table(reader).to_pylist()
        return rows


def test_several_files_by_their_names_until_a_signal_comes(write: Write, tmp_path: Path) -> None:
    write("t.arrow", TABLE), write("below/u.arrows", OTHER)
    with serving(tmp_path) as (process, (uri,)):
        assert uri.startswith("tcp://127.0.0.1:")
        assert rows_of(uri, "t.arrow") == TABLE.to_pylist()
        assert rows_of(uri, "u.arrows") == OTHER.to_pylist()
        status, out, err = stopped(process, signal.SIGTERM)
    sent = "sent: {} B in packed bodies; announced: 0 B, of which copied: 0 B\n"
    # Each buffer on 64 bytes: two and one of `id`, validity, offsets and data of `name`.
    assert (status, out, err) == (0, sent.format(5 * 64), "")


def test_files_are_mapped_by_clients_of_shared_memory(write: Write, tmp_path: Path) -> None:
    path, socket = write("t.arrow", TABLE), tmp_path / "service"
    with serving(path, "--uri", f"shm://{socket}") as (process, (uri,)):
        assert uri.startswith(f"shm://{socket}?want_data=")
        # A file that is alone is what clients get, whatever they ask for.
        assert rows_of(uri) == TABLE.to_pylist()
        status, out, _ = stopped(process, signal.SIGINT)
    assert status == 0
    assert out.startswith("sent: 0 B in packed bodies; announced: ")
    assert out.endswith(" of which copied: 0 B\n")
    assert not socket.exists()


def test_two_services_a_token_and_a_codec(write: Write) -> None:
    words = [write("t.arrow", TABLE), "--data-uri", "tcp:", "--compression", "zstd"]
    with serving(*words, env=os.environ | {"COLKERN_TOKEN": "secret"}) as (_, (uri, data_uri)):
        assert uri != data_uri
        assert rows_of(uri, data_uri=data_uri, token="secret") == TABLE.to_pylist()
        with pytest.raises(OSError, match="token"):
            rows_of(uri, data_uri=data_uri, token="guess")


def test_a_line_on_a_terminal_says_what_is_under_way(write: Write) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "colkern.cli", "serve", str(write("t.arrow", TABLE))],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    message, begin = b"", time.monotonic()
    while b"serving 1 file to 0 clients" not in message and time.monotonic() - begin < 60:
        message += os.read(ours, 65536)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    os.close(ours)
    assert b"serving 1 file to 0 clients: 0 B, 0 B/s; Ctrl-C stops" in message
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["-"], 2, "standard input can be read once only, so it is not served"),
        (["{t}", "{below}"], 2, "{below} and {t} have the same name; serve them apart"),
        (["{bad}"], 1, "{bad}: neither an Arrow file nor a stream"),
        (["{missing}"], 1, "{missing}: No such file or directory"),
        (["{t}", "--uri", "tcp://0.0.0.0:0"], 2, "uri: other machines reach '0.0.0.0'"),
        (["{t}", "--remote"], 2, "token: a service for other machines needs one"),
        (["{t}", "--uri", "gopher://x"], 2, "uri: scheme 'gopher'; colkern has "),
        (["{t}", "--uri", "shm:///nowhere/at/all"], 1, "shm:///nowhere/at/all: No such file"),
        (["{t}", "--bodies", "locations"], 2, "bodies: tcp shares no memory"),
        (["{t}", "--compression", "gzip"], 2, "--compression: expected none, lz4 or zstd"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    words: list[str], status: int, complaint: str, write: Write, run: Run, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.arrow"
    bad.write_bytes(b"no Arrow file")
    names = {
        "t": write("t.arrow", TABLE),
        "below": write("below/t.arrow", TABLE),
        "bad": bad,
        "missing": tmp_path / "missing.arrow",
    }
    result, out, err = run("serve", *(word.format(**names) for word in words))
    assert (result, out, err.count("\n")) == (status, "", 1)
    assert err.startswith("colkern: " + complaint.format(**names))
