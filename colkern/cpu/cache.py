"""Compiled functions on disk: one file a function content, signature and processor.

A Numba dispatcher takes any object with the methods of its `_Cache`; this one is keyed by
`content_hash`, Numba's settings and what it was taught by others, needs no source file and no index,
and never trusts a file that it did not write: the directory is private to the user (`colkern.cache`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import pickle
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeAlias

import llvmlite
import numba
import numpy as np
from llvmlite.binding import parse_assembly
from numba.core import config, sigutils
from numba.core.caching import _Cache
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

# The one symbol of machine code that a module of Numba defines only once it is imported.
_HASH_SECRET = b"_numba_hashsecret"

# The errors of reading a file and making objects of it.
UNUSABLE = (
    OSError,
    ImportError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    pickle.PickleError,
)

# A symbol of the compiling process alone, to which functions link that call each other in a circle.
_UNRESOLVED = b".numba.unresolved$"

# cloudpickle's name where it pickles a class by value, as those of scripts and notebooks: code that
# raises such an exception, or returns such a tuple, would do so with another class than the process has.
_CLASS_BY_VALUE = b"_make_skeleton_"

_DEFINES = 'define void @"{}"() {{ ret void }}'

# Settings of other targets, of threads, and of where files and messages go.
_OTHER_SETTINGS = (
    "CACHE_",
    "COLOR_SCHEME",
    "CUDA_",
    "DISABLE_CUDA",
    "DISABLE_PERFORMANCE_WARNINGS",
    "ENABLE_CUDASIM",
    "FORCE_CUDA_CC",
    "FULL_TRACEBACKS",
    "FUNCTION_CACHE_SIZE",
    "GDB_BINARY",
    "NUMBA_",
    "SHOW_HELP",
    "THREADING_LAYER",
)


InputTypes: TypeAlias = Signature | tuple[Type, ...] | str

SerializedLibrary = tuple[str, str, tuple[bytes, bytes]]
"""A name, a kind, and the machine code with its bitcode, as Numba stores a library."""


class ContentCache(_Cache):
    """The cache of one dispatcher.

    `key` gives the content hash at each load: an array that the function reads may have changed. `only` has
    the argument types that it takes, None for any; `prepare` is called before it is compiled. Of an
    `outermost` function, called from Python alone, nothing is stored by which Numba would compile it into
    others: reading that takes as long as all the rest.
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
        """The directory."""
        return str(cache_dir("kernels"))

    def enable(self) -> None:
        """Use the disk."""
        self._enabled = True

    def disable(self) -> None:
        """Leave the disk alone."""
        self._enabled = False

    def flush(self) -> None:
        """Remove what is stored of this function."""
        for path in Path(self.cache_path).glob(f"{self._name}-{self._key()}-*"):
            path.unlink(missing_ok=True)

    def load_overload(self, sig: InputTypes, target_context: CPUContext) -> CompileResult | None:
        """The compiled code of a signature; None if it must be compiled, `TypeError` if it may not be."""
        # Numba's own cache first loads what a compilation needs, some 300 ms; to run machine code, its
        # runtime (NRT) is enough.
        if self._only is not None and sig not in self._only:
            raise TypeError(f"{self._name}: declared for {self._only}, called with {sig}")
        rtsys.initialize(target_context)
        result = self._load(sig, target_context) if self._enabled else None
        if result is None:
            # Packages that extend Numba are imported by now, if they were not for the arguments.
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
            # No file, or one that names what this process cannot import or make, costs a
            # compilation, no more; as does the lack of a directory to keep files in.
            return None
        arguments, _ = sigutils.normalize_signature(sig)
        if tuple(_signature(parts).args) != tuple(arguments):
            # Of types that are pickled by value, and are other ones in each process.
            return None
        COUNTS["loaded"] += 1
        FILES.add(file)
        return CompileResult._rebuild(target_context, *parts, environments)

    def save_overload(self, sig: InputTypes, data: CompileResult) -> None:
        """Store what was compiled; a full or read-only disk is no error."""
        COUNTS["compiled"] += 1
        file = self._files.get(sig)
        if not self._enabled or file is None:
            return
        if data.lifted or data.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):
            # Numba's annotation of the source, for people, reads the file, which may have changed.
            bare = data._replace(type_annotation="")
            library, description, environment, *parts, environments = bare._reduce()
            if self._outermost:
                library = _without_bitcode(library, data.fndesc.llvm_cpython_wrapper_name)
            parts = [library, description, _Environment(environment), *parts]
            payload = dumps((parts, [_Environment(callee) for callee in environments]))
            if _UNRESOLVED in payload or _CLASS_BY_VALUE in payload:
                return
            write_whole(Path(self.cache_path) / file, payload)
            COUNTS["saved"] += 1
            FILES.add(file)

    def _file(self, sig: InputTypes, codegen: CPUCodegen) -> str | None:
        """The name of the file; None where no other process would find it."""
        if self._only is not None:
            # Kernels take numbers and arrays alone, which their names tell apart, and which nobody
            # teaches Numba anew.
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


def _signature(parts: Sequence[object]) -> Signature:
    """The signature among the parts that Numba stores of a compiled function."""
    _library, _description, _environment, signature, *_ = parts
    return signature


def _without_bitcode(library: SerializedLibrary, wrapper: str) -> SerializedLibrary:
    """A library as Numba stores it, with bitcode that defines one name: that of the function for Python."""
    name, kind, (machine_code, _) = library
    return name, kind, (machine_code, parse_assembly(_DEFINES.format(wrapper)).as_bitcode())


class _Environment:
    """Pickles the environment of a function.

    Numba imports the module that the function is from, for its globals. Only code that works with Python
    objects looks at them, and that has constants, too.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __reduce__(self) -> tuple[Callable[..., Environment], tuple[object, ...]]:
        rebuild, (module, constants, name) = self._environment.__reduce__()
        return (rebuild if constants else bare_environment), (module, constants, name)


def bare_environment(module: str, constants: list[object], name: str) -> Environment:
    """The environment of a function by its name, made without its module if there is none."""
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment._memo[name] = Environment({"__name__": module})
        environment.env_name = name
    return environment


def compiler_key() -> str:
    """The key of the compiler: the machine code depends on versions, and on Numba's settings."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__)
    return repr((versions, _settings()))


def _settings() -> list[tuple[str, str]]:
    """Numba's settings (`NUMBA_…`), but for those that leave the code as it is."""
    return [
        (name, str(getattr(config, name)))
        for name in sorted(vars(config))
        if name.isupper() and not name.startswith(_OTHER_SETTINGS)
    ]
