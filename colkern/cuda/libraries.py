"""Which libraries of CUDA the compiler loads, and from where."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_VERSIONS = {
    "cudart": "cudaRuntimeGetVersion",
    "nvJitLink": "nvJitLinkVersion",
    "nvrtc": "nvrtcVersion",
    "nvvm": "nvvmVersion",
}
"""The function that tells the release, of each library that is looked for."""


@dataclass(frozen=True, slots=True)
class CudaLibrary:
    """A library that was found, or not."""

    name: str  #: `cudart`, `nvJitLink`, `nvrtc` or `nvvm`.
    path: str  #: Where it is; empty if it was not found.
    source: str  #: How it was found: among packages, in a toolkit, by the system.
    version: tuple[int, int]  #: Its release, such as (13, 2); that of NVVM's own IR for `nvvm`.
    error: str  #: Why it was not found, in a line.


def find_libraries() -> list[CudaLibrary]:
    """The CUDA runtime, nvJitLink, NVRTC and NVVM, as the compiler finds them."""
    return [find_library(name) for name in _VERSIONS]


def find_library(name: str) -> CudaLibrary:
    """One of them; the same errors."""
    from cuda.pathfinder import load_nvidia_dynamic_lib  # type: ignore[import-untyped]

    try:
        loaded = load_nvidia_dynamic_lib(name)
    except RuntimeError as error:
        return CudaLibrary(name, "", "", (0, 0), str(error).partition("\n")[0])
    path = str(loaded.abs_path)
    return CudaLibrary(name, path, str(loaded.found_via), _version(name, path), "")


def _version(name: str, path: str) -> tuple[int, int]:
    function = getattr(ctypes.CDLL(path), _VERSIONS[name])
    major, minor = ctypes.c_int(), ctypes.c_int()
    if name != "cudart":
        function(ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value
    # 13020 is 13.2.
    function(ctypes.byref(major))
    return major.value // 1000, major.value % 1000 // 10
