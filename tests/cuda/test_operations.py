"""Operations on device arrays: in the simulator, and on a GPU where there is one."""

from __future__ import annotations

import pytest
from cuda import device_operations as device


@pytest.mark.parametrize("what", device.OPERATIONS)
def test_simulated_operation(what: str, simulated: dict[str, list[str]]) -> None:
    assert simulated[f"operation {what}"] == []


def test_simulated_gather_union(simulated: dict[str, list[str]]) -> None:
    assert simulated["gather_union"] == []


def test_simulated_validation(simulated: dict[str, list[str]]) -> None:
    assert simulated["validation"] == []


def test_simulated_writing(simulated: dict[str, list[str]]) -> None:
    assert simulated["writing"] == []


def test_arithmetic_of_the_array_library_is_on_the_device_of_its_arrays(
    simulated: dict[str, list[str]],
) -> None:
    assert simulated["arithmetic off the device"] == []


@pytest.mark.gpu
@pytest.mark.parametrize("what", device.OPERATIONS)
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
