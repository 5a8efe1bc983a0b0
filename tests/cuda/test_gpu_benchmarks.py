"""The launches of `python -m benchmarks.gpu`: with few slots, in the simulator and on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tiers import selected_cases

from benchmarks.gpu import MEASUREMENTS, TARGETS, UNMEASURED, Launch, __main__, measure
from benchmarks.gpu.case import GRAIN
from benchmarks.gpu.data import Data
from colkern.cpu.target import CpuTarget
from colkern.cuda import adapter
from colkern.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent.parent
GIGABYTE = 1 << 30

pytestmark = pytest.mark.timeout(600)

NAMES = [measurement.name for measurement in MEASUREMENTS]


@pytest.fixture(scope="module")
def simulated_launches(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The failures in the simulator, by launch: one process runs those of the selected tests."""
    output = tmp_path_factory.mktemp("launches") / "report.json"
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "simulated_launches.py", output],
        input="\n".join(selected_cases(request, "name")),
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, list[str]] = json.loads(output.read_text())
    return report


@pytest.mark.parametrize("name", NAMES)
def test_a_device_computes_what_a_cpu_does(
    name: str, simulated_launches: dict[str, list[str]]
) -> None:
    assert simulated_launches[name] == []


def test_no_two_launches_have_one_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_every_kernel_is_measured_or_there_is_a_reason() -> None:
    measured = {measurement.kernel.name for measurement in MEASUREMENTS}
    assert measured | UNMEASURED.keys() == KERNELS.keys()
    assert not measured & UNMEASURED.keys()


def test_one_thread_alone_measures_nothing() -> None:
    assert {k.name for k in KERNELS.values() if k.sequential} <= UNMEASURED.keys()


def test_targets_are_those_promised() -> None:
    assert TARGETS == {"streaming": 0.8, "byte gather": 0.3}


def test_a_gigabyte_can_be_described() -> None:
    """Each launch works on as much, and none of its offsets is too large for its type then."""
    target = CpuTarget()
    for measurement, name in zip(MEASUREMENTS, NAMES, strict=True):
        slots = measurement.slots_for(target, GIGABYTE)
        assert slots % GRAIN == 0, name
        few, more = (measurement.at(target, n) for n in (GRAIN, 2 * GRAIN))
        blocks = slots / GRAIN - 1
        # More than enough would be memory that a device may not have.
        expected = few.nbytes + blocks * (more.nbytes - few.nbytes)
        assert GIGABYTE <= expected < 1.05 * GIGABYTE, name
        for small, large in zip(few.reaches, more.reaches, strict=True):
            assert small + blocks * (large - small) < 1, name


def test_offsets_have_the_mean_that_is_asked_for() -> None:
    data = Data(CpuTarget(), 6400)
    for least in (0, 1):
        offsets = data.offsets("i4", 10, least=least).astype("i8")
        lengths = offsets[1:] - offsets[:-1]
        assert lengths.sum() == 64_000
        assert lengths.min() == least
        assert lengths.max() == 20 - least


def test_what_stands_behind_addresses_counts_and_lives_as_long() -> None:
    data = Data(CpuTarget(), 64)
    first = data.address(data.text(1000))
    data.addresses(data.text(50), data.text(7))
    assert sorted(data.addressed.values()) == [7, 50, 1000]
    assert data.addressed[first] == 1000
    assert [array.nbytes for array in data.held] == [1000, 50, 7]


def test_data_buffers_count_where_values_stand_in_them() -> None:
    for mean, letters, read in (
        (6, "", 0),
        (7, "", 7),
        (12, "abcdefghijkl", 0),
        (13, "x" * 13, 13),
    ):
        data = Data(CpuTarget(), 64)
        views = data.views(mean, list(letters.encode()))
        assert len(views.addresses) == 1
        assert sum(data.addressed.values()) == read * data.n


def test_offsets_past_their_type_are_refused() -> None:
    with pytest.raises(OverflowError, match="--size"):
        Data(CpuTarget(), 1 << 20).offsets("i4", 1 << 12)


