"""Makes Spark show errors of a worker as the message, then the lines of the user's code."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

import pyspark

_SIMPLIFIED = "SPARK_SIMPLIFIED_TRACEBACK"
"""Set in Spark's workers only, unless the session requests full tracebacks."""

_HIDDEN = "SPARK_HIDE_TRACEBACK"
"""If it is set, Spark sends an exception without its traceback."""

_MOST_PLACES = 4

_PATHS = sysconfig.get_paths()
_STANDARD = tuple({os.path.join(_PATHS[name], "") for name in ("stdlib", "platstdlib")})
_INSTALLED = ("site-packages", "dist-packages")
"""Folders within the standard library that do not belong to it."""

_PACKAGES = ("py4j", "pandas", "numpy", "pyarrow", "numba", "llvmlite", "cloudpickle")
_LIBRARIES = (
    os.path.join(Path(__file__).parents[1], ""),
    # On a cluster, Spark may be an archive, or a folder of its own.
    os.path.join(os.path.dirname(pyspark.__file__), ""),
    *{
        os.path.join(_PATHS[name], package, "")
        for name in ("purelib", "platlib")
        for package in _PACKAGES
    },
)
"""The folders of code that is not the user's; the user's own may be installed next to it."""

_TYPED = ("<stdin>", "<ipython-", "<command-")
"""The prefixes of file names of code that was typed into a prompt or a notebook."""


@contextlib.contextmanager
def told_plainly() -> Iterator[None]:
    """Makes Spark show an exception by its message, with the lines of the user's code as notes."""
    # A traceback would begin with dozens of frames of Spark and colkern, and end with the message. The
    # worker ends after such an exception, so no other function's exceptions change. An exception stays
    # unchanged if the user's code is the caller, which may catch it.
    try:
        yield
    except Exception as error:
        simplified = os.environ.get(_SIMPLIFIED) and not os.environ.get(_HIDDEN)
        callers = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe()))
        if simplified and not any(map(_is_of_user, callers)):
            os.environ[_HIDDEN] = "1"
            for place in _last_places(error):
                error.add_note(place)
        raise


def _last_places(error: Exception) -> list[str]:
    """Returns the last lines of the user's code, or else of other code, in an exception's traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if _is_of_user(frame.filename)]
    return [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        + (f"\n    {frame.line}" if frame.line else "")
        for frame in (users or frames)[-_MOST_PLACES:]
    ]


def _is_of_user(filename: str) -> bool:
    """Whether the code may be the user's."""
    if not filename.endswith(".py"):
        return filename.startswith(_TYPED)
    for folder in _STANDARD:
        if filename.startswith(folder):
            return filename.removeprefix(folder).partition(os.sep)[0] in _INSTALLED and (
                not filename.startswith(_LIBRARIES)
            )
    return not filename.startswith(_LIBRARIES)
