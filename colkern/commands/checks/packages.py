"""Python packages: whether they are installed, importable, and compatible with each other.

Like `pip check`, for the packages that colkern uses: checks their requirements, from their metadata.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from colkern.commands.checks.children import NoAnswerError, run_python
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.machine import release, versions

WATCHED: dict[str, frozenset[str]] = {
    "colkern": frozenset({"spark"}),
    "numba": frozenset(),
    "numba-cuda": frozenset(),
    "numba-cuda-mlir": frozenset(),
    "cupy-cuda12x": frozenset(),
    "cupy-cuda13x": frozenset(),
    "pandas": frozenset(),
    "pyspark": frozenset({"sql"}),
}
"""For each package, the extras that count as requested."""


def unmet(name: str) -> Iterator[str]:
    """The requirements that an installed package does not meet, as `numba 0.68.1 needs numpy<2.6`."""
    there = release(name)
    if there is None:
        return
    for package, extras in WATCHED.items():
        for demand in _demands(package, extras):
            is_of_it = canonicalize_name(demand.name) == canonicalize_name(name)
            if is_of_it and not meets(there, demand.specifier):
                yield f"{package} {release(package)} needs {name}{demand.specifier}"


def _demands(package: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """Yields the requirements of a package and of `extras` on this system; none if it is not installed."""
    try:
        lines = importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:
        return
    for line in lines:
        try:
            demand = Requirement(line)
        except InvalidRequirement:
            continue
        marker = demand.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield demand


def meets(version: str, wanted: str | SpecifierSet) -> bool:
    """Whether a release, or a pre-release, satisfies a requirement such as `<2.6,>=1.22`."""
    return SpecifierSet(str(wanted)).contains(version, prereleases=True)


_CORE = {
    "numpy": ("numpy", "arrays over the bytes of columns"),
    "numba": ("numba", "kernels and users' functions on the CPU"),
    "llvmlite": ("llvmlite.binding", "the machine code that Numba makes"),
    "packaging": ("packaging.requirements", "comparisons of releases by `colkern doctor`"),
    "rich": ("rich", "what the command prints"),
}

_CODECS = {
    "lz4": ("lz4.frame", "IPC bodies compressed with LZ4"),
    "zstandard": ("zstandard", "IPC bodies compressed with Zstandard"),
}


def core() -> Iterator[Finding]:
    """Python, colkern, and its required packages."""
    yield from checked("Python", _python)
    yield ok("colkern", versions()["colkern"])
    for name, (module, enables) in _CORE.items():
        yield from checked(name, required, name, module, enables)


def codecs() -> Iterator[Finding]:
    """The libraries for compressed IPC bodies."""
    for name, (module, enables) in _CODECS.items():
        yield from checked(name, required, name, module, enables)


def _python() -> Finding:
    state = f"{platform.python_version()}, {sys.executable}"
    wanted = ""
    if release("colkern") is not None:
        (wanted,) = importlib.metadata.metadata("colkern").get_all("Requires-Python") or ("",)
    # Versions built from a branch end in a plus sign.
    if meets(platform.python_version().rstrip("+"), wanted):
        return ok("Python", state)
    return problem("Python", state, remedy=f"run a Python {wanted}")


def required(name: str, module: str, enables: str) -> Finding:
    """A required package, by its name, the module to import, and its use."""
    if release(name) is None:
        return problem(name, "not installed", enables, f"pip install {name}")
    return installed(name, f"import {module}", enables)


def optional(name: str, module: str, enables: str, remedy: str) -> Finding:
    """An optional package, as `required`, and how to get it."""
    if release(name) is None:
        return missing(name, "not installed", enables, remedy)
    return installed(name, f"import {module}", enables)


def installed(name: str, trial: str, enables: str) -> Finding:
    """An installed package: whether its `trial`, such as an import, works, and it suits other packages."""
    there = release(name)
    try:
        run_python(trial)
    except NoAnswerError as error:
        remedy = f"pip install --force-reinstall {name}"
        return problem(name, f"{there} does not work: {error}", enables, remedy)
    demands = list(unmet(name))
    if demands:
        wanted = demands[0].rpartition(" needs ")[2]
        return problem(
            name, f"{there}, but {'; '.join(demands)}", enables, f'pip install "{wanted}"'
        )
    return ok(name, str(there), enables)