def test_the_memory_of_a_launch_goes_with_it() -> None:
    for measurement in MEASUREMENTS:
        # Memory of more than 256 bytes goes to the pool.
        launch = measurement.at(CpuTarget(), 16)
        arrays = [a for a in launch.args if isinstance(a, np.ndarray)]
        alive = [weakref.ref(each) for each in (launch._data, *arrays)]
        del launch, arrays
        assert [each() for each in alive] == [None] * len(alive)


class Event:
    """A CUDA event, of a device whose time passes when something is started."""

    now = 0.0

    def record(self) -> None:
        self.at = Event.now

    def synchronize(self) -> None:
        """Nothing is under way."""


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The part of CuPy that is used, over host memory, with the CPU for a device."""
    device = SimpleNamespace(synchronize=lambda: None)
    module = SimpleNamespace(
        zeros=np.zeros,
        copyto=lambda target, source: passes(1.0),
        get_default_memory_pool=lambda: SimpleNamespace(free_all_blocks=lambda: None),
        cuda=SimpleNamespace(
            Event=Event,
            Device=lambda: device,
            get_elapsed_time=lambda begin, end: (end.at - begin.at) * 1e3,
            runtime=SimpleNamespace(getDeviceProperties=lambda ordinal: {"name": b"a GPU"}),
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(adapter, "require_device", lambda: None)
    monkeypatch.setattr(__main__, "CudaTarget", lambda device: CpuTarget())
    return module


def passes(seconds: float) -> None:
    Event.now += seconds


def test_a_time_is_the_median_of_rounds_without_the_first_launch(cupy: Any) -> None:
    started: list[int] = []

    def start() -> None:
        # The first ones compile; later, one of three rounds is disturbed.
        started.append(1)
        passes(100.0 if len(started) <= 9 or len(started) > 25 else 2.0)

    assert measure.Clock(3).seconds(start) == 2.0
    assert len(started) == 1 + 4 * measure.IN_A_ROW


def test_a_copy_counts_what_is_read_and_written(cupy: Any) -> None:
    assert measure.copy_bandwidth(measure.Clock(1), GIGABYTE) == GIGABYTE


def measured(arguments: list[str], monkeypatch: pytest.MonkeyPatch, path: Path) -> Any:
    """The command's output and exit status."""
    monkeypatch.setattr(sys, "argv", ["gpu", "--size", "10000000", "--json", str(path), *arguments])
    status = __main__.main()
    return status, json.loads(path.read_text())


