"""The resources of a stream that this process holds, and the names in shared memory."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_ANONYMOUS = "/memfd:colkern"


class Holdings(NamedTuple):
    """Taken after a stream, there is no more of anything than before, unless something has leaked.

    Args:
        names: Of shared memory, anybody's.
        descriptors: How many, by what they are: segments, sockets, other files.
        mappings: Of segments.
        threads: By name.
    """

    names: frozenset[str]
    descriptors: Counter[str]
    mappings: int
    threads: Counter[str]

    def beyond(self, before: Holdings) -> dict[str, object]:
        """The resources beyond those of before; other things that went meanwhile do not count."""
        more = {
            "names": self.names - before.names,
            "descriptors": self.descriptors - before.descriptors,
            "mappings": max(self.mappings - before.mappings, 0),
            "threads": self.threads - before.threads,
        }
        return {name: item for name, item in more.items() if item}


def holdings() -> Holdings:
    """Those of now."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return Holdings(
        frozenset(os.listdir("/dev/shm")),
        Counter(_descriptors()),
        sum(_ANONYMOUS in line for line in maps),
        Counter(thread.name for thread in threading.enumerate()),
    )


def _descriptors() -> list[str]:
    kinds = []
    for name in os.listdir("/proc/self/fd"):
        # The folder that is being listed has gone by now.
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(f"/proc/self/fd/{name}")
            kinds.append("segment" if target.startswith(_ANONYMOUS) else target.partition(":")[0])
    return kinds
