"""The corpus compiled: each function gives what Python gives, or is one that is known to be refused.

By day a few of them, other ones with each commit.
"""

from __future__ import annotations

import pytest
from corpus.cases import CASES
from corpus.runner import compare, run_colkern

REFUSED: frozenset[str] = frozenset()
"""The cases whose functions have no compiled form."""


@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_what_python_gives(name: str) -> None:
    comparison = compare(CASES[name], run_colkern)
    if name in REFUSED:
        assert not comparison.compiled, "it compiles now: no longer one of the refused"
    else:
        assert comparison.equal, comparison.why


def test_few_functions_are_refused() -> None:
    assert len(REFUSED) <= len(CASES) * 0.05
