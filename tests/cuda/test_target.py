"""How the CUDA target cuts up work and where it works: what needs neither a GPU nor the simulator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from colkern.arrays import Array
from colkern.cuda import adapter, count_transfers, memory, stand_in, target
from colkern.cuda.target import CudaTarget, Schedule
from colkern.kernels import KERNELS, bitmaps, lz4, runs, selection
from colkern.layouts import Role
from colkern.memory import Buffer, Device
from colkern.schema import int32, utf8

H100 = Schedule(256, 4096, 132 * 8, 8, ((0, 8), (256, 32), (8192, 256)))

COUNTS = (0, 1, 255, 256, 257, 100_000, 4_000_000, 4_400_000, 100_000_000, 5_000_000_000)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("mean", [0, 12, 1000, 1 << 20])
@pytest.mark.parametrize(
    "kernel", [bitmaps.copy_bits, bitmaps.count_set_bits, selection.take_bytes]
)
def test_blocks_cover_all_items(kernel: Any, mean: int, count: int) -> None:
    cut = H100.cut(kernel, count, mean)
    assert cut.threads % cut.lanes == 0
    # All groups of a block get an item in each step.
    assert cut.tile % (cut.threads // cut.lanes) == 0
    assert (cut.blocks - 1) * cut.tile < max(count, 1) <= cut.blocks * cut.tile
    if kernel.returns:
        assert cut.blocks <= H100.blocks * H100.rounds


def test_few_items_keep_all_of_the_device_busy() -> None:
    assert H100.cut(runs.run_of_each, 1000) == (4, 256, 1, 256)
    assert H100.cut(runs.run_of_each, 1_000_000) == (977, 256, 1, 1024)
    assert H100.cut(runs.run_of_each, 100_000_000).tile == 4096


def test_long_items_get_more_lanes() -> None:
    lanes = [H100.cut(selection.take_bytes, 1000, mean).lanes for mean in (0, 255, 256, 8192)]
    assert lanes == [8, 8, 32, 256]
    assert H100.cut(bitmaps.copy_bits, 1000, 8192).lanes == 1


def test_lanes_that_wait_for_each_other_are_of_one_warp() -> None:
    assert H100.cut(lz4.decode_lz4_blocks, 1000, 1 << 18).lanes == 32


def test_sequential_kernels_run_in_one_thread() -> None:
    for kernel in KERNELS.values():
        if kernel.sequential:
            assert H100.cut(kernel, 1000) == (1, 1, 1, 1000)


class Watched(np.ndarray):
    """An array in the memory of a device that must be current wherever it is used."""

    inside = False

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        assert Watched.inside
        return self.view(np.ndarray).sum(*args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Any:
        assert Watched.inside
        return self.view(np.ndarray).max(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        assert Watched.inside
        return self.view(np.ndarray)[key]


@contextmanager
def watching(device: Device) -> Iterator[None]:
    assert device.ordinal == 1
    Watched.inside = True
    yield
    Watched.inside = False


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> Iterator[CudaTarget]:
    """The target of a second device, which is not the current one."""
    monkeypatch.setattr(adapter, "is_simulated", lambda: True)
    monkeypatch.setattr(memory, "current", watching)
    with stand_in.installed():
        yield CudaTarget(Device("cuda", 1))


def watched(values: list[int]) -> Any:
    return np.array(values, np.int64).view(Watched)


def test_numbers_are_fetched_from_their_own_device(second: CudaTarget) -> None:
    assert second.item(watched([3, 5, 7]), 1) == 5
    assert second.total(watched([3, 5, 7])) == 15
    assert second.total(watched([])) == 0
    many = second.total(watched([2**62, 2**62, 2**62]))
    assert many == 3 * 2**62


def test_partial_results_are_fetched_from_their_own_device(
    second: CudaTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(kernel: Any, blocks: int, threads: int, stream: Any, args: tuple[Any, ...]) -> None:
        assert Watched.inside
        args[-1][:] = 7

    # What is compiled is kept, and other tests do not simulate.
    monkeypatch.setattr(target, "compile_kernel", lambda kernel, threads, lanes: None)
    monkeypatch.setattr(adapter, "launch", launch)
    monkeypatch.setattr(memory, "on_host", lambda array: array if Watched.inside else None)
    bits = np.zeros(100, np.uint8)
    assert second.reduce(bitmaps.count_set_bits, 1, bits, 0, 64) == 7


def on_device(array: Any) -> Buffer:
    return Buffer(array, Device("cuda", 1))


def test_items_of_empty_arrays_are_on_the_device() -> None:
    with stand_in.installed():
        device = Device("cuda")
        some = memory.on_device(np.zeros(4, np.uint8))
        empty = Array(int32(), 0, [None, Buffer(some, device)])
        text = Array(utf8(), 0, [None, None, Buffer(some, device)])
        none, one = empty.items(Role.DATA), text.items(Role.OFFSETS)
        assert (len(none), none.dtype) == (0, np.int32)
        assert (memory.on_host(one).tolist(), one.dtype) == ([0], np.int32)


@pytest.mark.parametrize("code", ["<i2", "<i8", "V16", "V12", "V3"])
@pytest.mark.parametrize("skip", [0, 1, 4])
def test_items_on_a_device_are_aligned_to_their_words(code: str, skip: int) -> None:
    dtype = np.dtype(code)
    whole = np.zeros(8 + 48, np.uint8)
    first = -whole.ctypes.data % 8 + skip
    buffer = on_device(whole[first : first + 48])
    buffer.array[:] = np.arange(48)
    items = buffer.view(dtype, 48 // dtype.itemsize)
    word = {3: 1, 12: 4, 16: 8}.get(dtype.itemsize, dtype.itemsize)
    assert items.ctypes.data % word == 0
    assert items.tobytes() == bytes(range(48))
    assert np.shares_memory(items, whole) == (skip % word == 0)


class DeviceArray:
    """What `Buffer` asks of CuPy's arrays."""

    def __init__(self, array: Any, log: list[str]) -> None:
        self.array, self.log = array, log
        self.size = len(array)
        address = array.ctypes.data
        self.__cuda_array_interface__ = {"data": (address, False)}

    @property
    def device(self) -> Any:
        @contextmanager
        def current() -> Iterator[None]:
            self.log.append("its device")
            yield

        return current()

    def __getitem__(self, key: slice) -> DeviceArray:
        return DeviceArray(self.array[key], self.log)

    def copy(self) -> DeviceArray:
        self.log.append("copied")
        return DeviceArray(self.array.copy(), self.log)

    def view(self, dtype: Any) -> Any:
        return self.array.view(dtype)


