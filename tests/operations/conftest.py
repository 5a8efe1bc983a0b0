"""Memory without zeros is poisoned: an output that a kernel leaves unwritten shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from colkern import memory


@pytest.fixture(autouse=True)
def poisoned_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = memory.allocate_for_overwrite

    def poisoned(count: int, dtype: Any) -> Any:
        result = plain(count, dtype)
        result.view(np.uint8)[:] = 0xA5
        return result

    monkeypatch.setattr(memory, "allocate_for_overwrite", poisoned)
