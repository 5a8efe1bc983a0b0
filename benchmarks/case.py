"""Comparisons: an operation, the shapes of its data, and the libraries that do it.

    @compared(target=1.5, dtype=("int64", "int32"), nulls=(0, 0.01, 0.5))
    def filter_mask(rows, dtype, nulls): ...

registers a comparison. The function makes one case: the data, and for colkern and each peer that has
the operation the work to be timed. The first value of each parameter is the usual one. `asv` runs
every combination; the table has the usual case, and those that differ from it in one parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Work

ROWS = (10_000, 1_000_000, 100_000_000)

CHOSEN = (
    "calls",
    "sum_numbers",
    "add_arrays",
    "less_than_number",
    "filter_mask",
    "take",
    "equal_strings",
    "group_by",
    "join",
    "sort_rows",
)
"""The ten comparisons that stand for all, in the first table of the docs and in `make track`."""

Shape = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One operation on one set of data.

    Args:
        nbytes: The bytes that the operation must read and write, for its share of the bandwidth.
        contestants: Library -> the work; all do the same, on the same buffers.
        keep: What must live as long as the case, such as a folder that is removed after it.
        facts: Asked for after the rounds: what its row says beside the figures.
    """

    nbytes: int
    contestants: dict[str, Work]
    keep: object = None
    facts: Callable[[], dict[str, Any]] = dict


@dataclass(frozen=True)
class Comparison:
    """An operation beside its peers.

    Args:
        name: The operation.
        make: Makes a case; called with `rows` and the other parameters by name.
        rows: The sizes: the slots of the input.
        parameters: The values of each other parameter, the usual one first.
        target: The ratio of the peer's time to colkern's that the project aims at.
    """

    name: str
    make: Callable[..., Case]
    rows: tuple[int, ...]
    parameters: dict[str, tuple[Any, ...]]
    target: float

    def usual(self, rows: int) -> Shape:
        """The usual shape of that size."""
        return {"rows": rows, **{name: values[0] for name, values in self.parameters.items()}}

    def shapes(self, rows: int) -> Iterator[Shape]:
        """The usual shape, and those that differ from it in one parameter."""
        usual = self.usual(rows)
        yield usual
        for name, values in self.parameters.items():
            for value in values[1:]:
                yield usual | {name: value}


COMPARISONS: dict[str, Comparison] = {}


def compared(
    target: float = 1.0, *, rows: tuple[int, ...] = ROWS, **parameters: tuple[Any, ...]
) -> Callable[[Callable[..., Case]], Callable[..., Case]]:
    """Register the function that makes the cases of a comparison; see `Comparison`."""

    def register(make: Callable[..., Case]) -> Callable[..., Case]:
        name = make.__name__.strip("_")
        assert name not in COMPARISONS, name
        COMPARISONS[name] = Comparison(name, make, rows, parameters, target)
        return make

    return register


def label(shape: Shape) -> str:
    """A shape in words: `1,000,000 rows, nulls 0.01`."""
    rows, *others = shape.items()
    return ", ".join([f"{rows[1]:,} rows", *(f"{name} {value}" for name, value in others)])
