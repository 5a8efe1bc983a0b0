"""Functions compiled before the first call, for the types that columns mostly have.

Functions with a pattern, format or time zone compiled into them are compiled once that is known.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.cache import compilations
from colkern.errors import UnsupportedError
from colkern.functions.row_functions import CAPABILITY, all_functions
from colkern.operations.creation import nulls

TYPES: dict[str, tuple[s.DataType, ...]] = {
    "Bits": (s.int64(),),
    "Dates and times": (s.timestamp("us"), s.date32()),
    "Numbers": (s.float64(), s.int64()),
    "Text": (s.utf8(),),
}
"""Heading → the types to compile its functions for; headings with unlimited types are left out."""

_VALUES = {"int": 1, "float": 1.0, "str": "a", "Any": 1, "IntegersOrNumber": 1}
"""Annotation of an option → a value for it."""

_COMPILED_IN = {"form", "format", "timezone"}


def options_of(name: str, function: Callable[..., object]) -> list[Any] | None:
    """Values for the required options of a function; None if it cannot be compiled ahead."""
    options = [*inspect.signature(function).parameters.values()][1:]
    needed = [option for option in options if option.default is option.empty]
    if name.endswith("_regex") or any(option.name in _COMPILED_IN for option in needed):
        return None
    values = [_VALUES.get(str(option.annotation)) for option in needed]
    return None if None in values else values


def functions_to_warm() -> list[str]:
    """The names of the functions that can be compiled ahead."""
    return [
        name
        for name, each in all_functions().items()
        if each.heading in TYPES and options_of(name, each.called) is not None
    ]


def warm(name: str, capability: tuple[int, int] | None = None) -> dict[str, int]:
    """Compile a function, or find it in the cache; returns the number of loops compiled and loaded.

    Args:
        capability: The compute capability to compile for; by default, the function is compiled for this
            processor. Functions that devices do not run are left out.
    """
    before = compilations()
    own = all_functions()[name]
    token = CAPABILITY.set(capability)
    try:
        for type_ in TYPES[own.heading]:
            # The heading has several types, and this one may not fit, as dates for `hour`; or there
            # is no kernel.
            with contextlib.suppress(TypeError, UnsupportedError):
                own.called(nulls(0, type_), *(options_of(name, own.called) or []))
    finally:
        CAPABILITY.reset(token)
    return {what: count - before[what] for what, count in compilations().items()}
