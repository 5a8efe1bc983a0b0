"""The parts of tuples that may be None."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload

from colkern.jit.values.optionals import unwrapped


def is_none(value: Any) -> Any:
    """Whether a value is None."""
    raise NotImplementedError


@overload(is_none)
def _ol_is_none(value):
    if isinstance(value, types.NoneType):
        return lambda value: True
    if isinstance(value, types.Optional):
        return lambda value: value is None
    return lambda value: False


def field_of(value: Any, k: Any) -> Any:
    """Field `k`, a literal, of a tuple that is not None; None where there is never a tuple."""
    raise NotImplementedError


@overload(field_of, prefer_literal=True)
def _ol_field_of(value, k):
    place = k.literal_value
    if isinstance(value, types.NoneType):
        return lambda value, k: None
    if isinstance(value, types.Optional):
        return lambda value, k: unwrapped(value)[place]
    return lambda value, k: value[place]
