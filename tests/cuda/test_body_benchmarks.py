"""The cases of `python -m benchmarks.bodies`, over a stand-in with little data."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.bodies import __main__ as command
from benchmarks.bodies import measure
from benchmarks.bodies.compressed import COMPRESSED
from benchmarks.bodies.contestant import (
    RATE,
    SECONDS,
    SPEED,
    Against,
    Contestant,
    Group,
    Place,
    Skipped,
)
from benchmarks.bodies.sharing import SHARED
from benchmarks.bodies.tables import BATCHES, COLUMNS, TWO, body_bytes, write_table
from benchmarks.bodies.transfers import READ
from colkern.cuda import adapter, memory, stand_in
from colkern.cuda.memory import count_to_device
from colkern.memory import Device

ROOT = Path(__file__).resolve().parent.parent.parent
CUDA = Device("cuda")
SIZE = 400_000

Row = dict[str, Any]


def measured(monkeypatch: pytest.MonkeyPatch, path: Path, *arguments: str) -> tuple[int, Any]:
    """The command's end, and what it writes."""
    command_line = ["bodies", "--size", str(SIZE), "--rounds", "2", "--json", str(path), *arguments]
    monkeypatch.setattr(sys, "argv", command_line)
    return command.main(), json.loads(path.read_text())


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Any]:
    """All cases, over a stand-in."""
    path = tmp_path_factory.mktemp("new") / "folder" / "bodies.json"
    with pytest.MonkeyPatch.context() as monkeypatch:
        return measured(monkeypatch, path, "--stand-in")


@pytest.fixture(scope="module")
def rows(outcome: tuple[int, Any]) -> dict[str, Row]:
    result = outcome[1]["rows"]
    assert len({row["case"] for row in result}) == len(result)
    return {row["case"]: row for row in result}


def test_all_cases_can_be_measured(outcome: tuple[int, Any], rows: dict[str, Row]) -> None:
    assert {case: row["error"] for case, row in rows.items() if "error" in row} == {}
    assert outcome[0] == 0


def test_a_row_says_all_that_was_measured(rows: dict[str, Row]) -> None:
    for row in rows.values():
        assert len(row["rounds"]) == 2
        assert row["seconds"] == pytest.approx(sum(row["rounds"]) / 2)
        assert row["bytes_per_second"] == pytest.approx(row["bytes"] / row["seconds"])


def test_every_ratio_is_that_of_its_figures(rows: dict[str, Row]) -> None:
    for row in rows.values():
        if "against" not in row:
            continue
        other = rows[row["against"]]
        expected = {
            RATE: row["bytes_per_second"] / other["bytes_per_second"],
            SECONDS: row["seconds"] / other["seconds"],
            SPEED: other["seconds"] / row["seconds"],
        }
        assert row["ratio"] == pytest.approx(expected[row["kind"]])


def test_targets_are_those_promised(rows: dict[str, Row]) -> None:
    promised = {case: row["target"] for case, row in rows.items() if row.get("target") is not None}
    columns = ("utf8", "list", "dictionary", "run-end encoded", "utf8 view")
    assert promised == {
        READ: 0.85,
        f"{READ}, 2 of 100 columns": 1 / 20,
        **{f"validate {name}, on the device": 10 for name in columns},
    }


def test_only_wanted_bytes_cross_the_bus(rows: dict[str, Row]) -> None:
    """Each byte once, and what pads each buffer to a multiple of 64."""
    buffers = 2 * COLUMNS * BATCHES
    for case in (READ, f"{READ}, 2 of 100 columns", "to_device"):
        row = rows[case]
        assert row["bytes"] <= row["bytes_to_device"] < row["bytes"] + 64 * buffers
        assert row["bytes_to_host"] == 0
    two = rows[f"{READ}, 2 of 100 columns"]
    assert 0.01 < two["bytes"] / two["body_bytes"] < 0.03
    row = rows["to_host"]
    assert row["bytes"] <= row["bytes_to_host"] < row["bytes"] + 64 * buffers


def test_no_byte_of_another_process_crosses_the_bus(rows: dict[str, Row]) -> None:
    for case in (SHARED, f"{SHARED}, and copied there"):
        assert rows[case]["bytes_to_device"] == rows[case]["bytes_to_host"] == 0


def test_the_head_says_that_it_is_no_figure_of_a_gpu(outcome: tuple[int, Any]) -> None:
    result = outcome[1]
    assert result["stand_in"]
    assert "stand-in" in result["device"]
    assert {"machine", "versions", "size", "rounds"} <= result.keys()


