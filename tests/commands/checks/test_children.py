"""Questions in a process of their own: every way in which it ends is an answer or one error."""

from __future__ import annotations

from pathlib import Path

import pytest

from colkern.commands.checks.children import NoAnswerError, ask, run_python
from colkern.commands.checks.finding import Mark, checked, ok


def test_what_a_function_returns() -> None:
    assert ask("os.path:join", "a", "b") == "a/b"


def test_modules_are_found_where_this_process_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "basket.py").write_text("def full(): print('noise'); return {3, 1}, (None, 2.5)")
    monkeypatch.syspath_prepend(tmp_path)
    assert ask("basket:full") == [[1, 3], [None, 2.5]]


def test_what_lies_in_the_working_directory_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise ImportError('planted')")
    monkeypatch.chdir(tmp_path)
    assert run_python("import json; print(json.loads('1'))") == "1\n"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("os:abort", "the process crashes: Aborted"),
        ("os.path:getsize", "TypeError: "),
        ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("sys:exit", "the process ends without an answer"),
    ],
)
def test_a_function_that_fails(function: str, message: str) -> None:
    with pytest.raises(NoAnswerError, match=message):
        ask(function)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("import os; os._exit(3)", "the process ends with 3"),
        ("import os; os.kill(os.getpid(), 11)", "the process crashes: Segmentation fault"),
    ],
)
def test_a_program_that_fails(code: str, message: str) -> None:
    with pytest.raises(NoAnswerError, match=message):
        run_python(code)


def test_one_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    end = tmp_path / "end"
    code = f"import pathlib, time; time.sleep(20); pathlib.Path({str(end)!r}).touch()"
    with pytest.raises(NoAnswerError, match=r"no answer within 0\.2 seconds"):
        run_python(code, seconds=0.2)
    assert not end.exists()


def test_what_a_check_found_before_it_failed_is_kept() -> None:
    def check(name: str):  # type: ignore[no-untyped-def]
        yield ok(name, "there")
        raise NoAnswerError("no answer")

    first, second = checked("thing", check, "part")
    assert first == ok("part", "there")
    assert (second.name, second.mark) == ("thing", Mark.PROBLEM)
    assert second.found == "cannot be checked: NoAnswerError: no answer"
