"""Arrow columns in code that Numba compiles: `udf`, `reducer`, `generator`, `njit`, and what they work
with.

Importing this package does not import Numba, nor what is not named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colkern.jit.building.builder import Builder
    from colkern.jit.building.rows import build_rows
    from colkern.jit.decorator import njit
    from colkern.jit.device.kernels import CudaKernel, cuda_jit
    from colkern.jit.generators import Generator, generator
    from colkern.jit.reducers import Reducer, reducer
    from colkern.jit.scalar import Udf, udf
    from colkern.jit.values.bytestring import ByteString

__all__ = [
    "Builder",
    "ByteString",
    "CudaKernel",
    "Generator",
    "Reducer",
    "Udf",
    "build_rows",
    "cuda_jit",
    "generator",
    "njit",
    "reducer",
    "udf",
]

_LATE = {
    "Builder": "building.builder",
    "ByteString": "values.bytestring",
    "CudaKernel": "device.kernels",
    "Generator": "generators",
    "Reducer": "reducers",
    "Udf": "scalar",
    "build_rows": "building.rows",
    "cuda_jit": "device.kernels",
    "generator": "generators",
    "njit": "decorator",
    "reducer": "reducers",
    "udf": "scalar",
}


def __getattr__(name: str) -> Any:
    """Import what is first named: nobody pays for the parts they do not use."""
    if name not in _LATE:
        raise AttributeError(f"module 'colkern.jit' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"colkern.jit.{_LATE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All names, imported yet or not."""
    return sorted({*globals(), *_LATE})
