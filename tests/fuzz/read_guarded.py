"""Reads files that cannot be trusted, each in its own process under limits of memory and time.

`python -m fuzz.read_guarded PATH …` prints one JSON line a file: how reading went, and what it took.
The process is forked per file once every kernel is loaded, so that files pay for themselves alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from fuzz.examination import FindingError, examine, examine_on_device, examine_tensors
from fuzz.guard import limit_memory, memory
from fuzz.harness import SLOW_SECONDS, warm_up

import colkern.ipc

SECONDS = 10


def read_soon(path: Path) -> dict[str, Any]:
    """As `read_in_child`; what took long once more: the first time may have compiled a kernel."""
    result = read_in_child(path)
    return read_in_child(path) if result.get("seconds", 0) > SLOW_SECONDS else result


def read_in_child(path: Path) -> dict[str, Any]:
    """The outcome, the processor seconds and the bytes of memory that reading and using it took."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "w") as out:
            json.dump(_read(path), out)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as lines:
        line = lines.read()
    _, status = os.waitpid(child, 0)
    if status:
        return {"file": path.name, "outcome": f"killed by signal {os.WTERMSIG(status)}"}
    return {"file": path.name, **json.loads(line)}


def _read(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    signal.alarm(SECONDS)
    limit_memory()
    resident = memory("VmRSS")
    started = time.process_time()
    try:
        if "tensor" in path.parent.name:
            outcome = examine_tensors(data)
        else:
            outcome, _ = expected = examine(data, colkern.ipc.DEFAULT_LIMITS)
            if (result := examine_on_device(data, colkern.ipc.DEFAULT_LIMITS)) != expected:
                raise FindingError(f"{expected} on the host, {result} on a device")
    except BaseException as error:  # noqa: BLE001
        outcome = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - started
    return {
        "outcome": outcome.split(":")[0],
        "seconds": round(seconds, 3),
        "bytes": max(memory("VmHWM") - resident, 0),
    }


if __name__ == "__main__":
    warm_up()
    for argument in sys.argv[1:]:
        print(json.dumps(read_soon(Path(argument))), flush=True)
