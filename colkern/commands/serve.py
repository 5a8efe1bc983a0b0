"""`colkern serve FILE…`: serves files by the Dissociated IPC protocol."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from colkern.commands.failures import CommandError, UsageError
from colkern.commands.files import STANDARD, opened, require_files, with_files_of_folders
from colkern.commands.output import counted, printable, progress_line, size_text
from colkern.commands.parser import (
    Commands,
    add_timeout,
    add_token,
    codec_and_level,
    given_token,
    new_command,
)
from colkern.errors import ColkernError

if TYPE_CHECKING:
    from colkern.dissociated import Server

_STOPPING = {signal.SIGINT, signal.SIGTERM}
_TICK_SECONDS = 0.5


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "serve",
        _run,
        "serve files to `colkern fetch` and to programs, until it is stopped",
        "Serve Arrow files and streams by the Dissociated IPC protocol. Prints the URI to fetch from "
        "(and that of the bodies, with --data-uri) and serves until it is interrupted. If there are "
        "several files, clients request one by its name without folders.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="Arrow files or streams, or folders of them"
    )
    parser.add_argument(
        "--uri",
        default="tcp:",
        help="the address: tcp://HOST:PORT, unix:///PATH, or shm:///PATH (clients map files instead of "
        "receiving them); a missing host, port or path is chosen (tcp:, for clients on this machine)",
    )
    parser.add_argument(
        "--data-uri", metavar="URI", help="the address of a second service, for bodies"
    )
    parser.add_argument(
        "--bodies",
        choices=("packed", "locations"),
        help="how to send bodies; by default, as fits the URI",
    )
    parser.add_argument(
        "--compression",
        metavar="CODEC[:LEVEL]",
        help="the codec of packed bodies: none (default), lz4 or zstd",
    )
    add_token(parser, "the token that clients must send")
    parser.add_argument(
        "--remote", action="store_true", help="let other machines connect; needs a token"
    )
    add_timeout(parser, "the longest time that a connected client may take for its request")


def _run(options: argparse.Namespace) -> None:
    files = _by_identifier(with_files_of_folders(options.files))
    with _signals_waited_for() as received, _serving(options, files) as server:
        for uri in (server.uri, server.data_uri):
            if uri is not None:
                print(uri, flush=True)
        _wait(server, counted(len(files), "file"), received)
        server.close()
        traffic = server.traffic
    print(
        f"sent: {size_text(traffic.packed_bytes)} in packed bodies; "
        f"announced: {size_text(traffic.announced_bytes)}, of which copied: "
        f"{size_text(traffic.placed_bytes)}"
    )


def _by_identifier(names: list[str]) -> dict[str, str]:
    """Returns the file for each identifier. Each file is opened once, so that errors come now."""
    files: dict[str, str] = {}
    for name in names:
        if name == STANDARD:
            raise UsageError("standard input can be read once only, so it is not served")
        require_files(name)
        identifier = os.path.basename(name)
        if identifier in files:
            raise UsageError(f"{name} and {files[identifier]} have the same name; serve them apart")
        with opened(name):
            files[identifier] = name
    return files


def _serving(options: argparse.Namespace, files: dict[str, str]) -> Server:
    from colkern.dissociated import serve

    codec, level = codec_and_level(options.compression)
    try:
        return serve(
            # A single file is served to every client, whatever identifier it asks for.
            files if len(files) > 1 else next(iter(files.values())),
            options.uri,
            data_uri=options.data_uri,
            bodies=options.bodies,
            token=given_token(options),
            remote=options.remote,
            timeout=options.timeout,
            compression=None if codec == "none" else codec,
            compression_level=level,
        )
    except OSError as error:
        raise CommandError(f"{options.uri}: {error.strerror or error}") from error
    except (ColkernError, ValueError) as error:
        raise UsageError(str(error)) from error


@contextlib.contextmanager
def _signals_waited_for() -> Iterator[list[int]]:
    """Block the signals that stop the command: `sigtimedwait` receives them, or the list gets them."""
    # A library's thread that has not blocked a signal may receive it while this thread does not wait.
    received: list[int] = []
    handlers = {
        number: signal.signal(number, lambda got, frame: received.append(got))
        for number in _STOPPING
    }
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield received
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _wait(server: Server, files: str, received: list[int]) -> None:
    """Wait for a signal; the progress line shows the server's activity."""
    with progress_line("spinner") as update:
        before, time_before = 0, time.monotonic()
        while True:
            traffic, now = server.traffic, time.monotonic()
            done = traffic.packed_bytes + traffic.announced_bytes
            rate = (done - before) / max(now - time_before, 1e-3)
            clients = counted(server.num_streams, "client")
            text = f"serving {files} to {clients}: {size_text(done)}, {size_text(int(rate))}/s"
            update(description=printable(f"{text}; Ctrl-C stops"))
            before, time_before = done, now
            if signal.sigtimedwait(_STOPPING, _TICK_SECONDS) is not None or received:
                return
