"""What `python -m benchmarks.gpu` measures: with few slots, in the simulator and on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import MEASUREMENTS, TARGETS, UNMEASURED, Measurement, __main__, measure
from benchmarks.gpu.case import GRAIN
from benchmarks.gpu.data import Data
from colkern.cpu.target import CpuTarget
from colkern.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent.parent
GIGABYTE = 1 << 30

pytestmark = pytest.mark.timeout(600)

NAMES = [measurement.name for measurement in MEASUREMENTS]


@pytest.fixture(scope="module")
def simulated_launches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What went wrong with each launch in the simulator: one process runs them all."""
    output = tmp_path_factory.mktemp("launches") / "report.json"
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "simulated_launches.py", output],
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


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=NAMES)
def test_a_gigabyte_can_be_described(measurement: Measurement) -> None:
    """Each launch works on as much, and none of its offsets is too large for its type then."""
    target = CpuTarget()
    slots = measurement.slots_for(target, GIGABYTE)
    assert slots % GRAIN == 0
    few, more = (measurement.at(target, n) for n in (GRAIN, 2 * GRAIN))

    def then(small: float, large: float) -> float:
        return small + (slots / GRAIN - 1) * (large - small)

    expected = then(few.nbytes, more.nbytes)
    # More than enough would be memory that a device may not have.
    assert GIGABYTE <= expected < 1.05 * GIGABYTE
    assert all(then(*pair) < 1 for pair in zip(few.reaches, more.reaches, strict=True))


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
    assert [array.nbytes for array in data._alive] == [1000, 50, 7]


def test_offsets_past_their_type_are_refused() -> None:
    with pytest.raises(OverflowError, match="--size"):
        Data(CpuTarget(), 1 << 20).offsets("i4", 1 << 12)


def row(measurement: Measurement, monkeypatch: pytest.MonkeyPatch, bandwidth: float) -> Any:
    """A row whose launch took a second."""
    monkeypatch.setattr(measure, "free", lambda: None)
    monkeypatch.setattr(measure, "seconds", lambda start, rounds: 1.0)
    return measure.row(measurement, CpuTarget(), 1 << 20, 3, bandwidth)


def test_a_row_says_whether_the_target_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    measurement = next(m for m in MEASUREMENTS if m.kernel.name == "text_lengths")
    found = row(measurement, monkeypatch, 1.25 * (1 << 20))
    assert found["kind"] == "streaming"
    assert found["bytes"] >= 1 << 20
    assert found["bandwidth_share"] == found["bytes"] / (1.25 * (1 << 20))
    assert found["meets_target"]
    assert not row(measurement, monkeypatch, 1.5 * (1 << 20))["meets_target"]
    assert "met" in __main__.line(found)


def test_a_launch_that_fails_is_a_row_and_a_failure() -> None:
    def fails(data: Data) -> tuple[Any, ...]:
        raise MemoryError("full")

    measurement = Measurement(KERNELS["text_lengths"], "streaming", "all of it", fails)
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = row(measurement, monkeypatch, 1.0)
    assert found["error"] == "MemoryError: full"
    result = {"tests": {}, "rows": [found]}
    assert __main__.failed(result)
    assert "failed: text_lengths, all of it" in "\n".join(__main__.summary(result))


def test_reports_of_tests_are_added_up(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="5" failures="1" errors="0" skipped="2"/></testsuites>'
    )
    assert __main__.outcome([]) == {}
    assert __main__.outcome([report, report])["tests"] == 10
    missing = __main__.outcome([report, tmp_path / "none.xml"])
    assert (missing["failures"], missing["errors"]) == (1, 1)
    assert __main__.failed({"tests": missing, "rows": []})


def test_an_image_of_cuda_python_suffices() -> None:
    """NumPy, Numba and its CUDA compiler, CuPy and PyArrow: nothing else is imported."""
    hidden = ("rich", "polars", "pandas", "matplotlib", "lz4", "zstandard", "pyspark", "asv")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden}))\nimport benchmarks.gpu.__main__"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
