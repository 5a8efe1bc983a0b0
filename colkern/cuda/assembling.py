"""Machine code of PTX, without a GPU: by nvJitLink, or by `ptxas` of a toolkit.

Where there is neither, or one older than what wrote the PTX, the driver assembles it when it is loaded.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

CUBIN = b"\x7fELF"
"""How machine code begins; PTX is text."""


def assembled(ptx: str, capability: tuple[int, int]) -> bytes:
    """The machine code of PTX for a compute capability; the PTX itself, if nothing here can assemble it."""
    text, architecture = ptx.encode(), "sm_{}{}".format(*capability)
    return _linked(text, architecture) or _by_ptxas(text, architecture) or text


def ptxas() -> str | None:
    """The path of `ptxas`; None if it is not installed."""
    from cuda.pathfinder import find_nvidia_binary_utility  # type: ignore[import-untyped]

    found: str | None = find_nvidia_binary_utility("ptxas")
    return found


def _linked(text: bytes, architecture: str) -> bytes | None:
    from cuda.bindings import nvjitlink  # type: ignore[import-untyped]

    # Without the library, each call is a RuntimeError.
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
