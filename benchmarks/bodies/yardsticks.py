"""How fast the device copies by itself: one large block, by one asynchronous copy."""

from __future__ import annotations

import numpy as np

from benchmarks.bodies.contestant import Contestant, Place
from colkern.cuda import memory

TO_DEVICE = "page-locked memory to the device"
TO_HOST = "the device to page-locked memory"
WITHIN = "within the device"


def yardsticks(place: Place) -> list[Contestant]:
    """Copies of as many bytes as the large tables have."""
    library = memory.library()
    stream = library.copy_stream(place.device.ordinal)
    locked = library.page_locked(place.size)
    locked[:] = 1
    source, target = (memory.allocate(place.size, np.uint8) for _ in range(2))

    def to_device() -> None:
        stream.to_device(locked, target)
        stream.record().wait()

    def to_host() -> None:
        stream.to_host(source, locked)
        stream.record().wait()

    def within() -> None:
        library.arrays.copyto(target, source)

    works = {TO_DEVICE: to_device, TO_HOST: to_host, WITHIN: within}
    return [Contestant(case, work, place.size) for case, work in works.items()]
