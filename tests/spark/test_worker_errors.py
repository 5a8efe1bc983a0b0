"""Errors in a worker as users see them; without Spark's workers."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import colkern
from colkern.spark.worker_errors import told_plainly

HIDDEN = "SPARK_HIDE_TRACEBACK"

INSTALLED = sysconfig.get_paths()["purelib"]
STANDARD = sysconfig.get_paths()["stdlib"]


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables as a worker has them."""
    monkeypatch.setenv("SPARK_SIMPLIFIED_TRACEBACK", "1")
    monkeypatch.setenv(HIDDEN, "")


def raising(filename: str) -> Callable[[], Any]:
    """A function of a file, which fails in its second line."""
    names: dict[str, Any] = {}
    exec(compile("def fails():\n    raise ValueError('no')\n", filename, "exec"), names)
    return names["fails"]


def shown(function: Callable[[], Any]) -> str:
    """The notes of an error, raised where no code of the user's is around it: in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(told_plainly()(function)).exception()
    return "\n".join(getattr(error, "__notes__", ()))


@pytest.mark.parametrize(
    "filename",
    [
        "/home/me/job.py",
        f"{INSTALLED}/job/sales.py",
        f"{STANDARD}/site-packages/job/sales.py",
        f"{STANDARD}/dist-packages/job/sales.py",
        f"{INSTALLED}/pandas_jobs/sales.py",
        f"{Path(colkern.__file__).parent}_jobs/sales.py",
        "/home/me/pyspark/job.py",
        "<stdin>",
        "<ipython-input-1>",
    ],
)
def test_the_lines_of_users_code_are_shown_wherever_it_is_installed(filename: str) -> None:
    assert shown(raising(filename)) == f'  File "{filename}", line 2, in fails'
    assert os.environ[HIDDEN]


@pytest.mark.parametrize(
    "filename",
    [
        f"{INSTALLED}/pandas/core/series.py",
        f"{INSTALLED}/pyspark/worker.py",
        f"{Path(colkern.__file__).parent}/arrays.py",
        f"{STANDARD}/json/decoder.py",
    ],
)
def test_the_lines_of_libraries_are_not_shown_beside_the_users(filename: str) -> None:
    library = raising(filename)

    def called() -> None:
        library()

    told = shown(called)
    assert filename not in told
    assert "in called" in told


def test_an_error_without_users_code_has_the_last_lines_of_other_code() -> None:
    filename = f"{INSTALLED}/pandas/core/series.py"
    assert f'File "{filename}", line 2, in fails' in shown(raising(filename))


def test_an_error_that_users_code_may_catch_leaves_later_ones_unchanged() -> None:
    def caught() -> None:
        with pytest.raises(ValueError, match="no") as raised:
            told_plainly()(raising("/home/me/job.py"))()
        assert not hasattr(raised.value, "__notes__")

    with ThreadPoolExecutor(1) as pool:
        pool.submit(caught).result()
    assert not os.environ[HIDDEN]


def test_lines_of_pandas_that_call_users_code_are_not_shown() -> None:
    def fails(value: int) -> int:
        raise ValueError(value)

    told = shown(lambda: pd.Series([1]).apply(fails))
    assert "in fails" in told
    assert "pandas" not in told.replace(__file__, "").replace("pd.", "")
