"""Functions of a row over columns on a device: in the simulator, and as the PTX they compile to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jit.device_functions import CASES
from jit.ptx_kernels import run_rows
from jit.simulated_kernels import report_of

import colkern as ck
from colkern.jit.device.row_kernels import PLACE_BITS
from colkern.memory import Buffer, Device


@pytest.fixture(scope="module")
def simulated_functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong in the simulator, by case: one process runs them all."""
    return report_of("jit.device_functions", tmp_path_factory.mktemp("rows") / "report.json")


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_functions: dict[str, str]) -> None:
    assert simulated_functions[case] == ""


# What the compiler makes of it


def positive(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    return x


@ck.udf
def mixed(words, number, ratio):
    if number == 7:
        return None
    size = 0
    for word in words:
        size += 0 if word is None else len(word)
    return size, number // 10 + 1, positive(ratio) * 0.5


WORDS = [["ab", None, "c"], ["x"], [], ["def"], None]
NUMBERS = [2**64 - 1, 7, 2**63, 10, 0]


def compiled(ratios: list[float]) -> tuple[Any, int]:
    columns = ck.array(WORDS), ck.array(NUMBERS, ck.uint64()), ck.array(ratios)
    plan = mixed._device_plan(tuple(column.type for column in columns))
    return run_rows(plan, (9, 0), *columns)


def test_compiled_functions_write_what_they_return() -> None:
    found, error = compiled([0.5, 1.0, 1.5, 2.0, 2.5])
    assert error == 2**64 - 1
    assert found["r_valid"].tolist() == [1, 0, 1, 1, 0]
    assert found["r0_out"].tolist() == [3, 0, 0, 3, 0]
    assert found["r1_out"].tolist() == [(2**64 - 1) // 10 + 1, 0, 2**63 // 10 + 1, 2, 0]
    assert found["r2_out"].tolist() == [0.25, 0.0, 0.75, 1.0, 0.0]


def test_compiled_functions_keep_the_error_of_the_first_row() -> None:
    # In row 1 it returns before it looks.
    _, error = compiled([0.5, -1.0, -1.5, -2.0, -2.5])
    assert error >> PLACE_BITS == 2


# What is asked for


def _on_a_device(values: np.ndarray[Any, Any]) -> ck.Array:
    """An array that says of itself that it is on a device."""
    buffer = Buffer(values.view(np.uint8), Device("cuda"))
    return ck.Array(ck.int64(), len(values), [None, buffer], null_count=0)


def test_a_device_that_is_not_there_is_named() -> None:
    def same(x: Any) -> Any:
        return x

    column = _on_a_device(np.arange(3))
    with pytest.raises(ck.DeviceUnavailableError, match="no CUDA device"):
        ck.udf(same)(column)
