"""The client's side of shared memory: segments mapped for reading, and buffers within them."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right, insort
from typing import NamedTuple

import numpy as np

from colkern.dissociated.body_locations import BodyLocations, Location
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.shared.segment_frames import parse_segment_place
from colkern.dissociated.shared.segments import mapped_by_client
from colkern.dissociated.transports.connection import Frame
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.memory import Buffer

_MOST_SEGMENTS = 1 << 14


class _Mapping(NamedTuple):
    """A segment here. It is unmapped when no buffer is in it, and the server has retired it."""

    size: int
    address: int
    memory: mmap.mmap


class ReachedSegments:
    """The segments that one server has announced.

    Args:
        handle: The `remote_handle` of its URI.
        sealed_only: Whether to refuse segments that the server could cut short: mapped files.
    """

    def __init__(self, handle: bytes, *, sealed_only: bool) -> None:
        self._handle = handle
        self._sealed_only = sealed_only
        self._bases: list[int] = []
        self._mappings: dict[int, _Mapping] = {}

    def take(self, frame: Frame) -> None:
        """Map a segment, or let go of one; see `Reach.take`."""
        descriptor = frame.descriptor
        try:
            base, size, handle = parse_segment_place(frame.data)
            if handle != self._handle:
                raise InvalidArrowError("a segment that is not of the URI's remote_handle")
            if not size:
                self._forget(base)
                if descriptor is not None:
                    raise InvalidArrowError("a segment that is gone comes with a descriptor")
                return
            if descriptor is None:
                raise InvalidArrowError("a segment without a descriptor")
            self._check_apart(base, size)
        except BaseException:
            if descriptor is not None:
                os.close(descriptor)
            raise
        memory = mapped_by_client(descriptor, size, sealed_only=self._sealed_only)
        address = int(np.frombuffer(memory, np.uint8).ctypes.data)
        self._mappings[base] = _Mapping(size, address, memory)
        insort(self._bases, base)

    def buffers(self, body: BodyLocations, frees: Frees) -> list[Buffer]:
        """Buffers in the segments, read-only; see `Reach.buffers`."""
        places = [self._place(location) for location in body.buffers if location.length]
        lease = Lease(body.addresses(), frees, [mapping.memory for mapping, _, _ in places])
        return [
            Buffer.from_address(mapping.address + start, length, lease)
            for mapping, start, length in places
        ]

    def _place(self, location: Location) -> tuple[_Mapping, int, int]:
        address, length = location
        number = bisect_right(self._bases, address) - 1
        if number >= 0:
            base = self._bases[number]
            mapping = self._mappings[base]
            if address + length <= base + mapping.size:
                return mapping, address - base, length
        raise InvalidArrowError(
            f"{length} bytes at offset {address:#x} are in no segment that has been announced"
        )

    def _check_apart(self, base: int, size: int) -> None:
        if len(self._bases) >= _MOST_SEGMENTS:
            raise LimitExceededError(f"more than {_MOST_SEGMENTS} segments of one server")
        number = bisect_right(self._bases, base)
        before, behind = self._bases[max(number - 1, 0) : number], self._bases[number : number + 1]
        overlaps = any(each + self._mappings[each].size > base for each in before)
        if overlaps or any(base + size > each for each in behind):
            raise InvalidArrowError(f"segment of {size} bytes at {base:#x} overlaps another one")

    def _forget(self, base: int) -> None:
        if self._mappings.pop(base, None) is None:
            raise InvalidArrowError(f"no segment at {base:#x} has been announced")
        self._bases.remove(base)
