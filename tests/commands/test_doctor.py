"""`colkern doctor`: its exit status, its document, and where it runs."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import colkern
from colkern.commands import doctor
from colkern.commands.checks.finding import Finding, missing, ok, problem

Run = Callable[..., tuple[int, str, str]]

CORE = ("numpy", "numba", "llvmlite", "lz4", "packaging", "zstandard", "rich")
CORE_OF_RICH = ("pygments", "markdown-it-py", "mdurl")


@pytest.fixture
def sections(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts findings in the place of what is looked at."""

    def put(**result: list[Finding]) -> None:
        checks = {title: lambda each=each: each for title, each in result.items()}
        monkeypatch.setattr(doctor, "_sections", lambda: checks)

    return put


def test_a_line_for_each_finding(sections: Callable[..., None], run: Run) -> None:
    sections(
        Fruit=[ok("apple", "ripe", "pies"), missing("pear", "none", "juice", "buy some")],
        Nuts=[ok("cashew", "3")],
    )
    assert run("doctor") == (
        0,
        "Fruit\n"
        "  ok       apple  ripe; for pies\n"
        "  missing  pear   none; to do: buy some; for juice\n"
        "\n"
        "Nuts\n"
        "  ok       cashew  3\n"
        "\n"
        "colkern works here; 1 option is missing\n",
        "",
    )


def test_a_problem_is_the_exit_status(sections: Callable[..., None], run: Run) -> None:
    sections(Fruit=[problem("apple", "rotten", "", "throw it away"), ok("pear", "ripe")])
    status, out, _ = run("doctor")
    assert status == 1
    assert out.endswith("\n1 problem; 0 options are missing\n")


def test_the_document(sections: Callable[..., None], run: Run) -> None:
    sections(Fruit=[problem("apple", "rotten", "pies", "throw it away")], Nuts=[ok("cashew", "3")])
    status, out, _ = run("doctor", "--json")
    assert status == 1
    empty = {"enables": "", "remedy": ""}
    assert json.loads(out) == {
        "works": False,
        "findings": [
            {
                "section": "Fruit",
                "name": "apple",
                "mark": "problem",
                "found": "rotten",
                "enables": "pies",
                "remedy": "throw it away",
            },
            {"section": "Nuts", "name": "cashew", "mark": "ok", "found": "3", **empty},
        ],
    }


def test_what_a_path_says_does_not_steer_the_terminal(
    sections: Callable[..., None], run: Run
) -> None:
    sections(Fruit=[ok("apple", "\x1b[2J")])
    assert r"\x1b[2J" in run("doctor")[1]


def test_a_section_that_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def broken() -> Iterator[Finding]:
        yield ok("apple", "ripe")
        raise RuntimeError("the basket is\nupside down")

    monkeypatch.setattr(doctor, "_sections", lambda: {"Fruit": broken, "Nuts": list})
    status, out, _ = run("doctor")
    assert status == 1
    assert "  ok       apple  ripe\n" in out
    assert "cannot be checked: RuntimeError: the basket is upside down\n" in out


@pytest.fixture(scope="session")
def bare(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python where only colkern and what it requires are installed."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    packages = folder / "packages"
    packages.mkdir()
    (packages / "colkern").symlink_to(Path(colkern.__file__).parent)
    for name in (*CORE, *CORE_OF_RICH):
        for top in {file.parts[0] for file in importlib.metadata.files(name) or ()}:
            source = Path(str(importlib.metadata.distribution(name).locate_file(top)))
            if top not in ("..", "__pycache__") and not (packages / top).exists():
                (packages / top).symlink_to(source)

    def run_bare(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        cache = {"COLKERN_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(packages)}
        return subprocess.run(
            [str(folder / "env" / "bin" / "python"), "-P", "-m", "colkern.cli", *words],
            env=kept | cache | environment,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=folder,
        )

    return run_bare


def test_where_only_what_is_required_is_installed(bare: Callable[..., Any]) -> None:
    done = bare("doctor", "--json")
    assert done.stderr == ""
    report = json.loads(done.stdout)
    marks = {finding["name"]: finding["mark"] for finding in report["findings"]}
    assert [name for name, mark in marks.items() if mark == "problem"] == []
    assert (done.returncode, report["works"]) == (0, True)
    assert {marks[name] for name in CORE} == {"ok"}
    absent = ("numba-cuda", "CuPy", "kvikio", "pyspark", "pyarrow", "pandas")
    assert {marks[name] for name in absent} == {"missing"}
    for finding in report["findings"]:
        assert finding["found"], finding
        if finding["mark"] == "missing" and finding["name"] in absent:
            assert "install" in finding["remedy"]
            assert finding["enables"]
