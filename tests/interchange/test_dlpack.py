"""DLPack: arrays of numbers and bytes as tensors, both ways, not copied."""

from __future__ import annotations

import ctypes
import gc
import re
import weakref
from typing import Any

import nanoarrow as na
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from present import present

import colkern as ck
from colkern.cuda.stand_in import StandIn
from colkern.errors import DeviceUnavailableError, UnsupportedError

TYPES = [
    *(ck.int8(), ck.int16(), ck.int32(), ck.int64()),
    *(ck.uint8(), ck.uint16(), ck.uint32(), ck.uint64()),
    *(ck.float16(), ck.float32(), ck.float64()),
]


def name_of(capsule: Any) -> str:
    result: str = re.findall(r'"(\w+)"', repr(capsule))[0]
    return result


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_numbers_go_both_ways_without_a_copy(data_type: ck.DataType) -> None:
    array = ck.array([0, 1, 2, 100], data_type).slice(1)
    tensor = np.from_dlpack(array)
    assert tensor.tolist() == [1, 2, 100]
    assert tensor.ctypes.data == present(array.buffers[1]).address + tensor.itemsize
    back = ck.from_dlpack(tensor)
    assert (back.type, back.to_pylist()) == (data_type, [1, 2, 100])
    assert present(back.buffers[1]).address == tensor.ctypes.data


@given(st.lists(st.integers(-(2**31), 2**31 - 1)), st.data())
def test_slices(values: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(values)))
    part = ck.array(values, ck.int32()).slice(start)
    assert np.from_dlpack(part).tolist() == values[start:]
    assert ck.from_dlpack(np.from_dlpack(part)).to_pylist() == values[start:]


def test_a_consumer_of_versions_is_told_that_it_must_not_write() -> None:
    array = ck.array([1, 2])
    assert name_of(array.__dlpack__(max_version=(1, 0))) == "dltensor_versioned"
    assert name_of(array.__dlpack__(max_version=(2, 1))) == "dltensor_versioned"
    assert not np.from_dlpack(array).flags.writeable


@pytest.mark.parametrize("version", [None, (0, 8)])
def test_a_consumer_of_old_gets_an_old_capsule(version: Any) -> None:
    for given_ in (ck.array([1, 2]), ck.array([], ck.int8()), present(ck.array([1]).buffers[1])):
        assert name_of(given_.__dlpack__(max_version=version)) == "dltensor"


class OfOld:
    """An object of before versions: without keywords, and without a device that may be asked for."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, stream: Any = None) -> Any:
        return self._array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        result: tuple[int, int] = self._array.__dlpack_device__()
        return result


def test_a_producer_of_old_is_taken() -> None:
    assert ck.from_dlpack(OfOld(np.arange(3))).to_pylist() == [0, 1, 2]
    assert ck.from_dlpack(OfOld(ck.array([1, 2]))).to_pylist() == [1, 2]


def test_the_tensor_keeps_the_memory() -> None:
    class Watched(np.ndarray[Any, Any]):
        """NumPy's arrays take weak references."""

    memory = np.arange(3, dtype=np.int64).view(np.uint8).view(Watched)
    alive = weakref.ref(memory)
    array = ck.Array(ck.int64(), 3, [None, ck.Buffer(memory)])
    tensors = [np.from_dlpack(array), np.from_dlpack(OfOld(array)), array.__dlpack__()]
    del array, memory
    while tensors:
        gc.collect()
        assert alive() is not None
        tensors.pop()
    gc.collect()
    assert alive() is None


def test_the_array_keeps_the_tensor() -> None:
    memory = np.arange(3)
    alive = weakref.ref(memory)
    array = ck.from_dlpack(memory)
    del memory
    gc.collect()
    assert alive() is not None
    assert array.to_pylist() == [0, 1, 2]
    del array
    gc.collect()
    assert alive() is None


def test_copies_are_made_when_the_consumer_asks_for_one() -> None:
    array = ck.array([1, 2])
    copied = np.from_dlpack(array, copy=True)
    assert copied.ctypes.data != present(array.buffers[1]).address
    assert copied.flags.writeable


