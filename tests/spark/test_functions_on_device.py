"""Functions in a task that Spark has given a GPU: in the simulator."""

from __future__ import annotations

import pytest
from jit.simulated_kernels import report_of
from spark.device_calls import CASES
from tiers import selected_cases


@pytest.fixture(scope="module")
def simulated_calls(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The failures in the simulator, by case: one process runs them all."""
    output = tmp_path_factory.mktemp("calls") / "report.json"
    return report_of("spark.device_calls", selected_cases(request, "case"), output)


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_calls: dict[str, str]) -> None:
    assert simulated_calls[case] == ""
