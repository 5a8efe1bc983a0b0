"""What was found out by compiling is kept for other processes, and never taken from a damaged file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from colkern.cpu.findings import remembered


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path))
    return tmp_path


def ask(key: str, answer: Any = "float64") -> tuple[Any, bool]:
    """What is found, and whether it had to be found out."""
    asked = []

    def find() -> Any:
        asked.append(key)
        return answer

    value = remembered((key,), find)
    return value, bool(asked)


def test_it_is_found_out_once_a_key(cache: Path) -> None:
    assert ask("a") == ("float64", True)
    assert ask("a") == ("float64", False)
    assert ask("b") == ("float64", True)


def test_a_damaged_file_counts_as_none(cache: Path) -> None:
    ask("a")
    (path,) = cache.rglob("*.finding")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert ask("a", "int64") == ("int64", True)


def test_the_settings_of_the_compiler_count(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("a")
    monkeypatch.setattr("numba.core.config.BOUNDSCHECK", 1)
    assert ask("a") == ("float64", True)


def test_what_raises_is_not_kept(cache: Path) -> None:
    def fail() -> None:
        raise TypeError("no compiled form")

    with pytest.raises(TypeError, match="no compiled form"):
        remembered(("a",), fail)
    assert ask("a") == ("float64", True)
