"""Helpers of kernels on disk, as bitcode that their callers link: typing and lowering them is most of the
time that a process takes to compile its first row function.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.serialize import dumps

from colkern.cache import cache_dir, read_whole, write_whole
from colkern.cpu.cache import UNUSABLE, bare_environment, compiler_key
from colkern.cpu.embedded import EmbeddedLibrary
from colkern.cpu.sources import source_key

_HELPERS = "colkern.kernels"


def is_kept(function: Callable[..., Any]) -> bool:
    """Whether a helper is one of the package's files, or bound by it: its name and theirs say all of it."""
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith(_HELPERS):
        return False
    name = function.__qualname__
    is_bound = name != function.__name__
    return name.isidentifier() and (is_bound or function.__code__.co_filename[0] != "<")


class EmbeddedCache(_Cache):  # type: ignore[misc]
    """The bitcode of one helper: a file for each signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @property
    def cache_path(self) -> str:
        """The directory."""
        return str(cache_dir("helpers"))

    def enable(self) -> None:
        """Nothing: helpers always use the disk."""

    def disable(self) -> None:
        """Nothing: no one asks for it."""

    def flush(self) -> None:
        """Nothing: its files are found by content."""

    def load_overload(
        self, sig: tuple[Any, ...], target_context: CPUContext
    ) -> CompileResult | None:
        """The helper for a signature, or None if it must be compiled."""
        try:
            content = read_whole(self._file(sig, target_context))
            if content is None:
                return None
            bitcode, description, signature = pickle.loads(content)
            module = parse_bitcode(bitcode)
        except (*UNUSABLE, RuntimeError):
            return None
        environment = bare_environment(
            description.modname, [], target_context.get_env_name(description)
        )
        library = EmbeddedLibrary.of(target_context.codegen(), description.mangled_name, module)
        return CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=target_context.get_executable(library, description, environment),
            typing_error=None,
            type_annotation="",
            signature=signature,
            library=library,
            objectmode=False,
            lifted=(),
            fndesc=description,
            environment=environment,
            call_helper=None,
            metadata=None,
            reload_init=[],
            referenced_envs=[],
        )

    def save_overload(self, sig: tuple[Any, ...], data: CompileResult) -> None:
        """Store what was compiled; a full or read-only disk is no error."""
        if data.library.has_dynamic_globals:
            return
        description = data.fndesc
        types_of = description.typemap, description.calltypes
        description.typemap = description.calltypes = None
        try:
            module = data.library._get_module_for_linking()
            payload = dumps((module.as_bitcode(), description, data.signature))
        finally:
            description.typemap, description.calltypes = types_of
        with contextlib.suppress(OSError, LookupError):
            write_whole(self._file(sig, data.target_context), payload)

    def _file(self, sig: Any, target_context: CPUContext) -> Path:
        """The file of a signature; `LookupError` if a type is of an object of this process."""
        types_of = tuple(map(str, getattr(sig, "args", sig)))
        if any(" at 0x" in each for each in types_of):
            raise LookupError(f"{types_of}: no other process has them")
        content = (self._function.__module__, types_of, target_context.codegen().magic_tuple())
        key = hashlib.sha256(repr((content, _content())).encode()).hexdigest()[:32]
        return cache_dir("helpers") / f"{self._function.__qualname__}-{key}.helper"


@cache
def _content() -> str:
    return repr((source_key("colkern.cpu"), source_key(_HELPERS), compiler_key()))
