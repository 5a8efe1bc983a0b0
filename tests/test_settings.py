"""Settings: each variable of the environment is documented, and each function does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import colkern as ck

ROOT = Path(__file__).parent.parent


def test_each_variable_is_on_the_page_of_settings() -> None:
    text = "".join(path.read_text() for path in (ROOT / "colkern").rglob("*.py"))
    named = set(re.findall(r'"((?:COLKERN|CK)_[A-Z_]*[A-Z])"', text))
    page = (ROOT / "docs" / "settings.md").read_text()
    assert len(named) > 5
    assert sorted(name for name in named if f"`{name}`" not in page) == []


def test_versions_machine_and_settings_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_POOL_BYTES", "1234")
    ck.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["colkern"] == ck.__version__
    assert shown["threads"] == str(ck.num_threads())
    assert shown["COLKERN_POOL_BYTES"] == "1234"


def test_progress_is_off_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with ck.progress():
        ck.ipc.read_table(_stream())
    assert capsys.readouterr().err == ""


def test_work_in_batches_tells_how_far_it_has_come() -> None:
    told: list[tuple[str, int, int | None]] = []
    with ck.progress(lambda *step: told.append(step)):
        ck.ipc.read_table(_stream())
    assert told == [("writing batches", 1, None), ("reading batches", 1, None)]


def _stream() -> bytes:
    import io

    sink = io.BytesIO()
    ck.ipc.write_stream(sink, ck.table({"x": [1]}))
    return sink.getvalue()
