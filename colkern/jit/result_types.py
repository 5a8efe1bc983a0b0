"""The type of a column of results: as declared, or what holds all that a function returns."""

from __future__ import annotations

from collections.abc import Set

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit.results import INFERRED, NUMBER, TEXT, writer_of


def result_type(
    name: str, kinds: Set[str], declared: s.DataType | None, verb: str = "returns"
) -> s.DataType:
    """The type of results of those kinds.

    Args:
        name: The function's name, for messages.
        kinds: What it returns for each combination of nulls: names as in `Writer.kinds`, or `none`.
        declared: What it is declared to return, if it is.
        verb: What messages say that it does with them.

    Raises:
        CompileError: If there is no such type, or it is not what was declared.
    """
    found = frozenset(kinds - {"none"})
    if declared is None:
        return _common_type(name, found, verb)
    wrong = found - writer_of(declared).kinds
    if wrong:
        raise CompileError(f"{name} {verb} {_words(wrong)} where {declared} is declared")
    return declared


def _common_type(name: str, kinds: frozenset[str], verb: str) -> s.DataType:
    if not kinds:
        each = "row" if verb == "returns" else "item"
        raise CompileError(f"{name} {verb} None for every {each}")
    if len(kinds) == 1:
        return INFERRED[next(iter(kinds))]
    if kinds <= TEXT:
        return s.utf8()
    if kinds <= NUMBER - {"boolean", "uint64"}:
        return s.int64()
    if kinds <= {*NUMBER, "float32", "float64"} and "boolean" not in kinds:
        return s.float64()
    raise CompileError(
        f"{name} {verb} values of different types: {_words(kinds)}; declare returns="
    )


def _words(kinds: frozenset[str]) -> str:
    return ", ".join(sorted(str(INFERRED[kind]) for kind in kinds))
