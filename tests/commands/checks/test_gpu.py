"""The lines about the GPU, for machines with one and without; no question reaches this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from types import ModuleType
from typing import Any

import pytest
from cuda.fake_driver import NO_DEVICE, OUT_OF_MEMORY, UNKNOWN, FakeDevice, FakeDriver, examined

from colkern.commands.checks import gpu, packages
from colkern.commands.checks.children import NoAnswerError
from colkern.commands.checks.finding import Finding, Mark
from colkern.cuda.driver import DriverError
from colkern.cuda.toolkit import CudaLibrary

Install = Callable[..., None]
Look = Callable[..., dict[str, Finding]]

LIBRARIES = [
    CudaLibrary("cudart", "/lib/libcudart.so.13", "site-packages", (13, 0), ""),
    CudaLibrary("nvrtc", "/lib/libnvrtc.so.13", "conda", (13, 0), ""),
    CudaLibrary("nvvm", "/lib/libnvvm.so.4", "system-search", (2, 0), ""),
]

INSTALLED = {"numba-cuda": "0.30.4", "numpy": "2.4.6", "cuda-pathfinder": "1.4.2"}


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, named: Callable[..., dict[str, Finding]]) -> Look:
    """The findings of a machine with that driver, those packages, and those answers."""
    for name in ("NUMBA_ENABLE_CUDASIM", "COLKERN_CUDA_COMPILER", "COLKERN_DIRECT_STORAGE"):
        monkeypatch.delenv(name, raising=False)

    def look_at(
        driver: FakeDriver,
        *,
        without: tuple[str, ...] = (),
        runs: Callable[[str], Any] = lambda code: "",
        storage: tuple[bool, bool] = (False, False),
        libraries: list[CudaLibrary] = LIBRARIES,
        missing_for_device: str = "",
        **also: str,
    ) -> dict[str, Finding]:
        there = INSTALLED | {name.replace("_", "-"): version for name, version in also.items()}
        there = {name: version for name, version in there.items() if name not in without}

        def answer(question: str) -> Any:
            result: Any
            match question:
                case "colkern.cuda.driver:find_driver":
                    try:
                        result = examined(driver)
                    except DriverError as error:
                        raise NoAnswerError(str(error)) from error
                    result = result if isinstance(result, str) else asdict(result)
                case "colkern.cuda.adapter:capabilities":
                    result = [(7, 5), (9, 0), (12, 1)]
                case "colkern.cuda.toolkit:find_libraries":
                    result = [asdict(library) for library in libraries]
                case "colkern.cuda.memory:require_device":
                    if missing_for_device:
                        raise NoAnswerError(missing_for_device)
                    result = None
                case "colkern.commands.checks.gpu:direct_storage":
                    result = storage
            return json.loads(json.dumps(result))

        monkeypatch.setattr(gpu, "ask", answer)
        for module in (gpu, packages):
            monkeypatch.setattr(module, "release", there.get)
        for module in (gpu, packages):
            monkeypatch.setattr(module, "unmet", lambda name: [])
        monkeypatch.setattr(packages, "run_python", runs)
        return named(gpu.findings())

    return look_at


def test_a_machine_with_everything(look: Look) -> None:
    actual = look(
        FakeDriver(FakeDevice(), FakeDevice("NVIDIA T4", (7, 5))),
        storage=(True, True),
        cupy_cuda13x="13.6.0",
        kvikio_cu13="26.10",
        nvidia_nvcomp_cu13="6.0",
        rmm_cu13="26.10",
        cudf_cu13="26.10",
        pylibcudf_cu13="26.10",
    )
    assert {finding.mark for finding in actual.values()} == {Mark.OK}
    assert actual["driver"].found.endswith("CUDA up to 13.0")
    assert actual["device 0"].found == (
        "NVIDIA H100, compute capability 9.0, 79.0 GiB of 80.0 GiB free"
    )
    assert actual["device 1"].enables == 'device="cuda:1"'
    assert actual["pinned memory"].found.startswith("64.0 MiB pinned as a trial")
    assert actual["numba-cuda"].found == "0.30.4, by default, for compute capabilities 7.5 to 12.1"
    assert actual["NVRTC"].found == "13.0, /lib/libnvrtc.so.13, by conda"
    assert actual["GPUDirect Storage"].found == "available"


def test_a_machine_without_a_gpu_misses_it_and_has_no_problem(look: Look) -> None:
    actual = look(FakeDriver(init=NO_DEVICE), without=tuple(INSTALLED))
    assert {finding.mark for finding in actual.values()} == {Mark.MISSING}
    assert actual["driver"].found == "the driver sees no device"
    for name in ("numba-cuda", "CUDA libraries", "CuPy"):
        assert "pip install 'colkern[cuda13]' (or 'colkern[cuda12]'" in actual[name].remedy
    assert actual["kvikio"].remedy == "pip install kvikio-cu13 or kvikio-cu12"


def test_what_to_install_follows_from_the_driver(look: Look) -> None:
    actual = look(FakeDriver(FakeDevice(), version=12080), without=tuple(INSTALLED))
    for name in ("numba-cuda", "CUDA libraries", "CuPy"):
        assert actual[name].remedy == 'pip install "colkern[cuda12]"'
    assert actual["kvikio"].remedy == "pip install kvikio-cu12"


def test_a_driver_that_does_not_start(look: Look) -> None:
    driver = look(FakeDriver(init=UNKNOWN))["driver"]
    assert (driver.mark, driver.found) == (Mark.PROBLEM, "cuInit: error 999")


def test_a_device_that_others_have_filled(look: Look) -> None:
    full = FakeDevice(failures={"cuDevicePrimaryCtxRetain": OUT_OF_MEMORY})
    actual = look(FakeDriver(full))
    assert actual["device 0"].mark is Mark.PROBLEM
    assert actual["device 0"].found == (
        "NVIDIA H100, compute capability 9.0, 80.0 GiB; "
        "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY"
    )


def test_host_memory_that_cannot_be_pinned(look: Look) -> None:
    actual = look(FakeDriver(FakeDevice(failures={"cuMemHostAlloc": OUT_OF_MEMORY})))
    assert actual["pinned memory"].mark is Mark.PROBLEM


def test_packages_for_a_newer_cuda_than_the_driver_serves(look: Look) -> None:
    driver = FakeDriver(FakeDevice(), version=12080)
    actual = look(driver, cupy_cuda13x="13.6.0", rmm_cu12="26.10")
    assert actual["CuPy"].mark is Mark.PROBLEM
    assert actual["CuPy"].found == "cupy-cuda13x is for CUDA 13, the driver serves CUDA up to 12"
    assert actual["CuPy"].remedy == 'pip uninstall cupy-cuda13x, then pip install "colkern[cuda12]"'
    assert actual["NVRTC"].mark is Mark.PROBLEM
    assert "is newer than the driver" in actual["NVRTC"].found
    # The version of its language is no release of CUDA.
    assert actual["NVVM"].mark is Mark.OK
    assert actual["rmm-cu12"].mark is Mark.OK


def test_packages_for_an_older_cuda_work(look: Look) -> None:
    assert look(FakeDriver(FakeDevice()), cupy_cuda12x="13.6.0")["cupy-cuda12x"].mark is Mark.OK


def test_two_packages_in_each_others_place(look: Look) -> None:
    actual = look(FakeDriver(FakeDevice()), cupy_cuda12x="13.6.0", cupy_cuda13x="13.6.0")
    assert actual["CuPy"].mark is Mark.PROBLEM
    assert actual["CuPy"].found == "cupy-cuda13x and cupy-cuda12x are in each other's place"


def test_cupy_is_tried_on_the_device(look: Look) -> None:
    tried: list[str] = []
    look(FakeDriver(FakeDevice()), runs=tried.append, cupy_cuda13x="13.6.0")
    assert tried == ["import cupy; cupy.empty(1)"]


def test_cupy_that_does_not_import(look: Look) -> None:
    def fails(code: str) -> None:
        raise NoAnswerError("ImportError: libcudart.so.13")

    cupy = look(FakeDriver(FakeDevice()), runs=fails, cupy_cuda13x="13.6.0")["cupy-cuda13x"]
    assert cupy.mark is Mark.PROBLEM
    assert cupy.found == "13.6.0 does not work: ImportError: libcudart.so.13"


def test_rapids_is_not_imported_without_a_device(look: Look) -> None:
    tried: list[str] = []
    actual = look(FakeDriver(init=NO_DEVICE), runs=tried.append, cudf_cu13="26.10")
    assert actual["cudf-cu13"].found == "26.10, not tried without a driver"
    assert tried == []


def test_a_device_that_the_compiler_is_too_new_for(look: Look) -> None:
    compiler = look(FakeDriver(FakeDevice("Tesla V100", (7, 0))))["numba-cuda"]
    assert compiler.mark is Mark.PROBLEM
    assert "Tesla V100 has compute capability 7.0, less than the 7.5" in compiler.found


@pytest.mark.parametrize(
    ("compiler", "numpy", "mark"),
    [
        ("0.30.4", "2.5.0", Mark.PROBLEM),
        ("0.30.4", "2.4.9", Mark.OK),
        ("0.31.0", "2.5.0", Mark.OK),
    ],
)
def test_numba_cuda_and_numpy(compiler: str, numpy: str, mark: Mark, look: Look) -> None:
    actual = look(FakeDriver(FakeDevice()), numba_cuda=compiler, numpy=numpy)["numba-cuda"]
    assert actual.mark is mark
    assert ("np.row_stack" in actual.found) == (mark is Mark.PROBLEM)


def test_libraries_that_are_not_found(look: Look) -> None:
    lost = [CudaLibrary("nvvm", "", "", (0, 0), 'Failure finding "libnvvm.so.4"')]
    nvvm = look(FakeDriver(FakeDevice()), libraries=lost)["NVVM"]
    assert (nvvm.mark, nvvm.found) == (Mark.MISSING, 'Failure finding "libnvvm.so.4"')


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ((False, True), "kvikio is in its compatibility mode"),
        ((True, False), "nvidia-fs is not loaded"),
    ],
)
def test_kvikio_without_direct_storage(
    storage: tuple[bool, bool], message: str, look: Look
) -> None:
    actual = look(FakeDriver(FakeDevice()), storage=storage, kvikio_cu13="26.10")
    assert actual["kvikio-cu13"].mark is Mark.OK
    assert actual["GPUDirect Storage"].mark is Mark.MISSING
    assert actual["GPUDirect Storage"].found.startswith(message)


@pytest.mark.parametrize("has_module", [True, False])
def test_what_kvikio_says(has_module: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kvikio, driver = ModuleType("kvikio"), ModuleType("kvikio.cufile_driver")
    driver.get = {"is_gds_available": has_module}.__getitem__  # type: ignore[attr-defined]
    kvikio.cufile_driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kvikio", kvikio)
    monkeypatch.setitem(sys.modules, "kvikio.cufile_driver", driver)
    monkeypatch.setattr(gpu, "is_available", lambda: True)
    assert gpu.direct_storage() == (True, has_module)


def test_direct_storage_that_is_turned_off(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_DIRECT_STORAGE", "0")
    actual = look(FakeDriver(FakeDevice()), storage=(True, True), kvikio_cu13="26.10")
    assert actual["GPUDirect Storage"].mark is Mark.MISSING
    assert actual["GPUDirect Storage"].remedy == "unset it"


def test_a_gpu_that_colkern_cannot_use(look: Look) -> None:
    message = "DeviceUnavailableError: no device memory: No module named 'cupy'"
    actual = look(FakeDriver(FakeDevice()), missing_for_device=message, cupy_cuda13x="13.6.0")
    assert actual['device="cuda"'].mark is Mark.PROBLEM
    assert actual['device="cuda"'].found == message


def test_a_gpu_that_nobody_asked_colkern_to_use(look: Look) -> None:
    device = look(FakeDriver(FakeDevice()), without=("numba-cuda",))['device="cuda"']
    assert (device.mark, device.remedy) == (Mark.MISSING, 'pip install "colkern[cuda13]"')


def test_the_simulator(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    driver = FakeDriver(init=NO_DEVICE)
    # `look` takes the variable away when it is made, not when it is called.
    assert "simulator" in look(driver)["compiler"].found


def test_a_compiler_that_there_is_not(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_CUDA_COMPILER", "nvcc")
    actual = look(FakeDriver(init=NO_DEVICE))
    assert actual["compiler"].mark is Mark.PROBLEM
    assert "got 'nvcc'" in actual["compiler"].found
    assert actual["CuPy"].mark is Mark.MISSING


def test_the_successor(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_CUDA_COMPILER", "numba-cuda-mlir")
    actual = look(FakeDriver(FakeDevice()))
    assert actual["numba-cuda-mlir"].mark is Mark.MISSING
    assert "colkern[mlir13]" in actual["numba-cuda-mlir"].remedy
    actual = look(FakeDriver(FakeDevice()), numba_cuda_mlir="0.6.0")
    assert actual["numba-cuda-mlir"].found.startswith("0.6.0, by COLKERN_CUDA_COMPILER, ")


def test_the_libraries_of_this_environment() -> None:
    from colkern.commands.checks.children import ask

    libraries = {library["name"]: library for library in ask("colkern.cuda.toolkit:find_libraries")}
    assert libraries.keys() == {"cudart", "nvJitLink", "nvrtc", "nvvm"}
    # The environment of the tests has them, to compile PTX.
    assert libraries["nvrtc"]["error"] == ""
    assert libraries["nvrtc"]["version"] >= [12, 0]