def test_the_table_is_about_as_large_as_asked_for(tmp_path: Path) -> None:
    path, size = tmp_path / "table.arrow", 4_000_000
    write_table(path, size)
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        assert reader.num_record_batches == BATCHES
        batches = [reader.get_batch(number) for number in range(BATCHES)]
    assert len(batches[0].schema) == COLUMNS
    assert batches[0].nbytes * BATCHES == pytest.approx(size, rel=0.1)
    assert body_bytes(path, TWO) == pytest.approx(body_bytes(path) / 50, rel=0.2)


class Clock:
    """A clock that goes only while somebody works."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    with stand_in.installed():
        yield Clock(monkeypatch)


def by_case(contestants: list[Contestant], rounds: int) -> dict[str, Row]:
    return {row["case"]: row for row in measure.rows(contestants, CUDA, rounds)}


@pytest.mark.parametrize(
    ("kind", "ratio", "met", "missed"),
    [(RATE, 0.25, 0.25, 0.3), (SECONDS, 2.0, 2.0, 1.9), (SPEED, 0.5, 0.5, 0.6)],
)
def test_ratios_by_hand(clock: Clock, kind: str, ratio: float, met: float, missed: float) -> None:
    """100 bytes in 2 seconds, beside 200 bytes in one."""
    other = Contestant("other", lambda: clock.passes(1), 200)
    for target, meets in ((met, True), (missed, False), (None, None)):
        against = Against(kind, "other", target)
        row = by_case([other, Contestant("one", lambda: clock.passes(2), 100, against)], 1)["one"]
        assert (row["ratio"], row["target"], row["meets_target"]) == (ratio, target, meets)


def test_contestants_take_turns_and_the_first_time_does_not_count(clock: Clock) -> None:
    seconds = iter([100.0, 3.0, 1.0, 2.0])
    turns = []

    def one() -> None:
        turns.append("one")
        clock.passes(next(seconds))

    def two() -> None:
        turns.append("two")
        clock.passes(5.0)

    rows = by_case([Contestant("one", one, 8), Contestant("two", two, 8)], 3)
    assert turns == ["one", "two"] * 4
    assert rows["one"]["rounds"] == [3.0, 1.0, 2.0]
    assert rows["one"]["seconds"] == 2.0


def test_the_time_ends_when_the_device_has_done_its_work(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way: list[Any] = []

    def finish(device: Device) -> None:
        clock.passes(sum(under_way))
        under_way.clear()

    monkeypatch.setattr(memory, "finish", finish)
    row = by_case([Contestant("late", lambda: under_way.append(2.0), 8)], 1)["late"]
    assert row["seconds"] == 2.0


def test_what_crosses_the_bus_once_is_counted_once(clock: Clock) -> None:
    def send() -> None:
        count_to_device(8)
        clock.passes(1)

    row = by_case([Contestant("one", send, 8)], 3)["one"]
    assert (row["bytes_to_device"], row["bytes_to_host"]) == (8, 0)


def test_a_contestant_that_fails_is_a_row_and_the_others_are_measured(clock: Clock) -> None:
    turns = itertools.count()

    def fails() -> None:
        # The first time it works.
        if next(turns):
            raise MemoryError("full")

    against = Against(RATE, "fails", 0.5)
    rows = by_case(
        [
            Contestant("fails", fails, 8),
            Contestant("works", lambda: clock.passes(1), 8, against),
        ],
        2,
    )
    assert rows["fails"]["error"] == "MemoryError: full"
    assert "seconds" not in rows["fails"]
    assert rows["works"]["seconds"] == 1
    assert "ratio" not in rows["works"]


@pytest.mark.parametrize(
    ("raised", "key"), [(Skipped("why"), "skipped"), (OSError("why"), "error")]
)
def test_a_group_that_cannot_be_made_is_a_row(tmp_path: Path, raised: Exception, key: str) -> None:
    @contextmanager
    def make(place: Place) -> Iterator[list[Contestant]]:
        raise raised
        yield []

    [row] = measure.rows_of(Group("name", make), Place(CUDA, SIZE, tmp_path), 1)
    assert row["case"] == "name"
    assert "why" in row[key]


def test_a_codec_that_is_not_installed_is_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    rows = [measure.rows_of(group, Place(CUDA, SIZE, tmp_path), 1) for group in COMPRESSED]
    assert [(row["case"], row["skipped"]) for [row] in rows] == [
        ("lz4 file", "lz4 is not installed"),
        ("zstd file", "zstandard is not installed"),
    ]


def test_without_a_device_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if adapter.is_simulated() or memory.is_available():
        pytest.skip("there is a device")
    path = tmp_path / "bodies.json"
    monkeypatch.setattr(sys, "argv", ["bodies", "--json", str(path)])
    assert command.main() == 1
    assert "no figures" in capsys.readouterr().out
    assert not path.exists()
