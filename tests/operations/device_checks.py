"""A check that fails where an operation on device arrays runs a kernel on the CPU's target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from colkern.cpu.target import CpuTarget


@contextmanager
def no_kernels_on_the_host() -> Iterator[None]:
    """Within it, a kernel of the CPU's target fails; those of a stand-in run, though they are its too."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("map", "reduce"):
            patch.setattr(CpuTarget, name, _refusing(getattr(CpuTarget, name)))
        yield


def _refusing(run: Any) -> Any:
    def refused(target: CpuTarget, kernel: Any, *args: Any, **options: Any) -> Any:
        assert type(target) is not CpuTarget, f"{kernel} runs on the host"
        return run(target, kernel, *args, **options)

    return refused
