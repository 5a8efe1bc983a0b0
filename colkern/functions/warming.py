"""Functions compiled ahead of the first call, for the types that columns mostly have.

Those whose pattern, format or time zone is compiled into them are compiled when it is known.
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
"""By heading, the types that functions are compiled for; none of those that have no end of types."""

_VALUES = {"int": 1, "float": 1.0, "str": "a", "Any": 1, "IntegersOrNumber": 1}
"""By annotation, a value of an option."""

_COMPILED_IN = {"format", "timezone"}


def options_of(name: str, function: Callable[..., object]) -> list[Any] | None:
    """Values for the options that a function must have; None if it cannot be compiled ahead."""
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
    """Have a function compiled, or found in the cache; how many loops were which.

    Args:
        name: The function's.
        capability: The compute capability to compile for; by default, the function is compiled for this
            processor. Functions that devices do not run are left out.
    """
    before = compilations()
    own = all_functions()[name]
    token = CAPABILITY.set(capability)
    try:
        for type_ in TYPES[own.heading]:
            # One of several types of a heading, as dates for `hour`; or no kernel.
            with contextlib.suppress(TypeError, UnsupportedError):
                own.called(nulls(0, type_), *(options_of(name, own.called) or []))
    finally:
        CAPABILITY.reset(token)
    return {what: count - before[what] for what, count in compilations().items()}
