"""Values that a test knows to be there, where the declaration allows None."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """`value`, which is not None: a buffer of an array, a dictionary, metadata."""
    assert value is not None
    return value
