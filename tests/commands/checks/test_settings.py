"""The variables of the environment that are set."""

from __future__ import annotations

import os

import pytest

from colkern.commands.checks import settings
from colkern.commands.checks.finding import ok


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)


def test_none_is_set() -> None:
    assert list(settings.findings()) == [ok("variables", "none of colkern's is set")]


def test_those_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_OPT", "1")
    monkeypatch.setenv("COLKERN_POOL_BYTES", "0")
    assert list(settings.findings()) == [
        ok("COLKERN_POOL_BYTES", "0 (how much host memory is kept for the next result)"),
        ok("NUMBA_OPT", "1 (how hard the compiler works)"),
    ]
