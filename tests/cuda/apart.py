"""Launches whose outputs overlap an argument are errors: compilers are told that there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from colkern.cuda.target import CudaTarget, Part
from colkern.kernels import Argument


def overlaps(named: list[tuple[Argument, Any]]) -> list[tuple[str, str]]:
    """Which arguments that are written lie over others, arrays and what addresses point to."""
    results = []
    for written, out in named:
        if not written.array or not written.written or not out.nbytes:
            continue
        start, stop = out.ctypes.data, out.ctypes.data + out.nbytes
        for other, value in named:
            if other is written:
                continue
            if other.array:
                touches = np.may_share_memory(out, value)
            else:
                touches = other.item == "u8" and start <= int(value) < stop
            if touches:
                results.append((written.name, other.name))
    return results


@contextmanager
def required_apart() -> Iterator[None]:
    """Within it, a launch in the simulator fails if an output overlaps an argument, or of wrong types."""
    launch = CudaTarget._launch

    def checked(self: Any, *parts: Part) -> None:
        # A plan looks at types once, and never again at what is contiguous.
        for kernel, _, _, args in parts:
            kernel.require_types(args)
        arguments = [
            each
            for kernel, _, _, args in parts
            for each in zip(kernel.arguments, args, strict=False)
        ]
        result = overlaps(arguments)
        assert not result, f"{[kernel.name for kernel, *_ in parts]}: {result} overlap"
        launch(self, *parts)

    with patch.object(CudaTarget, "_launch", checked):
        yield
