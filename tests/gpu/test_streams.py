"""Streams that are not the default one, of CuPy, PyTorch, Numba and of none: work follows the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.cuda import adapter

pytestmark = pytest.mark.gpu

COUNT = 1 << 20


def of_cupy() -> Any:
    return pytest.importorskip("cupy").cuda.Stream(non_blocking=True)


def of_torch() -> Any:
    return pytest.importorskip("torch").cuda.Stream()


def of_numba() -> Any:
    adapter.require_device()
    return adapter.compiler().stream()


def of_integers() -> Any:
    kept.append(of_cupy())
    return int(kept[-1].ptr)


kept: list[Any] = []
"""Streams that are handed over as integers live as long as the tests."""

STREAMS: dict[str, Callable[[], Any]] = {
    "CuPy": of_cupy,
    "PyTorch": of_torch,
    "Numba": of_numba,
    "integer": of_integers,
}


def numbers() -> ck.Array:
    return ck.to_device(ck.array(np.arange(COUNT)))


@pytest.mark.smoke
def test_operations_run_on_the_current_stream() -> None:
    """Each step needs the one before; the last one is fetched by the stream's own copy."""
    stream, column = of_cupy(), numbers()
    with stream:
        result = column
        for _ in range(20):
            result = ck.add(result, column)
        kept_rows = ck.filter(result, ck.less(column, ck.to_device(ck.array(np.full(COUNT, 5)))))
        assert ck.to_host(kept_rows).to_pylist() == [0, 21, 42, 63, 84]
        total = ck.sum(result)
    assert total == 21 * COUNT * (COUNT - 1) // 2


@pytest.mark.parametrize("name", STREAMS)
def test_kernels_of_users_run_on_streams_of_any_library(name: str) -> None:
    cupy = pytest.importorskip("cupy")
    cuda = adapter.compiler()
    stream = STREAMS[name]()

    @ck.cuda_jit
    def doubled(out, col):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(col):
            out[i] = 2 * col.value(i)

    out, column = cupy.zeros(COUNT, np.int64), numbers()
    for _ in range(2):
        doubled[COUNT // 256, 256, stream](out, column)
    cupy.cuda.Device().synchronize()
    assert out.get().tolist() == list(range(0, 2 * COUNT, 2))


def test_reading_is_ordered_before_work_on_the_current_stream(tmp_path: Any) -> None:
    path = tmp_path / "numbers.arrow"
    ck.ipc.write_file(path, [ck.record_batch({"n": np.arange(COUNT) + k}) for k in range(4)])
    with of_cupy():
        totals = [ck.sum(batch["n"]) for batch in ck.ipc.open(path, device="cuda")]
    assert totals == [COUNT * (COUNT - 1) // 2 + k * COUNT for k in range(4)]


def test_memory_of_rmm_is_taken_where_it_is_chosen() -> None:
    cupy = pytest.importorskip("cupy")
    rmm = pytest.importorskip("rmm.allocators.cupy")
    with cupy.cuda.using_allocator(rmm.rmm_cupy_allocator):
        column = numbers()
        assert ck.sum(ck.add(column, column)) == COUNT * (COUNT - 1)
