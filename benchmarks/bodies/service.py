"""A process that serves a table of the device: `python -m benchmarks.bodies.service BYTES [--stand-in]`.

It prints where, as JSON, and ends with its input.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys

import numpy as np

import colkern as ck
from benchmarks.bodies.tables import BATCHES
from colkern.cuda import stand_in
from colkern.dissociated import SharedMemory, serve

COLUMNS = 8


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bytes", type=int)
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args()
    rows = options.bytes // (BATCHES * COLUMNS * np.dtype(np.float64).itemsize)
    columns = {f"column_{i}": np.arange(rows) + i / COLUMNS for i in range(COLUMNS)}
    with contextlib.ExitStack() as stack:
        if options.stand_in:
            stack.enter_context(stand_in.installed(shareable=True))
        batch = ck.record_batch(columns)
        shared = SharedMemory(COLUMNS * (8 * rows + 64)).place(batch)
        on_device = [ck.to_device(batch) for _ in range(BATCHES)]
        sources = {"cuda": on_device, "shm": [shared] * BATCHES, "unix": [shared] * BATCHES}
        servers = {
            name: stack.enter_context(serve(source, f"{name}:")) for name, source in sources.items()
        }
        print(json.dumps({name: server.uri for name, server in servers.items()}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
