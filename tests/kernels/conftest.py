"""The target that the kernel matrix runs on."""

from __future__ import annotations

from typing import Any

import pytest

from colkern.memory import HOST, Device
from colkern.targets import target_of


@pytest.fixture(scope="session")
def target(test_device: str) -> Any:
    """The CPU target, or the CUDA target where COLKERN_TEST_DEVICE says so."""
    return target_of(HOST if test_device == "cpu" else Device(test_device))
