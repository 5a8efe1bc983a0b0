"""Casts: the values of an array as those of another type.

`dispatch` has the table of which type becomes which; the other modules have the casts, by what they
convert.
"""

from colkern.operations.casting.dispatch import cast

__all__ = ["cast"]
