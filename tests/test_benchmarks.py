"""What the commands below `benchmarks` say of wrong arguments: one line, exit status 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import compare
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
    """What is said of arguments; the only line."""
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
