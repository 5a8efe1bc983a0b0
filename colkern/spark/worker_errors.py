"""What Spark shows of an error in a worker: what happened, then where in the user's code."""

from __future__ import annotations

import contextlib
import os
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

_SIMPLIFIED = "SPARK_SIMPLIFIED_TRACEBACK"
"""Set in Spark's workers, and there alone, unless the session asks for whole tracebacks."""

_HIDDEN = "SPARK_HIDE_TRACEBACK"
"""Where it is set, Spark sends an exception without its traceback."""

_MOST_PLACES = 4

_PATHS = sysconfig.get_paths()
_LIBRARIES = (
    str(Path(__file__).parents[1]),
    *{_PATHS[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)
"""Where the code is that is not the user's."""

_TYPED = ("<stdin>", "<ipython-", "<command-")
"""How code that was typed into a prompt or a notebook is called."""


@contextlib.contextmanager
def told_plainly() -> Iterator[None]:
    """Have Spark show what is raised within by its message, with the lines of the user's code as notes.

    A traceback would begin with Spark's and colkern's own frames, dozens of lines of them, and end with
    what happened. The worker ends after such an exception, so that no other function's is changed.
    """
    try:
        yield
    except Exception as error:
        if os.environ.get(_SIMPLIFIED) and not os.environ.get(_HIDDEN):
            os.environ[_HIDDEN] = "1"
            for place in _users_places(error):
                error.add_note(place)
        raise


def _users_places(error: Exception) -> list[str]:
    """The last lines of the user's code that an exception went through, as tracebacks have them."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith(".py") or frame.filename.startswith(_TYPED)
        if not frame.filename.startswith(_LIBRARIES)
        # Of a cluster's Spark, out of an archive or a folder of its own.
        and "/pyspark/" not in frame.filename
    ]
    return [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        + (f"\n    {frame.line}" if frame.line else "")
        for frame in frames[-_MOST_PLACES:]
    ]
