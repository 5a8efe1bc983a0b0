"""The CUDA releases that have packages, and the command that installs for one of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from colkern.cuda.adapter import MODULES, NUMBA_CUDA
from colkern.names import install_command

MAJORS = (13, 12)
"""The CUDA releases that packages are made for."""


def to_install(major: int | None) -> str:
    """The command that installs compiler, libraries and CuPy."""
    chosen = os.environ.get("COLKERN_CUDA_COMPILER") or NUMBA_CUDA
    if major in MAJORS and chosen == NUMBA_CUDA:
        return f'pip install "colkern[cuda{major}]"'
    return install_command(MODULES.get(chosen, MODULES[NUMBA_CUDA]))


def dotted(version: Sequence[int]) -> str:
    """A release as text, such as 13.2."""
    return ".".join(map(str, version))
