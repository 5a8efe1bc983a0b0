"""Packages: what is not installed, does not import, or does not go with the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colkern.commands.checks.finding import Mark, missing, ok, problem
from colkern.commands.checks.packages import core, optional, required, unmet

Install = Callable[..., None]


def test_a_demand_that_is_not_met(install: Install) -> None:
    install("numba", "0.60.0", "llvmlite<0.44,>=0.43.0dev0", "numpy <2.1, >=1.22")
    install("llvmlite", "0.43.1")
    install("NumPy", "2.4.0")
    assert list(unmet("llvmlite")) == []
    assert list(unmet("numpy")) == ["numba 0.60.0 needs numpy<2.1,>=1.22"]


def test_demands_of_extras_and_of_other_systems(install: Install) -> None:
    install(
        "pyspark",
        "4.1.0",
        'pyarrow>=99; extra == "sql"',
        'pandas>=99; extra == "connect"',
        'numpy>=99; sys_platform == "win32"',
        "no requirement at all",
    )
    # What is asked for with pyspark counts; what a server of Spark Connect asks for does not.
    assert list(unmet("pyarrow")) == ["pyspark 4.1.0 needs pyarrow>=99"]
    assert list(unmet("pandas")) == []
    assert list(unmet("numpy")) == []


def test_what_is_not_installed() -> None:
    assert required("no-such-fruit", "fruit", "pies") == problem(
        "no-such-fruit", "not installed", "pies", "pip install no-such-fruit"
    )
    assert optional("no-such-fruit", "fruit", "pies", "buy some") == missing(
        "no-such-fruit", "not installed", "pies", "buy some"
    )


def test_what_is_installed(install: Install) -> None:
    install("fruit", "1.2", module="fruit")
    install("nuts", "3.4", module="nuts", source="raise ImportError('libnuts.so: no such file')")
    install("bread", "5.6", module="bread", source="import os; os.abort()")
    assert optional("fruit", "fruit", "pies", "") == ok("fruit", "1.2", "pies")
    nuts = optional("nuts", "nuts", "", "")
    assert nuts.mark is Mark.PROBLEM
    assert nuts.found == "3.4 does not work: ImportError: libnuts.so: no such file"
    bread = required("bread", "bread", "")
    assert bread.found == "5.6 does not work: the process crashes: Aborted"


def test_what_is_installed_but_does_not_go_with_another(install: Install) -> None:
    install("numba", "0.60.0", "fruit<2")
    install("fruit", "2.0", module="fruit")
    assert optional("fruit", "fruit", "pies", "") == problem(
        "fruit", "2.0, but numba 0.60.0 needs fruit<2", "pies", 'pip install "fruit<2"'
    )


@pytest.mark.parametrize(
    ("python", "mark"), [("<3", Mark.PROBLEM), (">=3", Mark.OK), ("", Mark.OK)]
)
def test_a_python_that_colkern_is_for_or_not(
    python: str, mark: Mark, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colkern.commands.checks.packages._CORE", {})
    install("colkern", "0.1.0", python=python)
    result = next(core())
    assert (result.mark, result.remedy) == (mark, "run a Python <3" if mark is Mark.PROBLEM else "")
