"""`colkern warm`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from colkern import cli, kernels
from colkern.functions import row_functions, warming
from colkern.kernels import offsets, unions


@pytest.fixture(autouse=True)
def two_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and two kernels and a function, which runs two others, to fill it with."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    few = {k.name: k for k in (offsets.lengths_of, unions.mark_slots)}
    monkeypatch.setattr(kernels, "KERNELS", few)
    one = {"utf8_reverse": row_functions.all_functions()["utf8_reverse"]}
    monkeypatch.setattr(warming, "all_functions", lambda: one)


def test_compiles_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["warm", "--jobs", "1"]) == 0
    cache = tmp_path / "cache" / "kernels"
    said = f"2 kernels, 3 variants, 1 function: 6 compiled, 0 found in {cache}\n"
    assert capsys.readouterr().out == said
    of_kernels = [
        path for path in cache.iterdir() if path.name.startswith(("lengths_of", "mark_slots"))
    ]
    assert len(of_kernels) == 3
    assert cli.main(["warm", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "kernels": 2,
        "variants": 3,
        "functions": 1,
        "compiled": 0,
        "loaded": 6,
        "cache": str(cache),
    }


def test_without_a_directory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str = "") -> Path:
        raise PermissionError("no private directory for cached files; set COLKERN_CACHE_DIR")

    monkeypatch.setattr("colkern.cache.cache_dir", none)
    assert cli.main(["warm"]) == 1
    assert "set COLKERN_CACHE_DIR" in capsys.readouterr().err


def test_jobs_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["warm", "--jobs", "0"]) == 2
    assert "--jobs" in capsys.readouterr().err
