"""Compiled device code on disk: one file for each kernel content, set of types and compute capability.

Neither Numba nor its CUDA compiler is imported for stored code. A file has machine code and the name of
the kernel in it; launch plans know the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from colkern.cache import COUNTS, FILES, cache_dir, read_whole, write_whole
from colkern.cpu.sources import source_key
from colkern.cuda import adapter
from colkern.cuda.toolkit import assembled, find_library, ptxas
from colkern.errors import CompileError, without_addresses
from colkern.forks import cached_property

Types = Sequence[tuple[str, bool]]
"""NumPy's type code of each argument, and whether it is an array of that type."""

_COMPILER = (
    *("numba-cuda", "numba", "llvmlite"),
    *("nvidia-nvvm", "nvidia-cuda-nvcc", "nvidia-nvjitlink", "nvidia-nvjitlink-cu12"),
)
"""The packages whose releases determine the machine code."""

_ENTRY = re.compile(r"\.entry\s+([^\s(]+)")

_EXTERNAL = re.compile(r"\.extern\s+\.func\s+(?:\([^)]*\)\s*)?(\w+)")

_OF_DRIVER = {"vprintf", "malloc", "free", "__assertfail"}
"""Functions that PTX may call without defining them."""


class DeviceCode(NamedTuple):
    """Code that the driver can load."""

    entry: str  #: The kernel's name in it.
    image: bytes  #: Machine code, or PTX where nothing could assemble it.


class KernelSource:
    """A kernel that is compiled once for each set of types and compute capability, by any process.

    `make` makes the function of one thread if it must be compiled. `key` gives a text that determines
    its meaning, or None if other processes cannot have the same. `apart` says that arrays that are
    written overlap no others. `options` are those of `cuda.jit`.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Callable[..., object]],
        key: Callable[[], str | None],
        *,
        apart: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> None:
        self._title = name
        self._name = "".join(c if c.isalnum() or c == "_" else "-" for c in name)
        self._make = make
        self._key = key
        self._apart = apart
        self._options = dict(options or {})

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Within it, a kernel that the compiler does not take is a CompileError."""
        try:
            yield
        except adapter.compile_errors() as error:
            words = without_addresses(str(error))
            raise CompileError(f"{self._title} does not compile: {words}") from error

    @cached_property
    def function(self) -> Callable[..., object]:
        """The function of one thread."""
        return self._make()

    @cached_property
    def dispatcher(self) -> adapter.Launchable:
        """The kernel as an object that the compiler launches."""
        return adapter.kernel(self.function, **self._options)

    def loaded(self, types: Types, ordinal: int) -> object | None:
        """The kernel for types, loaded on the current device; None if the compiler must launch it."""
        if not adapter.has_plain_launches(self._options):
            return None
        code = self.code(types, adapter.capability(ordinal))
        return None if code is None else adapter.loaded(code.image, code.entry)

    def code(self, types: Types, capability: tuple[int, int]) -> DeviceCode | None:
        """The code for arguments of these types; compiled if no process has done so. None without code."""
        path = self._path(types, capability)
        content = None
        if path is not None:
            with contextlib.suppress(OSError):
                content = read_whole(path)
        if path is None or content is None:
            return self._compiled(types, capability, path)
        entry, _, image = content.partition(b"\0")
        COUNTS["loaded"] += 1
        FILES.add(path.name)
        return DeviceCode(entry.decode(), image)

    def _compiled(
        self, types: Types, capability: tuple[int, int], path: Path | None
    ) -> DeviceCode | None:
        COUNTS["compiled"] += 1
        options = {"debug": False, "opt": True, **self._options}
        text = adapter.ptx(self.function, types, capability, apart=self._apart, options=options)
        if set(_EXTERNAL.findall(text)) - _OF_DRIVER:
            return None
        (entry,) = _ENTRY.findall(text)
        code = DeviceCode(entry, assembled(text, capability))
        if path is not None:
            # A full or read-only disk is no error.
            with contextlib.suppress(OSError):
                write_whole(path, code.entry.encode() + b"\0" + code.image)
                COUNTS["saved"] += 1
                FILES.add(path.name)
        return code

    def _path(self, types: Types, capability: tuple[int, int]) -> Path | None:
        """The path of the file; None if no other process would find it, or there is no directory for it."""
        key = self._key()
        if key is None:
            return None
        content = (key, list(types), self._apart, sorted(self._options.items()))
        name = f"{self._name}-sm_{capability[0]}{capability[1]}-{_hash(content)}-{package_key()}"
        with contextlib.suppress(OSError):
            return cache_dir("kernels") / f"{name}.cubin"
        return None


def kept_files() -> set[str]:
    """The names of the files that this installation can use, whichever process compiled them."""
    names = {path.name for path in cache_dir("kernels").glob("*.cubin")}
    # Without such files, CUDA's packages need not be installed.
    with contextlib.suppress(ImportError):
        return {name for name in names if name.endswith(f"-{package_key()}.cubin")}
    return set()


@cache
def package_key() -> str:
    """A hash of everything that all device code depends on: the compiler, and colkern's own files."""
    return _hash((*map(source_key, ("colkern.cuda", "colkern.kernels")), _toolchain()))


def _hash(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:24]


def _toolchain() -> list[tuple[str, object]]:
    """The releases of compiler and assembler; for libNVVM, which does not tell its release, its size."""
    releases: list[tuple[str, object]] = []
    for package in _COMPILER:
        with contextlib.suppress(metadata.PackageNotFoundError):
            releases.append((package, metadata.version(package)))
    # The first of the two that is there assembles.
    assemblers = [find_library("nvJitLink").path, ptxas()]
    for path in (find_library("nvvm").path, next(filter(None, assemblers), None)):
        if path:
            releases.append((Path(path).name, os.path.getsize(path)))
    return releases
