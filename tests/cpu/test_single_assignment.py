"""Versions of variables: each assignment has its own, and each reader has what reaches it."""

from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.compiler import run_frontend
from numba.core.ir import Assign, Var
from numba.core.lowering import Lower

from colkern.cpu.embedded import _Lower
from colkern.cpu.single_assignment import assign_once
from colkern.kernels import number_parsing, row_sorting, text_splitting


def branches(x: Any, y: Any) -> Any:
    a = b = 0
    if x > 1:
        a = y
        if y:
            b = a
        elif y > 5:
            return a
    a, b = b, a
    return a + b


def loops(x: Any, y: Any) -> Any:
    a = b = 0
    while a < x:
        a += 1
        for c in range(a):
            if c == y:
                b = c
                break
            a = a + b
        else:
            b = a
    return a, b, c


def missing_on_a_path(x: Any) -> Any:
    if x:
        a = x
    while x:
        x = x - a
        a = x
    return a


def assigned_on_a_path(x: Any) -> Any:
    if x:
        a = x
    return a


FUNCTIONS = (
    branches,
    loops,
    missing_on_a_path,
    assigned_on_a_path,
    number_parsing.parse_float,
    row_sorting.merge_runs,
    text_splitting.rsplit_by_space,
)


def targets_of(blocks: dict[int, Any]) -> dict[tuple[int, int], str]:
    """The variable of each assignment, by block and place."""
    return {
        (label, place): statement.target.name
        for label, block in blocks.items()
        for place, statement in enumerate(block.body)
        if isinstance(statement, Assign)
    }


def read_by(statement: Any) -> list[str]:
    read = statement.value if isinstance(statement, Assign) else statement
    names = [read] if isinstance(read, Var) else getattr(read, "list_vars", list)()
    return [each.name for each in names]


def reaching(blocks: dict[int, Any]) -> dict[int, set[tuple[int, int]]]:
    """The assignments that reach the beginning of each block, by going round until nothing changes."""
    targets = targets_of(blocks)
    begins: dict[int, set[tuple[int, int]]] = {label: set() for label in blocks}
    changed = True
    while changed:
        changed = False
        for label, block in blocks.items():
            own = {name: site for site, name in targets.items() if site[0] == label}
            ends = {site for site in begins[label] if targets[site] not in own} | {*own.values()}
            for following in block.terminator.get_targets():
                changed |= not ends <= begins[following]
                begins[following] |= ends
    return begins


def sources(
    version: str, targets: dict[tuple[int, int], str], copies: list[tuple[str, str]]
) -> set[tuple[int, int]]:
    """The assignments whose value a version may have."""
    versions, waiting = {version}, [version]
    while waiting:
        name = waiting.pop()
        more = {read for target, read in copies if target == name} - versions
        versions |= more
        waiting += more
    return {site for site, name in targets.items() if name in versions}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_a_reader_has_the_assignments_that_reach_it(function: Any) -> None:
    blocks = run_frontend(function).blocks
    read = {label: list(map(read_by, block.body)) for label, block in blocks.items()}
    first, begins = targets_of(blocks), reaching(blocks)
    assign_once(blocks)
    copies = []
    for label, block in blocks.items():
        # The statement that ends a block keeps its place.
        at_end = slice(len(read[label]) - 1, -1)
        copies += [
            (each.target.name, name) for each in block.body[at_end] for name in read_by(each)
        ]
        block.body[at_end] = []
    own = targets_of(blocks)
    assert len({*own.values()}) == len(first)
    for label, block in blocks.items():
        known = begins[label]
        for place, names in enumerate(read[label]):
            for name, version in zip(names, read_by(block.body[place]), strict=True):
                wanted = {site for site in known if first[site] == name}
                assert sources(version, own, copies) == wanted
            if (label, place) in first:
                known = {site for site in known if first[site] != first[label, place]}
                known.add((label, place))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_the_variables_of_one_block_are_those_that_numba_finds(function: Any) -> None:
    code = run_frontend(function)
    assign_once(code.blocks)
    lowering: Any = SimpleNamespace(func_ir=code, blocks=code.blocks)
    Lower._find_singly_assigned_variable(lowering)
    wanted = lowering._singly_assigned_vars
    _Lower._find_singly_assigned_variable(lowering)
    assert lowering._singly_assigned_vars == wanted != set()
