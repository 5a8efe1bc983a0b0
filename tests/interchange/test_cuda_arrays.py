"""The CUDA array interface, version 3: arrays of numbers, both ways, over a stand-in."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.cuda.stand_in import StandIn
from colkern.errors import DeviceUnavailableError, UnsupportedError
from colkern.interchange import cuda_array_interface, from_cuda_array


class Foreign:
    """Another library's array on the device."""

    def __init__(self, device: StandIn, values: Any, **changed: Any) -> None:
        values = np.asarray(values)
        self._block = device.allocated(values.nbytes)
        self._block[:] = np.frombuffer(values.tobytes(), np.uint8)
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (int(self._block.ctypes.data), False),
            "strides": None,
            "stream": None,
        } | changed


@pytest.mark.parametrize("code", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_numbers_go_both_ways_without_a_copy(code: str, device: StandIn) -> None:
    foreign = Foreign(device, np.array([1, 2, 3], f"<{code}"))
    array = ck.array(foreign)
    assert array.device == ck.Device("cuda")
    assert array.null_count == 0
    assert ck.to_host(array).to_pylist() == [1, 2, 3]
    given, back = foreign.__cuda_array_interface__, array.slice(1).__cuda_array_interface__
    assert (back["version"], back["shape"], back["typestr"]) == (3, (2,), given["typestr"])
    assert back["data"] == (given["data"][0] + int(code[1]), False)
    assert (back["strides"], back.get("mask")) == (None, None)


def test_an_exported_stream_is_the_legacy_default_stream(device: StandIn) -> None:
    """CuPy calls it 0, which in the interface is no stream."""
    assert ck.to_device(ck.array([1])).__cuda_array_interface__["stream"] == 1


@pytest.mark.parametrize("stream", [1, 2, 0x7F00])
def test_the_producer_s_stream_is_waited_for(stream: int, device: StandIn) -> None:
    ck.array(Foreign(device, [1], stream=stream))
    assert device.finished_streams == [stream]


def test_no_stream_is_nothing_to_wait_for(device: StandIn) -> None:
    foreign = Foreign(device, [1])
    del foreign.__cuda_array_interface__["stream"]
    ck.array(foreign)
    assert device.finished_streams == []


def test_the_array_keeps_its_owner(device: StandIn) -> None:
    array = ck.array(Foreign(device, [1, 2]))
    gc.collect()
    assert device.used_bytes == 16
    part = array.slice(1)
    del array
    gc.collect()
    assert device.used_bytes == 16
    del part
    gc.collect()
    assert device.used_bytes == 0


def test_strides_of_values_side_by_side_may_be_given(device: StandIn) -> None:
    assert len(ck.array(Foreign(device, [1, 2], strides=(8,)))) == 2
    assert len(ck.array(Foreign(device, [1], strides=(800,)))) == 1


def test_no_values_have_no_address(device: StandIn) -> None:
    array = ck.array(Foreign(device, np.zeros(0), data=(0, False)))
    assert (len(array), array.type, array.device) == (0, ck.float64(), ck.Device("cuda"))
    interface = array.__cuda_array_interface__
    assert (interface["shape"], interface["data"]) == ((0,), (0, False))


@pytest.mark.parametrize(
    ("changed", "error", "why"),
    [
        ({"shape": (1, 3)}, ValueError, "one dimension"),
        ({"strides": (16,)}, ValueError, "not contiguous"),
        ({"mask": object()}, UnsupportedError, "mask"),
        ({"typestr": "|b1"}, UnsupportedError, "bits"),
        ({"typestr": ">i8"}, UnsupportedError, ">i8"),
        ({"stream": 0}, ValueError, "stream"),
        ({"data": (0xDEAD000, False)}, UnsupportedError, "0xdead000 is not in device memory"),
    ],
)
def test_what_is_no_array(
    changed: dict[str, Any], error: type[Exception], why: str, device: StandIn
) -> None:
    with pytest.raises(error, match=why):
        ck.array(Foreign(device, [1, 2, 3], **changed))


def test_another_type_than_asked_for(device: StandIn) -> None:
    with pytest.raises(ValueError, match="expected double, got an array of int64"):
        ck.array(Foreign(device, [1]), ck.float64())
    batch = ck.record_batch({"a": Foreign(device, [1])})
    assert batch["a"].device == ck.Device("cuda")


def test_what_has_no_interface(device: StandIn) -> None:
    with pytest.raises(TypeError, match="ndarray has no __cuda_array_interface__"):
        from_cuda_array(np.zeros(3))
    for array, why in (
        (ck.array([1]), "live on cpu"),
        (ck.to_device(ck.array([1, None])), "1 values are null"),
        (ck.to_device(ck.array(["a"])), "string"),
    ):
        assert not hasattr(array, "__cuda_array_interface__")
        with pytest.raises(UnsupportedError, match=why):
            cuda_array_interface(array)


def test_no_cuda_device() -> None:
    from colkern import cuda

    if cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(DeviceUnavailableError, match="CUDA"):
        ck.array(Foreign(StandIn(), [1]))


def test_the_device_has_done_its_work_when_the_owner_is_let_go_of(
    device: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that reads the memory may still run when the last array over it is dropped."""
    used: list[int] = []
    monkeypatch.setattr(
        device.sharing, "finish_device", lambda ordinal: used.append(device.used_bytes)
    )
    array = ck.array(Foreign(device, [1, 2]))
    part = array.slice(1)
    del array
    gc.collect()
    assert used == []
    del part
    gc.collect()
    assert used == [16]
    assert device.used_bytes == 0
