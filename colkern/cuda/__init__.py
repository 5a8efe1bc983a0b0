"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` and the primitives of each compiler are the only modules that meet a CUDA compiler, `memory` is
the only one that imports CuPy. COLKERN_CUDA_COMPILER chooses the compiler; see `adapter`.
"""

from __future__ import annotations


def is_available() -> bool:
    """Whether `device="cuda"` works here: a compiler, CuPy, a driver and a device are there.

    Imports the compiler and CuPy, if they are installed; `why_unavailable` says what is missing.
    """
    return why_unavailable() is None


def why_unavailable() -> str | None:
    """What is missing for `device="cuda"`, in a line; None if it works."""
    from colkern.cuda.adapter import require_device
    from colkern.cuda.memory import array_library
    from colkern.errors import DeviceUnavailableError

    try:
        require_device()
        array_library()
    except DeviceUnavailableError as error:
        return " ".join(str(error).split())
    return None
