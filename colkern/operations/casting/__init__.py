"""Casts: the values of an array as those of another type.

`dispatch` has what is public, and the table of conversions that the other modules register.
"""

from colkern.operations.casting import (  # noqa: F401 - for their registrations
    binary,
    decimals,
    nested,
    numbers,
    times,
)
from colkern.operations.casting.dispatch import cast

__all__ = ["cast"]
