"""Requirements of packages on each other, from their metadata: `pip check` for those that colkern uses."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from colkern.machine import release

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
"""Package → its extras that count as asked for."""


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
    """The requirements of a package on this system, with those of extras; none if it is not installed."""
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
    """Whether a release, or a pre-release, is among those that a requirement names: `<2.6,>=1.22`."""
    return SpecifierSet(str(wanted)).contains(version, prereleases=True)
