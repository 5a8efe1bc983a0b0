"""The CUDA target's cuts of work and its choice of a place: what needs neither a GPU nor the simulator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from cuda.apart import overlaps

from colkern.arrays import Array
from colkern.cuda import adapter, count_transfers, memory, stand_in
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
    assert H100.cut(runs.decode_runs, 1000) == (4, 256, 1, 256)
    assert H100.cut(runs.decode_runs, 1_000_000) == (977, 256, 1, 1024)
    assert H100.cut(runs.decode_runs, 100_000_000).tile == 4096


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


class TwoDevices(stand_in.StandIn):
    """A stand-in for two devices, which notes those that were current when its memory was used."""

    def __init__(self) -> None:
        super().__init__(devices=2)
        self.noted: list[int] = []

    def allocated(self, size: int, *, shareable: bool | None = None) -> Any:
        self.noted.append(self.current_ordinal())
        return super().allocated(size, shareable=shareable)

    def all_on_host(self, arrays: Any) -> Any:
        self.noted.append(self.current_ordinal())
        return super().all_on_host(arrays)


def test_memory_is_that_of_the_targets_device(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = TwoDevices()
    monkeypatch.setattr(memory, "library", lambda: devices)
    target = CudaTarget(Device("cuda", 1))
    table = target.table([3, 5, 7], np.int64)
    assert target.item(table, 1) == 5
    assert target.total(table) == 15
    assert target.running_sum(table, np.int32)[1] == 15
    assert target.allocate(3, np.int64).tolist() == [0] * 3
    assert len(devices.noted) >= 5
    assert set(devices.noted) == {1}


def test_numbers_that_were_asked_for_come_with_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = TwoDevices()
    monkeypatch.setattr(memory, "library", lambda: devices)
    target = CudaTarget(Device("cuda", 1))
    table, other = target.table([3, 5, 7], np.int64), target.table([True], np.bool_)
    last, abandoned = target.later_item(table, 2), target.later_item(table, 0)
    del abandoned
    asked = [last, target.later_item(table, 1), target.later_item(other, 0)]
    devices.noted.clear()
    assert [number() for number in asked] == [7, 5, 1]
    assert [last(), len(devices.noted)] == [7, 1]
    assert target.item(table, 0) == 3
    assert len(devices.noted) == 2


def test_a_stand_in_is_available() -> None:
    with stand_in.installed():
        assert memory.is_available()


def test_sums_are_exact() -> None:
    with stand_in.installed():
        target = CudaTarget(Device("cuda"))
        for values in ([], [3, 5, 7], [2**62] * 3):
            assert target.total(target.table(values, np.int64)) == sum(values)


def on_device(array: Any) -> Buffer:
    return Buffer(array, Device("cuda", 1))


def test_items_of_empty_arrays_are_on_the_device() -> None:
    with stand_in.installed():
        device = Device("cuda")
        some = memory.on_device(np.zeros(4, np.uint8))
        empty = Array(int32(), 0, [None, Buffer(some, device)])
        text = Array(utf8(), 0, [None, None, Buffer(some, device)])
        none, one = empty.items(Role.DATA), text.items(Role.OFFSETS)
        assert (len(none), none.dtype) == (0, np.dtype(np.int32))
        assert (memory.on_host(one).tolist(), one.dtype) == ([0], np.dtype(np.int32))


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


@pytest.mark.gpu
def test_misaligned_items_are_copied_on_their_device() -> None:
    cupy = pytest.importorskip("cupy")
    whole = cupy.arange(64, dtype=np.uint8)
    first = -whole.data.ptr % 8 + 1
    part = whole[first : first + 16]
    items: Any = on_device(part).view(np.dtype("<i8"))
    assert items.data.ptr % 8 == 0
    assert items.device == whole.device
    assert items.get().tobytes() == part.get().tobytes()


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


def test_outputs_over_an_argument_are_found() -> None:
    """The checks that the simulator's tests make of every launch."""
    memory_ = np.zeros(64, np.uint8)
    bits, out = memory_[:16], memory_[16:32]
    kernel = bitmaps.copy_bits
    assert [a.name for a in kernel.arguments] == ["bitmap.bits", "bitmap.offset", "length", "out"]

    def result(*args: Any) -> list[tuple[str, str]]:
        return overlaps(list(zip(kernel.arguments, args, strict=True)))

    assert result(bits, 3, 100, out) == []
    assert result(bits, 3, 100, memory_[15:31]) == [("out", "bitmap.bits")]
    assert result(bits, out.ctypes.data + 15, 100, out) == [("out", "bitmap.offset")]


# What crosses the bus


def test_the_few_numbers_that_operations_fetch_or_send_are_counted() -> None:
    with stand_in.installed(), count_transfers() as counted:
        actual = CudaTarget(Device("cuda"))
        array = actual.table([1, 2, 3], np.int64)
        assert (counted.copies_to_device, counted.bytes_to_device) == (1, 24)
        assert actual.item(array, 1) == 2
        assert (counted.copies_to_host, counted.bytes_to_host) == (1, 8)
        assert actual.total(array) == 6
        assert (counted.copies_to_host, counted.bytes_to_host) == (2, 24)
