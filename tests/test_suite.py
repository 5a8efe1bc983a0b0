"""Each comparison of the asv suite, over little data: as asv runs them, but in one process."""

from __future__ import annotations

import pytest

from benchmarks import suite
from benchmarks.case import COMPARISONS, Comparison


@pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=COMPARISONS)
def test_a_comparison_of_the_suite_runs(comparison: Comparison) -> None:
    benchmark = getattr(suite, comparison.name)()
    shape = comparison.usual(min(comparison.rows)).values()
    benchmark.setup(*shape)
    benchmark.time_colkern(*shape)
    benchmark.teardown(*shape)
