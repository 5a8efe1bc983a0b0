"""GPUDirect Storage: reads files into device memory, bypassing host memory, by kvikio.

kvikio uses it if driver and file system support it. Otherwise, in its compatibility mode, it goes
through host memory, like `colkern.cuda.staging`; that mode is not used here. A file in the host's page
cache may be read faster from there: COLKERN_DIRECT_STORAGE=0 turns this off.
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
    """Whether kvikio is installed and can bypass host memory; raises nothing."""
    if os.environ.get("COLKERN_DIRECT_STORAGE", "1") == "0":
        return False
    try:
        import kvikio.defaults

        return not kvikio.defaults.is_compat_mode_preferred()
    except (ImportError, OSError, RuntimeError, AttributeError):
        # Releases before 24.12 do not tell.
        return False


class PendingRead(Protocol):
    """A kvikio read that is under way."""

    def get(self) -> int:
        """Wait for the read; returns the number of bytes that were read."""


class DirectFile:
    """A file to be read into device memory, given by its path or /proc/self/fd/N."""

    def __init__(self, path: str) -> None:
        import kvikio

        with _as_os_error():
            self._file = kvikio.CuFile(path, "r")

    def begin(self, offset: int, target: Items) -> PendingRead:
        """Start to fill an unused uint8 array on the device, outside any stream's order; see `end`."""
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
    """Raise kvikio's errors as `OSError`."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(
            f"GPUDirect Storage: {error}; COLKERN_DIRECT_STORAGE=0 reads without it"
        ) from error
