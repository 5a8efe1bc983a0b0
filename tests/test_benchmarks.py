"""Errors of the commands in `benchmarks` for wrong arguments: one line, exit status 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import compare, regressions
from benchmarks.case import CHOSEN, COMPARISONS
from benchmarks.cases import dissociated


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("{", "is not what --json writes: JSONDecodeError"),
        ("[]", "is not what --json writes: TypeError"),
        ("{}", "is not what --json writes: KeyError('rows')"),
        (
            json.dumps({"rows": [], "machine": "another", "versions": {}, "threads": 1}),
            "has other machine: another; here",
        ),
    ],
)
def test_a_file_that_cannot_be_kept(
    written: str,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "figures.json"
    path.write_text(written)
    text = refused(["--case", "sum", "--json", str(path), "--keep"], monkeypatch, capsys)
    assert text.startswith("compare.py: --keep: " + str(path))
    assert complaint in text
    assert path.read_text() == written


def test_a_chart_of_no_known_format(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(["--chart", "x.txt"], monkeypatch, capsys)
    assert text == "compare.py: --chart: expected one of .svg, .png, .pdf, got x.txt\n"


def refused(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """The error for arguments: the only line."""
    monkeypatch.setattr(sys, "argv", ["compare.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        compare.main()
    assert ended.value.code == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    return written.err


def test_what_is_fetched_is_the_same_by_every_way_and_announced_bodies_are_not_copied() -> None:
    case = dissociated.fetch_locations(rows=8, use="sum")
    # 8 rows, k / 8 more in column k, in 8 columns of 16 batches.
    expected = 16 * (8 * sum(range(8)) + 8 * sum(k / 8 for k in range(8)))
    assert {name: work() for name, work in case.contestants.items()} == {
        "colkern": expected,
        "pyarrow": expected,
    }
    assert case.facts() == {
        "body_bytes": case.nbytes,
        "body_bytes_copied_by_server": 0,
        "body_bytes_copied_by_client": 0,
    }


def test_a_share_of_the_bandwidth_is_told_of_what_streams_from_memory() -> None:
    row = {"bytes_per_second": 1e9, "seconds": {"colkern": 1.0}, "bandwidth_share": 0.5}
    assert compare.share(row) == "50%"
    assert compare.share(row | {"seconds": {"colkern": 0.001}}) == ""
    # Nothing was read.
    assert compare.share(row | {"bandwidth_share": 85.08}) == ""


def test_the_front_table_has_the_usual_shape_of_each_size() -> None:
    def row(rows: int, dtype: str, ratio: float | None, name: str = "take") -> dict[str, object]:
        return {"comparison": name, "shape": {"rows": rows, "dtype": dtype}, "ratio": ratio}

    small = {"rows": [row(10, "int64", 2.0), row(10, "int8", 3.0), row(10, "int64", 9.0, "trim")]}
    large = {"rows": [row(1000, "int64", 0.5), row(1000, "int64", None, "join")]}
    assert compare.front([small, large]) == [
        ["case", "10 rows", "1,000 rows"],
        ["take", "2.00×", "0.50×"],
    ]


def test_a_case_that_takes_more_than_a_tenth_longer_is_a_regression() -> None:
    before = {"a": 1e-6, "b": 2e-6, "gone": 1.0}
    assert regressions.compared(before, {"a": 1.08e-6, "new": 1.0}) == (
        ["a: 1.0 µs before, 1.1 µs now, 1.08×"],
        False,
    )
    lines, is_slower = regressions.compared(before, {"a": 0.5e-6, "b": 2.4e-6})
    assert is_slower
    assert lines[1] == "SLOWER b: 2.0 µs before, 2.4 µs now, 1.20×"


def test_chosen_cases_are_comparisons() -> None:
    assert set(CHOSEN) <= set(COMPARISONS)
