"""Rows that are built on a device: in the simulator, and by the PTX that the kernels compile to."""

from __future__ import annotations

import pytest
from jit.device_rows import ALL, CASES, TEXTS, WORDS, all_words, expected_of_all, of_all, split
from jit.ptx_rows import rows_by_ptx
from jit.simulated_kernels import reported

import colkern as ck


@pytest.fixture(scope="module")
def simulated_rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong in the simulator, by case."""
    return reported("device_rows", tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_rows: dict[str, str]) -> None:
    assert simulated_rows[case] == ""


def test_compiled_kernels_write_what_they_have_measured() -> None:
    count = len(TEXTS)
    found = rows_by_ptx(split, count, ck.array(TEXTS), 2, returns=WORDS, capability=(9, 0))
    found.validate(full=True)
    assert found.to_pylist() == all_words(TEXTS)


def test_compiled_kernels_write_values_of_every_layout() -> None:
    numbers = list(range(20))
    found = rows_by_ptx(of_all, 20, ck.array(numbers), returns=ALL, capability=(8, 0))
    found.validate(full=True)
    assert found.to_pylist() == [expected_of_all(n) for n in numbers]
