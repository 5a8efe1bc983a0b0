"""The tests of the day: each rule names tests, and what it leaves to the night has a turn by day."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import tiers
from kernels.cases import variants
from tiers import (
    EACH_KERNEL,
    EACH_PATTERN,
    IN_QUARTERS,
    IN_TURN,
    NIGHT,
    QUARTERS,
    ROOT,
    SELDOM,
    SIXTEENTHS,
)

from colkern.kernels import KERNELS


@pytest.mark.parametrize(
    "name", [*NIGHT, *IN_QUARTERS, *IN_TURN, *SELDOM, *EACH_KERNEL, *EACH_PATTERN]
)
def test_each_rule_names_tests(name: str) -> None:
    path, _, test = name.partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test.partition('[')[0]}" in (ROOT / path).read_text()


def by_day(rule: str, cases: list[str]) -> set[str]:
    """The cases of a test that run by day."""
    items: list[Any] = [SimpleNamespace(nodeid=f"{rule.rstrip('[')}[{case}]") for case in cases]
    late = {item.nodeid for item in tiers.tests_of_the_night(items)}
    return {c for c, item in zip(cases, items, strict=True) if item.nodeid not in late}


@pytest.mark.parametrize("rule", [*IN_QUARTERS, *IN_TURN, *EACH_KERNEL, *EACH_PATTERN])
def test_each_test_of_the_day_has_its_turn(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, seen = list(variants()), set()
    for number in range(20 * QUARTERS if rule in EACH_KERNEL + EACH_PATTERN else SIXTEENTHS):
        monkeypatch.setattr(tiers, "turn", lambda number=number: number)
        chosen = by_day(rule, cases)
        assert len(chosen) < len(cases) / 2
        seen |= chosen
    assert seen == set(cases)


def test_each_kernel_and_each_pattern_runs_by_day() -> None:
    (rule, *_) = EACH_KERNEL
    assert {case.partition("[")[0] for case in by_day(rule, list(variants()))} == KERNELS.keys()
    (rule, *_) = EACH_PATTERN
    kernels = {case.partition("[")[0] for case in by_day(rule, list(variants()))}
    assert kernels >= set(tiers.kernels_of_patterns())
    sequential = {kernel.sequential for kernel in KERNELS.values() if kernel.name in kernels}
    assert sequential == {False, True}
