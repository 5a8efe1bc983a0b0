"""The faults that `make mutants` puts into source text, and the tests it runs."""

from __future__ import annotations

import ast

import pytest
from mutation.harness import FOLDERS, Outcome, relevant, table
from mutation.mutants import Mutant, Source, chosen
from tiers import ROOT


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("a < b", {"a <= b"}),
        ("(a) == (b)", {"(a) != (b)"}),
        ("a + b * c", {"a - b * c", "a + b // c"}),
        ("x = not y", {"x = y"}),
        ("f(True, 7)", {"f(False, 7)", "f(True, 8)", "f(True, (6))"}),
        ("a and b", {"a or b"}),
        ("if é: pass", {"if (not (é)): pass"}),
        ("def f(n: int = None) -> 3: ...", set()),
        ("'text'", set()),
    ],
)
def test_places_of_a_text(text: str, mutants: set[str]) -> None:
    source = Source("file.py", text.encode())
    changed = {mutant.applied(source.text).decode() for mutant in source.mutants()}
    assert {" ".join(each.split()) for each in changed} == mutants


def test_mutants_are_programs_and_the_same_each_time() -> None:
    mutants = chosen(ROOT, 50, 3)
    assert mutants == chosen(ROOT, 50, 3)
    assert len(set(mutants)) == 50
    for mutant in mutants:
        text = (ROOT / mutant.path).read_bytes()
        assert ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))


@pytest.mark.parametrize("folder", FOLDERS)
def test_there_are_tests_for_each_folder(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert any(relevant(f"{folder}__init__.py"))


def test_tests_that_import_a_file_come_first() -> None:
    near, rest = relevant("colkern/cuda/target.py")
    assert "tests/cuda/test_target.py" in near
    assert "tests/ipc/test_readers.py" in rest


def test_a_table_counts_by_package_and_lists_what_the_day_misses() -> None:
    mutants = [Mutant("colkern/ipc/a.py", line, 0, 1, "<", "<=") for line in range(3)]
    tiers = {"not night": "t", "": "", "night": "u"}
    text = table([Outcome(m, *tier) for m, tier in zip(mutants, tiers.items(), strict=True)])
    assert text.splitlines()[1].split() == ["ipc", "1", "1", "1"]
    assert "colkern/ipc/a.py:1: <  ->  <=" in text
    assert "a.py:0:" not in text
