"""Errors of CuPy, RMM and numba-cuda in colkern's words: the texts are those of the libraries."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from colkern.cuda import failures, memory
from colkern.cuda.cupy_library import cupy_library
from colkern.cuda.failures import explained
from colkern.cuda.target import CudaTarget, _Thread
from colkern.errors import DeviceUnavailableError, LimitExceededError
from colkern.memory import Device


class OutOfMemoryError(MemoryError):
    """As `cupy.cuda.memory.OutOfMemoryError`."""


OutOfMemoryError.__module__ = "cupy.cuda.memory"


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""

    status = 700


FULL = OutOfMemoryError("Out of memory allocating 8,000 bytes (allocated so far: 512 bytes).")
ILLEGAL = CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (FULL, LimitExceededError, r"^device memory: Out of memory allocating 8,000 bytes"),
        (
            MemoryError("std::bad_alloc: out_of_memory: RMM failure at: pool.hpp:257"),
            LimitExceededError,
            "^device memory: std::bad_alloc",
        ),
        (
            Exception("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
            LimitExceededError,
            "^device memory: ",
        ),
        (ILLEGAL, DeviceUnavailableError, "has lost its device: .* cudaErrorIllegalAddress"),
        (
            Exception("[719] Call to cuStreamSynchronize results in CUDA_ERROR_LAUNCH_FAILED"),
            DeviceUnavailableError,
            "has lost its device: .* CUDA_ERROR_LAUNCH_FAILED",
        ),
        (Exception("CUDA initialized before forking"), DeviceUnavailableError, "'spawn'"),
        (
            CUDARuntimeError("cudaErrorInitializationError: initialization error"),
            DeviceUnavailableError,
            "CUDA does not start: .*nvidia-smi",
        ),
        (
            CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"),
            DeviceUnavailableError,
            "CUDA does not start: .*InsufficientDriver.*nvidia-smi",
        ),
    ],
    ids=str,
)
def test_errors_of_the_libraries(error: Exception, kind: type[Exception], message: str) -> None:
    result = explained(error)
    assert type(result) is kind
    with pytest.raises(kind, match=message):
        raise result


@pytest.mark.parametrize(
    "error",
    [
        ValueError("operands could not be broadcast together"),
        MemoryError(),
        CUDARuntimeError("cudaErrorInvalidValue: invalid argument"),
        LimitExceededError("device memory: full"),
    ],
    ids=repr,
)
def test_errors_that_are_left_as_they_are(error: Exception) -> None:
    assert explained(error) is None


def test_a_forked_child_is_told_how_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    error = CUDARuntimeError("cudaErrorInitializationError: initialization error")
    monkeypatch.setattr(failures, "_process", -1)
    with pytest.raises(DeviceUnavailableError, match=r"forked after its parent.*'spawn'"):
        raise explained(error) or error


# Where they come from


class Cupy:
    """CuPy whose every function fails; NumPy's `empty` and `zeros` but for that."""

    def __init__(self, error: Exception) -> None:
        def fail(*args: Any, **options: Any) -> Any:
            raise error

        self.empty, self.zeros = np.empty, np.zeros
        self.cumsum = self.arange = self.argsort = self.asarray = self.asnumpy = fail
        self.cuda = SimpleNamespace(
            Device=lambda ordinal: nullcontext(),
            get_current_stream=lambda: SimpleNamespace(ptr=0, synchronize=fail),
            runtime=SimpleNamespace(
                deviceSynchronize=fail,
                getDeviceCount=fail,
                CUDARuntimeError=CUDARuntimeError,
                errorMemoryAllocation=2,
            ),
            alloc_pinned_memory=fail,
        )


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> CudaTarget:
    library: Any = cupy_library()
    vars(library)["arrays"] = Cupy(request.param)
    monkeypatch.setattr(memory, "library", lambda: library)
    result = object.__new__(CudaTarget)
    result.device = Device("cuda")
    result._thread = _Thread()
    return result


OPERATIONS = {
    "scan": lambda target: target.scan(np.arange(3), np.int64),
    "accumulate": lambda target: target.accumulate(np.arange(3)),
    "table": lambda target: target.table([1, 2], np.int32),
    "positions": lambda target: target.positions(3),
    "sort_positions": lambda target: target.sort_positions(np.arange(3, dtype=np.uint64)),
}


@pytest.mark.parametrize("failing", [FULL], indirect=True)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_full_device_is_a_limit_wherever_cupy_allocates(
    operation: str, failing: CudaTarget
) -> None:
    with pytest.raises(LimitExceededError, match="device memory: Out of memory allocating 8,000"):
        OPERATIONS[operation](failing)


@pytest.mark.parametrize("failing", [ILLEGAL], indirect=True)
def test_a_lost_device_is_told_wherever_it_is_noticed(failing: CudaTarget) -> None:
    calls: list[Callable[[], object]] = [
        lambda: failing.item(np.arange(3), 1),
        lambda: memory.finish(failing.device),
        lambda: memory.on_host(np.arange(3)),
        lambda: memory.library().devices(),
    ]
    for call in calls:
        with pytest.raises(DeviceUnavailableError, match="has lost its device"):
            call()
