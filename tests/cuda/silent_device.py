"""A device on which nothing runs: the real CUDA compiler and cuda.core over `silent_driver.c`.

`process` starts programs over that driver; there, `install` puts memory of the host in the place of CuPy's.
What launches cost Python, and what they hand to the driver, is found out so, on machines without a GPU.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from colkern.cuda import memory
from colkern.cuda.stand_in import StandIn

ROOT = Path(__file__).resolve().parents[2]


def has_compiler() -> bool:
    """Whether there is a C compiler, which the driver needs."""
    return shutil.which("cc") is not None


def process(folder: Path, *arguments: object) -> str:
    """The output of a Python program over the driver.

    Args:
        folder: Where the driver is built, if it is not yet.
        arguments: Those of the interpreter.
    """
    driver = folder / "libcuda.so.1"
    if not driver.exists():
        source = Path(__file__).with_name("silent_driver.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", driver, source], check=True)
    paths = [str(ROOT / "tests"), str(ROOT)]
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | {"LD_LIBRARY_PATH": str(folder), "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=280,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class _Pointer:
    """As CuPy's `MemoryPointer`."""

    __slots__ = ("ptr",)

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class SilentArray:
    """An array of NumPy with the names of CuPy's that launches use; as fast to make as CuPy's, about."""

    __slots__ = ("array", "data", "dtype", "nbytes", "size")

    ndim = 1

    def __init__(self, array: Any, data: _Pointer | None = None) -> None:
        self.array = array
        self.data = data or _Pointer(array.__array_interface__["data"][0])
        self.dtype, self.size, self.nbytes = array.dtype, array.size, array.nbytes

    def __len__(self) -> int:
        return int(self.size)

    def __getitem__(self, part: Any) -> Any:
        return SilentArray(np.asarray(self.array[part]))

    def __setitem__(self, part: Any, values: SilentArray) -> None:
        self.array[part] = values.array

    def nonzero(self) -> list[SilentArray]:
        return [*map(SilentArray, self.array.nonzero())]

    def astype(self, dtype: Any) -> SilentArray:
        return SilentArray(self.array.astype(dtype))

    def view(self, dtype: Any) -> SilentArray:
        return SilentArray(self.array.view(dtype), self.data)

    @property
    def flags(self) -> Any:
        return self.array.flags

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        known: dict[str, Any] = self.array.__array_interface__
        return known | {"version": 3, "stream": None}


class SilentLibrary(StandIn):
    """The manager of such memory; all of it is on the default stream."""

    @property
    def arrays(self) -> Any:
        return self

    def empty(self, count: Any, dtype: Any) -> SilentArray:
        return SilentArray(np.empty(count, dtype))

    def zeros(self, count: Any, dtype: Any) -> SilentArray:
        return SilentArray(np.zeros(count, dtype))

    def asarray(self, array: Any) -> SilentArray:
        return SilentArray(np.array(array))

    def multiprocessors(self, ordinal: int) -> int:
        return 132

    def on_host(self, array: Any) -> Any:
        return array.array.copy()


def install() -> ctypes.CDLL:
    """Make that device this process's; the driver, for what it has been asked."""
    library = SilentLibrary()
    memory.library = lambda: library
    return ctypes.CDLL("libcuda.so.1")
