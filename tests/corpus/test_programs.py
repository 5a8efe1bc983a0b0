"""Generated row functions: they are valid, terminate, mostly give results, and can be made smaller."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from corpus import runner
from corpus.programs import Program, generated
from corpus.runner import Raised, compare, expected
from corpus.shrinking import smaller
from corpus.values import integers

PROGRAMS = 300


def test_a_seed_is_a_program() -> None:
    assert generated(5) == generated(5)
    assert len({generated(seed).source.partition("\n")[2] for seed in range(50)}) == 50


NUMBERS = frozenset("str date datetime list[int] list[str] optional attempt re math".split())


@pytest.mark.parametrize("without", [NUMBERS, {"float"}, {"date", "datetime", "generators"}])
def test_programs_do_without(without: set[str]) -> None:
    for seed in range(60):
        program = generated(seed, without=without)
        expected(program.case())
        for word in without & {"date", "datetime", "re"}:
            assert f"{word}(" not in program.source
            assert f"{word}." not in program.source
        if "generators" in without:
            assert not any(" for " in line.strip() for line in program.source.splitlines())


def test_programs_run_and_mostly_give_results_of_their_kind() -> None:
    raised = rows = 0
    for seed in range(PROGRAMS):
        program = generated(seed)
        assert inspect.getsource(program.function()) == program.source
        results = expected(program.case())
        errors = [result for result in results if isinstance(result, Raised)]
        unexpected = [
            error for error in errors if error.type in (NameError, TypeError, AttributeError)
        ]
        assert not unexpected, f"{program.source}\n{unexpected[0]}"
        raised += len(errors)
        rows += len(results)
        kinds = {type(result) for result in results} - {type(None), Raised}
        assert len(kinds) <= 1 or kinds == {int, float}, f"{program.source}\n{kinds}"
    assert raised < rows / 5


@pytest.mark.parametrize("seed", range(20))
def test_python_equals_itself(seed: int) -> None:
    comparison = compare(generated(seed).case(), runner.run_python)
    assert comparison.equal, comparison.why


def test_a_program_is_made_smaller() -> None:
    source = (
        "def f(a: int) -> int:\n    b = a * 2\n    k1 = 0\n    while k1 < 3 and b > a:\n        k1 += 1\n"
        "        pass\n    if a > 5:\n        for i in range(3):\n            b += i\n        b -= 1\n"
        "    return max(abs(a) + 1, b // 0)\n"
    )
    program = Program(source, "f", 0, (integers,))

    def divides(source: str) -> bool:
        results = expected(replace(program, source=source).case())
        return any(isinstance(result, Raised) for result in results)

    small = smaller(source, program.runs, divides)
    assert small == "def f(a: int) -> int:\n    b = a\n    return b // 0\n"