def test_host_memory_has_no_stream_and_is_on_no_other_device() -> None:
    array = ck.array([1])
    assert array.__dlpack_device__() == (1, 0)
    with pytest.raises(RuntimeError, match="stream"):
        array.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (ck.array([1, None]), "1 values are null"),
        (ck.array([True]), "bool"),
        (ck.array(["a"]), "string"),
        (ck.array([1], ck.date32()), "date32"),
        (ck.array([1], ck.dictionary(ck.int8(), ck.int64())), "dictionary"),
    ],
)
def test_what_is_no_tensor(array: ck.Array, why: str) -> None:
    """Of the two errors that the array API standard has, this is the one for data."""
    with pytest.raises(BufferError, match=why):
        array.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize(
    ("tensor", "error", "why"),
    [
        (np.zeros((2, 2)), ValueError, r"one dimension, got shape \(2, 2\)"),
        (np.array(1.0), ValueError, r"one dimension, got shape \(\)"),
        (np.zeros(6)[::2], ValueError, "not contiguous"),
        (np.zeros(3)[::-1], ValueError, "not contiguous"),
        (np.zeros(3, bool), UnsupportedError, "booleans are bits"),
        (np.zeros(3, complex), UnsupportedError, "complex128"),
        ([1, 2], TypeError, "list has no DLPack methods"),
    ],
)
def test_what_is_no_array(tensor: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        ck.from_dlpack(tensor)


def test_one_value_and_none_are_side_by_side_however_they_are_strided() -> None:
    assert ck.from_dlpack(np.arange(6)[::-1][:1]).to_pylist() == [5]
    assert ck.from_dlpack(np.arange(6)[::2][:0]).to_pylist() == []


def test_buffers_are_tensors_of_bytes() -> None:
    buffer = ck.Buffer.from_object(b"abc")
    tensor = np.from_dlpack(buffer)
    assert (tensor.dtype, tensor.tobytes()) == (np.dtype(np.uint8), b"abc")
    assert tensor.ctypes.data == buffer.address
    assert buffer.__dlpack_device__() == (1, 0)
    assert ck.from_dlpack(buffer).type == ck.uint8()


def test_pyarrow_and_nanoarrow() -> None:
    assert ck.from_dlpack(pa.array([1.5, 2.5])).to_pylist() == [1.5, 2.5]
    assert pa.Array.from_dlpack(ck.array([1, 2], ck.int16())).equals(pa.array([1, 2], pa.int16()))
    assert list(na.c_buffer(ck.array([1, 2]))) == [1, 2]


# Devices


class OnDevice:
    """A tensor that says that it is on a device."""

    def __init__(self, array: Any, kind: int, ordinal: int = 0) -> None:
        self._array = array
        self._where = (kind, ordinal)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._where


def test_a_device_s_tensor_is_that_device_s_array(device: StandIn) -> None:
    array = ck.from_dlpack(OnDevice(np.arange(3), 2))
    assert array.device == ck.Device("cuda")
    assert ck.to_host(array).to_pylist() == [0, 1, 2]
    assert ck.from_dlpack(OnDevice(np.arange(3), 13)).device == ck.Device("cuda")
    assert array.__dlpack_device__() == (2, 0)
    assert present(ck.from_dlpack(array).buffers[1]).address == present(array.buffers[1]).address


def test_page_locked_memory_is_the_host_s() -> None:
    assert ck.from_dlpack(OnDevice(np.arange(3), 3)).device == ck.Device("cpu")


def test_other_devices_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"10 \(ROCm"):
        ck.from_dlpack(OnDevice(np.arange(3), 10))


def test_a_device_that_there_is_none_of(device: StandIn) -> None:
    with pytest.raises(DeviceUnavailableError, match="no device cuda:7: there are 1 CUDA devices"):
        ck.from_dlpack(OnDevice(np.arange(3), 2, 7))


def test_no_cuda_device() -> None:
    from colkern import cuda

    if cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(DeviceUnavailableError, match="CUDA"):
        ck.from_dlpack(OnDevice(np.arange(3), 2))


def test_the_structure_of_a_versioned_tensor() -> None:
    """By the members' places in `dlpack.h`: version, …, flags, then the tensor."""
    array = ck.array([1, 2, 3], ck.int16()).slice(1)
    capsule = array.__dlpack__(max_version=(1, 0))
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    at = get(capsule, b"dltensor_versioned")
    assert ctypes.c_uint32.from_address(at).value == 1
    flags = ctypes.c_uint64.from_address(at + 24).value
    assert flags & 1, "read-only"
    data, byte_offset = (ctypes.c_uint64.from_address(at + place).value for place in (32, 72))
    assert data + byte_offset == present(array.buffers[1]).address + 2
    assert [ctypes.c_int32.from_address(at + place).value for place in (40, 44, 48)] == [1, 0, 1]
    code, bits = (ctypes.c_uint8.from_address(at + place).value for place in (52, 53))
    assert (code, bits) == (0, 16)
    shape = ctypes.c_uint64.from_address(at + 56).value
    assert ctypes.c_int64.from_address(shape).value == 2


@pytest.mark.parametrize("given", ["1", 1, (1,), (1, "0"), [1, 0]])
@pytest.mark.parametrize("name", ["max_version", "dl_device"])
def test_versions_and_devices_are_pairs_of_numbers(name: str, given: Any) -> None:
    for source in (ck.array([1, 2]), present(ck.array([1, 2]).buffers[1])):
        with pytest.raises(TypeError, match=f"^{name}: expected two numbers, such as .1, 0., got"):
            source.__dlpack__(**{name: given})


def test_the_device_has_done_its_work_when_a_tensor_is_let_go_of(
    device: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.arange(3)
    owner = weakref.ref(numbers)
    alive: list[bool] = []
    monkeypatch.setattr(
        device.sharing, "finish_device", lambda ordinal: alive.append(owner() is not None)
    )
    array = ck.from_dlpack(OnDevice(numbers, 2))
    del numbers
    gc.collect()
    assert (owner() is not None, alive) == (True, [])
    del array
    gc.collect()
    assert (owner() is None, alive) == (True, [True])
