"""Shared parts of all tests: the golden files, devices, Hypothesis's profiles, order and groups."""

from __future__ import annotations

import ctypes
import functools
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Until Numba is loaded, kernels over few items run as plain Python; these tests are of compiled ones.
import numba  # noqa: F401
import pytest
from golden import NO_GOLDEN_FILES, golden_folder
from hypothesis import HealthCheck, settings
from jit.simulated_kernels import report_of
from tiers import report_header, selected_cases, tests_of_the_night

from colkern.cpu.target import CpuTarget
from colkern.cuda.stand_in import StandIn, installed
from colkern.kernels.kernel import Kernel

# Also for notebooks and examples: the first tests that are loaded set it for all that they start.
os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).with_name("spark_conf")))

# No deadline: the first example of a test may wait for Numba to compile.
settings.register_profile(
    "default",
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# Reproducible: a red run is red again for whoever looks into it.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("night", settings.get_profile("ci"), max_examples=200)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


@pytest.fixture(scope="module")
def simulated_cases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The failures in the simulator, by case of the module that the tests name as `SIMULATED`."""
    output = tmp_path_factory.mktemp("simulated") / "report.json"
    return report_of(request.module.SIMULATED, selected_cases(request, "case"), output)


@pytest.fixture(scope="session", autouse=True)
def every_launch_is_of_declared_types() -> Iterator[None]:
    """The CPU's target looks at the types of a kernel's arguments once a variant; tests each time."""
    patterns: dict[str, Any] = {
        name: getattr(CpuTarget, name) for name in ("map", "reduce", "start")
    }

    def checked(pattern: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(pattern)
        def launch(own: CpuTarget, kernel: Kernel, count: int, *args: Any, **options: Any) -> Any:
            if count > 0:
                kernel.require_types(args)
            return pattern(own, kernel, count, *args, **options)

        return launch

    for name, pattern in patterns.items():
        setattr(CpuTarget, name, checked(pattern))
    yield
    for name, pattern in patterns.items():
        setattr(CpuTarget, name, pattern)


@pytest.fixture(scope="session")
def arrow_test_data() -> Path:
    """The folder of Arrow's golden files; skips where it is absent."""
    folder = golden_folder()
    if folder is None:
        pytest.skip(NO_GOLDEN_FILES)
    return folder


@pytest.fixture(scope="session")
def test_device() -> str:
    """Where the kernel matrix runs: `cpu`, or what COLKERN_TEST_DEVICE says (`cuda`)."""
    device = os.environ.get("COLKERN_TEST_DEVICE", "cpu")
    if device == "cuda" and _cuda_devices() == 0:
        pytest.skip("no CUDA device in this machine")
    return device


@pytest.fixture
def device() -> Iterator[StandIn]:
    """The device of this process: one whose memory is the host's."""
    with installed() as result:
        yield result


@pytest.fixture(scope="session")
def simulator_report(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The failures in the CUDA simulator, by test: one process runs the cases of all that are selected."""
    output = tmp_path_factory.mktemp("simulated") / "report.json"
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("simulator.py"), output],
        input="\n".join(test.name for test in request.session.items if _is_simulated(test)),
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, list[str]] = json.loads(output.read_text())
    return report


@pytest.fixture
def simulated(request: pytest.FixtureRequest, simulator_report: dict[str, list[str]]) -> list[str]:
    """The failure in the CUDA simulator of the case that has the test's name."""
    return simulator_report[request.node.name]


def _is_simulated(test: pytest.Item) -> bool:
    return "simulated" in getattr(test, "fixturenames", ())


@functools.cache
def _cuda_devices() -> int:
    # Asked of the driver itself: a skip must not depend on the libraries that are under test.
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def pytest_configure(config: pytest.Config) -> None:
    # Each test begins with a collection, see below; the collector's own, while compilers run, take a
    # tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    # Plugins' marks, for a GPU machine whose interpreter has pytest but not these plugins.
    config.addinivalue_line("markers", "timeout(seconds): pytest-timeout's")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Compilers keep millions of objects, and each full collection would walk them all: over a third of
    # the time of some files. Now one walks what a test has made itself, and finds all that it lets go.
    gc.collect()
    gc.freeze()


GROUPS = {
    "spark": ("tests/spark/", "notebooks/spark_udfs.ipynb"),
    "simulator": ("tests/cuda/test_operations.py", "tests/kernels/test_simulator.py"),
    "launches": ("tests/cuda/test_gpu_benchmarks.py",),
    "kernels": ("tests/jit/test_cuda_columns.py",),
    "rows": ("tests/jit/test_rows_on_device.py",),
}
"""Files whose tests share a worker: one Spark at a time, and each run of the simulator once."""

BY_CASE = "tests/kernels/test_target.py"
"""A file whose tests share a worker where they are of one case: they run the same compiled kernel."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    # By file: xdist's own groups are of names that pytest 9.2 does not let it change.
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            for group, files in GROUPS.items():
                if nodeid.startswith(files):
                    return group
            if nodeid.startswith(BY_CASE):
                return BY_CASE + nodeid[nodeid.index("[") :]
            # By file: two workers with tests of one file would compile the same kernels at the same time.
            return nodeid.partition("::")[0]

    # The order is that of the phases; xdist's would be that of the groups' sizes.
    config.option.loadscopereorder = False
    return Scheduling(config, log)


PHASES = (
    GROUPS["simulator"],
    ("tests/test_", "notebooks/"),
    ("tests/cpu/test_warming.py",),
)
"""The tests that come after all others, in this order. The simulator's processes compare with kernels of
the CPU, and find them compiled then; warming runs every operation in processes of its own."""


def _phase(item: pytest.Item) -> int:
    # The longest group begins: what one worker does alone, the other one would wait for in the end.
    if item.nodeid.startswith(GROUPS["spark"]):
        return -1
    result = [n for n, files in enumerate(PHASES, 1) if item.nodeid.startswith(files)]
    return max(result, default=0)


def pytest_report_header() -> str:
    return report_header()


# Before the tests are chosen by their marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in tests_of_the_night(items):
        item.add_marker(pytest.mark.night)
    items.sort(key=_phase)
    for item in items:
        if _is_simulated(item):
            # The first of them waits for all of it.
            item.add_marker(pytest.mark.timeout(900))
        if item.get_closest_marker("gpu") and _cuda_devices() == 0:
            item.add_marker(pytest.mark.skip(reason="no CUDA device in this machine"))
