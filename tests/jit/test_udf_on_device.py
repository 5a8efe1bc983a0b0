"""Functions of a row over columns on a device: in the simulator, and as the PTX they compile to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda.ptx_machine import Kernel as Machine
from hypothesis import given
from hypothesis import strategies as st
from jit.device_functions import CASES, ON_A_DEVICE
from jit.ptx_kernels import run_rows
from jit.simulated_kernels import report_of
from tiers import selected_cases

import colkern as ck
from colkern.cuda import adapter
from colkern.jit.device.row_kernels import PLACE_BITS
from colkern.kernels import byte_strings, slot_values
from colkern.memory import Buffer, Device


@pytest.fixture(scope="module")
def simulated_functions(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What failed in the simulator, by case."""
    output = tmp_path_factory.mktemp("rows") / "report.json"
    return report_of("jit.device_functions", selected_cases(request, "case"), output)


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_functions: dict[str, str]) -> None:
    assert simulated_functions[case] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("case", ON_A_DEVICE, ids=lambda case: case.__name__)
def test_on_a_gpu(case: Callable[[], None]) -> None:
    case()


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


@pytest.fixture(scope="module")
def compiled() -> Callable[[list[float]], tuple[Any, int]]:
    """What the compiled function writes for some ratios, and the error that it keeps."""
    types = ck.list_(ck.utf8()), ck.uint64(), ck.float64()
    plan = mixed._device_plan(types)
    machine = Machine(plan.ptx(types, (9, 0)))

    def run(ratios: list[float]) -> tuple[Any, int]:
        columns = map(ck.array, (WORDS, NUMBERS, ratios), types)
        return run_rows(plan, machine, *columns)

    return run


def test_compiled_functions_write_what_they_return(compiled: Any) -> None:
    found, error = compiled([0.5, 1.0, 1.5, 2.0, 2.5])
    assert error == 2**64 - 1
    assert found["r_valid"].tolist() == [1, 0, 1, 1, 0]
    assert found["r0_out"].tolist() == [3, 0, 0, 3, 0]
    assert found["r1_out"].tolist() == [(2**64 - 1) // 10 + 1, 0, 2**63 // 10 + 1, 2, 0]
    assert found["r2_out"].tolist() == [0.25, 0.0, 0.75, 1.0, 0.0]


def test_compiled_functions_keep_the_error_of_the_first_row(compiled: Any) -> None:
    # In row 1 it returns before it looks.
    _, error = compiled([0.5, -1.0, -1.5, -2.0, -2.5])
    assert error >> PLACE_BITS == 2


# The bodies, as plain Python


EDGES = [0.0, 5.0e-324, 2.0**-25, 1.5 * 2.0**-24, 2.0**-14, 2049.0, 65504.0, 65519.9, 65520.0]


@given(st.floats(width=64) | st.floats(-1e5, 1e5) | st.sampled_from(EDGES))
def test_a_float_becomes_the_half_precision_float_next_to_it(value: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.float16(value)
    found = np.uint16(slot_values.half_of_float(np.float64(value))).view(np.float16)
    np.testing.assert_array_equal(found, expected)
    assert np.signbit(found) == np.signbit(expected) or np.isnan(value)


@given(st.text("aé€😀", max_size=5), st.integers(0, 20), st.integers(0, 20))
def test_a_slice_cuts_a_character_if_it_is_no_utf8(text: str, start: int, stop: int) -> None:
    part = text.encode()[start:stop]
    memory = np.frombuffer(part or b"?", np.uint8)
    found = byte_strings.cuts_a_character(
        memory[:1], np.uint64(memory.ctypes.data), np.int64(len(part))
    )
    assert found == (part.decode(errors="ignore").encode() != part)


# What is asked for


def _on_a_device(values: np.ndarray[Any, Any]) -> ck.Array:
    """An array that says of itself that it is on a device."""
    buffer = Buffer(values.view(np.uint8), Device("cuda"))
    return ck.Array(ck.int64(), len(values), [None, buffer], null_count=0)


def test_a_device_that_is_not_there_is_named() -> None:
    def same(x: Any) -> Any:
        return x

    if adapter.compiler().is_available():
        pytest.skip("there is a device")
    column = _on_a_device(np.arange(3))
    with pytest.raises(ck.DeviceUnavailableError, match="no CUDA device"):
        ck.udf(same)(column)
