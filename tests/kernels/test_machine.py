"""Every kernel's PTX, looked at, and run by a machine in Python: what a GPU would compute."""

from __future__ import annotations

import pytest
from cuda.ptx_machine import Kernel as Machine
from cuda.ptx_running import LANES, THREADS, compiled, one_of_each, ptx_failures
from kernels.architectures import capabilities_in_turn, ptx_of_each
from kernels.cases import variants
from kernels.ptx_rules import check_each

CAPABILITY = (8, 0)

MOST_CASES = 2


@pytest.mark.parametrize("name", one_of_each())
def test_ptx_keeps_the_rules_and_computes_what_is_expected(name: str) -> None:
    kernel, variant = variants()[name]
    texts = ptx_of_each(kernel, variant, capabilities_in_turn(kernel), THREADS, LANES)
    check_each(kernel, variant, texts)
    assert list(ptx_failures(name, texts[CAPABILITY], MOST_CASES)) == []


def test_wrong_ptx_is_found() -> None:
    text = compiled("first_descent[i4]", CAPABILITY)
    assert "min.u64" in text
    # As a compiler did that took an unsigned minimum for a signed one.
    assert list(ptx_failures("first_descent[i4]", text.replace("min.u64", "min.s64"), 100))


def test_what_is_in_no_array_is_not_loaded() -> None:
    text = compiled("lengths_of[i8]", CAPABILITY)
    machine = Machine(text)
    with pytest.raises(MemoryError, match="in no array"):
        machine.launch(1, 4, [1, 16, *[0] * (len(machine.parameters) - 2)], [])
