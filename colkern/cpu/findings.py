"""Small values that were found out by compiling, on disk: later processes need not compile for them."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from typing import TypeVar, cast

from colkern.cache import cache_dir
from colkern.cpu.cache import UNUSABLE, compiler_key
from colkern.cpu.extensions import extensions_key
from colkern.cpu.whole_files import read_whole, write_whole

Finding = TypeVar("Finding")


def remembered(key: tuple[object, ...], find: Callable[[], Finding]) -> Finding:
    """The result of `find`: from disk, if another process has asked under the same key.

    Args:
        key: All that it follows from but the compiler, its settings, and what others taught it; of
            values that are pickled the same by all processes.
        find: Finds it out. Its errors are not kept.
    """
    parts = pickle.dumps((key, compiler_key(), extensions_key(())))
    name = f"{hashlib.sha256(parts).hexdigest()[:32]}.finding"
    with contextlib.suppress(*UNUSABLE):
        content = read_whole(cache_dir("kernels") / name)
        if content is not None:
            return cast("Finding", pickle.loads(content))
    value = find()
    # As of compiled code, a full or read-only disk is no error.
    with contextlib.suppress(OSError):
        write_whole(cache_dir("kernels") / name, pickle.dumps(value))
    return value
