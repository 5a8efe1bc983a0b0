"""Reads files that cannot be trusted, each in its own process under limits of memory and time.

Run as a program: paths are arguments; one JSON line a file says how reading went. The process is
forked per file after the imports, so that many files do not pay for many imports.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import colkern.ipc
import colkern.values
from colkern import ColkernError

MEMORY_BYTES = 512 << 20
SECONDS = 10
# Enough to reach every column; what a few bytes claim may be any number of slots.
SLOTS = 10_000


def read_batches(data: bytes) -> None:
    """Every column of a file or stream, as Python objects."""
    for batch in colkern.ipc.open(data):
        for column in batch.columns:
            column.slice(0, SLOTS).to_pylist()


def read_tensors(data: bytes) -> None:
    """Every tensor of a stream, as text; the sparse ones also as dense arrays of a bounded size."""
    for tensor in colkern.ipc.read_tensors(data):
        repr(tensor)
        if not isinstance(tensor, colkern.ipc.Tensor):
            tensor.to_dense(max_bytes=MEMORY_BYTES // 4)


def read(path: Path) -> str:
    """How far the file can be read: "read", or the class of colkern's error."""
    data = path.read_bytes()
    try:
        (read_tensors if "tensor" in path.parent.name else read_batches)(data)
    except ColkernError as error:
        return type(error).__name__
    return "read"


def read_in_child(path: Path) -> dict[str, object]:
    """The outcome, the seconds it took, and the memory it took over that of the imports."""
    receive, send = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "w") as out:
            signal.alarm(SECONDS)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
            try:
                out.write(read(path))
            except BaseException as error:  # noqa: BLE001
                out.write(f"{type(error).__name__}: {error}")
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as result:
        outcome = result.read()
    _, status = os.waitpid(child, 0)
    if status:
        outcome = f"killed by signal {os.WTERMSIG(status)}"
    seconds = round(time.monotonic() - started, 3)
    return {"file": path.name, "outcome": outcome, "seconds": seconds}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(json.dumps(read_in_child(Path(argument))), flush=True)
