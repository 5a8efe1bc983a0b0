"""Helpers of kernels on disk: linked by what another process compiles, and never trusted without need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

import colkern as ck
from colkern.cpu import embedded
from colkern.cpu.compiler import compiled
from colkern.kernels import row_numbers

TYPES = (numba.int64, numba.int64, numba.int64)

ARGUMENTS = 7, 130, 1000

PROGRAM = """
import colkern as ck
def first(text: str) -> str:
    return text.upper().strip() + "!"
def other(text: str) -> str:
    return text.upper()[:1] + "?"
import sys
print(ck.udf({"first": first, "other": other}[sys.argv[1]])(ck.array([" ab", "c"])).to_pylist())
"""


BOTH = """
import colkern as ck, numba
def upper(text: str) -> str:
    return text.upper()
words = ck.array(["\u00e9", "e\u0301\U0001f600x"])
print([ascii(word) for word in ck.udf(upper)(words).to_pylist()])
@numba.njit
def sizes(column):
    return [len(word.upper()) for word in column]
print(sizes(words))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path))
    return tmp_path


def helper() -> Any:
    """A dispatcher that has compiled nothing yet."""
    return compiled.__wrapped__(row_numbers.power_modulo)


def loaded() -> bool:
    """Whether the helper is found on disk; what calls it gives what Python gives."""
    own = helper()
    call = numba.njit(error_model="numpy")(lambda base, power, modulus: own(base, power, modulus))
    assert call(*ARGUMENTS) == (pow(*ARGUMENTS), 0)
    return bool(own._cache_hits)


def test_a_helper_is_compiled_once(here: Path) -> None:
    assert [loaded(), loaded()] == [False, True]


@pytest.mark.parametrize("kept", [0, 100])
def test_a_damaged_file_is_compiled_anew(here: Path, kept: int) -> None:
    assert not loaded()
    (path,) = here.rglob("power_modulo-*")
    path.write_bytes(path.read_bytes()[:kept])
    assert [loaded(), loaded()] == [False, True]


def test_a_helper_that_is_loaded_has_the_size_of_the_one_that_was_compiled(here: Path) -> None:
    sizes = []
    for _ in range(2):
        own = helper()
        own.compile(TYPES)
        sizes.append(own.overloads[TYPES].library.size)
    assert 0 < sizes[0] == sizes[1]


@pytest.mark.parametrize(("large", "is_part"), [(0, False), (1 << 30, True)])
def test_large_helpers_are_parts_of_small_loops(
    here: Path, monkeypatch: pytest.MonkeyPatch, large: int, is_part: bool
) -> None:
    monkeypatch.setattr(embedded, "LARGE", large)
    counted = ck.udf(count_letters)
    words = ["ab", "aab", "é"]
    assert counted(ck.array(words)).to_pylist() == list(map(count_letters, words))
    (plan,) = counted._plans.values()
    (loop,) = plan._loop.overloads.values()  # type: ignore[union-attr]
    names = [function.name for function in loop.library.get_defined_functions()]
    assert any("insert_place" in name for name in names) != is_part


def count_letters(word: str) -> int:
    letters: dict[str, int] = {}
    for letter in word:
        letters[letter] = letters.get(letter, 0) + 1
    letters["a"] = len(word)
    letters["b"] = len(letters)
    return sum(letters.values())


def test_each_signature_has_a_file(here: Path) -> None:
    own = helper()
    own.compile(TYPES)
    own.compile((numba.int64, numba.int64, numba.uint64))
    assert len(list(here.rglob("power_modulo-*"))) == 2


def output_of(program: str, folder: Path, *arguments: str) -> str:
    """The output of a program in a process of its own, which keeps machine code in a folder."""
    script = folder / "program.py"
    script.write_text(program)
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        env={**os.environ, "COLKERN_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_helper_in_a_loop_does_not_stand_for_that_of_others(tmp_path: Path) -> None:
    """LLVM may drop parameters of the loop's own: what called it by its name crashed."""
    # Compiled, then loaded.
    for _ in range(2):
        shown = output_of(BOTH, tmp_path).splitlines()
        assert shown == [str([ascii("\u00c9"), ascii("E\u0301\U0001f600X")]), "[1, 4]"]


def test_another_process_compiles_no_helper_again(tmp_path: Path) -> None:
    def run(name: str) -> tuple[str, dict[Path, int]]:
        files = tmp_path.glob("helpers/*.helper")
        shown = output_of(PROGRAM, tmp_path, name)
        return shown, {file: file.stat().st_mtime_ns for file in files}

    shown, before = run("first")
    assert shown == "['AB!', 'C!']\n"
    for file in tmp_path.glob("kernels/*.kernel"):
        file.unlink()
    assert run("first") == (shown, before)
    shown, after = run("other")
    assert shown == "[' ?', 'C?']\n"
    assert after.items() >= before.items()
    assert not [file for file in after.keys() - before.keys() if file.name.startswith("upper")]
