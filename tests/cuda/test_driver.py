"""The CUDA driver and its devices, as a simulated driver describes them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.fake_driver import NO_DEVICE, OUT_OF_MEMORY, UNKNOWN, FakeDevice, FakeDriver, examined

from colkern.cuda import driver
from colkern.cuda.driver import DriverDevice, DriverError, find_driver

H100 = DriverDevice(0, "NVIDIA H100", (9, 0), 80 << 30, 79 << 30, True, "")


def test_two_devices() -> None:
    fake = FakeDriver(
        FakeDevice(), FakeDevice("NVIDIA T4", (7, 5), 15 << 30, 1 << 30), version=12080
    )
    actual = examined(fake)
    assert not isinstance(actual, str)
    assert actual.cuda == (12, 8)
    assert actual.devices == [
        H100,
        DriverDevice(1, "NVIDIA T4", (7, 5), 15 << 30, 1 << 30, True, ""),
    ]
    # What was made to try the devices is gone.
    assert (fake.contexts, fake.pinned) == (0, {})


def test_no_device() -> None:
    assert examined(FakeDriver(init=NO_DEVICE)) == "the driver sees no device"


def test_a_driver_that_does_not_start() -> None:
    with pytest.raises(DriverError, match=r"^cuInit: error 999$"):
        examined(FakeDriver(init=UNKNOWN))


@pytest.mark.parametrize(
    ("function", "free"),
    [("cuDevicePrimaryCtxRetain", None), ("cuMemGetInfo_v2", None), ("cuMemHostAlloc", 79 << 30)],
)
def test_a_device_that_does_not_work(function: str, free: int | None) -> None:
    fake = FakeDriver(FakeDevice(failures={function: OUT_OF_MEMORY}), FakeDevice())
    result = examined(fake)
    assert not isinstance(result, str)
    broken, other = result.devices
    assert broken.error == f"{function}: CUDA_ERROR_OUT_OF_MEMORY"
    assert (broken.free, broken.pinned) == (free, False)
    assert other.error == ""
    assert fake.contexts == 0


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", nowhere)
    assert find_driver() == "libcuda.so.1: cannot open shared object file"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\nGCC 12.3.0",
            "550.54.15",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release",
            "580.65.06",
        ),
        ("nothing", ""),
    ],
)
def test_the_release_of_the_driver(
    text: str, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "version").write_text(text)
    monkeypatch.setattr(driver, "_MODULE", tmp_path / "version")
    actual = examined(FakeDriver())
    assert not isinstance(actual, str)
    assert actual.release == release


def test_no_package_is_needed() -> None:
    code = """
import sys
for name in ("numba", "cupy", "cuda"):
    sys.modules[name] = None
import colkern.cuda.driver
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
