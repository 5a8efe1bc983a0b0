"""The compiler of row functions: plain Python functions of one row become loops over columns.

Its modules need each other: expressions have calls, and calls have expressions. If another module imports
the one that needs it, the one writes `rows.containers`, which imports that when it is first used.
"""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
