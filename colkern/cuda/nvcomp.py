"""nvCOMP, an optional NVIDIA library, for decompressing bytes that a trusted writer has compressed.

Its packages are `nvidia-nvcomp-cu12` and `nvidia-nvcomp-cu13` (colkern[nvcomp12], colkern[nvcomp13]).
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from colkern.cuda import memory
from colkern.memory import Device

if TYPE_CHECKING:
    from colkern.targets import Items

ALIGNMENT = 16
"""The alignment of all arrays; no codec of nvCOMP needs more."""


@cache
def is_installed() -> bool:
    """Whether nvCOMP's Python package can be imported."""
    try:
        _library()
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def _library() -> ModuleType:
    return importlib.import_module("nvidia.nvcomp")


class _Kept(threading.local):
    """The codec that a thread used last, kept because making its memory and stream takes time."""

    made_for: object = None
    codec: Any = None


_kept = _Kept()


def _codec(library: ModuleType, algorithm: str, device: Device, stream: int) -> Any:
    key = library, algorithm, device, stream
    if _kept.made_for != key:
        _kept.codec = library.Codec(
            algorithm=algorithm,
            bitstream_kind=library.BitstreamKind.RAW,
            device_id=device.ordinal,
            cuda_stream=stream,
        )
        _kept.made_for = key
    return _kept.codec


def decompress(
    algorithm: str, stored: Sequence[Items], outputs: Sequence[Items], device: Device
) -> list[int]:
    """Decompress arrays into others, on the current stream, and wait for the result."""
    # All are uint8[] on the current device, at multiples of `ALIGNMENT`. Returns the number of
    # bytes of each output; an empty list if nvCOMP refuses any of them. The formats are the plain
    # ones, in which frames state their own sizes.
    library = _library()
    stream = memory.current_stream()
    try:
        codec = _codec(library, algorithm, device, stream)
        sources, places = (library.as_arrays(list(each), stream) for each in (stored, outputs))
        return list(codec.decode(sources, out=places).buffer_sizes)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        # Of nvCOMP before 6.0, which decodes into memory of its own, the first and the third.
        return []
