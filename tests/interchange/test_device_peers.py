"""CuPy, cuDF's pylibcudf and PyTorch on a device: columns there and back, nothing copied by the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from present import present

import colkern as ck
from colkern.cuda import count_transfers
from colkern.interchange import import_array, import_batch

pytestmark = pytest.mark.gpu

VALUES = list(range(1000))


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy")


@pytest.fixture
def plc() -> Any:
    return pytest.importorskip("pylibcudf")


@pytest.fixture
def torch() -> Any:
    result = pytest.importorskip("torch")
    if not result.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    return result


def on_device() -> ck.Array:
    return ck.to_device(ck.array(VALUES, ck.int32()))


# CuPy


def test_a_cupy_array_is_an_array_without_a_copy(cupy: Any) -> None:
    values = cupy.arange(1000, dtype=cupy.int32)
    with count_transfers() as counted:
        array = ck.array(values)
        back = cupy.asarray(array)
        tensor = cupy.from_dlpack(array)
    assert counted.copies_to_host == counted.copies_to_device == 0
    assert present(array.buffers[1]).address == values.data.ptr
    assert back.data.ptr == tensor.data.ptr == values.data.ptr
    assert ck.to_host(array).to_pylist() == VALUES


def test_a_slice_of_an_array_is_cupy_s(cupy: Any) -> None:
    assert cupy.asarray(on_device().slice(990)).get().tolist() == VALUES[990:]
    assert ck.from_dlpack(cupy.arange(10)[3:]).device.kind == "cuda"


def test_a_column_made_on_a_stream_is_read_on_another(cupy: Any) -> None:
    """The event orders the two streams; a long kernel before it would show it if it did not."""
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with first:
        matrix = cupy.ones((4000, 4000), dtype=cupy.float32)
        for _ in range(20):
            matrix = matrix @ matrix / 4000
        values = matrix.ravel()[:1000].astype(cupy.int32)
        capsules = ck.array(values).__arrow_c_device_array__()
    with second:
        theirs = import_array(Capsules(*capsules))
        doubled = cupy.asarray(theirs) * 2
        assert doubled.get().tolist() == [2] * 1000


class Capsules:
    def __init__(self, *capsules: Any) -> None:
        self._capsules = capsules

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self._capsules


def test_sizes_of_bytes_are_fetched_after_the_event(cupy: Any) -> None:
    text = ck.to_device(ck.array(["a", None, "bcd"] * 100))
    with cupy.cuda.Stream(non_blocking=True):
        again = import_array(text)
        assert present(again.buffers[2]).size == present(text.buffers[2]).size
        again.validate(full=True)
    assert ck.to_host(again).to_pylist() == ["a", None, "bcd"] * 100


def test_an_event_is_destroyed_with_its_structure(cupy: Any) -> None:
    array = on_device()
    for _ in range(10_000):
        array.__arrow_c_device_array__()
    cupy.cuda.Device().synchronize()


# pylibcudf


@pytest.mark.parametrize(
    "array",
    [
        ck.array([1, None, 3]),
        ck.array([1.5, None, -0.0]),
        ck.array(["a", None, "ü", ""]),
        ck.array([[1], None, [2, 3], []]),
        ck.array([{"x": 1, "y": "b"}, {"x": None, "y": "c"}]),
        ck.array([True, None, False]),
    ],
    ids=lambda array: str(array.type),
)
def test_pylibcudf_there_and_back(array: ck.Array, plc: Any) -> None:
    theirs = plc.Column.from_arrow(ck.to_device(array))
    assert theirs.size() == len(array)
    back = import_array(theirs)
    assert back.device.kind == "cuda"
    back.validate(full=True)
    assert ck.to_host(back).to_pylist() == array.to_pylist()


def test_a_table_of_pylibcudf(plc: Any) -> None:
    batch = ck.record_batch({"a": VALUES, "t": [str(value) for value in VALUES]})
    columns = [plc.Column.from_arrow(ck.to_device(batch[name])) for name in ("a", "t")]
    back = import_batch(plc.Table(columns))
    assert [ck.to_host(column).to_pylist() for column in back.columns] == [
        batch["a"].to_pylist(),
        batch["t"].to_pylist(),
    ]


# PyTorch


def test_torch_there_and_back(torch: Any) -> None:
    array = on_device()
    tensor = torch.from_dlpack(array)
    assert tensor.device.type == "cuda"
    assert tensor.data_ptr() == present(array.buffers[1]).address
    assert torch.as_tensor(array, device="cuda").data_ptr() == tensor.data_ptr()
    back = ck.from_dlpack(tensor * 2)
    assert ck.to_host(back).to_pylist() == [2 * value for value in VALUES]
    assert ck.to_host(ck.array(tensor)).to_pylist() == VALUES


def test_torch_on_the_host(torch: Any) -> None:
    array = ck.array(np.arange(3))
    assert torch.from_dlpack(array).tolist() == [0, 1, 2]
    assert ck.from_dlpack(torch.arange(3)).to_pylist() == [0, 1, 2]
