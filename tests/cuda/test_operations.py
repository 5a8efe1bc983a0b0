"""Operations on device arrays: in the simulator, and on a GPU where there is one."""

from __future__ import annotations

import pytest
from cuda import device_operations as device
from cuda.on_device import OPERATIONS


@pytest.mark.parametrize("what", OPERATIONS)
def test_simulated_operation(what: str, simulated: list[str]) -> None:
    assert simulated == []


def test_simulated_gather_union(simulated: list[str]) -> None:
    assert simulated == []


def test_simulated_validation(simulated: list[str]) -> None:
    assert simulated == []


def test_simulated_writing(simulated: list[str]) -> None:
    assert simulated == []


def test_arithmetic_of_the_array_library_is_on_the_device_of_its_arrays(
    simulated: list[str],
) -> None:
    assert simulated == []


@pytest.mark.gpu
@pytest.mark.parametrize("what", OPERATIONS)
def test_operation_on_a_gpu(what: str) -> None:
    assert list(device.failures(what)) == []


@pytest.mark.gpu
def test_gather_union_on_a_gpu() -> None:
    assert list(device.union_failures()) == []


@pytest.mark.gpu
def test_validation_on_a_gpu() -> None:
    assert list(device.validation_failures()) == []


@pytest.mark.gpu
def test_writing_on_a_gpu() -> None:
    assert list(device.writing_failures()) == []
