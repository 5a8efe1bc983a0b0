"""Functions in a task that Spark has given a GPU: in the simulator."""

from __future__ import annotations

import pytest
from spark.device_calls import CASES

SIMULATED = "spark.device_calls"


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_cases: dict[str, str]) -> None:
    assert simulated_cases[case] == ""
