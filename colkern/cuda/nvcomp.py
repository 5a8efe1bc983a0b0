"""nvCOMP, an optional library of NVIDIA's: decompression of bytes that a trusted writer has compressed.

Its packages are `nvidia-nvcomp-cu12` and `nvidia-nvcomp-cu13` (colkern[nvcomp12], colkern[nvcomp13]).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from colkern.cuda import memory
from colkern.memory import Device

if TYPE_CHECKING:
    from colkern.targets import Items

ALIGNMENT = 16
"""Compressed bytes begin at an address that is a multiple of this; no codec of nvCOMP asks for more."""


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


def decompressed(algorithm: str, stored: Sequence[Items], device: Device) -> list[Items]:
    """Compressed arrays as decompressed ones, in memory that nvCOMP allocates; on the current stream.

    The formats are the plain ones, which say themselves how many bytes there are.

    Args:
        algorithm: As nvCOMP names it, such as "Zstd".
        stored: uint8[] on the device each, at an address that is a multiple of `ALIGNMENT`.
        device: The device, which is the current one.

    Returns:
        uint8[] for each; nothing if nvCOMP refuses any of them.
    """
    library = _library()
    stream = memory.current_stream()
    asarray = memory.array_library().asarray
    try:
        codec = library.Codec(
            algorithm=algorithm,
            bitstream_kind=library.BitstreamKind.RAW,
            device_id=device.ordinal,
            cuda_stream=stream,
        )
        results = codec.decode(library.as_arrays(list(stored), stream))
        return [asarray(results[number]).view("u1") for number in range(len(stored))]
    except (RuntimeError, ValueError):
        return []
