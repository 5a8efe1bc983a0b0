"""The stubs of operations, as functions and as methods, are what their table says."""

from __future__ import annotations

from pathlib import Path

import operation_stubs
import pytest


@pytest.mark.parametrize("path", operation_stubs.STUBS, ids=lambda path: path.parent.name)
def test_stubs_are_those_of_the_operations(path: Path) -> None:
    text = operation_stubs.STUBS[path]()
    assert path.read_text() == text, "run: python tests/operation_stubs.py"
