"""The CUDA toolkit: the libraries that the compiler loads, and assembling of PTX without a GPU.

PTX is assembled by nvJitLink, or by `ptxas`. If there is neither, or only one that is older than the
compiler of the PTX, the driver assembles it when it loads it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_VERSIONS = {
    "cudart": "cudaRuntimeGetVersion",
    "nvJitLink": "nvJitLinkVersion",
    "nvrtc": "nvrtcVersion",
    "nvvm": "nvvmVersion",
}
"""Library → its function that returns the release."""


@dataclass(frozen=True, slots=True)
class CudaLibrary:
    """A library of the toolkit, found or missing."""

    name: str  #: `cudart`, `nvJitLink`, `nvrtc` or `nvvm`.
    path: str  #: Where it is; empty if it was not found.
    source: str  #: How it was found: among packages, in a toolkit, by the system.
    version: tuple[int, int]  #: Its release, such as (13, 2); that of NVVM's own IR for `nvvm`.
    error: str  #: Why it was not found, in a line.


def find_libraries() -> list[CudaLibrary]:
    """The CUDA runtime, nvJitLink, NVRTC and NVVM, as the compiler finds them."""
    return [find_library(name) for name in _VERSIONS]


def find_library(name: str) -> CudaLibrary:
    """One of the libraries, by its name; errors are reported in the same way."""
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


CUBIN = b"\x7fELF"
"""The first bytes of machine code; PTX is text."""


def assembled(ptx: str, capability: tuple[int, int]) -> bytes:
    """The machine code for PTX and a compute capability; the PTX itself, if it cannot be assembled here."""
    text, architecture = ptx.encode(), "sm_{}{}".format(*capability)
    return _linked(text, architecture) or _by_ptxas(text, architecture) or text


def ptxas() -> str | None:
    """The path of `ptxas`; None if it is not installed."""
    from cuda.pathfinder import find_nvidia_binary_utility

    path: str | None = find_nvidia_binary_utility("ptxas")
    return path


def _linked(text: bytes, architecture: str) -> bytes | None:
    from cuda.bindings import nvjitlink  # type: ignore[import-untyped]

    # Without the library, each call raises a RuntimeError.
    with contextlib.suppress(nvjitlink.nvJitLinkError, RuntimeError):
        linker = nvjitlink.create(2, [f"-arch={architecture}", "-O3"])
        try:
            nvjitlink.add_data(linker, nvjitlink.InputType.PTX, text, len(text), "kernel")
            nvjitlink.complete(linker)
            code = bytearray(nvjitlink.get_linked_cubin_size(linker))
            nvjitlink.get_linked_cubin(linker, code)
        finally:
            nvjitlink.destroy(linker)
        return bytes(code)
    return None


def _by_ptxas(text: bytes, architecture: str) -> bytes | None:
    path = ptxas()
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_bytes(text)
        command = [path, f"-arch={architecture}", "-O3", os.fspath(source), "-o", os.fspath(code)]
        done = subprocess.run(command, capture_output=True, check=False)
        return code.read_bytes() if done.returncode == 0 else None
