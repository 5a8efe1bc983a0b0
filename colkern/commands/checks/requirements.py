"""Requirements of packages on each other, from their metadata: `pip check` for those that colkern uses."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator

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

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;\s*(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_CONDITION = re.compile(r"(~=|===?|!=|<=|>=|<|>)\s*([^\s,]+)")
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")

_Release = tuple[int, ...]

_HOLDS: dict[str, Callable[[_Release, _Release], bool]] = {
    "<": lambda there, bound: there < bound,
    "<=": lambda there, bound: there <= bound,
    ">": lambda there, bound: there > bound,
    ">=": lambda there, bound: there >= bound,
    "==": lambda there, bound: there == bound,
    "===": lambda there, bound: there == bound,
    "!=": lambda there, bound: there != bound,
}


def unmet(name: str) -> Iterator[str]:
    """The requirements of other packages that the installed release of a package does not meet.

    Such as `numba 0.68.1 needs numpy<2.6,>=1.22`.
    """
    there = release(name)
    if there is None:
        return
    for package, extras in WATCHED.items():
        for wanted in _demands(package, extras).get(normalized(name), ()):
            if not meets(there, wanted):
                yield f"{package} {release(package)} needs {name}{wanted}"


def _demands(package: str, extras: frozenset[str]) -> dict[str, list[str]]:
    """Required package → its releases, as a package demands them; empty if it is not installed."""
    try:
        lines = importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    demands: dict[str, list[str]] = {}
    for line in lines:
        name, wanted, marker = _parts(line)
        extra = _EXTRA.fullmatch(marker)
        # Other markers are conditions on Pythons and systems, which may not hold here.
        if wanted and (not marker or (extra and extra[1] in extras)):
            demands.setdefault(normalized(name), []).append(wanted)
    return demands


def _parts(line: str) -> tuple[str, str, str]:
    """The name, the releases and the marker of a requirement."""
    match = _REQUIREMENT.fullmatch(line.strip())
    if match is None:
        return "", "", ""
    name, wanted, marker = match.groups(default="")
    return name, wanted.strip(), marker.strip()


def normalized(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def meets(version: str, wanted: str) -> bool:
    """Whether a release is among those that a requirement names, such as `<2.6,>=1.22`.

    By the numbers of the releases alone: a pre-release counts as the release.
    """
    return all(_meets_one(version, *condition) for condition in _CONDITION.findall(wanted))


def _meets_one(version: str, comparison: str, bound: str) -> bool:
    limit = _numbers(bound)
    there = _padded(_numbers(version), len(limit))
    if comparison == "~=":
        return there >= limit and there[: len(limit) - 1] == limit[:-1]
    if bound.endswith(".*"):
        return _HOLDS[comparison](there[: len(limit)], limit)
    return _HOLDS[comparison](there, _padded(limit, len(there)))


def _numbers(version: str) -> _Release:
    match = _NUMBERS.match(version)
    return tuple(map(int, match[1].split("."))) if match else ()


def _padded(numbers: _Release, size: int) -> _Release:
    return numbers + (0,) * (size - len(numbers))