@pytest.mark.parametrize(("seconds", "meets"), [(1.2, True), (1.3, False)])
def test_the_figures_that_are_written(
    seconds: float,
    meets: bool,
    cupy: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # A copy of as many bytes takes a second.
    monkeypatch.setattr(Launch, "start", lambda launch, target: passes(seconds))
    path = tmp_path / "new" / "gpu.json"
    status, result = measured(["--kernel", "list_sizes"], monkeypatch, path)
    assert status == 0
    assert result["device"] == "a GPU"
    assert result["unmeasured"] == UNMEASURED
    [row] = result["rows"]
    assert (row["case"], row["kind"], row["target"]) == ("list_sizes", "streaming", 0.8)
    assert row["seconds"] == pytest.approx(seconds)
    assert row["bandwidth_share"] == pytest.approx(1 / seconds, rel=0.01)
    assert row["meets_target"] == meets
    assert f"{int(meets)} of 1 at 80% of a copy or more" in capsys.readouterr().out


def test_a_launch_that_fails_is_a_row_and_the_others_are_measured(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(launch: Launch, target: Any) -> None:
        if launch.kernel.name == "list_sizes":
            raise MemoryError("full")
        passes(1.0)

    monkeypatch.setattr(Launch, "start", start)
    status, result = measured(["--kernel", "list_"], monkeypatch, tmp_path / "gpu.json")
    assert status == 1
    failed = [row["case"] for row in result["rows"] if "error" in row]
    assert failed == ["list_sizes"]
    assert len(result["rows"]) > 5
    assert "failed: list_sizes" in capsys.readouterr().out


def test_parts_together_are_all_launches(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Launch, "start", lambda launch, target: passes(1.0))
    results = []
    for part in ("1/3", "2/3", "3/3"):
        arguments = ["--kernel", "list_", "--part", part]
        _, result = measured(arguments, monkeypatch, tmp_path / "gpu.json")
        results += [row["case"] for row in result["rows"]]
    assert sorted(results) == sorted(m.name for m in MEASUREMENTS if "list_" in m.kernel.name)


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b"])
def test_a_part_that_there_is_none_of_is_refused(part: str, capsys: Any) -> None:
    with pytest.raises(SystemExit), patch.object(sys, "argv", ["gpu", "--part", part]):
        __main__.main()
    assert "--part: invalid part value" in capsys.readouterr().err


def test_rows_are_written_as_they_come(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(launch: Launch, target: Any) -> None:
        if launch.kernel.name == "list_sizes":
            raise KeyboardInterrupt
        passes(1.0)

    monkeypatch.setattr(Launch, "start", start)
    path = tmp_path / "gpu.json"
    with pytest.raises(KeyboardInterrupt):
        measured(["--kernel", "list_"], monkeypatch, path)
    names = [m.name for m in MEASUREMENTS if "list_" in m.kernel.name]
    rows = json.loads(path.read_text())["rows"]
    assert [row["case"] for row in rows] == names[: names.index("list_sizes")]


def test_tests_that_fail_do_not_keep_figures_from_being_written(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Launch, "start", lambda launch, target: passes(1.0))
    report = tmp_path / "report.xml"
    report.write_text('<testsuite tests="5" failures="1" errors="0" skipped="2"/>')
    arguments = ["--kernel", "list_sizes", "--reports", str(report)]
    status, result = measured(arguments, monkeypatch, tmp_path / "gpu.json")
    assert status == 1
    assert len(result["rows"]) == 1
    assert result["tests"]["failures"] == 1
    assert "5 tests, 1 failures, 0 errors, 2 skipped" in capsys.readouterr().out


def test_reports_of_tests_are_added_up(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="5" failures="1" errors="0" skipped="2"/></testsuites>'
    )
    assert __main__.outcome([]) == {}
    assert __main__.outcome([report, report])["tests"] == 10
    missing = __main__.outcome([report, tmp_path / "none.xml"])
    assert (missing["failures"], missing["errors"]) == (1, 1)


@pytest.mark.parametrize("module", ["benchmarks.gpu.__main__", "benchmarks.bodies.__main__"])
def test_an_image_of_cuda_python_suffices(module: str) -> None:
    """NumPy, Numba and its CUDA compiler, CuPy and PyArrow: nothing else is imported."""
    hidden = ("rich", "polars", "pandas", "matplotlib", "lz4", "zstandard", "pyspark", "asv")
    code = f"import sys; sys.modules.update(dict.fromkeys({hidden}))\nimport {module}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


SQUARES = """
import argparse, json
from benchmarks import machine
from benchmarks.gpu import turns

parser = argparse.ArgumentParser()
turns.add_options(parser)
options = parser.parse_args()
if options.jobs > 1:
    rows = list(turns.rows_of_jobs("squares", options))[-1]
else:
    with turns.device_alone(options.turn):
        rows = [{"case": n * n} for n in range(10)[options.part]]
machine.write_json(options.json, {"rows": rows})
"""
"""A benchmark of ten measurements."""


@pytest.mark.parametrize(("part", "expected"), [("1/1", range(10)), ("2/2", range(1, 10, 2))])
def test_jobs_measure_all_that_one_process_does_in_its_order(
    part: str, expected: range, tmp_path: Path
) -> None:
    (tmp_path / "squares.py").write_text(SQUARES)
    subprocess.run(
        [
            *(sys.executable, "-m", "squares", "--jobs", "3"),
            *("--part", part, "--json", tmp_path / "found.json"),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        check=True,
    )
    result = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert [row["case"] for row in result] == [n * n for n in expected]
