"""The processes that are killed: each does one thing until then."""

from __future__ import annotations

import random
from multiprocessing.connection import Connection

from deaths.numbered import Numbered, check

from colkern.dissociated import connect, serve


def wait_until_killed(ready: Connection) -> None:
    """Do nothing."""
    ready.send(None)
    ready.recv()


def serve_until_killed(ready: Connection, uri: str, data_uri: str | None) -> None:
    """Serve, and say where."""
    server = serve(Numbered(), uri, data_uri=data_uri)
    ready.send((server.uri, server.data_uri))
    ready.recv()


def read_until_killed(ready: Connection, uri: str, data_uri: str | None, seed: int) -> None:
    """Read, and keep some batches for a while: then they cannot be freed."""
    kept = random.Random(seed)
    ready.send(None)
    with connect(uri, data_uri=data_uri) as reader:
        batches = []
        for number, batch in enumerate(reader):
            check(batch, number)
            if kept.random() < 0.3:
                batches.append(batch)
            if kept.random() < 0.1:
                batches.clear()