def test_misaligned_items_are_copied_on_their_device() -> None:
    log: list[str] = []
    whole = np.arange(64, dtype=np.uint8)
    first = -whole.ctypes.data % 8 + 1
    buffer = on_device(DeviceArray(whole[first : first + 16], log))
    assert buffer.view(np.dtype("<i8")).tobytes() == whole[first : first + 16].tobytes()
    assert log == ["its device", "copied"]


# Launches


def test_a_small_grid_is_no_reason_to_warn() -> None:
    """numba-cuda warns of fewer than 128 blocks; of a user's own kernels it still does."""
    module = adapter.compiler()
    launched = []

    def body(count: Any) -> None:
        pass

    kernel = module.jit(body)
    kernel.call = lambda args, configuration: launched.append((configuration.griddim, args))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            adapter.launch(kernel, 3, 32, None, (1,))
    assert launched == [((3, 1, 1), (1,))] * 2
    with pytest.warns(Warning, match="low occupancy"):
        kernel[4, 32]


# What crosses the bus


def test_the_few_numbers_that_operations_fetch_or_send_are_counted() -> None:
    with stand_in.installed(), count_transfers() as counted:
        made = CudaTarget(Device("cuda"))
        array = made.table([1, 2, 3], np.int64)
        assert (counted.copies_to_device, counted.bytes_to_device) == (1, 24)
        assert made.item(array, 1) == 2
        assert (counted.copies_to_host, counted.bytes_to_host) == (1, 8)
        assert made.total(array) == 6
        assert (counted.copies_to_host, counted.bytes_to_host) == (3, 24)
