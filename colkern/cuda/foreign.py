"""Device memory of other libraries and processes, which is given back when the device has read it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from colkern.cuda import memory
from colkern.errors import DeviceUnavailableError
from colkern.memory import Device


class InUse:
    """Keeps the owner of foreign memory alive, until devices have ended the work that reads the memory.

    A kernel that was started over an array may still run when the last reference to the array is dropped.
    So before the owner is let go of, all streams of the device are waited for: kernels run on whichever
    stream was current when they were started.
    """

    __slots__ = ("_ordinals", "_process", "_sharing", "owner")

    def __init__(self, owner: object, ordinals: Iterable[int]) -> None:
        self.owner = owner
        self._process = os.getpid()
        self._sharing = memory.library().sharing
        self._ordinals = frozenset(ordinals)

    def __del__(self) -> None:
        if hasattr(self, "_ordinals") and is_told_of(self._process):
            # A device that is lost reads nothing more.
            with contextlib.suppress(DeviceUnavailableError):
                for ordinal in self._ordinals:
                    self._sharing.finish_device(ordinal)


def held(owner: object, device: Device) -> InUse:
    """The same for the memory of one device."""
    return InUse(owner, (device.ordinal,))


def is_told_of(process: int) -> bool:
    """Whether CUDA can be told that memory of a process is not used any more."""
    # A forked child has no CUDA, and its parent goes on; at the end of a process all is unmapped.
    return os.getpid() == process and not sys.is_finalizing()
