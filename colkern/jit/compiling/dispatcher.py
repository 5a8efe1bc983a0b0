"""The dispatchers of `njit`: of a user's function as it stands when it is compiled."""

from __future__ import annotations

import inspect
import types
from typing import Any

from numba.core import sigutils
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.core.types import Type

from colkern.cpu.cache import ContentCache, InputTypes
from colkern.cpu.content import content_hash, note_content
from colkern.cpu.dispatcher import CachedDispatcher
from colkern.jit.compiling.functions import Options, UsersDispatcher, dispatcher_of, jit_options
from colkern.jit.compiling.names import is_found_by_name
from colkern.jit.compiling.replacements import CheckedCompiler
from colkern.jit.environment import is_checked, library_key


class FunctionDispatcher(UsersDispatcher):
    """A dispatcher that compiles a copy of its function, which other processes find in the cache."""

    def __init__(
        self,
        py_func: types.FunctionType,
        locals: dict[str, Type] | None = None,
        targetoptions: Options | None = None,
        pipeline_class: type[CompilerBase] = CheckedCompiler,
    ) -> None:
        options = dict(targetoptions or {})
        if is_checked():
            options["boundscheck"] = True
        super().__init__(py_func, locals, options, pipeline_class=pipeline_class)
        self._copies: list[CachedDispatcher] = []

    def compile(self, sig: InputTypes) -> object:
        """Compile for argument types, with globals and callees as they are now."""
        arguments = tuple(sigutils.normalize_signature(sig)[0])
        with global_compiler_lock:
            if arguments in self.overloads or not self._can_compile:
                return super().compile(sig)
            note_content(self)
            with self._compiling_counter:
                cache = ContentCache(
                    lambda: content_hash(self, library_key()), self.py_func.__name__
                )
                result = cache.load_overload(sig, self.targetctx)
                if result is None:
                    result = self._compiled_copy(sig, cache).overloads[arguments]
                else:
                    self.targetctx.insert_user_function(
                        result.entry_point, result.fndesc, [result.library]
                    )
                self.add_overload(result)
                return result.entry_point

    def _compile_for_args(self, *args: object, **kws: object) -> object:
        try:
            return super()._compile_for_args(*args, **kws)
        except TypingError as error:
            if "caused by the following argument" in str(error):
                # Numba says which argument it has no type for.
                raise
            from colkern.jit.compiling.explanations import explained

            raise TypingError(str(explained(self, error))) from None

    def _compiled_copy(self, sig: InputTypes, cache: ContentCache) -> CachedDispatcher:
        copy = dispatcher_of(self.py_func, jit_options(self))
        if inspect.isgeneratorfunction(self.py_func):
            # As `dispatcher_of` says.
            cache.disable()
        copy._cache = cache
        copy.compile(sig)
        # Numba forgets compiled code with the dispatcher that it belongs to.
        self._copies.append(copy)
        return copy

    def __reduce__(self) -> Any:
        # By name where the name leads back here, as for any function; else by its parts.
        if self.__module__ != "__main__" and is_found_by_name(self):
            return self.__qualname__
        return super().__reduce__()
