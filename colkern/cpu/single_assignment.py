"""Gives each assignment of compiled functions a variable of its own, so that each has one type.

Numba's own pass goes over the whole function twice for each variable, which takes the square of the time
for a function with many branches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numba.core.analysis import compute_cfg_from_blocks
from numba.core.controlflow import CFGraph
from numba.core.ir import UNDEFINED, Assign, Block, Expr, Stmt, Var
from numba.core.ir_utils import replace_vars_inner, replace_vars_stmt


def assign_once(blocks: dict[int, Block]) -> None:
    """Change a function's blocks: a variable with several assignments becomes several variables.

    Where paths with different ones of them join, there is one more, to which each path assigns.
    """
    graph = compute_cfg_from_blocks(blocks)
    versions = _Versions(blocks, graph, _assigned_blocks(blocks, graph))
    for label, block in blocks.items():
        versions.name_targets(label, block)
    for label, block in blocks.items():
        versions.name_operands(label, block)
    versions.join_paths()


def _assigned_blocks(blocks: dict[int, Block], graph: CFGraph) -> dict[str, list[int]]:
    """The blocks that assign to the variables that need versions: those with several assignments, and those
    that may be read before they have a value."""
    assigned: dict[str, list[int]] = defaultdict(list)
    read: dict[str, set[int]] = defaultdict(set)
    for label, block in blocks.items():
        for statement in block.body:
            for each in operands(statement):
                read[each.name].add(label)
            if isinstance(statement, Assign):
                assigned[statement.target.name].append(label)
    above = graph.dominators()
    return {
        name: labels
        for name, labels in assigned.items()
        if len(labels) > 1 or any(labels[0] not in above[reader] for reader in read[name])
    }


class _Versions:
    """The versions of a function's variables.

    Args:
        graph: The way from block to block.
        assigned: The blocks that assign to each of the variables.
    """

    def __init__(
        self, blocks: dict[int, Block], graph: CFGraph, assigned: Mapping[str, Iterable[int]]
    ) -> None:
        self._blocks, self._graph, self._first = blocks, graph, {*assigned}
        frontier = graph.dominance_frontier()
        self._joins = {name: _joins(frontier, labels) for name, labels in assigned.items()}
        self._originals: dict[str, str] = {}
        self._at_begin: dict[int, dict[str, Any]] = {label: {} for label in blocks}
        self._at_end: dict[int, dict[str, Any]] = {label: {} for label in blocks}
        self._joined: list[tuple[str, int, Var]] = []

    def name_targets(self, label: int, block: Block) -> None:
        """Give the targets of a block's assignments their names; the first one keeps it."""
        for place, statement in enumerate(block.body):
            name = statement.target.name if isinstance(statement, Assign) else ""
            if name not in self._joins:
                continue
            target = statement.target
            if name not in self._first:
                target = block.scope.redefine(name, loc=statement.loc)
                block.body[place] = Assign(statement.value, target, statement.loc)
            self._first.discard(name)
            self._originals[target.name] = name
            self._at_end[label][name] = target

    def name_operands(self, label: int, block: Block) -> None:
        """Let a block's statements read the versions."""
        current: dict[str, Any] = {}
        for statement in block.body:
            names = {}
            for each in operands(statement):
                if each.name in self._joins:
                    version = current.get(each.name) or self._begins(each.name, label)
                    if version is not UNDEFINED and version.name != each.name:
                        names[each.name] = version
            if names:
                _read(statement, names)
            if isinstance(statement, Assign) and statement.target.name in self._originals:
                current[self._originals[statement.target.name]] = statement.target

    def join_paths(self) -> None:
        """Assign to the versions of joined paths, at the end of each path."""
        while self._joined:
            name, label, target = self._joined.pop()
            for before, _ in self._graph.predecessors(label):
                version = self._at_end[before].get(name) or self._begins(name, before)
                if version is not target:
                    value = Expr.undef(target.loc) if version is UNDEFINED else version
                    self._blocks[before].body.insert(-1, Assign(value, target, target.loc))

    def _begins(self, name: str, label: int) -> Any:
        """The version where a block begins; `UNDEFINED` if there is none."""
        passed, version = [], None
        while version is None and (version := self._at_begin[label].get(name)) is None:
            passed.append(label)
            above = self._graph.immediate_dominators()[label]
            if label in self._joins[name]:
                block = self._blocks[label]
                version = block.scope.redefine(name, loc=block.loc)
                self._joined.append((name, label, version))
            elif above == label:
                version = UNDEFINED
            else:
                label, version = above, self._at_end[above].get(name)
        for each in passed:
            self._at_begin[each][name] = version
        return version


def _joins(frontier: Mapping[int, set[int]], labels: Iterable[int]) -> set[int]:
    """The blocks where paths join that come from different assignments in some blocks."""
    joins: set[int] = set()
    waiting = list(labels)
    while waiting:
        more = frontier[waiting.pop()] - joins
        joins |= more
        waiting += more
    return joins


def operands(statement: Stmt) -> Iterator[Var]:
    """The variables that a statement reads; faster than Numba's `list_vars`."""
    if not isinstance(statement, Assign):
        return iter(statement.list_vars())
    read = statement.value
    return _variables(read._kws.values() if isinstance(read, Expr) else (read,))


def _variables(parts: Iterable[object]) -> Iterator[Var]:
    """The variables among parts of an expression."""
    for part in parts:
        if isinstance(part, Var):
            yield part
        elif isinstance(part, list | tuple):
            yield from _variables(part)


def _read(statement: Stmt, names: dict[str, Var]) -> None:
    """Let a statement read other variables."""
    if isinstance(statement, Assign):
        statement.value = replace_vars_inner(statement.value, names)
    else:
        replace_vars_stmt(statement, names)
