"""The comparisons as asv's benchmarks: colkern alone, over every combination of their parameters.

    asv check --python=same
    COLKERN_SUITE=usual asv run --python=same --quick

asv finds the classes by looking through this module; there is one for each comparison. COLKERN_SUITE=usual
leaves of each the usual shape of its least size, to see that asv runs it.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks.case import Comparison
from benchmarks.cases import COMPARISONS


class _Suite:
    """The common part of the classes."""

    comparison: Comparison
    timeout = 600

    def setup(self, *shape: Any) -> None:
        names = ("rows", *self.comparison.parameters)
        self.case = self.comparison.make(**dict(zip(names, shape, strict=True)))
        # Compiled, or loaded from the cache, before the clock runs.
        self.case.contestants["colkern"]()

    def time_colkern(self, *_shape: Any) -> None:
        self.case.contestants["colkern"]()

    def teardown(self, *_shape: Any) -> None:
        del self.case


def _class_of(comparison: Comparison) -> type:
    values = [comparison.rows, *comparison.parameters.values()]
    if os.environ.get("COLKERN_SUITE") == "usual":
        values = [(min(comparison.rows),), *(some[:1] for some in comparison.parameters.values())]
    attributes = {
        "comparison": comparison,
        "params": values,
        "param_names": ["rows", *comparison.parameters],
        "__module__": __name__,
        "__doc__": comparison.make.__doc__,
    }
    return type(comparison.name, (_Suite,), attributes)


globals().update({name: _class_of(comparison) for name, comparison in COMPARISONS.items()})
