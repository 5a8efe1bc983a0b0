"""Compressed files: what crosses the bus, beside decompression on the host by all cores."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import colkern as ck
from benchmarks.bodies.contestant import SPEED, Against, Contestant, Group, Place, Skipped
from benchmarks.bodies.peers import peers
from benchmarks.bodies.tables import body_bytes, write_table

PACKAGES = {"lz4": "lz4", "zstd": "zstandard"}
"""The functions that compress and decompress on the host."""


@contextmanager
def compressed(codec: str, place: Place) -> Iterator[list[Contestant]]:
    """A file that colkern has written; bytes are the decompressed ones."""
    if importlib.util.find_spec(PACKAGES[codec]) is None:
        raise Skipped(f"{PACKAGES[codec]} is not installed")
    path = place.folder / f"{codec}.arrow"
    write_table(path, place.size, codec)
    nbytes, on_host = body_bytes(path), f"{codec} file to the host"
    facts = {"body_bytes": nbytes, "stored_bytes": path.stat().st_size}
    against = Against(SPEED, on_host)
    to_device = f"{codec} file to the device"
    try:
        yield [
            Contestant(
                on_host,
                lambda: [batch.columns for batch in ck.ipc.open_file(path)],
                nbytes,
                None,
                facts,
            ),
            Contestant(
                to_device,
                lambda: list(ck.ipc.open_file(path, device=place.device)),
                nbytes,
                against,
                facts,
            ),
            *(
                Contestant(f"{to_device}: {name}", work, nbytes, against, facts)
                for name, work in peers(path).items()
            ),
        ]
    finally:
        path.unlink()


COMPRESSED = [Group(f"{codec} file", partial(compressed, codec)) for codec in PACKAGES]
