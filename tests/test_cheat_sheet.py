"""The cheat sheet: what its last column says runs, with the data of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "cheat_sheet.md").read_text()
LINES = [
    (cells[1].strip(), re.findall(r"`([^`]+)`", cells[-2]))
    for cells in (line.split("|") for line in PAGE.splitlines() if line.startswith("| "))
    if cells[1].strip() not in ("To", "---")
]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names of the page's only block."""
    block = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    result: dict[str, Any] = {"np": np}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cheat_sheet"))
        exec(block[1], result)
    return result


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0].replace(" ", "_"))
def test_a_line_runs(
    line: tuple[str, list[str]],
    names: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names["ck"].ipc.write_file("t.arrow", names["t"])
    what, calls = line
    assert calls, what
    # Row functions are made from their source, so it stands in a file.
    for number, call in enumerate(calls):
        file = tmp_path / f"call_{number}.py"
        file.write_text(call)
        eval(compile(call, str(file), "eval"), names)
