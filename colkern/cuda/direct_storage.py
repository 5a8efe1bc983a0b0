"""GPUDirect Storage: files into device memory past the host's memory, through kvikio.

kvikio uses it where driver and file system can; elsewhere, in its compatibility mode, it goes through
the host's memory, as `colkern.cuda.staging` does. Only the former is used here. A file that the host has
in its page cache may be read faster from there: COLKERN_DIRECT_STORAGE=0 turns this off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from colkern.errors import InvalidArrowError

if TYPE_CHECKING:
    from colkern.targets import Items


@cache
def is_available() -> bool:
    """Whether kvikio is installed and reads past the host's memory; nothing is raised."""
    if os.environ.get("COLKERN_DIRECT_STORAGE", "1") == "0":
        return False
    try:
        import kvikio.defaults

        return not kvikio.defaults.is_compat_mode_preferred()
    except (ImportError, OSError, RuntimeError, AttributeError):
        # Releases before 24.12 do not say.
        return False


class PendingRead(Protocol):
    """A read under way, of kvikio."""

    def get(self) -> int:
        """Wait for it; the number of bytes that were read."""


class DirectFile:
    """A file that is read into device memory, by its name or /proc/self/fd/N."""

    def __init__(self, path: str) -> None:
        import kvikio

        with _as_os_error():
            self._file = kvikio.CuFile(path, "r")

    def begin(self, offset: int, target: Items) -> PendingRead:
        """Start to fill an unused uint8 array on the device, in no stream's order; for `end`."""
        with _as_os_error():
            return cast("PendingRead", self._file.pread(target, target.nbytes, offset))

    def end(self, read: PendingRead, size: int, offset: int) -> None:
        """Wait for a read."""
        with _as_os_error():
            count = read.get()
        if count != size:
            raise InvalidArrowError(
                f"the file ended {size - count} bytes early: it shrank while it was read",
                place=f"byte {offset}",
            )


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise errors of kvikio as those of files."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(
            f"GPUDirect Storage: {error}; COLKERN_DIRECT_STORAGE=0 reads without it"
        ) from error
