"""Compiled functions on disk: a file for each content of a function, signature and processor.

A Numba dispatcher takes any object with the methods of its `_Cache`. This one is keyed by
`content_hash`, Numba's settings and registered extensions. It needs no source file and no index, and
trusts only files that the user wrote: the directory is private (`colkern.cache`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import pickle
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeAlias

import llvmlite
import numba
import numpy as np
from llvmlite.binding import parse_assembly
from numba.core import config, sigutils
from numba.core.codegen import CPUCodegen
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.entrypoints import init_all
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.types import Type
from numba.core.typing import Signature

from colkern.cache import COUNTS, FILES, cache_dir, read_whole, write_whole
from colkern.cpu.content import content_hash, is_shared
from colkern.cpu.extensions import extensions_key
from colkern.cpu.sources import source_key

# The only symbol in machine code that a module of Numba defines when it is imported.
_HASH_SECRET = b"_numba_hashsecret"

# The errors that can occur when a file is read and unpickled.
UNUSABLE = (
    OSError,
    ImportError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    pickle.PickleError,
)

# A symbol that exists only in the compiling process: functions that call each other in a circle
# link to it.
_UNRESOLVED = b".numba.unresolved$"

# cloudpickle's function for classes that are pickled by value, as those of scripts and notebooks.
# Code that raises such an exception, or returns such a named tuple, would use another class than
# the process has.
_CLASS_BY_VALUE = b"_make_skeleton_"

_DEFINES = 'define void @"{}"() {{ ret void }}'

# Settings of other targets, of threads, and of the places of files and messages.
_OTHER_SETTINGS_NAMES = """
    CACHE_ COLOR_SCHEME CUDA_ DISABLE_CUDA DISABLE_PERFORMANCE_WARNINGS ENABLE_CUDASIM FORCE_CUDA_CC
    FULL_TRACEBACKS FUNCTION_CACHE_SIZE GDB_BINARY NUMBA_ SHOW_HELP THREADING_LAYER
"""
_OTHER_SETTINGS = tuple(_OTHER_SETTINGS_NAMES.split())


InputTypes: TypeAlias = Signature | tuple[Type, ...] | str


class ContentCache:
    """The cache of one dispatcher.

    `key` computes the content hash at each load, since an array that the function reads may have
    changed. `only` has the accepted argument types, None for any. `prepare` is called before the
    function is compiled. An `outermost` function is called only from Python; it is stored without the
    code that Numba needs to compile it into others, which would double the time of loading.
    """

    def __init__(
        self,
        key: Callable[[], str],
        name: str,
        only: Collection[tuple[Type, ...]] | None = None,
        prepare: Callable[[], None] | None = None,
        outermost: bool = False,
    ) -> None:
        self._key = key
        self._only = only
        self._prepare = prepare
        self._outermost = outermost
        self._name = "".join(c if c.isalnum() or c == "_" else "-" for c in name)
        self._files: dict[InputTypes, str | None] = {}
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The directory of the cache."""
        return str(cache_dir("kernels"))

    def disable(self) -> None:
        """Do not use the disk."""
        self._enabled = False

    def load_overload(self, sig: InputTypes, target_context: CPUContext) -> CompileResult | None:
        """The compiled code for a signature; None if it must be compiled, `TypeError` if not accepted."""
        # Numba's own cache first loads everything for compiling, which takes 300 ms; to run machine
        # code, its runtime (NRT) is enough.
        if self._only is not None and sig not in self._only:
            raise TypeError(f"{self._name}: declared for {self._only}, called with {sig}")
        rtsys.initialize(target_context)
        result = self._load(sig, target_context) if self._enabled else None
        if result is None:
            # Packages that extend Numba are imported now, unless arguments have already needed
            # them.
            init_all()
            if self._prepare is not None:
                self._prepare()
        return result

    def _load(self, sig: InputTypes, target_context: CPUContext) -> CompileResult | None:
        file = self._files[sig] = self._file(sig, target_context.codegen())
        if file is None:
            return None
        try:
            content = read_whole(Path(self.cache_path) / file)
            if content is None:
                return None
            if _HASH_SECRET in content:
                importlib.import_module("numba.cpython.hashing")
            parts, environments = pickle.loads(content)
        except UNUSABLE:
            # Without a file or directory, or if a file names objects that this process cannot
            # import, the function is compiled; it is no error.
            return None
        arguments, _ = sigutils.normalize_signature(sig)
        _library, _description, _environment, signature, *_ = parts
        if tuple(signature.args) != tuple(arguments):
            # Types that are pickled by value are different ones in each process.
            return None
        COUNTS["loaded"] += 1
        FILES.add(file)
        return CompileResult._rebuild(target_context, *parts, environments)

    def save_overload(self, sig: InputTypes, data: CompileResult) -> None:
        """Store compiled code; a full or read-only disk is no error."""
        COUNTS["compiled"] += 1
        file = self._files.get(sig)
        if not self._enabled or file is None:
            return
        if data.lifted or data.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):
            # Numba's annotated source, for people, would read the source file, which may have
            # changed.
            bare = data._replace(type_annotation="")
            library, description, environment, *parts, environments = bare._reduce()
            if self._outermost:
                # Bitcode only for the name of the function that Python calls.
                wrapper = _DEFINES.format(data.fndesc.llvm_cpython_wrapper_name)
                name, kind, (machine_code, _) = library
                library = name, kind, (machine_code, parse_assembly(wrapper).as_bitcode())
            parts = [library, description, _Environment(environment), *parts]
            payload = dumps((parts, [_Environment(callee) for callee in environments]))
            if _UNRESOLVED in payload or _CLASS_BY_VALUE in payload:
                return
            write_whole(Path(self.cache_path) / file, payload)
            COUNTS["saved"] += 1
            FILES.add(file)

    def _file(self, sig: InputTypes, codegen: CPUCodegen) -> str | None:
        """The name of the file; None if no other process could find it."""
        if self._only is not None:
            # Kernels take only numbers and arrays, whose names identify their types, and which no
            # extension changes.
            types, extensions = str(sig), ""
        else:
            arguments, returned = sigutils.normalize_signature(sig)
            types, extensions = content_hash((*arguments, returned)), extensions_key(arguments)
        key = self._key()
        if not (is_shared(key) and is_shared(types)):
            return None
        target = (types, codegen.magic_tuple(), compiler_key(), extensions)
        suffix = hashlib.sha256(repr(target).encode()).hexdigest()[:16]
        return f"{self._name}-{key}-{suffix}.kernel"


class _Environment:
    """Pickles the environment of a function.

    For its globals, Numba imports the function's module. Only code that uses Python objects needs them,
    and such code has constants, too.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __reduce__(self) -> tuple[Callable[..., Environment], tuple[object, ...]]:
        rebuild, (module, constants, name) = self._environment.__reduce__()
        return (rebuild if constants else bare_environment), (module, constants, name)


def bare_environment(module: str, constants: list[object], name: str) -> Environment:
    """The environment with a name; if there is none, a new one that does not import the module."""
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment._memo[name] = Environment({"__name__": module})
        environment.env_name = name
    return environment


def compiler_key() -> str:
    """The compiler's part of keys: versions, settings of Numba, and the files of `colkern.cpu`."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__)
    return repr((versions, _settings(), source_key(__package__)))


def _settings() -> list[tuple[str, str]]:
    """Numba's settings (`NUMBA_…`), except those that do not affect the code."""
    return [
        (name, str(getattr(config, name)))
        for name in sorted(vars(config))
        if name.isupper() and not name.startswith(_OTHER_SETTINGS)
    ]
